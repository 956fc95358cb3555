"""What owners add to a tool (aliases, keywords, examples, capability, domain) lifts it as they expect."""

from collections.abc import Mapping

import pytest

from cluster.local import LocalIndex
from shards.record import Access, Kind, Record
from tests.indexes import Ask, answers
from tests.supervised import EVERYTHING
from tests.worlds import Question

CROWD = (
    ("settle_balance", "Settles the balance of a supplier."),
    ("list_suppliers", "Lists the suppliers of a town. Each has a gas station, a bill and a kitchen."),
    ("utility_report", "Reports what utilities were used for."),
    ("cook_dinner", "Plans a dinner for guests. Pay attention to the gas."),
    ("bill_archive", "Archives old bills."),
)


def _record(name: str, description: str = "", **owned: object) -> Record:
    access = Access(tenant="acme")
    return Record(id=name, kind=Kind.TOOL, name=name, namespace="", description=description, access=access, **owned)


def _found(query: str, owned: Mapping[str, object]) -> list[str]:
    """Ids in order for a query to a crowd of tools and one, ``xq7``, that only its owner's words describe."""
    records = [*(_record(name, text) for name, text in CROWD), _record("xq7", "Does it.", **owned)]
    index = LocalIndex.from_records(records, shards=2)
    (answer,) = answers(index, [Ask(scope=EVERYTHING, question=Question(text=query))])
    return [hit.record.id for hit in answer.hits]


@pytest.mark.parametrize(
    ("owned", "query"),
    [
        ({"aliases": ("pay gas bill",)}, "pay the gas bill"),
        ({"aliases": ("SettleMyBill",)}, "settle my bill"),
        ({"examples": ("please pay my gas bill", "is the kitchen paid for")}, "could you pay our gas bill"),
        ({"examples": ("قبض گاز منو پرداخت کن",)}, "قبض گاز رو پرداخت کنید"),
        ({"keywords": ("gas", "utilities", "payment")}, "payment for gas"),
        ({"capability": "pay_gas_bill"}, "pay the gas bill"),
        ({"domain": "household payments"}, "list household payments"),
    ],
)
def test_what_an_owner_adds_brings_the_tool_first(owned: Mapping[str, object], query: str) -> None:
    assert _found(query, {})[:1] != ["xq7"]
    assert _found(query, owned)[0] == "xq7"


def test_more_keywords_and_examples_never_bury_the_first_ones() -> None:
    keywords = ("gas", *(f"topic{number}" for number in range(40)))
    examples = ("pay my gas bill", *(f"do task number {number} for me" for number in range(40)))
    assert _found("gas", {"keywords": keywords})[0] == "xq7"
    assert _found("pay my gas bill", {"examples": examples})[0] == "xq7"


@pytest.mark.parametrize("query", ["پرداخت قبض", "оплатить счёт", "支付账单", "سداد الفاتورة", "pardakht ghabz"])
def test_examples_in_one_language_serve_questions_in_others(query: str) -> None:
    assert _found(query, {"examples": ("make a payment for a bill",)})[0] == "xq7"
