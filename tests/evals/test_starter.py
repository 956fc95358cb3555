"""``--init``: a gold set that a user can fill in, and that replaces nothing."""

from pathlib import Path

import orjson
import pytest

from evals.data import read_gold, read_tools
from evals.errors import BadEvalFile, WouldOverwrite
from evals.starter import SAMPLED_TOOLS, start_gold_set


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    path = tmp_path / "github.json"
    path.write_bytes(
        orjson.dumps({"tools": [{"name": f"tool_{number}", "inputSchema": {}} for number in range(40)]})
    )  # fmt: skip
    return path


def rows(folder: Path) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in (folder / "queries.jsonl").read_bytes().splitlines()]


def test_it_writes_the_tools_under_their_own_name_templates_and_a_readme(tools: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    written = start_gold_set([tools], folder)
    assert [path.name for path in written] == ["github.json", "queries.jsonl", "README.md"]
    assert (folder / "github.json").read_bytes() == tools.read_bytes()
    assert f"--tools {folder / 'github.json'} --queries {folder / 'queries.jsonl'}" in (folder / "README.md").read_text(
        "utf-8"
    )


def test_templates_ask_for_a_few_questions_per_sampled_tool_and_for_some_without_an_answer(
    tools: Path, tmp_path: Path
) -> None:
    start_gold_set([tools], tmp_path / "mine")
    templates = rows(tmp_path / "mine")
    ids = {record.id for record in read_tools([tmp_path / "mine" / "github.json"])[0]}
    wanted = [row["relevant"] for row in templates if row["relevant"]]
    assert len(wanted) == SAMPLED_TOOLS * 3
    assert {one for relevant in wanted if isinstance(relevant, list) for one in relevant} <= ids
    assert sum(row["relevant"] == [] for row in templates) >= 5
    assert all(row["query"] == "" and row["todo"] for row in templates)
    assert len({str(row["id"]) for row in templates}) == len(templates)


def test_a_template_that_is_filled_in_is_measured_and_the_others_wait(tools: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    start_gold_set([tools], folder)
    first, *others = rows(folder)
    lines = [orjson.dumps(row) for row in (first | {"query": "do the thing"}, *others)]
    (folder / "queries.jsonl").write_bytes(b"\n".join(lines))
    gold = read_gold([folder / "github.json"], folder / "queries.jsonl")
    assert [question.text for question in gold.questions] == ["do the thing"]
    assert gold.unknown_labels == 0


@pytest.mark.parametrize("name", ["github.json", "queries.jsonl", "README.md"])
def test_it_replaces_no_file_and_then_writes_none(tools: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / name).write_text("mine")
    with pytest.raises(WouldOverwrite, match=name):
        start_gold_set([tools], folder)
    assert [path.name for path in folder.iterdir()] == [name]
    assert (folder / name).read_text() == "mine"


def test_a_folder_that_holds_the_tools_already_gets_the_rest(tools: Path) -> None:
    written = start_gold_set([tools], tools.parent)
    assert [path.name for path in written] == ["queries.jsonl", "README.md"]


def test_a_catalogue_that_cannot_be_read_starts_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadEvalFile, match=r"none\.jsonl"):
        start_gold_set([tmp_path / "none.jsonl"], tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


def test_the_same_catalogue_gives_the_same_templates(tools: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        start_gold_set([tools], tmp_path / name)
    assert rows(tmp_path / "one") == rows(tmp_path / "two")
