"""Evidence: the final hits inside the ceilings on count, tokens and bytes: in full, cut, summarised, or left out.

It orders nothing and fetches nothing: hits come ranked, with their records.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

import orjson

from cluster.budget import Budget
from cluster.contract import Cut, EvidenceForm, Form, Piece
from cluster.cutting import cut_of, summary_of
from cluster.record_json import Values, evidence_json
from cluster.tokens import ESTIMATE, FIELD_TOKENS, TokenCounter

LEAST_TOKENS_TO_CUT: Final = 40
"""With less left, a summary stays one: hardly a property with what is around it is shorter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What fits of a ranked list.

    Attributes:
        forms: of the ranks that fit, ascending.
        cuts: of those that were cut.
        tokens: their tokens together.
        json_bytes: of their JSON together.
        dropped: ranks that did not fit in any form, or were one too many.
        dropped_tokens: of all ranks in full, but for ``tokens``.
    """

    forms: Mapping[int, EvidenceForm]
    cuts: Mapping[int, Cut]
    tokens: int
    json_bytes: int
    dropped: int
    dropped_tokens: int


def piece_of(body: bytes, counter: TokenCounter = ESTIMATE) -> Piece:
    """A record ready to be handed over, given its canonical JSON."""
    values: Values = orjson.loads(body)
    return Piece(
        id=values["id"],
        name=values["name"],
        namespace=values["namespace"],
        full=Form(json=evidence_json(values), tokens=evidence_cost(values, counter)),
        _shorten=_shortener(counter),
    )


@lru_cache
def _shortener(counter: TokenCounter) -> Callable[[Form], Form]:
    return partial(summary_of, counter=counter)


def evidence_cost(values: Values, counter: TokenCounter = ESTIMATE) -> int:
    """Tokens of a record: id, name, namespace, description, parameters, source_url and section."""
    texts = [text for name in _COUNTED if (text := values[name])]
    if values["parameters"] != "{}":
        texts.append(values["parameters"])
    return sum(map(counter.count, texts)) + FIELD_TOKENS * len(texts)


_COUNTED: Final = ("id", "name", "namespace", "description", "source_url", "section")


def assemble(
    ranked: Mapping[int, Piece],
    pinned: Collection[int],
    budget: Budget,
    *,
    full_hits: int | None = None,
    counter: TokenCounter = ESTIMATE,
) -> Evidence:
    """Fit records by rank into the three ceilings on evidence, which hold strictly, for pinned ranks too.

    Breadth first: places are given away in the smallest form (pinned ones first, then by rank), and what is left of
    tokens and bytes turns summaries into full records from the first rank on. So one long schema cannot hide nine
    others. What is left even then is filled with parts of those that did not become whole.
    With ``full_hits`` only so many of them, and those behind that save nothing as summaries.
    """
    ranks = sorted(ranked)
    whole = sum([piece.full.tokens for piece in ranked.values()])
    whole_bytes = sum([len(piece.full.json) for piece in ranked.values()])
    most_full = len(ranks) if full_hits is None else full_hits
    fits = whole <= budget.evidence_tokens and whole_bytes <= budget.evidence_bytes
    if fits and len(ranks) <= min(budget.evidence_k, most_full):
        return Evidence(
            forms=dict.fromkeys(ranks, EvidenceForm.FULL),
            cuts={},
            tokens=whole,
            json_bytes=whole_bytes,
            dropped=0,
            dropped_tokens=0,
        )
    by_claim = sorted(ranks, key=lambda rank: rank not in pinned) if pinned else ranks
    room = _Room(ranked, budget, counter)
    room.place(by_claim[: budget.evidence_k])
    placed = sorted(room.forms)
    room.make_whole(placed, most_full)
    room.add_parts(placed[:most_full])
    tokens = budget.evidence_tokens - room.tokens
    return Evidence(
        forms={rank: room.forms[rank] for rank in placed},
        cuts=room.cuts,
        tokens=tokens,
        json_bytes=budget.evidence_bytes - room.json_bytes,
        dropped=len(ranked) - len(placed),
        dropped_tokens=whole - tokens,
    )


class _Room:
    """What is left of the tokens and bytes, and the forms that took the rest."""

    def __init__(self, ranked: Mapping[int, Piece], budget: Budget, counter: TokenCounter) -> None:
        self._ranked = ranked
        self._counter = counter
        self.tokens = budget.evidence_tokens
        self.json_bytes = budget.evidence_bytes
        self.forms: dict[int, EvidenceForm] = {}
        self.cuts: dict[int, Cut] = {}

    def place(self, ranks: Sequence[int]) -> None:
        """Give each rank its summary, and then, of those that none is short enough for, what fits."""
        for rank in ranks:
            if self._takes(self._ranked[rank].summary):
                self.forms[rank] = EvidenceForm.SUMMARY
        if len(self.forms) == len(ranks):
            return
        for rank in ranks:
            if rank in self.forms:
                continue
            cut = cut_of(self._ranked[rank], self.tokens, self.json_bytes, self._counter)
            if cut is not None and self._takes(cut.form):
                self.forms[rank], self.cuts[rank] = EvidenceForm.CUT, cut

    def make_whole(self, ranks: Sequence[int], most: int) -> None:
        """Turn summaries into full records where there is room; after the first ``most``, where it costs no token."""
        for place, rank in enumerate(ranks):
            piece = self._ranked[rank]
            full, summary = piece.full, piece.summary
            extra = full.tokens - summary.tokens
            if extra > self.tokens or (place >= most and extra) or rank in self.cuts:
                continue
            if self._takes(full, summary):
                self.forms[rank] = EvidenceForm.FULL

    def add_parts(self, ranks: Sequence[int]) -> None:
        """Turn summaries into as much of their records as there is room for."""
        for rank in ranks:
            if self.tokens < LEAST_TOKENS_TO_CUT:
                return
            if self.forms[rank] is not EvidenceForm.SUMMARY:
                continue
            summary = self._ranked[rank].summary
            most, most_bytes = self.tokens + summary.tokens, self.json_bytes + len(summary.json)
            cut = cut_of(self._ranked[rank], most, most_bytes, self._counter)
            if cut is not None and cut.form.tokens > summary.tokens and self._takes(cut.form, summary):
                self.forms[rank], self.cuts[rank] = EvidenceForm.CUT, cut

    def _takes(self, form: Form, instead_of: Form | None = None) -> bool:
        """Take up the room of ``form``, if there is enough; that of ``instead_of`` becomes free."""
        tokens, json_bytes = form.tokens, len(form.json)
        if instead_of is not None:
            tokens, json_bytes = tokens - instead_of.tokens, json_bytes - len(instead_of.json)
        if tokens > self.tokens or json_bytes > self.json_bytes:
            return False
        self.tokens -= tokens
        self.json_bytes -= json_bytes
        return True
