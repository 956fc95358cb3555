"""Plots are PNG files of a readable size; what the curves hold is tested with the curves."""

from pathlib import Path

import pytest

from evals.dilution import SizePoint
from evals.errors import BadEvalFile
from evals.run import Found, Outcome, Run
from tests.evals.catalogues import question

pytest.importorskip("matplotlib", reason="plots need the extra 'evals'")

from evals.plots import draw

OUTCOME = Outcome(
    question=question("q", {"a"}),
    found=Found(ranked=("a",), scores=(), candidates=("a", "b"), miss=None, exact=None, elapsed_ms=1.5),
    parity=None,
)
RUNS = [
    Run(system=name, identity={}, k=20, tools=9, joined=0, unknown_labels=0, outcomes=(OUTCOME,) * 3)
    for name in ("lexical", "bm25")
]
SIZES = [SizePoint(system=name, tools=tools, recall=0.5) for tools in (9, 36) for name in ("lexical", "bm25")]


def size_of(png: Path) -> tuple[int, int]:
    header = png.read_bytes()[:24]
    assert header.startswith(b"\x89PNG")
    return int.from_bytes(header[16:20]), int.from_bytes(header[20:24])


def test_there_is_a_plot_over_k_over_n_over_the_size_and_of_the_times(tmp_path: Path) -> None:
    drawn = draw(tmp_path / "plots", RUNS, SIZES, 5)
    assert {path.name for path in drawn} == {"recall_by_k.png", "recall_by_n.png", "recall_by_size.png", "latency.png"}
    for path in drawn:
        width, height = size_of(path)
        assert width > 1000
        assert height > 600


def test_one_size_of_the_catalogue_makes_no_plot_over_it(tmp_path: Path) -> None:
    assert len(draw(tmp_path, RUNS, SIZES[:2], 5)) == 3


def test_questions_without_an_answer_leave_the_lines_out_and_the_plots_in(tmp_path: Path) -> None:
    nothing = Outcome(question=question("q", set()), found=OUTCOME.found, parity=None)
    runs = [Run(system="lexical", identity={}, k=5, tools=9, joined=0, unknown_labels=0, outcomes=(nothing,))]
    assert len(draw(tmp_path, runs, (), 5)) == 3


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadEvalFile, match="file"):
        draw(tmp_path / "file" / "plots", RUNS, SIZES, 5)
