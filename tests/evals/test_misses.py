"""Why a relevant record is not in an answer: every reason once, by the product itself where it can be."""

from dataclasses import replace

import pytest

from evals.data import GoldSet
from evals.misses import Miss, Reason, counts_of, located, misses_of, row_of
from evals.run import Found, Outcome, Run, run_system
from evals.systems.listing import ListingSystem
from evals.systems.setup import Setup
from evals.systems.shortlist import LexicalSystem
from shards.record import Access
from shards.scope import Narrowing
from tests.evals.catalogues import gold_set, question, setup, tool

TOOLS = [
    *(tool(f"pay:send_invoice_{number}", "Sends an invoice to a customer by email.") for number in range(4)),
    tool("pay:refund", "Pays a paid order back to the customer who made it."),
    tool("hr:leave", "Asks for days off.", namespace="hr"),
    tool("hr:secret", "Lists salaries.", access=Access(tenant="other")),
]


def misses(gold: GoldSet, how: Setup) -> list[Miss]:
    system = LexicalSystem(gold.tools, how)
    run = run_system(system, gold, how.k, 0)
    return list(located(misses_of(run, system, frozenset(one.id for one in gold.tools)), system))


def the_miss(text: str, wanted: str, how: Setup) -> Miss:
    (miss,) = misses(gold_set(TOOLS, [question(text, [wanted])]), how)
    return miss


def test_a_record_that_the_catalogue_does_not_have_is_absent() -> None:
    assert the_miss("send an invoice", "pay:gone", setup()).reason is Reason.ABSENT


def test_a_record_that_shares_nothing_with_the_question_is_no_candidate() -> None:
    miss = the_miss("send an invoice", "hr:leave", setup())
    assert (miss.reason, miss.detail) == (Reason.NOT_A_CANDIDATE, "shares nothing with the question")
    assert (miss.rank, miss.score, miss.gap) == (None, None, None)


def test_a_record_below_the_cut_is_no_candidate_and_has_its_place_in_the_full_ranking() -> None:
    miss = the_miss("send an invoice to the customer", "pay:refund", setup(k=2, n=4))
    assert (miss.reason, miss.detail, miss.rank) == (Reason.NOT_A_CANDIDATE, "below the cut", 5)


def test_an_outranked_record_names_its_rivals_and_what_its_score_lacks() -> None:
    miss = the_miss("send an invoice to the customer", "pay:refund", setup(k=2, n=10))
    assert (miss.reason, miss.rank) == (Reason.OUTRANKED, 5)
    assert [rival for rival, _ in miss.rivals] == ["pay:send_invoice_0", "pay:send_invoice_1"]
    assert miss.score is not None
    assert miss.gap == (miss.rivals[1][1] or 0) - miss.score > 0


def test_a_record_of_another_tenant_is_filtered_and_so_is_one_outside_the_narrowing() -> None:
    hidden = the_miss("list salaries", "hr:secret", setup())
    assert (hidden.reason, hidden.detail) == (Reason.FILTERED, "not authorized")
    narrowed = the_miss("days off", "hr:leave", replace(setup(), narrowing=Narrowing(namespaces=frozenset({"pay"}))))
    assert (narrowed.reason, narrowed.detail) == (Reason.FILTERED, "narrowed")


def test_a_record_that_no_token_is_left_for_is_cut_by_the_budget() -> None:
    miss = the_miss(
        "send an invoice to the customer", "pay:send_invoice_3", replace(setup(), evidence_tokens=60)
    )  # fmt: skip
    assert (miss.reason, miss.rank) == (Reason.CUT_BY_BUDGET, 4)


def scripted(found: Found) -> list[Reason]:
    asked = question("q", ["a"])
    run = Run(
        system="s", identity={}, k=2, tools=3, joined=0, unknown_labels=0,
        outcomes=(Outcome(question=asked, found=found, parity=None),),
    )  # fmt: skip
    peer = ListingSystem("s", Nothing(), {}, k=2, n=3)
    return [miss.reason for miss in located(misses_of(run, peer, frozenset("abc")), peer)]


class Nothing:
    def search(self, query: str, n: int) -> tuple[str, ...]:  # noqa: ARG002 -- the protocol's
        return ()


@pytest.mark.parametrize(
    ("candidates", "ranked", "miss", "reason"),
    [
        (("b", "a"), (), "no_match", Reason.ABSTAINED),
        (("b", "c", "a"), ("b", "c"), None, Reason.OUTRANKED),
        (("b", "c"), ("b", "c"), None, Reason.NOT_A_CANDIDATE),
        (("b", "a"), ("b",), None, Reason.CUT_BY_BUDGET),
        (("b", "a"), (), "budget", Reason.CUT_BY_BUDGET),
    ],
)
def test_reasons_follow_from_the_rank_among_the_candidates_even_where_there_are_no_scores(
    candidates: tuple[str, ...], ranked: tuple[str, ...], miss: str | None, reason: Reason
) -> None:
    found = Found(ranked=ranked, scores=(), candidates=candidates, miss=miss, exact=None, elapsed_ms=1.0)
    assert scripted(found) == [reason]


def test_counts_name_every_reason_and_a_row_is_plain_json() -> None:
    miss = the_miss("send an invoice to the customer", "pay:refund", setup(k=2, n=10))
    assert list(counts_of([miss])) == [reason.value for reason in Reason]
    assert counts_of([miss])["outranked"] == 1
    row = row_of(miss)
    assert (row["id"], row["reason"], row["rank"], row["system"]) == ("pay:refund", "outranked", 5, "lexical")
    assert row["outranked_by"][0]["id"] == "pay:send_invoice_0"
