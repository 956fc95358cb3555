"""Why a record scored, and why another scored more: the share of each term and of its vector, side by side.

It recomputes from the values that were ranked; it never asks a shard, and knows only terms of the query and what its
unknown words were taken for.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from cluster.contract import Hit, SimilarityPart, TermPart
from cluster.merge import Pool
from cluster.query import AnalyzedRequest
from shards.messages import ScoreMix
from shards.scoring import static_values


def term_parts(row: int, pool: Pool, question: AnalyzedRequest, mix: ScoreMix) -> tuple[TermPart, ...]:
    """The parts of one row, for the terms it holds, in the order of the query, those of its unknown words last.

    With the mention bonus and the vector's part they add up to the score.
    """
    static = static_values(pool.values[row : row + 1], mix)[0].tolist()
    weights = pool.weights.tolist()
    channels = pool.values[row].tolist()
    instead_of = {meant.term: meant.word for meant in question.meant}
    return tuple(
        TermPart(
            term=term,
            weight=weight,
            impact=impact,
            name=name,
            score=weight * value,
            instead_of=instead_of.get(term, ""),
        )
        for term, weight, value, (impact, name) in zip(question.terms, weights, static, channels, strict=True)
        if impact
    )


def similarity_part(row: int, pool: Pool, mix: ScoreMix) -> SimilarityPart:
    """What the vector of one row gave; 0 where it has none, or nothing in common with the query's."""
    likeness = int(pool.likenesses[row])
    return SimilarityPart(likeness=likeness, weight=mix.similarity, score=mix.similarity * likeness)


@dataclass(frozen=True, slots=True, kw_only=True)
class TermPair:
    """One term in two records; None in the one that does not hold it. ``lead`` is what the other scores more by it."""

    term: str
    own: TermPart | None
    other: TermPart | None

    @property
    def lead(self) -> int:
        """See the class."""
        return _score(self.other) - _score(self.own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A record beside another one of the same question; both were ranked for the same caller.

    Attributes:
        rank: of the other, from 1, among what is shown.
        terms: that any of the two holds; first the one by which the other leads most, then by term.
    """

    own: Hit
    other: Hit
    rank: int
    terms: tuple[TermPair, ...]


def compared(own: Hit, other: Hit, rank: int) -> Comparison:
    """Two hits of explained answers, feature by feature."""
    pairs = sorted(_pairs(own, other), key=lambda pair: (-pair.lead, pair.term))
    return Comparison(own=own, other=other, rank=rank, terms=tuple(pairs))


def _pairs(own: Hit, other: Hit) -> Iterator[TermPair]:
    owned = {part.term: part for part in own.parts}
    others = {part.term: part for part in other.parts}
    for term in owned.keys() | others.keys():
        yield TermPair(term=term, own=owned.get(term), other=others.get(term))


def _score(part: TermPart | None) -> int:
    return 0 if part is None else part.score
