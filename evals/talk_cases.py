"""Talk cases: requests that a catalogue serves and requests that it does not, each with the signals of its answer.

Requests of one set asked of another set's catalogue stand for what is out of scope there. It fits nothing.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Final

from cluster.abstention import SCORE_LIMIT, Rule, Strictness, Weights
from cluster.budget import Budget, Deadline
from cluster.contract import SearchRequest, TalkSignals
from cluster.discovery import Abstainer, Discovery
from cluster.embedder import Embedder
from cluster.local import LocalIndex
from cluster.smalltalk import SmallTalk, TalkVectors
from cluster.vector_cache import VectorCache
from evals.data import Question, read_questions, read_tools
from evals.sampling import drawn
from evals.systems.setup import EVERYTHING, UNLIMITED_TOKENS

_PATIENCE_MS: Final = 600_000

_ALWAYS: Final = Weights(
    shared=0, likeness=0, words=0, nearer=0, least_words=1, least_nearer=1,
    thresholds=dict.fromkeys(Strictness, SCORE_LIMIT),
)  # fmt: skip
ALWAYS_SUSPICIOUS: Final = Rule(version="calibration", words=_ALWAYS, hybrid=_ALWAYS)
"""Turns away whatever talk speaks for, so that every answer has asked which topics are served."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Requests of one file asked of one catalogue.

    Attributes:
        queries: as in ``evals.suites``: a set, or ``set.part``.
        weight: in the fit, shared by all requests of the group.
    """

    catalogue: str
    queries: str
    weight: float

    @property
    def real(self) -> bool:
        """Whether the catalogue serves these requests."""
        return self.queries.partition(".")[0] == self.catalogue and not self.queries.endswith(".nomatch")

    @property
    def name(self) -> str:
        """How reports call it."""
        return self.queries if self.queries.startswith(self.catalogue) else f"{self.queries} → {self.catalogue}"


GROUPS: Final = tuple(
    Group(catalogue=catalogue, queries=queries, weight=weight)
    for catalogue, asked in {
        "hesabix": {
            "hesabix": 2.0, "hesabix.colloquial": 2.0, "hesabix.nomatch": 3.0, "massive-fa-en": 3.0, "metatool": 1.0,
            "toolalpaca": 0.3, "stabletoolbench": 0.3, "azure-cli": 0.3,
        },
        "metatool": {"metatool": 1.0, "azure-cli": 0.3},
        "bfcl": {"bfcl": 1.0, "massive-fa-en": 0.3},
        "stabletoolbench": {"stabletoolbench": 1.0, "hesabix": 0.3, "azure-cli": 0.3},
        "ultratool-en": {"ultratool-en": 1.0, "azure-cli": 0.3},
        "ultratool-zh": {"ultratool-zh": 1.0},
        "toolalpaca": {"toolalpaca": 1.0, "hesabix": 0.3, "azure-cli": 0.3},
        "mcptoolbench-pp": {"mcptoolbench-pp": 1.0, "massive-fa-en": 1.0},
        "massive-fa-en": {"massive-fa-en": 1.0, "hesabix": 0.3, "azure-cli": 0.3},
        "azure-cli": {"azure-cli": 1.0, "massive-fa-en": 1.0, "hesabix": 0.3},
    }.items()
    for queries, weight in asked.items()
)  # fmt: skip
"""By catalogue. What is nearest to everyday talk, and what is asked of the catalogue at hand, weighs most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One request and what its answer said.

    Attributes:
        fitted: whether it is of the half that the rule is fitted on; decided by the request's id, so that one request
            is on the same side in every catalogue.
        signals: None where nothing matched: the answer is a miss in any case.
        right: whether the first record is a relevant one.
    """

    group: Group
    text: str
    fitted: bool
    signals: TalkSignals | None
    right: bool


def abstains(case: Case, weights: Weights, threshold: int) -> bool:
    """Whether a rule with this threshold turns the request away."""
    signals = case.signals
    return signals is not None and weights.hears(signals) and weights.score(signals) < threshold


def talk_cases(
    data: Path, *, sample: int, embedder: Embedder | None, cache: VectorCache | None, begun: Callable[[str], None]
) -> tuple[list[Case], list[Case]]:
    """All cases, answered by words alone and, with an embedder, with vectors (else none).

    Args:
        data: folder of the development sets.
        sample: most requests of a group, drawn by a fixed seed.
        embedder: of records and requests.
        cache: of the records' vectors.
        begun: told the name of each catalogue before it is indexed.

    Raises:
        BadEvalFile: if a file of a set cannot be read.
    """
    talk = SmallTalk.from_config()
    listening = Discovery(abstainer=Abstainer(ALWAYS_SUSPICIOUS, talk))
    hearing = None if embedder is None else Discovery(abstainer=_listener(talk, embedder, cache))
    by_words: list[Case] = []
    with_vectors: list[Case] = []
    for catalogue, groups in groupby(GROUPS, lambda group: group.catalogue):
        begun(catalogue)
        records, _ = read_tools((data / catalogue / "tools.jsonl.gz",))
        index = LocalIndex.from_records(records, embedder=embedder, cache=cache, discovery=hearing or listening)
        asked = [(group, question) for group in groups for question in _questions(data, group, sample)]
        if embedder is not None:
            with_vectors += asyncio.run(_answered(index, asked))
            index = LocalIndex(index.shards, discovery=listening)
        by_words += asyncio.run(_answered(index, asked))
    return by_words, with_vectors


def _listener(talk: SmallTalk, embedder: Embedder, cache: VectorCache | None) -> Abstainer:
    return Abstainer(ALWAYS_SUSPICIOUS, talk, vectors=TalkVectors(talk, embedder, cache))


async def _answered(index: LocalIndex, asked: Sequence[tuple[Group, Question]]) -> list[Case]:
    return [await _case(index, group, question) for group, question in asked]


async def _case(index: LocalIndex, group: Group, question: Question) -> Case:
    request = SearchRequest(
        query=question.text,
        scope=EVERYTHING,
        budget=Budget(
            candidate_k=32, rerank_k=32, evidence_k=1, evidence_tokens=UNLIMITED_TOKENS, timeout_ms=_PATIENCE_MS
        ),
        deadline=Deadline.after(_PATIENCE_MS),
        request_id="calibration",
    )
    answer = await index.router.search(request)
    ranked = await index.router.candidates(replace(request, deadline=Deadline.after(_PATIENCE_MS)))
    return Case(
        group=group,
        text=question.text,
        fitted=hashlib.blake2b(question.id.encode(), digest_size=1).digest()[0] % 2 == 0,
        signals=None if answer.talk is None or not ranked.ids else answer.talk.signals,
        right=bool(ranked.ids) and ranked.ids[0] in question.relevant | question.acceptable,
    )


def _questions(data: Path, group: Group, sample: int) -> Iterator[Question]:
    folder, _, part = group.queries.partition(".")
    name = f"queries.{part}.dev.jsonl.gz" if part else "queries.dev.jsonl.gz"
    yield from drawn(read_questions(data / folder / name), sample)
