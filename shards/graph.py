"""Graph: an immutable hnswlib graph over the vectors of one segment, and when asking it is cheaper than scanning.

It only proposes rows: who may see them and how alike they are is decided elsewhere, exactly. A graph is built once,
a slice of rows at a time, and never resized, deleted from or written again: hnswlib crashes, loses rows and loads
damaged files without a word (Malkov & Yashunin 2018 is the method).
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from shards.errors import CorruptSnapshot

SCAN_PS_PER_VALUE: Final = 40
"""Picoseconds of a scan per number: 0.15-0.17 ms for 10,000 rows of 384, 0.33-0.40 ms for 10,000 rows of 896."""

GRAPH_PS_PER_ROW: Final = 4_000_000
GRAPH_PS_PER_VALUE: Final = 5_000
"""Picoseconds per row that a graph is asked for, and per number of such a row.

Measured beside the scan with chroma-hnswlib 0.7.6: 0.55 ms for 100 rows among 60,000 of 384 numbers; 0.85 and 1.25 ms
for 100 and 150 rows among 30,042 real tools of 896 (recall@100 there .935 and .964).
"""

OVERFETCH_PERCENT: Final = 150
"""Rows asked for, of those that are wanted: the further ones mend what the search missed among the nearer ones."""

FEWEST_ASKED: Final = 128
"""Below this the search is so narrow that it misses near rows."""

LINKS: Final = 16
_BUILD_WIDTH: Final = 100
_SEED: Final = 7

SLICE_VALUES: Final = 32_768
"""Numbers that go into a graph at once, a row counting for 200 more: 30 rows of 896 or 100 of 128, 17-20 ms."""

_ROW_VALUES: Final = 200

MOST_LATE_SHARE: Final = 64
"""A graph is built once at most one of so many live rows lacks a vector; rows that get theirs later are scanned."""

_ROW_BYTES: Final = 250
"""What hnswlib keeps per row beside vector and links: label, lock, pointers, hash tables (measured)."""


class _Hnsw(Protocol):
    """The part of ``hnswlib.Index`` that is used here."""

    def init_index(self, max_elements: int, M: int, ef_construction: int, random_seed: int) -> None: ...  # noqa: N803
    def add_items(self, data: npt.NDArray[np.float32], ids: npt.NDArray[np.int64], num_threads: int) -> None: ...
    def knn_query(
        self, data: npt.NDArray[np.float32], k: int, num_threads: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]]: ...
    def set_ef(self, ef: int) -> None: ...
    def save_index(self, path_to_index: str) -> None: ...
    def load_index(self, path_to_index: str) -> None: ...
    def get_ids_list(self) -> list[int]: ...
    def get_items(self, ids: list[int]) -> list[list[float]]: ...


def available() -> bool:
    """Whether hnswlib is installed; where it is not, every search scans and every answer is exact."""
    return find_spec("hnswlib") is not None


def rows_to_ask(wanted: int, authorized: int, held: int, dims: int) -> int:
    """How many rows to ask a graph for so that ``wanted`` of them will be authorized; 0 where a scan is cheaper.

    Args:
        wanted: rows the search needs.
        authorized: rows a scan would look at.
        held: rows in the graph, hidden ones too: the fewer are authorized, the more have to be asked for.
        dims: length of a vector.
    """
    if authorized == 0:
        return 0
    asked = max(FEWEST_ASKED, -(-wanted * OVERFETCH_PERCENT * held // (100 * authorized)))
    if asked >= held:
        return 0
    scan_ps = authorized * dims * SCAN_PS_PER_VALUE
    graph_ps = asked * (GRAPH_PS_PER_ROW + dims * GRAPH_PS_PER_VALUE)
    return asked if graph_ps < scan_ps else 0


def worth_building(embedded: int, missing: int, dims: int) -> bool:
    """Whether any search could ask a graph over so many embedded live rows, and few rows are still to come."""
    return missing * MOST_LATE_SHARE <= embedded and rows_to_ask(1, embedded, embedded, dims) > 0


class Graph:
    """A finished graph.

    Attributes:
        held: bool[rows of the segment], read-only, which rows are in it.
        count: how many they are.
        nbytes: memory in bytes, to about a tenth (hnswlib does not tell).
    """

    def __init__(self, index: _Hnsw, held: npt.NDArray[np.bool_], dims: int) -> None:
        index.set_ef(FEWEST_ASKED)
        held.flags.writeable = False
        self._index = index
        self.held = held
        self.count = int(np.count_nonzero(held))
        # One link list per row on the ground, and one of half the length for one in LINKS rows above it.
        links_bytes = 4 * (2 * LINKS + 1) + 4 * (LINKS + 1) // LINKS
        self.nbytes = self.count * (4 * dims + links_bytes + _ROW_BYTES) + held.nbytes

    def nearest(self, query: npt.NDArray[np.int16], asked: int) -> npt.NDArray[np.uint16]:
        """About the ``asked`` rows (uint16[m], m <= asked) with the largest dot products; none where it finds fewer.

        ``query`` is int16[dims]. The same query always finds the same rows.
        """
        try:
            labels, _ = self._index.knn_query(query.astype(np.float32)[np.newaxis], k=asked, num_threads=1)
        except RuntimeError:
            # It could not reach as many rows from where it started. It says so by an error alone.
            return np.zeros(0, np.uint16)
        rows: npt.NDArray[np.uint16] = labels[0].astype(np.uint16)
        return rows

    def write(self, path: Path) -> None:
        """Write the graph to a file."""
        self._index.save_index(str(path))

    @classmethod
    def read(cls, path: Path, values: npt.NDArray[np.int8]) -> "Graph":
        """The graph of ``write`` over these vectors (int8[rows, dims]); the file's bytes have been verified.

        Raises:
            CorruptSnapshot: if another hnswlib wrote it, or it is over other vectors.
        """
        index = _new_index(values.shape[1])
        try:
            index.load_index(str(path))
            rows = np.array(index.get_ids_list(), np.int64)
            samples = [int(rows.min()), int(rows.max())]
            same = samples[0] >= 0 and samples[1] < len(values)
            same = same and np.array_equal(np.array(index.get_items(samples)), values[samples])
        except (RuntimeError, ValueError) as exc:
            raise CorruptSnapshot(str(path), f"is not a graph: {exc}") from exc
        if not same:
            raise CorruptSnapshot(str(path), "is a graph over other vectors")
        held = np.zeros(len(values), np.bool_)
        held[rows] = True
        return cls(index, held, values.shape[1])


class GraphBuilder:
    """A graph in the making: the same rows always give the same graph, however they are cut into slices.

    Args:
        values: int8[rows, dims].
        held: bool[rows], the rows that go in.
    """

    def __init__(self, values: npt.NDArray[np.int8], held: npt.NDArray[np.bool_]) -> None:
        self.values = values
        self._held = held.copy()
        self._rows = np.flatnonzero(held)
        self._done = 0
        self._index = _new_index(values.shape[1])
        self._index.init_index(len(self._rows), LINKS, _BUILD_WIDTH, _SEED)

    def advance(self) -> Graph | None:
        """Put the next slice in; the graph once the last is."""
        rows = self._rows[self._done : self._done + max(1, SLICE_VALUES // (self.values.shape[1] + _ROW_VALUES))]
        self._index.add_items(self.values[rows].astype(np.float32), rows, num_threads=1)
        self._done += len(rows)
        return Graph(self._index, self._held, self.values.shape[1]) if self._done == len(self._rows) else None


def _new_index(dims: int) -> _Hnsw:
    # Imported by the first graph: a shard without vectors has no use for it.
    import hnswlib  # noqa: PLC0415

    # The inner product is what likeness is made of; a graph by another measure would lead elsewhere.
    index: _Hnsw = hnswlib.Index("ip", dims)
    return index
