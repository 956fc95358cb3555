"""Abstention: does a request ask for anything that the caller's records could serve, or is it talk?

Pure functions in integers. A request is turned away only where something speaks for talk *and* its best record has
little to do with it; where nothing speaks for talk, weak hits are better than none. What it reads depends on the query
and on the caller's authorized records alone: not on hidden ones, not on the number of shards, not on the request's k.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.resources import as_file, files
from itertools import compress
from pathlib import Path
from typing import Final, Self

import orjson

from cluster.contract import TalkSignals, TalkVerdict
from cluster.errors import InvalidConfiguration
from cluster.merge import Pool
from cluster.query import NAMED, AnalyzedRequest
from cluster.smalltalk import Nearest, SmallTalk, TalkVectors
from cluster.strict_yaml import Json, integer_in, read_yaml
from shards.statistics import FULL_WEIGHT, frequency_weight

WHOLE: Final = 1024
"""A share of everything; also the most that ``shared`` counts: four words that one record holds."""

UNIT: Final = 256
"""What one word that a single record holds adds to ``shared``."""

CROWDS: Final = 4096
"""Numbers of authorized records whose rarest word's weight is remembered."""

WEIGHT_LIMIT: Final = 255
SCORE_LIMIT: Final = 10**6
"""Beyond the score of any signals: a threshold there is always, or never, passed."""


