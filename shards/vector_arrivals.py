"""Vectors that arrive: which live records lack one, and how one finds its row, from an embedder or from the row before.

Pure functions over parts. A vector belongs to a text, not to a record: it is taken only where the record's text still
has the hash that was embedded. All parts of a shard hold vectors of one embedder, or none.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shards.errors import InvalidVector
from shards.messages import MOST_DIMS, MissingVector, NewVector
from shards.part import Part
from shards.record import text_hash_in
from shards.utf8 import encoded
from shards.vectors import Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """The parts after an arrival, and how many rows got a vector."""

    parts: tuple[Part, ...]
    taken: int


def embedder_of(parts: Iterable[Part]) -> str:
    """The embedder whose vectors the parts hold, empty for none."""
    return next((part.vectors.embedder for part in parts if part.vectors is not None), "")


def missing(parts: Iterable[Part], embedder: str, limit: int) -> tuple[MissingVector, ...]:
    """The first ``limit`` live records without a vector of this embedder, in the order of parts and ids."""
    found: list[MissingVector] = []
    for part in parts:
        lacking = part.live_rows() & ~_present(part, embedder)
        rows = np.flatnonzero(lacking)[: max(0, limit - len(found))].tolist()
        found += (
            MissingVector(record_id=part.segment.ids[row], search_text_hash=_text_hash(part, row)) for row in rows
        )
    return tuple(found)


def unembedded(parts: Iterable[Part], embedder: str) -> int:
    """Live records without a vector of this embedder."""
    return sum(part.count - int(np.count_nonzero(part.live_rows() & _present(part, embedder))) for part in parts)


def arrived(parts: tuple[Part, ...], embedder: str, vectors: Sequence[NewVector]) -> Arrived:
    """Give live rows their vectors; a row that has one, a text that has changed and an unknown id are passed over.

    The first vector of another embedder ends all those of the one before.

    Raises:
        InvalidVector: if the embedder has no name, or a vector another length than the rest. Nothing is taken then.
    """
    dims = _dims(parts, embedder, vectors)
    offered = {vector.record_id: vector for vector in vectors}
    changed = tuple(_with_offered(part, embedder, offered, dims) for part in parts)
    taken = sum(count for _, count in changed)
    if taken == 0:
        return Arrived(parts=parts, taken=0)
    return Arrived(parts=tuple(_only(part, embedder) for part, _ in changed), taken=taken)


def inherited(added: Part, before: Iterable[Part]) -> Part:
    """``added`` with the vectors of those of its records that had one and whose text is the same as before."""
    held_before = [(part, part.vectors) for part in before if part.vectors is not None]
    ids = list(added.segment.ids.all_bytes()) if held_before else []
    for part, vectors in held_before:
        rows = part.segment.ids.find_all(ids)
        held = (rows >= 0) & part.live_rows()[rows] & vectors.present[rows]
        same = [
            row for row in np.flatnonzero(held).tolist() if _text_hash(part, int(rows[row])) == _text_hash(added, row)
        ]
        if same:
            into = added.vectors or Vectors.none_yet(vectors.embedder, len(added.segment), vectors.dims)
            added = added.with_vectors(into.filled(np.array(same), vectors.values[rows[same]]))
    return added


def _dims(parts: Iterable[Part], embedder: str, vectors: Sequence[NewVector]) -> int:
    """The length that all vectors have."""
    if not embedder:
        raise InvalidVector("embedder", repr(embedder), "the id of an embedder")
    held = (part.vectors.dims for part in parts if part.vectors is not None and part.vectors.embedder == embedder)
    first = len(vectors[0].values) if vectors else 1
    dims = next(held, first)
    if not 1 <= dims <= MOST_DIMS:
        raise InvalidVector("values", f"{dims} bytes", f"1 to {MOST_DIMS} bytes")
    for vector in vectors:
        if len(vector.values) != dims:
            raise InvalidVector("values", f"{len(vector.values)} bytes", f"{dims} bytes, as other vectors have")
    return dims


def _with_offered(part: Part, embedder: str, offered: Mapping[str, NewVector], dims: int) -> tuple[Part, int]:
    """The part with what it can use of the offered vectors, and how much that is."""
    places = list(_usable(part, embedder, offered))
    if not places:
        return part, 0
    rows = np.array([row for row, _ in places])
    values = np.frombuffer(b"".join(vector.values for _, vector in places), np.int8).reshape(len(rows), dims)
    known = _only(part, embedder).vectors
    into = Vectors.none_yet(embedder, len(part.segment), dims) if known is None else known
    return part.with_vectors(into.filled(rows, values)), len(places)


def _usable(part: Part, embedder: str, offered: Mapping[str, NewVector]) -> Iterator[tuple[int, NewVector]]:
    """Live rows without a vector, each with one that was made of its very text."""
    rows = part.segment.ids.find_all([encoded(record_id) for record_id in offered])
    free = (rows >= 0) & part.live_rows()[rows] & ~_present(part, embedder)[rows]
    for row, vector, wanted in zip(rows.tolist(), offered.values(), free.tolist(), strict=True):
        if wanted and _text_hash(part, row) == vector.search_text_hash:
            yield row, vector


def _only(part: Part, embedder: str) -> Part:
    """The part without vectors of any other embedder."""
    return part if part.vectors is None or part.vectors.embedder == embedder else part.with_vectors(None)


def _present(part: Part, embedder: str) -> npt.NDArray[np.bool_]:
    if part.vectors is None or part.vectors.embedder != embedder:
        return np.zeros(len(part.segment), np.bool_)
    return part.vectors.present


def _text_hash(part: Part, row: int) -> str:
    return text_hash_in(part.segment.documents.body(row))
