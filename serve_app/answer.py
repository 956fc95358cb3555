"""The answer to a search as bytes: its keys always stand in the order written here.

Equal answers give equal bytes but for request id, index position and timings. Its shapes are those of
``serve_app.answer_view``.
"""

import orjson

from cluster.contract import Answer, Coverage, Cut, Hit, SimilarityPart, TalkVerdict, TermPart
from cluster.tokens import TokenCounter
from serve_app.answer_view import CoverageView, CutView, PartView, SimilarityView, TalkView
from serve_app.formats.formatting import Format, formatted_answer, record_path
from shards.record import BUCKETS


def answer_bytes(answer: Answer, *, explain: bool, form: Format, counter: TokenCounter) -> bytes:
    """The JSON of an answer; ``explain`` adds the parts of each score, and whether it was taken for talk.

    ``counter`` is the one that counted the tokens of its evidence.

    Raises:
        InvalidRequest: if there are more tools than the provider of ``form`` takes.
    """
    formatted = None if form == "native" else formatted_answer(form, answer, counter)
    hits = [_hit(rank, hit, explain=explain) for rank, hit in enumerate(answer.hits, start=1)]
    if formatted:
        for hit, remainder in zip(hits, formatted.remainders, strict=True):
            hit["record"] = remainder
    view: dict[str, object] = {
        "request_id": answer.request_id,
        "kind": "miss" if answer.miss else "hits",
        "hits": hits,
        **({"formatted": formatted.view} if formatted else {}),
        "miss": answer.miss,
        "plan": answer.plan,
        "budget": answer.budget,
        "spent": answer.spent,
        "coverage": coverage_view(answer.coverage),
        "truncated": answer.truncated,
        "exact": answer.exact,
        "doubt": answer.doubt,
        "narrower_try": answer.narrower_try,
        "vectors": answer.vectors,
        "adaptive_k": answer.adaptive_k,
        "flags": answer.flags,
        **({"talk": talk_view(answer.talk)} if explain else {}),
        "index_position": answer.index_position,
        "ranker": answer.ranker,
        "tokens_by": answer.tokens_by,
        "timings_ms": answer.timings_ms,
    }
    # orjson writes dataclasses by itself, their fields in the order of their definition.
    return orjson.dumps(view)


def coverage_view(coverage: Coverage) -> CoverageView:
    """The coverage with its whole, so that shares can be computed."""
    return {
        "full": coverage.full,
        "searched": coverage.searched,
        "authorized": coverage.authorized,
        "buckets_searched": coverage.buckets_searched,
        "buckets": BUCKETS,
        "gaps": [gap.value for gap in coverage.gaps],
    }


def parts_view(parts: tuple[TermPart, ...]) -> list[PartView]:
    """The shares of a score in the order of the query's terms."""
    return [_part(part) for part in parts]


def _part(part: TermPart) -> PartView:
    view: PartView = {
        "term": part.term,
        "weight": part.weight,
        "impact": part.impact,
        "name": part.name,
        "score": part.score,
    }
    if part.instead_of:
        view["instead_of"] = part.instead_of
    return view


def similarity_view(part: SimilarityPart | None) -> SimilarityView | None:
    """The vector's share, None in an answer by words alone."""
    return None if part is None else {"likeness": part.likeness, "weight": part.weight, "score": part.score}


def talk_view(verdict: TalkVerdict | None) -> TalkView | None:
    """The verdict with its numbers, None where nobody asked."""
    if verdict is None:
        return None
    signals = verdict.signals
    return {
        "abstained": verdict.abstained,
        "score": verdict.score,
        "threshold": verdict.threshold,
        "shared": signals.shared,
        "likeness": signals.likeness,
        "words": signals.words,
        "nearer": signals.nearer,
        "named": signals.named,
        "rule": verdict.rule,
    }


def _cut(hit: Hit, cut: Cut) -> CutView:
    return {
        "properties_left_out": cut.properties_left_out,
        "tokens_left_out": max(0, hit.record.full.tokens - cut.form.tokens),
        "fetch": record_path(hit.record.id),
    }


def _hit(rank: int, hit: Hit, *, explain: bool) -> dict[str, object]:
    """A ``HitView``, for orjson."""
    record, evidence = hit.record, hit.evidence
    view: dict[str, object] = {
        "rank": rank,
        "id": record.id,
        "name": record.name,
        "namespace": record.namespace,
        "score": hit.score,
        "pinned": hit.pinned,
        "form": hit.form,
        "tokens": evidence.tokens,
        "record": orjson.Fragment(evidence.json),
    }
    if hit.cut is not None:
        view["cut"] = _cut(hit, hit.cut)
    if hit.duplicates:
        view["duplicates"] = hit.duplicates
    if explain:
        view["bonus"] = hit.bonus
        view["parts"] = parts_view(hit.parts)
        view["similarity"] = similarity_view(hit.similarity)
    return view
