"""Two records of one question side by side, as an explanation shows them. It compares nothing itself."""

from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from cluster.contract import Hit, TermPart
from cluster.explain import Comparison, TermPair


class AheadView(TypedDict):
    """A record that is shown and was ranked before the one asked about; of equal scores the lesser id comes first."""

    id: str
    rank: int
    score: int


class SideView(TypedDict):
    """One term's share of the score of one of two records."""

    weight: int
    impact: int
    name: int
    score: int


class TermPairView(TypedDict):
    """One term in both records, null in the one that does not hold it; ``lead`` is how much more the other scores.

    ``instead_of`` is the word of the question that it was taken for, where it was.
    """

    term: str
    instead_of: NotRequired[str]
    own: SideView | None
    other: SideView | None
    lead: int


class FeaturePairView(TypedDict):
    """One feature of both records, as scores; ``lead`` is how much more the other has."""

    own: int
    other: int
    lead: int


class VersusView(TypedDict):
    """The record beside the last one shown, feature by feature; first the term by which that one leads most.

    By the built-in ranker the leads of bonus, similarity and terms add up to the lead of the score.
    """

    id: str
    rank: int
    score: FeaturePairView
    bonus: FeaturePairView
    similarity: FeaturePairView
    terms: list[TermPairView]


def ahead_view(hits: Sequence[Hit]) -> list[AheadView]:
    """The hits of an answer in their order."""
    return [{"id": hit.record.id, "rank": rank, "score": hit.score} for rank, hit in enumerate(hits, start=1)]


def versus_view(versus: Comparison | None) -> VersusView | None:
    """The comparison, None where there is none."""
    if versus is None:
        return None
    own, other = versus.own, versus.other
    similarities = [hit.similarity.score if hit.similarity else 0 for hit in (own, other)]
    return {
        "id": other.record.id,
        "rank": versus.rank,
        "score": _feature(own.score, other.score),
        "bonus": _feature(own.bonus, other.bonus),
        "similarity": _feature(*similarities),
        "terms": [_term_pair(pair) for pair in versus.terms],
    }


def _feature(own: int, other: int) -> FeaturePairView:
    return {"own": own, "other": other, "lead": other - own}


def _term_pair(pair: TermPair) -> TermPairView:
    view: TermPairView = {"term": pair.term, "own": _side(pair.own), "other": _side(pair.other), "lead": pair.lead}
    part = pair.own or pair.other
    if part is not None and part.instead_of:
        view["instead_of"] = part.instead_of
    return view


def _side(part: TermPart | None) -> SideView | None:
    if part is None:
        return None
    return {"weight": part.weight, "impact": part.impact, "name": part.name, "score": part.score}
