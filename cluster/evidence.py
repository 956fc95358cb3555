"""Evidence: the final hits inside the caller's ceilings on count, tokens and bytes; full record, summary, or left out.

It orders nothing and fetches nothing: hits come ranked, with their records.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

import orjson

from cluster.budget import Budget
from cluster.contract import EvidenceForm, Form, Piece
from cluster.record_json import Values, evidence_json
from cluster.tokens import estimate_tokens
from shards.record import Kind

SUMMARY_TOKENS: Final = {Kind.TOOL: 80, Kind.PASSAGE: 300}
"""Estimated tokens of a summary's description at most: enough to choose a tool, or to quote from a passage."""

FIELD_TOKENS: Final = 2
"""Name and punctuation around each field that is not empty."""

_SENTENCE_ENDS: Final = ".!?。！？؟۔।\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What fits of a ranked list.

    Attributes:
        forms: of the ranks that fit, ascending.
        tokens: their estimated tokens together.
        json_bytes: of their JSON together.
        dropped: ranks that did not fit even as a summary, or were one too many.
    """

    forms: Mapping[int, EvidenceForm]
    tokens: int
    json_bytes: int
    dropped: int


def piece_of(body: bytes) -> Piece:
    """Both forms of a record, given its canonical JSON.

    The summary has no parameters, and its description is cut. It keeps the ``search_text_hash`` of the whole record,
    which names the text that was cut.
    """
    values: Values = orjson.loads(body)
    full = Form(json=evidence_json(values, with_parameters=True), tokens=evidence_cost(values))
    cut = {**values, "parameters": "{}"}
    cut["description"] = cut_text(values["description"], SUMMARY_TOKENS[Kind(values["kind"])])
    tokens = evidence_cost(cut)
    summary = full if tokens >= full.tokens else Form(json=evidence_json(cut, with_parameters=False), tokens=tokens)
    return Piece(id=values["id"], name=values["name"], namespace=values["namespace"], full=full, summary=summary)


def evidence_cost(values: Values) -> int:
    """Estimated tokens of a record: id, name, namespace, description, parameters, source_url and section."""
    return sum(estimate_tokens(text) + FIELD_TOKENS for name in _COUNTED if (text := values[name])) + (
        estimate_tokens(values["parameters"]) + FIELD_TOKENS if values["parameters"] != "{}" else 0
    )


_COUNTED: Final = ("id", "name", "namespace", "description", "source_url", "section")


def cut_text(text: str, limit_tokens: int) -> str:
    """The longest start of ``text`` of at most ``limit_tokens``, ended at a sentence or else at a blank if one is near.

    Near means in its second half; a script without blanks is cut between two characters.
    """
    if estimate_tokens(text) <= limit_tokens:
        return text
    fits, too_long = 0, len(text)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        fits, too_long = (middle, too_long) if estimate_tokens(text[:middle]) <= limit_tokens else (fits, middle)
    start = text[:fits]
    sentence = max(start.rfind(end) for end in _SENTENCE_ENDS) + 1
    blank = max(start.rfind(" "), 0)
    end = next((end for end in (sentence, blank) if end > fits // 2), fits)
    return start[:end].rstrip()


def assemble(
    ranked: Mapping[int, Piece], pinned: Collection[int], budget: Budget, *, full_hits: int | None = None
) -> Evidence:
    """Fit records by rank into the three ceilings on evidence, which hold strictly, for pinned ranks too.

    Breadth first: places are given away in the smallest form (pinned ones first, then by rank), and what is left of
    tokens and bytes turns summaries into full records from the first rank on. So one long schema cannot hide nine
    others.
    With ``full_hits`` only so many of them, and those behind that save nothing as summaries.
    """
    ranks = sorted(ranked)
    whole = sum([piece.full.tokens for piece in ranked.values()])
    whole_bytes = sum([len(piece.full.json) for piece in ranked.values()])
    most_full = len(ranks) if full_hits is None else full_hits
    fits = whole <= budget.evidence_tokens and whole_bytes <= budget.evidence_bytes
    if fits and len(ranks) <= min(budget.evidence_k, most_full):
        return Evidence(forms=dict.fromkeys(ranks, EvidenceForm.FULL), tokens=whole, json_bytes=whole_bytes, dropped=0)
    by_claim = sorted(ranks, key=lambda rank: rank not in pinned) if pinned else ranks
    left, left_bytes = budget.evidence_tokens, budget.evidence_bytes
    forms: dict[int, EvidenceForm] = {}
    for rank in by_claim[: budget.evidence_k]:
        smallest = ranked[rank].summary
        if smallest.tokens <= left and len(smallest.json) <= left_bytes:
            forms[rank] = EvidenceForm.SUMMARY
            left -= smallest.tokens
            left_bytes -= len(smallest.json)
    placed = sorted(forms)
    for place, rank in enumerate(placed):
        piece = ranked[rank]
        extra = piece.full.tokens - piece.summary.tokens
        extra_bytes = len(piece.full.json) - len(piece.summary.json)
        if extra <= left and extra_bytes <= left_bytes and (place < most_full or extra == 0):
            forms[rank] = EvidenceForm.FULL
            left -= extra
            left_bytes -= extra_bytes
    return Evidence(
        forms={rank: forms[rank] for rank in placed},
        tokens=budget.evidence_tokens - left,
        json_bytes=budget.evidence_bytes - left_bytes,
        dropped=len(ranked) - len(forms),
    )
