"""What the check of the ratios says before it measures anything."""

from pathlib import Path

from click.testing import CliRunner

from loadtest.check import main


def test_without_committed_results_the_check_says_what_to_run_first(tmp_path: Path) -> None:
    ended = CliRunner().invoke(main, ["--results", str(tmp_path), "--work", str(tmp_path / "work")])
    assert ended.exit_code == 1
    assert "run that first" in ended.output or "needs wrk" in ended.output
