"""The committed pairs: what is called a duplicate is one, and no changed article is."""

from pathlib import Path

import pytest

from cluster.duplicates import Verdict
from evals.articles import read_articles
from evals.duplicates import (
    ALL,
    CHANGES,
    FITTED,
    INLINE,
    KEPT,
    KNOWLEDGE,
    LABELLED,
    changed,
    pair_figures,
    pair_lines,
    read_inline,
    read_pairs,
    strays,
    told_of,
)
from evals.errors import BadEvalFile

ARTICLES = {record.id: record for record in read_articles(KNOWLEDGE / "articles")}
PAIRS = read_pairs(KNOWLEDGE / "duplicates.jsonl", ARTICLES)


@pytest.mark.parametrize("half", [FITTED, KEPT, ALL])
def test_what_is_called_a_duplicate_is_one(half: str) -> None:
    told = told_of([pair for pair in PAIRS if half in {pair.half, ALL}], ARTICLES)
    precision, recall = told.precision(Verdict.DUPLICATE), told.recall(Verdict.DUPLICATE)
    assert precision is not None
    assert recall is not None
    assert precision >= 0.95
    assert recall >= 0.75


@pytest.mark.parametrize("name", INLINE)
def test_pairs_of_other_texts_are_told_as_the_readme_says(name: str) -> None:
    pairs, known = read_inline(KNOWLEDGE / INLINE[name], ARTICLES)
    assert len(pairs) >= 40
    assert len({pair.id for pair in pairs}) == len(pairs)
    assert {known[pair.left].locale for pair in pairs} >= {"en", "fa", "ru"}
    told = told_of(pairs, known)
    precision, recall = told.precision(Verdict.DUPLICATE), told.recall(Verdict.DUPLICATE)
    assert precision is not None
    assert recall is not None
    assert precision >= 0.95
    assert recall >= 0.7


def test_the_figures_of_all_files_are_shown_and_a_folder_without_them_has_none(tmp_path: Path) -> None:
    figures = pair_figures(KNOWLEDGE, list(ARTICLES.values()))
    assert list(figures) == ["labelled", *INLINE]
    assert figures["labelled"]["pairs"] == len(PAIRS)
    assert next(iter(pair_lines(figures))).startswith(f"duplicate pairs, {len(PAIRS)} labelled: precision 1.000")
    (tmp_path / LABELLED).write_text("")
    assert pair_figures(tmp_path, []) == {"labelled": {"pairs": 0, "precision": None, "recall": None}}


def test_a_row_with_passages_that_breaks_its_contract_is_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    good = '{"id": "p", "lang": "en", "left": {"title": "a", "text": "b"}, "right": {"title": "a", "text": "b"}, '
    path.write_text(
        good + '"verdict": "duplicate"}\n' + good.replace('"title": "a"', '"title": ""') + '"verdict": "review"}\n'
    )
    with pytest.raises(BadEvalFile, match="line 2"):
        read_inline(path, {})


def test_no_other_pair_of_articles_is_taken_for_a_duplicate() -> None:
    compared, wrong = strays(PAIRS, ARTICLES)
    assert compared > 2_000
    assert wrong == []


def test_an_article_that_says_something_else_is_no_duplicate_and_one_in_other_notation_is() -> None:
    seen = set()
    for name, same, verdict in changed(ARTICLES.values()):
        seen.add(name)
        assert (verdict is Verdict.DUPLICATE) == same, name
    assert seen == set(CHANGES)


@pytest.mark.parametrize(
    "row", ["{", "[]", '{"id": "p"}', '{"id": "p", "left": "a", "right": "b", "verdict": "same"}',
            '{"id": "p", "left": "a", "right": "nowhere", "verdict": "duplicate"}'],
)  # fmt: skip
def test_a_row_that_breaks_its_contract_is_refused_by_line(tmp_path: Path, row: str) -> None:
    (tmp_path / "pairs.jsonl").write_text(row + "\n")
    known = {"a": next(iter(ARTICLES.values()))}
    with pytest.raises(BadEvalFile, match="line 1"):
        read_pairs(tmp_path / "pairs.jsonl", known)
