"""Evidence: the final hits inside the caller's ceilings on count and tokens; full record, summary, or left out.

It orders nothing and fetches nothing: hits come ranked, with their records.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from cluster.budget import Budget
from cluster.contract import EvidenceForm, Hit, SimilarityPart, TermPart
from cluster.tokens import estimate_tokens
from shards.record import Kind, Record

SUMMARY_TOKENS: Final = {Kind.TOOL: 80, Kind.PASSAGE: 300}
"""Estimated tokens of a summary's description at most: enough to choose a tool, or to quote from a passage."""

FIELD_TOKENS: Final = 2
"""Name and punctuation around each field that is not empty."""

_SENTENCE_ENDS: Final = ".!?。！？؟۔।\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A record in both of its forms, with the estimated tokens of what a model reads of each.

    ``summary`` is the record itself where a summary would save nothing; never the larger of the two.
    """

    record: Record
    tokens: int
    summary: Record
    summary_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finalist:
    """A ranked record that waits for its place in the evidence; fields as in ``Hit``."""

    piece: Piece
    score: int
    bonus: int
    pinned: bool
    parts: tuple[TermPart, ...]
    similarity: SimilarityPart | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What fits.

    Attributes:
        hits: in the order of the finalists.
        tokens: their estimated tokens together.
        dropped: finalists that did not fit even as a summary, or were one too many.
    """

    hits: tuple[Hit, ...]
    tokens: int
    dropped: int


def piece_of(record: Record) -> Piece:
    """Both forms of a record.

    The summary has no parameters and no examples, and its description is cut. It keeps the ``search_text_hash`` of
    the whole record, which names the text that was cut.
    """
    tokens = evidence_cost(record)
    description = cut_text(record.description, SUMMARY_TOKENS[record.kind])
    short = replace(record, parameters="{}", examples=(), description=description)
    object.__setattr__(short, "search_text_hash", record.search_text_hash)
    saved = tokens - evidence_cost(short)
    if saved <= 0:
        return Piece(record=record, tokens=tokens, summary=record, summary_tokens=tokens)
    return Piece(record=record, tokens=tokens, summary=short, summary_tokens=tokens - saved)


def evidence_cost(record: Record) -> int:
    """Estimated tokens of a record: id, name, namespace, description, parameters, source_url and section."""
    texts = (record.id, record.name, record.namespace, record.description, record.source_url, record.section)
    parameters = "" if record.parameters == "{}" else record.parameters
    return sum(estimate_tokens(text) + FIELD_TOKENS for text in (*texts, parameters) if text)


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


def assemble(finalists: Sequence[Finalist], budget: Budget) -> Evidence:
    """Fit finalists into ``evidence_k`` and ``evidence_tokens``; both hold strictly, for pinned records too.

    Breadth first: places are given away in the smallest form (pinned ones first, then by rank), and what is left of
    the tokens turns summaries into full records from the first rank on. So one long schema cannot hide nine others.
    """
    by_claim = sorted(range(len(finalists)), key=lambda rank: not finalists[rank].pinned)
    left = budget.evidence_tokens
    forms: dict[int, EvidenceForm] = {}
    for rank in by_claim[: budget.evidence_k]:
        if (smallest := finalists[rank].piece.summary_tokens) <= left:
            forms[rank] = EvidenceForm.SUMMARY
            left -= smallest
    for rank in sorted(forms):
        piece = finalists[rank].piece
        if (extra := piece.tokens - piece.summary_tokens) <= left:
            forms[rank] = EvidenceForm.FULL
            left -= extra
    hits = tuple(_hit(finalists[rank], forms[rank]) for rank in sorted(forms))
    return Evidence(hits=hits, tokens=budget.evidence_tokens - left, dropped=len(finalists) - len(hits))


def _hit(finalist: Finalist, form: EvidenceForm) -> Hit:
    piece = finalist.piece
    full = form is EvidenceForm.FULL
    return Hit(
        record=piece.record if full else piece.summary,
        score=finalist.score,
        form=form,
        tokens=piece.tokens if full else piece.summary_tokens,
        pinned=finalist.pinned,
        parts=finalist.parts,
        bonus=finalist.bonus,
        similarity=finalist.similarity,
    )
