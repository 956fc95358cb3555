"""Vectors: what an embedder made of the records of one segment, and the exact likeness of a query to any of them.

How vectors reach the rows is ``shards.vector_arrivals``' task, which rows are looked at ``shards.candidates``'.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from shards import vector_kernel
from shards.deadline import Expired, stop_if
from shards.errors import InvalidVector
from shards.graph import Graph
from shards.messages import VectorQuery

_STEP_VALUES: Final = 8_000_000
"""Numbers that a scan multiplies between two looks at the clock: about 0.3 ms."""

_LARGEST_DOT: Final = 2**31 - 1
_LARGEST_VALUE: Final = 128


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Vectors:
    """The vectors of one segment, of one embedder, by ordinal.

    A row that no ``present`` shows yet is filled in place, and then a new ``present`` shows it: whoever holds an older
    one goes on reading what it read before.

    Attributes:
        embedder: id of what made the vectors.
        values: int8[rows, dims], C order; memory that may be a private map of a file.
        present: bool[rows], read-only, which rows have a vector; the values of the others mean nothing.
        graph: over most of the present rows, None before it is built or where none is worth it.
    """

    embedder: str
    values: npt.NDArray[np.int8]
    present: npt.NDArray[np.bool_]
    graph: Graph | None = None

    @classmethod
    def none_yet(cls, embedder: str, rows: int, dims: int) -> Self:
        """Room for ``rows`` vectors, none of them there."""
        return cls(
            embedder=embedder, values=np.zeros((rows, dims), np.int8), present=_read_only(np.zeros(rows, np.bool_))
        )

    @property
    def dims(self) -> int:
        """Length of a vector."""
        dims: int = self.values.shape[1]
        return dims

    def filled(self, rows: npt.NDArray[np.int64], values: npt.NDArray[np.int8]) -> "Vectors":
        """These vectors and those of more rows (int8[n, dims]) that had none."""
        self.values[rows] = values
        present = self.present.copy()
        present[rows] = True
        return replace(self, present=_read_only(present))

    def with_graph(self, graph: Graph) -> "Vectors":
        """These vectors with a graph over them."""
        return replace(self, graph=graph)

    def likenesses(
        self, query: VectorQuery, mask: npt.NDArray[np.bool_], expired: Expired
    ) -> tuple[npt.NDArray[np.int32], int]:
        """Scan the masked rows: int32[rows], 0 without mask or vector, and how many rows have both.

        Raises:
            OutOfTimeError: if the time runs out between two steps.
        """
        likenesses = np.zeros(len(self.values), np.int32)
        found = 0
        step = max(1, _STEP_VALUES // self.dims)
        for start in range(0, len(likenesses), step):
            if start:
                stop_if(expired)
            rows = slice(start, start + step)
            found += vector_kernel.scan(
                self.values[rows], query.values, query.floor, mask[rows], self.present[rows], likenesses[rows]
            )
        return likenesses, found

    def likenesses_at(self, query: VectorQuery, rows: npt.NDArray[np.uint16]) -> npt.NDArray[np.int32]:
        """int32[n]: the likeness of each of these rows (uint16[n]), 0 without a vector."""
        likenesses = np.zeros(len(rows), np.int32)
        every = np.ones(len(rows), np.bool_)
        vector_kernel.scan(self.values[rows], query.values, query.floor, every, self.present[rows], likenesses)
        return likenesses

    def require(self, query: VectorQuery) -> None:
        """Refuse a query that cannot be compared with these vectors.

        Raises:
            InvalidVector: if it has another length, or values so large that a dot product could leave int32.
        """
        if query.values.shape != (self.dims,):
            raise InvalidVector("vector.values", f"int16{list(query.values.shape)}", f"int16[{self.dims}]")
        largest = _LARGEST_VALUE * int(np.abs(query.values.astype(np.int64)).sum())
        if largest > _LARGEST_DOT:
            raise InvalidVector("vector.values", f"a dot product of up to {largest}", f"at most {_LARGEST_DOT}")

    @property
    def nbytes(self) -> int:
        """Memory of values and presence in bytes, mapped or not; the graph's is its own."""
        return self.values.nbytes + self.present.nbytes


def merged_vectors(parts: Sequence[Vectors | None], ranks: Sequence[npt.NDArray[np.int64]]) -> Vectors | None:
    """The vectors of a merged segment; None where no part has any. Graphs end here, their rows have other numbers.

    Args:
        parts: of the segments that were merged, all of one embedder.
        ranks: int64[rows] per segment, the merged ordinal of each row, -1 where it was left out.
    """
    held = [(vectors, rank) for vectors, rank in zip(parts, ranks, strict=True) if vectors is not None]
    if not held:
        return None
    first = held[0][0]
    rows = sum(int(np.count_nonzero(rank >= 0)) for rank in ranks)
    merged = Vectors.none_yet(first.embedder, rows, first.dims)
    present = np.zeros(rows, np.bool_)
    for vectors, rank in held:
        kept = (rank >= 0) & vectors.present
        merged.values[rank[kept]] = vectors.values[kept]
        present[rank[kept]] = True
    return replace(merged, present=_read_only(present)) if present.any() else None


def _read_only(present: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    present.flags.writeable = False
    return present
