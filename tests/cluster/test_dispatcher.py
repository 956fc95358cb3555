"""One by one or all at once, by the shape of the question."""

import pytest

from cluster.contract import Delivery, EvidenceForm, Hit, Plan, PlanReason
from cluster.dispatcher import RuleDispatcher
from cluster.evidence import piece_of
from cluster.question_lexicon import AnswerShape
from tests.cluster.rig import tool

FAR_APART = (1000, 500)
NAMED = 400_000_000
RECORD = piece_of(tool("t", "x").to_json())


def plan(
    question: str,
    scores: tuple[int, ...] = FAR_APART,
    bonuses: tuple[int, ...] = (0, 0, 0),
    shape: AnswerShape | None = None,
) -> Plan:
    hits = [
        Hit(record=RECORD, score=score + bonuses[n], form=EvidenceForm.FULL, bonus=bonuses[n])
        for n, score in enumerate(scores)
    ]
    return RuleDispatcher().plan(question, hits, shape)


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


@pytest.mark.parametrize(
    "question",
    ["when and how much did we pay?", "کی و چقدر پرداخت کردیم؟", "Сколько это стоит и когда доставят?"],
)
def test_a_question_of_several_parts_is_delivered_at_once(question: str) -> None:
    assert plan(question) == Plan(delivery=Delivery.BATCH, reason=PlanReason.SEVERAL_PARTS)


def test_the_shape_that_the_caller_hands_in_stands_above_the_words() -> None:
    listed = plan("send an email", shape=AnswerShape.LIST)
    assert listed == Plan(delivery=Delivery.BATCH, reason=PlanReason.LIST)
    assert plan("list all users and when they came", shape=AnswerShape.AMOUNT) == SEQUENTIAL_FACT


def test_a_list_that_the_caller_asks_for_is_one_even_where_a_tool_is_named() -> None:
    listed = plan("list buckets", bonuses=(NAMED, 0, 0), shape=AnswerShape.LIST)
    assert listed == Plan(delivery=Delivery.BATCH, reason=PlanReason.LIST)


def test_tight_scores_ask_for_all_at_once_whatever_shape_the_caller_hands_in() -> None:
    tight = plan("send mail", (1000, 990), shape=AnswerShape.AMOUNT)
    assert tight == Plan(delivery=Delivery.BATCH, reason=PlanReason.TIGHT_SCORES)
