"""Mentions: the spans of a query that may equal a whole field of a record, by the hash of their normal form.

It holds no text and looks nothing up; where records with such a field stand is ``shards.names``' knowledge.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate, chain
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from shards.utf8 import encoded

REMEMBERED: Final = 16_384
"""Digests of keys that a process remembers: queries share most of their words and runs of words."""

_DIGEST: Final = hashlib.blake2b(digest_size=8)
"""Only copied: a copy costs half of what a new one does."""


class MentionField(StrEnum):
    """Which exact look-up a mention asks."""

    NAME = "name"
    CAPABILITY = "capability"
    DOMAIN = "domain"


FIELDS: Final = tuple(MentionField)


def key_hash(key: str) -> int:
    """The 64-bit hash under which a key is kept and asked for; stable across processes and machines."""
    return int.from_bytes(_digest(key))


def _digest(key: str) -> bytes:
    digest = _DIGEST.copy()
    digest.update(key.encode() if key.isascii() else encoded(key))
    return digest.digest()


_asked_digest: Final = lru_cache(REMEMBERED)(_digest)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mentions:
    """Spans of the query that may equal a whole field; each record that has it gets the bonus once per field.

    The record with the highest bonus per field counts once: bonuses of one field do not add up, those of two
    fields do. A record with a bonus is a candidate even where no term matches.

    Keys are told apart by 64 bits of blake2b alone: one of a million keys is met by one of a query's 96 with a chance
    of 5e-12, and then a record gets a bonus too many. That depends on this record and the query only, so it is the same
    beside any other records; it never becomes visible to anyone.

    Attributes:
        hashes: uint64[n], ``key_hash`` of each key, field after field in the order of ``FIELDS``.
        bonuses: int32[n], all above 0.
        bounds: where each field starts, then n.
    """

    hashes: npt.NDArray[np.uint64]
    bonuses: npt.NDArray[np.int32]
    bounds: tuple[int, int, int, int]

    @classmethod
    def of(cls, fields: Mapping[MentionField, Iterable[tuple[str, int]]]) -> Self:
        """Mentions of the (key, bonus) pairs of each field, in any order; an empty key names nothing."""
        pairs = [[pair for pair in fields.get(field, ()) if pair[0]] for field in FIELDS]
        first, second, third = accumulate(map(len, pairs))
        keys, bonuses = zip(*chain.from_iterable(pairs), strict=True) if third else ((), ())
        digests = np.frombuffer(b"".join(map(_asked_digest, keys)), ">u8")
        return cls(
            hashes=digests.astype(np.uint64), bonuses=np.array(bonuses, np.int32), bounds=(0, first, second, third)
        )

    def among(self, field: MentionField) -> dict[int, int]:
        """The best bonus of each hash of one field."""
        start, end = self.span(field)
        best: dict[int, int] = {}
        for digest, bonus in zip(self.hashes[start:end].tolist(), self.bonuses[start:end].tolist(), strict=True):
            best[digest] = max(bonus, best.get(digest, 0))
        return best

    def span(self, field: MentionField) -> tuple[int, int]:
        """Start and end of one field."""
        place = FIELDS.index(field)
        return self.bounds[place], self.bounds[place + 1]

    def __len__(self) -> int:
        return self.bounds[-1]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mentions):
            return NotImplemented
        return self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def _parts(self) -> tuple[bytes, bytes, tuple[int, ...]]:
        return self.hashes.tobytes(), self.bonuses.tobytes(), self.bounds


NO_MENTIONS: Final = Mentions.of({})
