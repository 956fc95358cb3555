"""Snapshot: an index generation as checksummed files, a cache of the registry whose damage is always seen.

Format 1, one directory::

    manifest.json            the hex blake2b-256 of the JSON after the line break: shard, analyzer, seq, lists, parts
    <digest>.index           typed little-endian arrays at 64-byte bounds, described in the manifest
    <digest>.documents       bodies one after the other; memory-mapped when read
    <digest>.live            one byte per row, only where rows are dead

Data files are named by the digest of their bytes and the manifest names its files, so a snapshot is complete exactly
when its manifest is; that is renamed into place last. Nothing is unpickled. One process writes a directory.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import orjson

from shards.analyzer import ANALYZER_ID
from shards.errors import CorruptSnapshot
from shards.grants import GrantLists
from shards.index import ShardIndex
from shards.part import Part
from shards.segment import next_uid
from shards.segment_layout import DTYPES, arrays_of, segment_of
from shards.snapshot_files import (
    Buffer,
    digest_of,
    map_verified,
    read_verified,
    remove_others,
    write_addressed,
    write_durably,
)

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
_ALIGNMENT: Final = 64
_SEPARATOR: Final = b"\n"

_Json = dict[str, Any]


def write(index: ShardIndex, directory: Path, shard: int) -> None:
    """Write ``index`` to ``directory``; the snapshot there before stays valid until this one is whole."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    parts = [_written_part(part, directory) for part in index.parts]
    manifest = {
        "format": FORMAT,
        "analyzer": ANALYZER_ID,
        "shard": shard,
        "seq": index.seq,
        "grant_lists": {name: sorted(found.ids) for name, found in index.lists.lists.items()},
        "parts": parts,
    }
    content = orjson.dumps(manifest)
    write_durably(directory / MANIFEST, [digest_of([content]).encode(), _SEPARATOR, content])
    files = [part[kind] for part in parts for kind in ("index", "documents", "live") if part[kind] is not None]
    remove_others(directory, frozenset([MANIFEST, *files]))


def read(directory: Path, shard: int) -> ShardIndex:
    """The index of ``write``.

    Raises:
        CorruptSnapshot: if any byte is damaged or missing, or it is of another format, analyzer or shard.
    """
    path = directory / MANIFEST
    manifest = _manifest(path)
    for field, expected in (("format", FORMAT), ("analyzer", ANALYZER_ID), ("shard", shard)):
        if manifest.get(field) != expected:
            raise CorruptSnapshot(str(path), f"{field} is {manifest.get(field)!r}; expected {expected!r}")
    try:
        return ShardIndex(
            parts=tuple(_read_part(part, directory) for part in manifest["parts"]),
            lists=GrantLists().changed(manifest["grant_lists"], next_uid()),
            seq=manifest["seq"],
        )
    except (KeyError, TypeError, ValueError) as exc:
        raise CorruptSnapshot(str(path), f"is not a manifest of format {FORMAT}: {exc!r}") from exc


def _manifest(path: Path) -> _Json:
    try:
        digest, separator, content = path.read_bytes().partition(_SEPARATOR)
    except OSError as exc:
        raise CorruptSnapshot(str(path), f"cannot be read: {exc.strerror}") from exc
    if not separator or digest != digest_of([content]).encode():
        raise CorruptSnapshot(str(path), "does not match its checksum")
    manifest: _Json = orjson.loads(content)
    return manifest


def _written_part(part: Part, directory: Path) -> _Json:
    segment = part.segment
    chunks, arrays = _packed(arrays_of(segment))
    live = None if part.live is None else write_addressed(directory, "live", [part.live.tobytes()])
    return {
        "arrays": arrays,
        "index": write_addressed(directory, "index", chunks),
        "documents": write_addressed(directory, "documents", [segment.documents.blob]),
        "live": live,
    }


def _read_part(part: _Json, directory: Path) -> Part:
    arrays = _unpacked(read_verified(directory, part["index"]), part["arrays"])
    segment = segment_of(arrays, map_verified(directory, part["documents"]))
    if part["live"] is None:
        return Part.of(segment)
    return Part.of(segment, np.frombuffer(read_verified(directory, part["live"]), np.bool_))


def _packed(arrays: Mapping[str, npt.NDArray[Any]]) -> tuple[list[Buffer], _Json]:
    """The bytes of all arrays, and for each its dtype, offset and length."""
    chunks: list[Buffer] = []
    places: _Json = {}
    end = 0
    for name, array in arrays.items():
        content = array.tobytes()
        padding = -len(content) % _ALIGNMENT
        places[name] = [array.dtype.str, end, len(array)]
        chunks += [content, bytes(padding)]
        end += len(content) + padding
    return chunks, places


def _unpacked(content: bytes, places: Mapping[str, Sequence[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The arrays of ``_packed``, read-only views of ``content``; ValueError for a dtype or place it cannot have."""
    arrays = {}
    for name, (dtype, offset, length) in places.items():
        if dtype not in DTYPES:
            raise ValueError(f"{name}: dtype {dtype!r} is not allowed; expected one of {sorted(DTYPES)}")
        arrays[name] = np.frombuffer(content, dtype, length, offset)
    return arrays
