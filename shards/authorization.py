"""AuthorizedRows: what one principal may see of one part of the index, cached with its term frequencies.

Masks survive a change of the index where segment, grant lists and live rows stayed the same. A cached value is found
only under everything it depends on, so an old one can never answer for a new state; it holds no segment alive.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from shards import kernel
from shards.cache import BoundedCache
from shards.grants import GrantLists
from shards.mask import Mask, admitted
from shards.part import Part
from shards.postings import Postings
from shards.scope import Scope
from shards.segment import Segment

MASK_CACHE_BYTES: Final = 64 << 20
FREQUENCIES_KEPT: Final = 1024
_FREQUENCY_BYTES: Final = 96
_Key = tuple[str, int, tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuthorizedRows:
    """The authorized rows of one part.

    Attributes:
        mask: bool[rows], read-only; live rows the principal may see.
        count: how many they are.
        counted: dictionary row of a term -> authorized records holding it; only a cache.
    """

    mask: Mask
    count: int
    counted: dict[int, int] = field(default_factory=dict)

    def frequencies(self, postings: Postings, terms: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """int64[n_terms]: authorized records that hold each dictionary row; 0 for row -1."""
        rows = terms.tolist()
        missing = [row for row in dict.fromkeys(rows) if row >= 0 and row not in self.counted]
        if missing:
            if len(self.counted) + len(missing) > FREQUENCIES_KEPT:
                self.counted.clear()
                missing = [row for row in dict.fromkeys(rows) if row >= 0]
            counts = kernel.frequencies(postings, np.array(missing, np.int64), self.mask)
            self.counted.update(zip(missing, counts.tolist(), strict=True))
        return np.array([self.counted[row] if row >= 0 else 0 for row in rows], np.int64)


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
                mask.flags.writeable = False
            found = AuthorizedRows(mask=mask, count=int(np.count_nonzero(mask)))
            frequencies = min(FREQUENCIES_KEPT, len(part.segment.postings.terms))
            self._rows.put(key, found, len(mask) + _FREQUENCY_BYTES * frequencies)
        return found

    def _mask(self, scope: Scope, segment: Segment, lists: GrantLists) -> Mask:
        key = (scope.fingerprint, segment.uid, lists.versions(scope))
        mask = self._masks.get(key)
        if mask is None:
            mask = admitted(scope, segment, lists)
            mask.flags.writeable = False
            self._masks.put(key, mask, len(mask))
        return mask
