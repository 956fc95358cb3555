"""Reports: a run in numbers, as one JSON object; ``evals.tables`` shows them to people.

Shares lie in 0..1 over the questions they concern; a share of no questions is null, never 0.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final, TypedDict

from evals.metrics import hit, mean, ndcg, percentile, recall
from evals.misses import Miss, counts_of
from evals.run import Outcome, Run

Share = float | None

NDCG_K: Final = 10


class Quality(TypedDict):
    """Quality over some questions; the keys of the mappings are the cuts.

    ``no_match_rate`` is the share of typed misses among questions without a relevant id; all other shares are over
    those with one, ``false_empty_rate`` being their typed misses.
    """

    n: int
    n_with_relevant: int
    recall: dict[str, Share]
    hit: dict[str, Share]
    candidate_recall: dict[str, Share]
    ndcg10: Share
    no_match_rate: Share
    false_empty_rate: Share


class Report(Quality):
    """``Quality`` of a whole run, what the answers claim of themselves, and the time of each.

    ``identity`` names what decides the order. ``parity_with_full_rank`` is the share of the ``parity_checked`` exact
    answers that are what ranking everything gives. ``unknown_labels`` counts relevant ids that no tool has; ``joined``
    tool rows of a known id; ``misses`` relevant ids that an answer of ``k`` lacks, by reason. ``mean_hits`` is the
    average size of an answer that has hits. ``vectors`` counts what became of the questions' vectors, and
    ``p50_embed_ms`` is the part of the time that embedding a question took; empty and null without vectors.
    """

    system: str
    identity: dict[str, str]
    k: int
    tools: int
    joined: int
    unknown_labels: int
    exact_share: Share
    parity_with_full_rank: Share
    parity_checked: int
    mean_hits: Share
    misses: dict[str, int]
    p50_ms: float
    p95_ms: float
    p50_embed_ms: Share
    vectors: dict[str, int]
    by_lang: dict[str, Quality]
    by_kind: dict[str, Quality]


def report_of(run: Run, misses: Sequence[Miss], ks: Sequence[int], cuts: Sequence[int]) -> Report:
    """The report of a run and its misses at the given answer sizes and candidate cuts."""
    claims = [outcome.found.exact for outcome in run.outcomes if outcome.found.exact is not None]
    parities = [outcome.parity for outcome in run.outcomes if outcome.parity is not None]
    times = [outcome.found.elapsed_ms for outcome in run.outcomes]
    embedding = [outcome.found.embed_ms for outcome in run.outcomes if outcome.found.vectors]
    return Report(
        system=run.system,
        identity=dict(run.identity),
        k=run.k,
        tools=run.tools,
        joined=run.joined,
        unknown_labels=run.unknown_labels,
        exact_share=mean([float(claim) for claim in claims]),
        parity_with_full_rank=mean([float(parity) for parity in parities]),
        parity_checked=len(parities),
        mean_hits=mean([float(len(one.found.ranked)) for one in run.outcomes if one.found.ranked]),
        misses=counts_of(misses),
        p50_ms=percentile(times, 0.5),
        p95_ms=percentile(times, 0.95),
        p50_embed_ms=percentile(embedding, 0.5) if embedding else None,
        vectors=dict(Counter(one.found.vectors for one in run.outcomes if one.found.vectors)),
        by_lang=_parts([(one.question.lang, one) for one in run.outcomes], ks, cuts),
        by_kind=_parts([(one.question.kind, one) for one in run.outcomes if one.question.kind], ks, cuts),
        **_quality(run.outcomes, ks, cuts),
    )


def _parts(labelled: Sequence[tuple[str, Outcome]], ks: Sequence[int], cuts: Sequence[int]) -> dict[str, Quality]:
    """The outcomes of each label apart, labels in order."""
    labels = sorted({label for label, _ in labelled})
    return {label: _quality([one for other, one in labelled if other == label], ks, cuts) for label in labels}


def _quality(outcomes: Sequence[Outcome], ks: Sequence[int], cuts: Sequence[int]) -> Quality:
    answerable = [outcome for outcome in outcomes if outcome.question.relevant]
    unanswerable = [outcome for outcome in outcomes if not outcome.question.relevant]

    return Quality(
        n=len(outcomes),
        n_with_relevant=len(answerable),
        recall={str(k): _recall(answerable, k) for k in ks},
        hit={str(k): _hit(answerable, k) for k in ks},
        candidate_recall={str(n): _candidate_recall(answerable, n) for n in cuts},
        ndcg10=mean([ndcg(one.found.ranked, one.question.relevant, NDCG_K) for one in answerable]),
        no_match_rate=_missed(unanswerable),
        false_empty_rate=_missed(answerable),
    )


def _recall(outcomes: Sequence[Outcome], k: int) -> Share:
    return mean([recall(one.found.ranked, one.question.relevant, k) for one in outcomes])


def _hit(outcomes: Sequence[Outcome], k: int) -> Share:
    return mean([hit(one.found.ranked, one.question.wanted, k) for one in outcomes])


def _candidate_recall(outcomes: Sequence[Outcome], n: int) -> Share:
    return mean([recall(one.found.candidates, one.question.relevant, n) for one in outcomes])


def _missed(outcomes: Sequence[Outcome]) -> Share:
    return mean([float(one.found.miss is not None) for one in outcomes])
