import pytest

from cluster.contract import Delivery, EvidenceForm, Hit, Plan, PlanReason
from cluster.dispatcher import RuleDispatcher
from tests.cluster.rig import tool

FAR_APART = (1000, 500)
NAMED = 400_000_000


def plan(question: str, scores: tuple[int, ...] = FAR_APART, bonuses: tuple[int, ...] = (0, 0, 0)) -> Plan:
    hits = [
        Hit(record=tool(f"t{n}", "x"), score=score + bonuses[n], form=EvidenceForm.FULL, tokens=1, bonus=bonuses[n])
        for n, score in enumerate(scores)
    ]
    return RuleDispatcher().plan(question, hits)


SEQUENTIAL_FACT = Plan(delivery=Delivery.SEQUENTIAL, reason=PlanReason.SINGLE_FACT)


@pytest.mark.parametrize(
    "question",
    [
        "List the buckets of my account",
        "please list invoices",
        "show all open invoices",
        "Which plans include single sign-on?",
        "What are the opening hours?",
        "What tools can send mail?",
        "steps to reset a password",
        "top 5 customers by revenue",
    ],
)
def test_a_question_for_a_list_is_delivered_at_once(question: str) -> None:
    assert plan(question) == Plan(delivery=Delivery.BATCH, reason=PlanReason.LIST)


@pytest.mark.parametrize(
    "question",
    [
        "compare the basic and the pro plan",
        "S3 vs EFS",
        "What is the difference between a refund and a credit note?",
        "Is the pro plan cheaper than two basic plans?",
        "which is faster, express or standard shipping, or pickup?",
        "list the differences between both plans",
    ],
)
def test_a_comparison_is_delivered_at_once_even_when_it_asks_for_a_list(question: str) -> None:
    assert plan(question) == Plan(delivery=Delivery.BATCH, reason=PlanReason.COMPARISON)


@pytest.mark.parametrize(
    "question",
    ["send an email to my colleague", "How much is the late fee?", "When was invoice 7 paid?", "run a job every day"],
)
def test_a_single_fact_goes_one_by_one(question: str) -> None:
    assert plan(question) == SEQUENTIAL_FACT


def test_scores_within_five_percent_are_tight_and_the_border_belongs_to_them() -> None:
    tight = Plan(delivery=Delivery.BATCH, reason=PlanReason.TIGHT_SCORES)
    assert plan("send mail", (1000, 950)) == tight
    assert plan("send mail", (1000, 949)) == SEQUENTIAL_FACT
    assert plan("send mail", (0, 0)) == SEQUENTIAL_FACT


def test_one_hit_is_one_by_one_whatever_was_asked() -> None:
    assert plan("list all users", (10,)) == Plan(delivery=Delivery.SEQUENTIAL, reason=PlanReason.ONE_HIT)


def test_a_list_verb_inside_the_exact_name_of_the_first_hit_asks_for_no_list() -> None:
    assert plan("list buckets", bonuses=(NAMED, 0, 0)) == SEQUENTIAL_FACT


def test_two_records_of_the_asked_name_cannot_be_told_apart() -> None:
    twins = plan("send mail", bonuses=(NAMED, NAMED, 0))
    assert twins == Plan(delivery=Delivery.BATCH, reason=PlanReason.TIGHT_SCORES)