class Strictness(StrEnum):
    """How much talk is turned away, and at what price in real requests: ``configs/abstention.yaml`` has the shares."""

    CAUTIOUS = "cautious"
    BALANCED = "balanced"
    STRICT = "strict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """``shared * signals.shared + likeness * signals.likeness - words * signals.words - nearer * signals.nearer``.

    Attributes:
        least_words: ``signals.words`` speaks for talk from here on; a greeting before a request does not.
        least_nearer: ``signals.nearer`` does from here on.
        thresholds: a request that talk speaks for is turned away where this score is below.
    """

    shared: int
    likeness: int
    words: int
    nearer: int
    least_words: int
    least_nearer: int
    thresholds: Mapping[Strictness, int]

    def hears(self, signals: TalkSignals) -> bool:
        """Whether anything speaks for talk, and no record is named."""
        return not signals.named and (signals.words >= self.least_words or signals.nearer >= self.least_nearer)

    def score(self, signals: TalkSignals) -> int:
        """What speaks for the best record, less what speaks for talk."""
        return (
            self.shared * signals.shared
            + self.likeness * signals.likeness
            - self.words * signals.words
            - self.nearer * signals.nearer
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The fitted rule: ``words`` for searches by words alone, ``hybrid`` where vectors were used."""

    version: str
    words: Weights
    hybrid: Weights

    @classmethod
    def from_config(cls, path: Path | None = None) -> Self:
        """The rule of the file at ``path``, or of the shipped ``configs/abstention.yaml``.

        Raises:
            InvalidConfiguration: if it cannot be read, a key is missing or unknown, or a value is outside its range.
        """
        if path is not None:
            version, words, hybrid = _read(path)
        else:
            with as_file(files("configs") / "abstention.yaml") as shipped:
                version, words, hybrid = _read(shipped)
        return cls(version=version, words=words, hybrid=hybrid)

    def judge(self, signals: TalkSignals, strictness: Strictness, *, vectors: bool) -> TalkVerdict:
        """Turn a request away or not."""
        weights = self.hybrid if vectors else self.words
        score, threshold = weights.score(signals), weights.thresholds[strictness]
        return TalkVerdict(
            rule=self.version,
            signals=signals,
            score=score,
            threshold=threshold,
            abstained=weights.hears(signals) and score < threshold,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """How far a query is talk, before anybody knows which topics the caller's records serve.

    Attributes:
        words: topics and weight of each term that speaks for talk.
        weight: of the query's own terms; one that no authorized record holds weighs as one that a single one does.
        likeness: of the best record.
        nearest: what the query's vector is most like; None for a search by words alone.
    """

    words: tuple[tuple[frozenset[int], int], ...]
    weight: int
    shared: int
    likeness: int
    nearest: Nearest | None
    named: bool

    @property
    def topics(self) -> frozenset[int]:
        """The topics that anything speaks for."""
        near = {self.nearest.topic} if self.nearest is not None and self._nearer() else set()
        return frozenset(near.union(*(topics for topics, _ in self.words)))

    def _nearer(self) -> int:
        one = self.nearest
        return 0 if one is None else max(0, one.talk - max(one.work, self.likeness))

    def signals(self, served: Collection[int]) -> TalkSignals:
        """What is left where these topics are served: a word of a served topic is no talk, nor is a topic itself."""
        talk = sum(weight for topics, weight in self.words if topics.isdisjoint(served))
        here = self.nearest is not None and self.nearest.topic in served
        return TalkSignals(
            shared=self.shared,
            likeness=self.likeness,
            words=WHOLE * talk // self.weight if self.weight else 0,
            nearer=0 if here else self._nearer(),
            named=self.named,
        )


def suspicion_of(
    question: AnalyzedRequest,
    ranked: Pool,
    frequencies: Sequence[int],
    talk: SmallTalk,
    vectors: TalkVectors | None,
    *,
    text: str = "",
) -> Suspicion:
    """What of a query is talk.

    Args:
        question: ``embedded`` is None where the answer was made by words alone.
        ranked: in its final order; holds at least the caller's best record, if any matched.
        frequencies: how many authorized records hold each term.
        talk: the topics.
        vectors: of the same embedder, None for a search by words alone.
        text: the query as it was asked.
    """
    authorized = ranked.authorized
    weights = ranked.weights.tolist()
    if 0 in weights:
        weights = [
            known or frequency_weight(authorized, 1, weight)
            for known, weight in zip(weights, question.term_weights, strict=True)
        ]
    impacts = ranked.values[0, :, 0].tolist() if ranked.ids else ()
    own = len(weights) - len(question.meant)
    weight = sum(weights[:own])
    words: tuple[tuple[frozenset[int], int], ...] = ()
    if said_whole := talk.said_in(text):
        words = ((said_whole, weight),)
    elif not talk.topics_of.keys().isdisjoint(question.terms):
        said = zip(question.terms[:own], weights, frequencies, strict=False)
        words = tuple(
            (topics, weight) for term, weight, held in said if (topics := talk.speaks(term, held, authorized))
        )
    embedded = question.embedded
    return Suspicion(
        words=words,
        weight=weight,
        shared=min(WHOLE, UNIT * sum(compress(weights, impacts)) // _rarest(authorized)),
        likeness=int(ranked.likenesses[0]) if ranked.ids and embedded is not None else 0,
        nearest=None if embedded is None or vectors is None else vectors.nearest(embedded.vector),
        named=max(ranked.bonuses.tolist(), default=0) >= NAMED,
    )


@lru_cache(maxsize=CROWDS)
def _rarest(authorized: int) -> int:
    """The weight of a word that one record of so many holds, at least 1."""
    return max(1, frequency_weight(authorized, 1, FULL_WEIGHT))


def _read(path: Path) -> tuple[str, Weights, Weights]:
    config = read_yaml(path)
    if not isinstance(config, dict) or set(config) != {"name", "words", "hybrid"}:
        raise InvalidConfiguration(str(path), str(config)[:80], "the keys name, words and hybrid")
    digest = hashlib.blake2b(orjson.dumps([config["words"], config["hybrid"]]), digest_size=4).hexdigest()
    words, hybrid = (_weights(f"{path}: {part}", config[part]) for part in ("words", "hybrid"))
    return f"{config['name']}-{digest}", words, hybrid


def _weights(place: str, raw: Json) -> Weights:
    factors = ("shared", "likeness", "words", "nearer", "least_words", "least_nearer")
    if not isinstance(raw, dict) or set(raw) != {*factors, "thresholds"}:
        raise InvalidConfiguration(place, str(raw)[:80], f"the keys {', '.join(factors)} and thresholds")
    thresholds = raw["thresholds"]
    if not isinstance(thresholds, dict) or set(thresholds) != set(Strictness):
        raise InvalidConfiguration(f"{place}: thresholds", str(thresholds)[:80], f"the keys {', '.join(Strictness)}")
    values = {name: integer_in(f"{place}: {name}", raw[name], 0, WEIGHT_LIMIT) for name in factors}
    for name in ("least_words", "least_nearer"):
        integer_in(f"{place}: {name}", raw[name], 1, WEIGHT_LIMIT)
    bounds = [integer_in(f"{place}: {one}", thresholds[one], -SCORE_LIMIT, SCORE_LIMIT) for one in Strictness]
    if bounds != sorted(bounds):
        raise InvalidConfiguration(f"{place}: thresholds", str(bounds), "thresholds that rise with strictness")
    return Weights(**values, thresholds=dict(zip(Strictness, bounds, strict=True)))
