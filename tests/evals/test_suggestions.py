"""Suggestions: what they are made of, that they close what they say, and that nothing is applied by itself."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from evals.misses import Miss, Reason, misses_of
from evals.run import System, run_system
from evals.suggestions import Suggestion, applied, row_of, suggestions_for
from evals.systems.shortlist import LexicalSystem
from evals.unheld import unheld_words
from shards.record import Record
from tests.evals.catalogues import gold_set, question, setup, tool

TOOLS = [
    tool("books:create_invoice", "ثبت فاکتور فروش برای مشتری"),
    tool("books:stock_level", "موجودی انبار هر کالا"),
    tool("mail:send", "Sends an email to a person."),
    tool("cloud:resize_disk", "扩容云硬盘的容量。"),
]


def opened(records: Sequence[Record]) -> System:
    return LexicalSystem(records, setup(k=3))


def misses(text: str, wanted: str, records: Sequence[Record] = TOOLS) -> tuple[Miss, ...]:
    gold = gold_set(records, [question(text, [wanted])])
    system = opened(records)
    return misses_of(run_system(system, gold, 3, 0), system, frozenset(one.id for one in records))


@pytest.mark.parametrize(
    ("text", "record", "words"),
    [
        ("qorvex wugmar zundi blimpo", TOOLS[0], ("qorvex", "wugmar", "zundi", "blimpo")),
        ("please Email the Landlord 42 times", TOOLS[2], ("landlord", "times")),  # stop words and numbers say nothing
        ("sending emails", TOOLS[2], ()),  # other forms of words that it holds
        ("فاکتور برای تعمیرکار", TOOLS[0], ("تعمیرکار",)),
        ("磁盘空间不够，扩容", TOOLS[3], ("磁盘空间不够",)),
        ("云硬盘太小", TOOLS[3], ("盘太小",)),  # 硬盘 is held, the pairs after it are not
    ],
)
def test_unheld_words_are_those_of_which_no_field_holds_a_form(
    text: str, record: Record, words: tuple[str, ...]
) -> None:
    assert unheld_words(text, record) == words


def test_a_suggestion_applied_by_hand_closes_its_miss_on_another_question_too() -> None:
    (suggestion,) = suggestions_for(misses("qorvex jadumi zundi", "books:create_invoice"), TOOLS, opened)
    assert suggestion.closes
    assert (suggestion.aliases, suggestion.examples) == ((), ())
    row = row_of(suggestion)
    assert row["id"] == "books:create_invoice"

    # What an owner would do with the row, by hand.
    owner_edited = [
        replace(record, keywords=(*record.keywords, *row["add_keywords"])) if record.id == row["id"] else record
        for record in TOOLS
    ]
    another = "yomek qorvex barimu"  # shares one word with the question that the suggestion was made from
    assert "books:create_invoice" not in opened(TOOLS).search(another).ranked
    assert opened(owner_edited).search(another).ranked[0] == "books:create_invoice"


def test_nothing_is_applied_by_itself() -> None:
    before = [record.to_json() for record in TOOLS]
    suggestions_for(misses("qorvex zundi blimpo", "books:create_invoice"), TOOLS, opened)
    assert [record.to_json() for record in TOOLS] == before


def test_where_a_tool_holds_every_word_and_is_outranked_the_question_becomes_an_example_or_an_alias() -> None:
    rivals = [tool(f"mail:send_{number}", "Send letter") for number in range(4)]
    quiet = tool("post:letters", "Handles what the post office takes. It can also send a letter for somebody.")
    (miss,) = misses("send letter", "post:letters", [*rivals, quiet])
    assert miss.reason is Reason.OUTRANKED
    (suggestion,) = suggestions_for([miss], [*rivals, quiet], opened)
    assert suggestion.keywords == ()
    assert suggestion.closes
    assert "send letter" in (*suggestion.examples, *suggestion.aliases)
    assert "those of others" in row_of(suggestion)["why"]


def test_what_metadata_cannot_close_gets_no_suggestion() -> None:
    absent = misses("qorvex", "books:gone")
    assert [miss.reason for miss in absent] == [Reason.ABSENT]
    assert suggestions_for(absent, TOOLS, opened) == ()


def test_a_row_says_which_words_are_missing_and_from_which_question_it_comes() -> None:
    (suggestion,) = suggestions_for(misses("qorvex zundi blimpo", "books:create_invoice"), TOOLS, opened)
    assert row_of(suggestion) == {
        "id": "books:create_invoice",
        "add_aliases": [],
        "add_keywords": ["qorvex", "zundi", "blimpo"],
        "add_examples": [],
        "query_id": "qorvex zundi blimpo",
        "query": "qorvex zundi blimpo",
        "lang": "en",
        "why": "not_a_candidate (no match): no field holds qorvex, zundi, blimpo",
        "closes_its_query": True,
    }


def test_two_suggestions_for_one_record_are_both_applied_and_nothing_is_added_twice() -> None:
    (miss,) = misses("qorvex", "books:create_invoice")
    one = Suggestion(miss=miss, keywords=("qorvex", "zundi"))
    two = Suggestion(miss=miss, keywords=("zundi", "wugmar"), examples=("qorvex",))
    record = applied(TOOLS, [one, two])[0]
    assert (record.keywords, record.examples) == (("qorvex", "zundi", "wugmar"), ("qorvex",))
