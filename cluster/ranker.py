"""The ranker seam and the built-in additive ranker: candidates in, integer scores out.

It does not order, cut or explain; ``cluster.merge`` orders and ``cluster.lossless`` proves the cut.
"""

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final, Protocol, Self

import numpy as np
import numpy.typing as npt
import orjson

from cluster.errors import InvalidConfiguration
from cluster.query import AnalyzedRequest
from cluster.strict_yaml import Json, read_yaml
from shards.messages import MAX_TERMS, ScoreMix
from shards.scoring import index_scores

CHANNEL_LIMIT: Final = 15
"""Largest factor of a channel; with ``PRESENCE_LIMIT`` it keeps 64 terms inside int32 (see ``ScoreMix``)."""

PRESENCE_LIMIT: Final = 3825

_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""Of a ranker: it stands in every answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Static values of the records to be ranked, in any order.

    Attributes:
        values: uint8[n, n_terms, 2], impact and name channel; impact 0 means that the record does not hold the term.
        bonuses: int32[n], mention bonus of each record.
        weights: int64[n_terms], frequency weights of the whole authorized set.
    """

    values: npt.NDArray[np.uint8]
    bonuses: npt.NDArray[np.int32]
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
        """How the index adds up its channels for this query."""

    def rank(self, request: AnalyzedRequest, candidates: Candidates) -> npt.NDArray[np.int64]:
        """int64[n], one score per candidate, each computed from its own row alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MixRow:
    """The mix for queries of at most ``max_terms`` distinct terms; None means of any length."""

    max_terms: int | None
    mix: ScoreMix


class AdditiveRanker:
    """The score is the index score itself: a sum over terms in int64, so the cut needs no margin."""

    bound: Final = 0

    def __init__(self, name: str, rows: tuple[MixRow, ...]) -> None:
        self._rows = rows
        self.version = f"{name}-{_weights_hash(rows)}"

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
        return next(row.mix for row in self._rows if row.max_terms is None or request.length <= row.max_terms)

    def rank(self, request: AnalyzedRequest, candidates: Candidates) -> npt.NDArray[np.int64]:
        """See ``Ranker``. Empty input gives an empty array."""
        return index_scores(candidates.values, candidates.bonuses, candidates.weights, self.mix(request))


def read_ranker_file(path: Path) -> tuple[str, tuple[MixRow, ...]]:
    """Name and rows of a ranker file.

    Raises:
        InvalidConfiguration: if it cannot be read, a key is missing or unknown, or a value is outside its range.
    """
    config = read_yaml(path)
    if not isinstance(config, dict) or set(config) != {"name", "mixes"}:
        raise InvalidConfiguration(str(path), str(config), "the keys name and mixes")
    name, raw = config["name"], config["mixes"]
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidConfiguration(f"{path}: name", str(name), "1 to 64 of A-Z a-z 0-9 . _ -")
    field = f"{path}: mixes"
    if not isinstance(raw, list) or not raw:
        raise InvalidConfiguration(field, str(raw), "a list of at least one row")
    rows = tuple(_row(f"{field}[{index}]", row) for index, row in enumerate(raw))
    limits = [row.max_terms for row in rows]
    bounded = [limit for limit in limits if limit is not None]
    if limits != [*sorted(set(bounded)), None]:
        raise InvalidConfiguration(field, str(limits), "rising max_terms, the last one null")
    return name, rows


def _row(field: str, raw: Json) -> MixRow:
    if not isinstance(raw, dict) or set(raw) != {"max_terms", "impact", "name", "presence"}:
        raise InvalidConfiguration(field, str(raw), "the keys max_terms, impact, name and presence")
    mix = ScoreMix(
        impact=_integer(f"{field}.impact", raw["impact"], 0, CHANNEL_LIMIT),
        name=_integer(f"{field}.name", raw["name"], 0, CHANNEL_LIMIT),
        presence=_integer(f"{field}.presence", raw["presence"], 0, PRESENCE_LIMIT),
    )
    unlimited = raw["max_terms"] is None
    return MixRow(
        max_terms=None if unlimited else _integer(f"{field}.max_terms", raw["max_terms"], 1, MAX_TERMS), mix=mix
    )


def _integer(field: str, value: object, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise InvalidConfiguration(field, str(value), f"an integer from {least} to {most}")
    return value


def _weights_hash(rows: tuple[MixRow, ...]) -> str:
    return hashlib.blake2b(orjson.dumps(rows), digest_size=4).hexdigest()
