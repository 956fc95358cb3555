"""Answers made of records, without a search."""

from collections.abc import Sequence
from dataclasses import fields, replace

import orjson

from cluster.budget import DEFAULT_BUDGETS, Spent
from cluster.contract import Answer, Coverage, EvidenceForm, Hit, VectorState, VectorUse
from cluster.evidence import piece_of
from shards.record import Access, Kind, Record, SideEffect


def tool(record_id: str, name: str = "", parameters: object = None, **others: str) -> Record:
    return Record(
        id=record_id,
        kind=Kind.TOOL,
        name=name or record_id.rpartition(":")[2],
        namespace=record_id.partition(":")[0],
        description=others.get("description", "Does it."),
        parameters=orjson.dumps({} if parameters is None else parameters, option=orjson.OPT_SORT_KEYS).decode(),
        access=Access(tenant="acme", side_effect=SideEffect(others.get("side_effect", "write"))),
    )


def passage(record_id: str, title: str, text: str, **others: str) -> Record:
    return Record(
        id=record_id,
        kind=Kind.PASSAGE,
        name=title,
        namespace="kb",
        description=text,
        access=Access(tenant="acme"),
        **others,  # type: ignore[arg-type]
    )


def answer_of(records: Sequence[Record], summaries: Sequence[str] = (), evidence_tokens: int = 10**6) -> Answer:
    """An answer with these hits, in this order; those of ``summaries`` in their short form."""
    hits = tuple(
        Hit(
            record=piece_of(record.to_json()),
            score=len(records) - number,
            form=EvidenceForm.SUMMARY if record.id in summaries else EvidenceForm.FULL,
        )
        for number, record in enumerate(records)
    )
    return _with_hits(hits, evidence_tokens)


def reordered(answer: Answer, order: Sequence[int]) -> Answer:
    return replace(answer, hits=tuple(answer.hits[place] for place in order))


def _with_hits(hits: tuple[Hit, ...], evidence_tokens: int) -> Answer:
    tokens = sum(hit.evidence.tokens for hit in hits)
    nothing = Spent(**{field.name: 0 for field in fields(Spent)})
    return Answer(
        request_id="r",
        hits=hits,
        miss=None,
        plan=None,
        budget=replace(DEFAULT_BUDGETS[Kind.TOOL], evidence_tokens=evidence_tokens),
        spent=replace(nothing, evidence=len(hits), evidence_tokens=tokens),
        coverage=Coverage(searched=1, authorized=1, buckets_searched=1024),
        truncated=False,
        doubt=None,
        vectors=VectorUse(state=VectorState.OFF),
        index_position="p",
        ranker="test",
        timings_ms={},
    )
