"""AuthorizedRows: what one principal may see of one part of the index, cached.

Masks survive a change of the index where segment, grant lists and live rows stayed the same. A cached value is found
only under everything it depends on, so an old one can never answer for a new state; it holds no segment alive.
"""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from shards.addresses import addresses_of
from shards.bits import Bits, bits_of, contains, mask_of
from shards.cache import BoundedCache
from shards.grants import GrantLists
from shards.mask import ENTRY_BYTES, Mask, NamespaceRows, admitted
from shards.part import Part
from shards.scope import Scope
from shards.segment import Segment

ROWS_BYTES: Final = 64 << 20
"""Of each of the two caches: some 6,000 scopes of 75,000 records."""

_Key = tuple[str, int, tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuthorizedRows:
    """The authorized rows of one part: live rows the principal may see.

    Attributes:
        bits: uint64[words], the rows as bits, read-only.
        rows: all rows of the part.
        count: how many are authorized.
        numbers: int64[4], ``count``, ``rows``, address and length of ``bits``: what a ``Sight`` says of them.
    """

    bits: Bits
    rows: int
    count: int
    numbers: npt.NDArray[np.int64]

    @classmethod
    def of(cls, mask: Mask) -> Self:
        """The rows of a mask."""
        bits, count = bits_of(mask), int(np.count_nonzero(mask))
        bits.flags.writeable = False
        numbers = np.array([count, len(mask), *addresses_of((bits,))], np.int64)
        return cls(bits=bits, rows=len(mask), count=count, numbers=numbers)

    @property
    def mask(self) -> Mask:
        """bool[rows], the same rows, made anew at each call: bits take an eighth of the memory of what is kept."""
        return mask_of(self.bits, self.rows)

    def holds(self, row: int) -> bool:
        """Whether a row is among them."""
        return bool(contains(self.bits, row))

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.bits.nbytes


class Authorizer:
    """Computes and keeps authorized rows; shared by all generations of a shard's index."""

    def __init__(self, ceiling_bytes: int = ROWS_BYTES) -> None:
        self._admitted: BoundedCache[_Key, AuthorizedRows] = BoundedCache(ceiling_bytes)
        self._live: BoundedCache[_Key, AuthorizedRows] = BoundedCache(ceiling_bytes)
        self._namespaces = NamespaceRows()

    def authorize(self, scope: Scope, part: Part, lists: GrantLists) -> AuthorizedRows:
        """The rows of ``part`` that ``scope`` admits at this state of the grant lists."""
        if part.live is None:
            return self._of_segment(scope, part.segment, lists)
        key = (scope.fingerprint, part.uid, lists.versions(scope))
        found = self._live.get(key)
        if found is None:
            found = AuthorizedRows.of(self._of_segment(scope, part.segment, lists).mask & part.live)
            self._live.put(key, found, found.nbytes + ENTRY_BYTES)
        return found

    def _of_segment(self, scope: Scope, segment: Segment, lists: GrantLists) -> AuthorizedRows:
        """The same, whether the rows are live or not."""
        key = (scope.fingerprint, segment.uid, lists.versions(scope))
        found = self._admitted.get(key)
        if found is None:
            found = AuthorizedRows.of(admitted(scope, segment, lists, self._namespaces))
            self._admitted.put(key, found, found.nbytes + ENTRY_BYTES)
        return found
