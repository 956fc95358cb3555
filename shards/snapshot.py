"""Snapshot: an index generation as checksummed files, a cache of the registry whose damage is always seen.

Format 4, one directory::

    manifest.json            the hex blake2b-256 of the JSON after the line break: shard, analyzer, embedder and dims
                             ("" and 0 without vectors), seq, lists, twins, parts
    <digest>.index           typed little-endian arrays at 64-byte bounds, described in the manifest
    <digest>.documents       bodies one after the other; memory-mapped when read
    <digest>.live            one byte per row, only where rows are dead
    <digest>.vectors         int8[rows, dims], then one byte per row, 1 where it has one; mapped privately when read
    <digest>.graph           what hnswlib writes, only where a graph was built; read only after its digest matched

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
from shards.graph import Graph
from shards.graph import available as graph_available
from shards.index import ShardIndex
from shards.messages import Twin
from shards.part import Part
from shards.segment import next_uid
from shards.segment_layout import DTYPES, arrays_of, segment_of
from shards.snapshot_files import (
    Buffer,
    adopted,
    digest_of,
    map_privately,
    map_verified,
    read_verified,
    remove_others,
    temporary_in,
    write_addressed,
    write_durably,
)
from shards.vector_arrivals import embedder_of
from shards.vectors import Vectors

FORMAT: Final = 4
MANIFEST: Final = "manifest.json"
_FILES: Final = ("index", "documents", "live", "vectors", "graph")
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
        "embedder": embedder_of(index.parts),
        "dims": next((part.vectors.dims for part in index.parts if part.vectors is not None), 0),
        "seq": index.seq,
        "grant_lists": {name: sorted(found.ids) for name, found in index.lists.lists.items()},
        "twins": [[twin.duplicate, twin.canonical, twin.own, twin.its] for twin in index.twins.values()],
        "parts": parts,
    }
    content = orjson.dumps(manifest)
    write_durably(directory / MANIFEST, [digest_of([content]).encode(), _SEPARATOR, content])
    files = [part[kind] for part in parts for kind in _FILES if part[kind] is not None]
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
            parts=tuple(
                _read_part(part, directory, manifest["embedder"], manifest["dims"]) for part in manifest["parts"]
            ),
            lists=GrantLists().changed(manifest["grant_lists"], next_uid()),
            seq=manifest["seq"],
            twins={one: _read_twin(one, *rest) for one, *rest in manifest["twins"]},
        )
    except (KeyError, TypeError, ValueError) as exc:
        raise CorruptSnapshot(str(path), f"is not a manifest of format {FORMAT}: {exc!r}") from exc


def _read_twin(duplicate: str, canonical: str, own: list[str], its: list[str]) -> Twin:
    (locale, release, product), (its_locale, its_release, its_product) = own, its
    return Twin(
        duplicate=duplicate,
        canonical=canonical,
        own=(locale, release, product),
        its=(its_locale, its_release, its_product),
    )


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
    segment, vectors = part.segment, part.vectors
    chunks, arrays = _packed(arrays_of(segment))
    return {
        "arrays": arrays,
        "index": write_addressed(directory, "index", chunks),
        "documents": write_addressed(directory, "documents", [segment.documents.blob]),
        "live": None if part.live is None else write_addressed(directory, "live", [part.live.tobytes()]),
        "vectors": None if vectors is None else _written_vectors(vectors, directory),
        "graph": None if vectors is None or vectors.graph is None else _written_graph(vectors.graph, directory),
    }


def _written_vectors(vectors: Vectors, directory: Path) -> str:
    # A copy first: rows that nobody sees yet may be filled while the file is written.
    return write_addressed(directory, "vectors", [vectors.values.tobytes(), vectors.present.tobytes()])


def _written_graph(graph: Graph, directory: Path) -> str:
    temporary = temporary_in(directory, "graph")
    graph.write(temporary)
    return adopted(temporary)


def _read_part(part: _Json, directory: Path, embedder: str, dims: int) -> Part:
    arrays = _unpacked(read_verified(directory, part["index"]), part["arrays"])
    segment = segment_of(arrays, map_verified(directory, part["documents"]))
    live = None if part["live"] is None else np.frombuffer(read_verified(directory, part["live"]), np.bool_)
    vectors = None
    if part["vectors"] is not None:
        vectors = _read_vectors(map_privately(directory, part["vectors"]), embedder, len(segment), dims)
        if part["graph"] is not None and graph_available():
            map_verified(directory, part["graph"])
            vectors = vectors.with_graph(Graph.read(directory / part["graph"], vectors.values))
    return Part.of(segment, live, vectors)


def _read_vectors(content: Buffer, embedder: str, rows: int, dims: int) -> Vectors:
    if not embedder or dims < 1 or len(content) != rows * dims + rows:
        raise ValueError(f"vectors: {len(content)} bytes of {embedder!r} are not {rows} rows of {dims} and a mark each")
    values = np.frombuffer(content, np.int8, rows * dims).reshape(rows, dims)
    present = np.frombuffer(content, np.bool_, rows, rows * dims).copy()
    present.flags.writeable = False
    return Vectors(embedder=embedder, values=values, present=present)


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
