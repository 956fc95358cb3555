"""Mentions: the spans of a query that may equal a whole field of a record, by the hash of their normal form.

It holds no text and looks nothing up; where records with such a field stand is ``shards.names``' knowledge.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from shards.utf8 import encoded

GROUPS: Final = 1024
"""Groups of keys whose digests a process remembers: a query asks two fields for the same. Single keys are not worth it:
most are runs of words that no other query has, and what is not remembered costs twice what hashing it does."""

LONGEST_GROUP: Final = 1024
"""Characters of a group that is remembered."""

BONUSES: Final = 4096
"""Arrays of bonuses that a process remembers: they differ by a few small counts."""

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


def _digests(keys: tuple[str, ...]) -> bytes:
    return _remembered(keys) if sum(map(len, keys)) <= LONGEST_GROUP else _joined(keys)


def _joined(keys: tuple[str, ...]) -> bytes:
    return b"".join(map(_digest, keys))


_remembered: Final = lru_cache(GROUPS)(_joined)


@lru_cache(BONUSES)
def _repeated(groups: tuple[tuple[int, int], ...]) -> npt.NDArray[np.int32]:
    """int32[n], each bonus as often as it says; not to be written to."""
    bonuses = np.repeat([bonus for bonus, _ in groups], [times for _, times in groups]).astype(np.int32)
    bonuses.setflags(write=False)
    return bonuses


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
        return cls.grouped({field: [((key,), bonus) for key, bonus in pairs if key] for field, pairs in fields.items()})

    @classmethod
    def grouped(cls, fields: Mapping[MentionField, Sequence[tuple[tuple[str, ...], int]]]) -> Self:
        """As ``of``, with the keys of one bonus together and none of them empty: what every query takes."""
        groups = [fields.get(field, ()) for field in FIELDS]
        first, second, third = accumulate([sum([len(keys) for keys, _ in field]) for field in groups])
        digests = b"".join([_digests(keys) for field in groups for keys, _ in field])
        bonuses = _repeated(tuple([(bonus, len(keys)) for field in groups for keys, bonus in field]))
        return cls(
            hashes=np.frombuffer(digests, ">u8").astype(np.uint64), bonuses=bonuses, bounds=(0, first, second, third)
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
