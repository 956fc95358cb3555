"""A run of three questions whose every number is worked out by hand."""

import math
from collections.abc import Collection

import pytest
from rich.console import Console

from evals.data import GoldSet, Question
from evals.report import report_of
from evals.run import Found, Run, run_system
from evals.tables import tables


def question(name: str, relevant: Collection[str], acceptable: Collection[str] = (), lang: str = "en") -> Question:
    return Question(id=name, text=name, relevant=frozenset(relevant), acceptable=frozenset(acceptable), lang=lang)


QUESTIONS = (
    question("two", {"a", "c"}),
    question("accepts", {"z"}, {"b"}, lang="fa"),
    question("empty", {"a"}, lang="fa"),
    question("nothing", set(), lang="fa"),
)
ANSWERS = {
    "two": (("a", "b", "c"), None, True, 1.0),
    "accepts": (("b", "a"), None, False, 3.0),
    "empty": ((), "no_match", True, 2.0),
    "nothing": ((), "no_match", True, 4.0),
}


class Scripted:
    """A system whose answers are written down; its full ranking disagrees about one question."""

    name = "scripted"

    def search(self, text: str) -> Found:
        ranked, miss, exact, elapsed_ms = ANSWERS[text]
        return Found(
            ranked=ranked,
            scores=tuple(range(len(ranked), 0, -1)),
            candidates=(*ranked, "z"),
            miss=miss,
            exact=exact,
            elapsed_ms=elapsed_ms,
        )

    def full_ranking(self, text: str) -> tuple[tuple[str, int], ...] | None:
        return (("a", 3), ("b", 2), ("c", 2)) if text == "two" else ()


def run(parity_sample: int = 10) -> Run:
    return run_system(Scripted(), GoldSet(tools=(), questions=QUESTIONS, joined=0), parity_sample)


def test_every_number_of_a_report_is_the_one_worked_by_hand() -> None:
    report = report_of(run(), ks=[1, 5], cuts=[3])
    assert (report["n"], report["n_with_relevant"], report["unknown_labels"]) == (4, 3, 4)
    assert report["recall"] == {"1": pytest.approx((0.5 + 0 + 0) / 3), "5": pytest.approx((1 + 0 + 0) / 3)}
    assert report["hit"] == {"1": pytest.approx(2 / 3), "5": pytest.approx(2 / 3)}  # "b" is acceptable
    assert report["candidate_recall"] == {"3": pytest.approx((1 + 1 + 0) / 3)}
    assert report["ndcg10"] == pytest.approx(1.5 / (1 + 1 / math.log2(3)) / 3)
    assert report["exact_share"] == 0.75
    assert report["parity_with_full_rank"] == pytest.approx(2 / 3)
    assert report["parity_checked"] == 3
    assert report["no_match_rate"] == 1.0
    assert report["false_empty_rate"] == pytest.approx(1 / 3)
    assert (report["p50_ms"], report["p95_ms"]) == (2.0, 4.0)


def test_languages_are_reported_apart_and_a_class_without_questions_is_null() -> None:
    by_lang = report_of(run(), ks=[1], cuts=[3])["by_lang"]
    assert list(by_lang) == ["en", "fa"]
    assert (by_lang["en"]["n"], by_lang["en"]["recall"], by_lang["en"]["no_match_rate"]) == (1, {"1": 0.5}, None)
    assert (by_lang["fa"]["n"], by_lang["fa"]["no_match_rate"]) == (3, 1.0)


def test_parity_is_checked_on_a_spread_sample_of_exact_answers_only() -> None:
    assert [outcome.parity for outcome in run(parity_sample=2).outcomes] == [False, None, True, None]
    assert [outcome.parity for outcome in run(parity_sample=0).outcomes] == [None] * 4


def test_tables_show_systems_side_by_side() -> None:
    report = report_of(run(), ks=[1, 5], cuts=[3])
    console = Console(width=100)
    with console.capture() as capture:
        console.print(tables([report, report | {"system": "other"}]))
    text = capture.get()
    assert "4 queries over 0 tools" in text
    assert "scripted" in text
    assert "other" in text
    assert "Recall@5" in text
    assert "fa" in text
