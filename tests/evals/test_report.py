"""A run of three questions whose every number is worked out by hand."""

import math
from collections.abc import Collection, Mapping, Sequence

import pytest
from rich.console import Console

from evals.data import GoldSet, Question
from evals.misses import misses_of
from evals.report import Report, report_of
from evals.run import Found, Run, run_system
from evals.significance import compare
from evals.tables import tables


def question(
    name: str, relevant: Collection[str], acceptable: Collection[str] = (), lang: str = "en", kind: str = ""
) -> Question:
    return Question(
        id=name, text=name, relevant=frozenset(relevant), acceptable=frozenset(acceptable), lang=lang, kind=kind
    )


QUESTIONS = (
    question("two", {"a", "c"}, kind="multi"),
    question("accepts", {"z"}, {"b"}, lang="fa", kind="typo"),
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
    identity: Mapping[str, str] = {"ranker": "scripted-1"}

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

    def hidden(self, ids: Collection[str]) -> Mapping[str, str]:  # noqa: ARG002 -- the protocol's
        return {}


def run(parity_sample: int = 10) -> Run:
    return run_system(Scripted(), GoldSet(tools=(), questions=QUESTIONS, joined=0), 5, parity_sample)


def report(ks: Sequence[int] = (1, 5)) -> Report:
    outcome = run()
    return report_of(outcome, misses_of(outcome, Scripted(), frozenset("abc")), ks, [3])


def test_every_number_of_a_report_is_the_one_worked_by_hand() -> None:
    whole = report()
    assert (whole["n"], whole["n_with_relevant"], whole["unknown_labels"]) == (4, 3, 4)
    assert whole["recall"] == {"1": pytest.approx((0.5 + 0 + 0) / 3), "5": pytest.approx((1 + 0 + 0) / 3)}
    assert whole["hit"] == {"1": pytest.approx(2 / 3), "5": pytest.approx(2 / 3)}  # "b" is acceptable
    assert whole["candidate_recall"] == {"3": pytest.approx((1 + 1 + 0) / 3)}
    assert whole["ndcg10"] == pytest.approx(1.5 / (1 + 1 / math.log2(3)) / 3)
    assert whole["exact_share"] == 0.75
    assert whole["parity_with_full_rank"] == pytest.approx(2 / 3)
    assert whole["parity_checked"] == 3
    assert whole["no_match_rate"] == 1.0
    assert whole["false_empty_rate"] == pytest.approx(1 / 3)
    assert (whole["p50_ms"], whole["p95_ms"]) == (2.0, 4.0)
    assert whole["mean_hits"] == 2.5
    assert (whole["identity"], whole["k"]) == ({"ranker": "scripted-1"}, 5)


def test_languages_are_reported_apart_and_a_class_without_questions_is_null() -> None:
    by_lang = report(ks=[1])["by_lang"]
    assert list(by_lang) == ["en", "fa"]
    assert (by_lang["en"]["n"], by_lang["en"]["recall"], by_lang["en"]["no_match_rate"]) == (1, {"1": 0.5}, None)
    assert (by_lang["fa"]["n"], by_lang["fa"]["no_match_rate"]) == (3, 1.0)


def test_kinds_are_reported_apart_where_questions_have_one() -> None:
    by_kind = report()["by_kind"]
    assert {kind: part["n"] for kind, part in by_kind.items()} == {"multi": 1, "typo": 1}
    assert by_kind["multi"]["recall"] == {"1": 0.5, "5": 1.0}


def test_every_relevant_id_that_is_not_in_the_answer_is_counted_once_by_its_reason() -> None:
    # "z" of "accepts" is in no catalogue; "a" of "empty" is no candidate.
    assert {reason: count for reason, count in report()["misses"].items() if count} == {
        "absent": 1,
        "not_a_candidate": 1,
    }


def test_parity_is_checked_on_a_spread_sample_of_exact_answers_only() -> None:
    assert [outcome.parity for outcome in run(parity_sample=2).outcomes] == [False, None, True, None]
    assert [outcome.parity for outcome in run(parity_sample=0).outcomes] == [None] * 4


def test_tables_show_systems_side_by_side_with_the_difference_and_the_misses() -> None:
    console = Console(width=100)
    with console.capture() as capture:
        console.print(tables([report(), report() | {"system": "other"}], {"other": compare(run(), run())}))
    text = capture.get()
    assert "4 queries over 0 tools" in text
    assert "scripted" in text
    assert "Recall@5" in text
    assert "scripted less the others" in text
    assert "other recall@5" in text
    assert "not a candidate" in text
    assert "fa" in text
    assert "typo" in text
