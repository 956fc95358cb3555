"""The ranker seam and the built-in additive ranker: candidates in, integer scores out.

It does not order, cut or explain; ``cluster.merge`` orders and ``cluster.lossless`` proves the cut. Vectors reach it as
likenesses; it knows no model.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final, Protocol, Self

import numpy as np
import numpy.typing as npt
import orjson

from cluster.errors import InvalidConfiguration
from cluster.query import AnalyzedRequest
from cluster.strict_yaml import Json, integer_in, read_yaml
from shards.messages import MAX_TERMS, ScoreMix
from shards.scoring import index_scores

CHANNEL_LIMIT: Final = 15
"""Largest factor of a channel; with the two limits below it keeps 64 terms inside int32 (see ``ScoreMix``)."""

PRESENCE_LIMIT: Final = 3825

SIMILARITY_LIMIT: Final = 65_535

_WORD_FACTORS: Final = {"impact": CHANNEL_LIMIT, "name": CHANNEL_LIMIT, "presence": PRESENCE_LIMIT}
"""The factors of a row without vectors, and the largest value of each."""

FEW_BITS: Final = 8
"""Up to 2**8 authorized records, similarity counts in full."""

CROWDING_RANGES: Final = {"percent": (50, 100), "doublings": (0, 24)}

_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""Of a ranker: it stands in every answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Static values of the records to be ranked, in any order.

    Attributes:
        values: uint8[n, n_terms, 2], impact and name channel; impact 0 means that the record does not hold the term.
        bonuses: int32[n], mention bonus of each record.
        likenesses: int32[n], likeness of each record's vector to the query's; 0 in a search by words alone.
        weights: int64[n_terms], frequency weights of the whole authorized set.
    """

    values: npt.NDArray[np.uint8]
    bonuses: npt.NDArray[np.int32]
    likenesses: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int64]


