"""The committed table: what counts as a fall, and that a table of today's figures passes today."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from evals.errors import BadEvalFile
from evals.expected import Expected, SetFigures, falls, read_expected, rises, rounded, write_expected


@pytest.mark.parametrize(
    ("wanted", "now", "fell"),
    [
        ({"recall@5": 0.7}, {"recall@5": 0.7}, []),
        ({"recall@5": 0.7}, {"recall@5": 0.71}, []),
        ({"recall@5": 0.7}, {"recall@5": 0.6999}, ["gold lexical recall@5: 0.6999, expected 0.7000"]),
        ({"false_empty_rate": 0.1}, {"false_empty_rate": 0.09}, []),
        ({"no_match_rate": 0.1}, {"no_match_rate": 0.05}, ["gold lexical no_match_rate: 0.0500, expected 0.1000"]),
        (
            {"false_empty_rate": 0.1},
            {"false_empty_rate": 0.2},
            ["gold lexical false_empty_rate: 0.2000, expected 0.1000"],
        ),
        ({"recall@1": 0.5}, {}, ["gold lexical recall@1: gone, expected 0.5000"]),
        ({}, {"recall@1": 0.5}, []),
    ],
)  # fmt: skip
def test_a_fall_names_set_system_figure_and_both_values(
    wanted: Mapping[str, float], now: Mapping[str, float], fell: list[str]
) -> None:
    assert [str(fall) for fall in falls("gold", "lexical", wanted, now)] == fell


def test_figures_are_rounded_to_the_worse_side_so_that_the_same_run_passes() -> None:
    now = {"recall@5": 2 / 3, "false_empty_rate": 2 / 3, "exact_share": 1.0}
    written = rounded(now)
    assert written == {"recall@5": 0.6666, "false_empty_rate": 0.6667, "exact_share": 1.0}
    assert list(falls("gold", "lexical", written, now)) == []
    assert rises(written, rounded(now)) == 0


def test_rises_are_counted_whatever_the_direction() -> None:
    assert rises({"recall@5": 0.5, "false_empty_rate": 0.5}, {"recall@5": 0.6, "false_empty_rate": 0.4}) == 2
    assert rises({"recall@5": 0.5, "false_empty_rate": 0.5}, {"recall@5": 0.4, "false_empty_rate": 0.6}) == 0


def test_a_table_that_was_written_is_the_one_that_is_read(tmp_path: Path) -> None:
    table = Expected(
        models=("use",), sets={"gold": SetFigures(tools=2, queries=3, systems={"lexical": {"recall@5": 0.5}})}
    )
    write_expected(tmp_path / "expected.yaml", table)
    assert read_expected(tmp_path / "expected.yaml") == table
    assert (tmp_path / "expected.yaml").read_text("utf-8").startswith("# What each system reaches")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("sets: {gold: {tools: 2, queries: 3, systems: {lexical: {recall@5: high}}}}", "recall@5"),
        ("sets: {gold: {tools: 2, queries: 3}}", "systems"),
        ("sets: {}\nset: {}", "unknown key"),
        ("sets: [", "expected.yaml"),
    ],
)
def test_a_bad_table_is_refused_by_field(tmp_path: Path, text: str, word: str) -> None:
    path = tmp_path / "expected.yaml"
    path.write_text(text)
    with pytest.raises(BadEvalFile, match=word):
        read_expected(path)
