"""AuthorizedRows: what one principal may see of one part of the index, cached.

Masks survive a change of the index where segment, grant lists and live rows stayed the same. A cached value is found
only under everything it depends on, so an old one can never answer for a new state; it holds no segment alive.
"""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from shards import frequency_kernel
from shards.addresses import addresses_of
from shards.bits import Bits, bits_of
from shards.cache import BoundedCache
from shards.grants import GrantLists
from shards.mask import Mask, admitted
from shards.part import Part
from shards.postings import Postings
from shards.scope import Scope
from shards.segment import Segment

MASK_CACHE_BYTES: Final = 64 << 20
_Key = tuple[str, int, tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuthorizedRows:
    """The authorized rows of one part: live rows the principal may see.

    Attributes:
        mask: bool[rows], read-only.
        bits: the same rows as bits.
        count: how many they are.
        numbers: int64[4], ``count``, all rows, address and length of ``bits``: what a ``Sight`` says of them.
    """

    mask: Mask
    bits: Bits
    count: int
    numbers: npt.NDArray[np.int64]

    @classmethod
    def of(cls, mask: Mask) -> Self:
        """The rows of a mask, which nobody may change from now on."""
        mask.flags.writeable = False
        bits, count = bits_of(mask), int(np.count_nonzero(mask))
        return cls(
            mask=mask, bits=bits, count=count, numbers=np.array([count, len(mask), *addresses_of((bits,))], np.int64)
        )

    def frequencies(self, postings: Postings, terms: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """int64[n_terms]: authorized records that hold each dictionary row; 0 for row -1.

        They are not kept: to count them takes as long as to look them up.
        """
        counts = np.zeros(len(terms), np.int64)
        frequency_kernel.add_frequencies(counts, postings, terms, self.bits, self.count, len(self.mask))
        return counts

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.mask.nbytes + self.bits.nbytes


class Authorizer:
    """Computes and keeps authorized rows; shared by all generations of a shard's index."""

    def __init__(self, ceiling_bytes: int = MASK_CACHE_BYTES) -> None:
        self._masks: BoundedCache[_Key, Mask] = BoundedCache(ceiling_bytes)
        self._rows: BoundedCache[_Key, AuthorizedRows] = BoundedCache(ceiling_bytes)

    def authorize(self, scope: Scope, part: Part, lists: GrantLists) -> AuthorizedRows:
        """The rows of ``part`` that ``scope`` admits at this state of the grant lists."""
        key = (scope.fingerprint, part.uid, lists.versions(scope))
        found = self._rows.get(key)
        if found is None:
            mask = self._mask(scope, part.segment, lists)
            if part.live is not None:
                mask = mask & part.live
            found = AuthorizedRows.of(mask)
            self._rows.put(key, found, found.nbytes)
        return found

    def _mask(self, scope: Scope, segment: Segment, lists: GrantLists) -> Mask:
        key = (scope.fingerprint, segment.uid, lists.versions(scope))
        mask = self._masks.get(key)
        if mask is None:
            mask = admitted(scope, segment, lists)
            mask.flags.writeable = False
            self._masks.put(key, mask, len(mask))
        return mask
