"""Misses: why a relevant record is not in an answer. It proposes no remedy; ``evals.suggestions`` does.

Reasons need only what a run holds already; ``located`` asks the system again, for ranks and scores.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import Final, TypedDict

from evals.data import Question
from evals.run import Found, Outcome, Run, System

SHOWN_RIVALS: Final = 3
"""Records named as ranked higher: the best ones of the answer."""


class Reason(StrEnum):
    """Why a relevant record is not in an answer of at most K.

    ``absent``: the catalogue has no such record. ``filtered``: the caller may not see it, or narrowed it away.
    ``abstained``: it would have been in the answer, which said ``no_match`` instead. ``not_a_candidate``: it is below
    the largest candidate cut, or shares nothing with the question. ``outranked``: K others rank higher.
    ``cut_by_budget``: it ranks within K, but the tokens or an adaptive K ended the answer before it.
    """

    ABSENT = "absent"
    FILTERED = "filtered"
    ABSTAINED = "abstained"
    NOT_A_CANDIDATE = "not_a_candidate"
    OUTRANKED = "outranked"
    CUT_BY_BUDGET = "cut_by_budget"


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """One relevant record that is not in one answer.

    Attributes:
        detail: which kind of the reason, empty where there is only one.
        rank: place among everything that matches, from 1; None where it matches nothing, or is not known.
        score: None where it is not known.
        last: score of the last hit of the answer; None where there is none, or it is not known.
        rivals: (id, score) of the best hits of the answer; their scores are None where they are not known.
    """

    system: str
    question: Question
    record_id: str
    reason: Reason
    detail: str = ""
    rank: int | None = None
    score: int | None = None
    last: int | None = None
    rivals: tuple[tuple[str, int | None], ...] = ()

    @property
    def gap(self) -> int | None:
        """What its score lacks to that of the last hit; None where either is not known."""
        return None if self.score is None or self.last is None else self.last - self.score


class Rival(TypedDict):
    """A record that ranks higher than a missed one."""

    id: str
    score: int | None


class MissRow(TypedDict):
    """A miss as one JSON object."""

    system: str
    query_id: str
    query: str
    lang: str
    kind: str
    id: str
    reason: str
    detail: str
    rank: int | None
    score: int | None
    gap: int | None
    outranked_by: list[Rival]


def misses_of(run: Run, system: System, known: frozenset[str]) -> tuple[Miss, ...]:
    """Every relevant id that an answer of the run does not hold, in the order of the questions, then of the ids.

    ``known`` are the ids of the catalogue.
    """
    missed = {one for outcome in run.outcomes for one in _missing(outcome)}
    hidden = system.hidden(missed & known)
    return tuple(
        _miss(run, outcome, record_id, known, hidden) for outcome in run.outcomes for record_id in _missing(outcome)
    )


def located(misses: Sequence[Miss], system: System) -> Iterator[Miss]:
    """The misses with their place in the full ranking, where the system has one. ``misses`` are in order."""
    for question, group in groupby(misses, key=lambda miss: miss.question):
        ranking = system.full_ranking(question.text)
        if ranking is None:
            yield from group
            continue
        scores = dict(ranking)
        ranks = {one: rank for rank, one in enumerate(scores, start=1)}
        for miss in group:
            yield _located(miss, scores, ranks)


def counts_of(misses: Sequence[Miss]) -> dict[str, int]:
    """How many misses each reason has; every reason is there."""
    return {reason.value: sum(miss.reason is reason for miss in misses) for reason in Reason}


def row_of(miss: Miss) -> MissRow:
    """A miss as one JSON object."""
    return MissRow(
        system=miss.system,
        query_id=miss.question.id,
        query=miss.question.text,
        lang=miss.question.lang,
        kind=miss.question.kind,
        id=miss.record_id,
        reason=miss.reason.value,
        detail=miss.detail,
        rank=miss.rank,
        score=miss.score,
        gap=miss.gap,
        outranked_by=[Rival(id=one, score=score) for one, score in miss.rivals],
    )


def _missing(outcome: Outcome) -> list[str]:
    return sorted(outcome.question.relevant.difference(outcome.found.ranked))


def _miss(run: Run, outcome: Outcome, record_id: str, known: frozenset[str], hidden: Mapping[str, str]) -> Miss:
    found = outcome.found
    miss = Miss(system=run.system, question=outcome.question, record_id=record_id, reason=Reason.ABSENT)
    if record_id not in known:
        return miss
    if record_id in hidden:
        return replace(miss, reason=Reason.FILTERED, detail=hidden[record_id])
    rank = found.candidates.index(record_id) + 1 if record_id in found.candidates else None
    reason = _reason(found, rank, run.k)
    scores = dict(zip(found.ranked, found.scores, strict=False))  # empty where they cannot be compared
    return replace(
        miss,
        reason=reason,
        rank=rank,
        last=found.scores[-1] if found.scores else None,
        rivals=tuple((one, scores.get(one)) for one in found.ranked[:SHOWN_RIVALS]),
    )


def _reason(found: Found, rank: int | None, k: int) -> Reason:
    if rank is None:
        return Reason.NOT_A_CANDIDATE
    if rank > k:
        return Reason.OUTRANKED
    return Reason.ABSTAINED if found.miss == "no_match" else Reason.CUT_BY_BUDGET


def _located(miss: Miss, scores: Mapping[str, int], ranks: Mapping[str, int]) -> Miss:
    if miss.reason in {Reason.ABSENT, Reason.FILTERED}:
        return miss
    score = scores.get(miss.record_id)
    detail = miss.detail
    if miss.reason is Reason.NOT_A_CANDIDATE:
        detail = "shares nothing with the question" if score is None else "below the cut"
    return replace(miss, detail=detail, rank=ranks.get(miss.record_id), score=score)