class Ranker(Protocol):
    """Scores candidates. The same ranker ranks a candidate list and, as the reference, the whole authorized set.

    Attributes:
        version: names the ranker and its weights; stands in every answer.
        bound: the most that a score can exceed the additive index score under ``mix``; 0 where they are equal,
            None where no bound is known (answers then never claim to be exact).
    """

    @property
    def version(self) -> str:
        """See the class."""

    @property
    def bound(self) -> int | None:
        """See the class."""

    def mix(self, request: AnalyzedRequest) -> ScoreMix:
        """How the index adds up its channels for this query; ``similarity`` counts only if it is embedded."""

    def rank(self, request: AnalyzedRequest, candidates: Candidates) -> npt.NDArray[np.int64]:
        """int64[n], one score per candidate, each computed from its own row alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MixRow:
    """The mix for queries of at most ``max_terms`` distinct terms; None means of any length."""

    max_terms: int | None
    mix: ScoreMix


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowding:
    """What similarity loses in a crowd: the more records there are, the more of them resemble any query.

    Attributes:
        percent: that it keeps with each doubling of the authorized records beyond 256; 100 is for no crowding at all.
        doublings: after so many it loses no more.
    """

    percent: int
    doublings: int

    def of(self, similarity: int, authorized: int) -> int:
        """``similarity * (percent / 100) ** doublings``, rounded down; doublings of 256, a started one counts."""
        doublings = min(self.doublings, max(0, (max(1, authorized) - 1).bit_length() - FEW_BITS))
        return int(similarity * self.percent**doublings // 100**doublings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixes:
    """The rows to choose a mix from, each table by rising ``max_terms``, its last row without a limit.

    Attributes:
        words: for a search by words alone; no similarity.
        hybrid: for a query that has a vector, among few records.
        crowding: of the similarity of a hybrid mix.
    """

    words: tuple[MixRow, ...]
    hybrid: tuple[MixRow, ...]
    crowding: Crowding

    def of(self, request: AnalyzedRequest) -> ScoreMix:
        """The mix for a query."""
        rows = self.words if request.embedded is None else self.hybrid
        mix = next(row.mix for row in rows if row.max_terms is None or request.length <= row.max_terms)
        if mix.similarity == 0:
            return mix
        return replace(mix, similarity=self.crowding.of(mix.similarity, request.crowd))


class AdditiveRanker:
    """The score is the index score itself: a sum in int64, so the cut needs no margin."""

    bound: Final = 0

    def __init__(self, name: str, mixes: Mixes) -> None:
        self._mixes = mixes
        self.version = f"{name}-{_weights_hash(mixes)}"

    @classmethod
    def from_config(cls, path: Path | None = None) -> Self:
        """The ranker that the file at ``path`` describes, or the shipped ``configs/ranker.yaml``.

        Raises:
            InvalidConfiguration: if it cannot be read, a value is outside its range or a key is unknown.
        """
        if path is not None:
            return cls(*read_ranker_file(path))
        with as_file(files("configs") / "ranker.yaml") as shipped:
            return cls(*read_ranker_file(shipped))

    def mix(self, request: AnalyzedRequest) -> ScoreMix:
        """See ``Ranker``."""
        return self._mixes.of(request)

    def rank(self, request: AnalyzedRequest, candidates: Candidates) -> npt.NDArray[np.int64]:
        """See ``Ranker``. Empty input gives an empty array."""
        return index_scores(
            candidates.values, candidates.bonuses, candidates.likenesses, candidates.weights, self.mix(request)
        )


def read_ranker_file(path: Path) -> tuple[str, Mixes]:
    """Name and mixes of a ranker file.

    Raises:
        InvalidConfiguration: if it cannot be read, a key is missing or unknown, or a value is outside its range.
    """
    config = read_yaml(path)
    if not isinstance(config, dict) or set(config) != {"name", "mixes", "hybrid", "crowding"}:
        raise InvalidConfiguration(str(path), str(config), "the keys name, mixes, hybrid and crowding")
    name = config["name"]
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidConfiguration(f"{path}: name", str(name), "1 to 64 of A-Z a-z 0-9 . _ -")
    words = _table(f"{path}: mixes", config["mixes"], _WORD_FACTORS)
    hybrid = _table(f"{path}: hybrid", config["hybrid"], _WORD_FACTORS | {"similarity": SIMILARITY_LIMIT})
    return name, Mixes(words=words, hybrid=hybrid, crowding=_crowding(f"{path}: crowding", config["crowding"]))


def _crowding(field: str, raw: Json) -> Crowding:
    if not isinstance(raw, dict) or set(raw) != set(CROWDING_RANGES):
        raise InvalidConfiguration(field, str(raw), f"the keys {', '.join(CROWDING_RANGES)}")
    return Crowding(**{name: integer_in(f"{field}.{name}", raw[name], *span) for name, span in CROWDING_RANGES.items()})


def _table(field: str, raw: Json, limits: Mapping[str, int]) -> tuple[MixRow, ...]:
    """The rows of one table; ``limits`` are the factors that each has, with the largest value of each."""
    if not isinstance(raw, list) or not raw:
        raise InvalidConfiguration(field, str(raw), "a list of at least one row")
    rows = tuple(_row(f"{field}[{index}]", row, limits) for index, row in enumerate(raw))
    ends = [row.max_terms for row in rows]
    bounded = [end for end in ends if end is not None]
    if ends != [*sorted(set(bounded)), None]:
        raise InvalidConfiguration(field, str(ends), "rising max_terms, the last one null")
    return rows


def _row(field: str, raw: Json, limits: Mapping[str, int]) -> MixRow:
    if not isinstance(raw, dict) or set(raw) != {"max_terms", *limits}:
        raise InvalidConfiguration(field, str(raw), f"the keys max_terms, {', '.join(limits)}")
    factors = {name: integer_in(f"{field}.{name}", raw[name], 0, most) for name, most in limits.items()}
    unlimited = raw["max_terms"] is None
    return MixRow(
        max_terms=None if unlimited else integer_in(f"{field}.max_terms", raw["max_terms"], 1, MAX_TERMS),
        mix=ScoreMix(**factors),
    )


def _weights_hash(mixes: Mixes) -> str:
    return hashlib.blake2b(orjson.dumps(mixes), digest_size=4).hexdigest()
