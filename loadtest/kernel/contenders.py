"""Contenders: ours, and the peers that are installed. A peer that is not is named as missing, never an error."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from loadtest.kernel.contender import Contender, Lines
from loadtest.kernel.own import Kernels, KernelsTogether, ShardPart, WholeSearch

Opener = Callable[[Lines, Path], Contender]


def _tantivy(lines: Lines, folder: Path) -> Contender:
    from loadtest.kernel.tantivy_index import TantivyIndex  # noqa: PLC0415 -- may not be installed

    return TantivyIndex(lines, folder)


def _bm25s(lines: Lines, folder: Path) -> Contender:
    from loadtest.kernel.bm25s_index import Bm25sIndex  # noqa: PLC0415 -- may not be installed

    return Bm25sIndex(lines, folder)


def _fts5(lines: Lines, folder: Path) -> Contender:
    from loadtest.kernel.fts5_index import Fts5Index  # noqa: PLC0415 -- as the others

    return Fts5Index(lines, folder)


PEERS: Final[Mapping[str, tuple[str, Opener]]] = {
    "tantivy": ("tantivy", _tantivy),
    "bm25s": ("bm25s", _bm25s),
    "SQLite FTS5": ("sqlite3", _fts5),
}
"""Name -> the module that must be there, and how the peer is opened."""


def missing_peers() -> tuple[str, ...]:
    """Names of the peers that are not installed; the extra ``bench`` has them."""
    return tuple(name for name, (module, _) in PEERS.items() if find_spec(module) is None)


def opened(place: Path, lines: Lines, folder: Path, peers: Sequence[str]) -> Iterator[Contender]:
    """One contender after the other, ours first.

    Args:
        place: the snapshot of one shard with the records of ``lines``.
        lines: for the peers.
        folder: of the peers' indexes; what is there is used again.
        peers: those wanted; one that is not installed is left out.
    """
    yield Kernels(place)
    yield KernelsTogether(place)
    yield ShardPart(place)
    yield WholeSearch(place)
    absent = missing_peers()
    for name in peers:
        if name not in absent:
            module, opener = PEERS[name]
            yield opener(lines, folder / module)
