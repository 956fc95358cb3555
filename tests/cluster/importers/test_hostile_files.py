"""Files that are not what they should be: each is read as it was meant, or refused in words that say what to mend."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster.errors import UnreadableSource
from cluster.importers.formats import Format, read_file
from cluster.importers.source import Defaults, Item, RawRecord, Refusal

ROW = b'{"id":"a","name":"n"}\n'
TOOLS = b'[{"name":"a","inputSchema":{}}]'


def items(path: Path, form: Format = Format.AUTO) -> list[Item]:
    return [item for item in read_file(path, form, Defaults()) if isinstance(item, RawRecord | Refusal)]


def parquet(path: Path, **columns: object) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize(("name", "content"), [("t.jsonl", ROW), ("t.json", TOOLS)])
def test_the_mark_of_utf_8_is_no_part_of_a_file(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + content)
    assert all(isinstance(item, RawRecord) for item in items(tmp_path / name))


@pytest.mark.parametrize("name", ["t.jsonl", "t.json", "t.yaml"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_text_of_another_encoding_is_an_error_that_names_it(tmp_path: Path, name: str, encoding: str) -> None:
    (tmp_path / name).write_bytes(ROW.decode().encode(encoding))
    with pytest.raises(UnreadableSource, match=rf"is {encoding.upper()} text; expected UTF-8"):
        items(tmp_path / name)


def test_a_parquet_file_with_access_rules_is_an_error_and_never_shared_with_everybody(tmp_path: Path) -> None:
    path = parquet(tmp_path / "t.parquet", id=["a"], name=["n"], access=[{"tenant": "acme"}])
    with pytest.raises(UnreadableSource, match="column 'access': access rules are read from JSON Lines only"):
        items(path)


def test_a_parquet_column_that_is_there_twice_is_an_error(tmp_path: Path) -> None:
    pq.write_table(pa.table([["a"], ["b"], ["n"]], names=["id", "id", "name"]), tmp_path / "t.parquet")
    with pytest.raises(UnreadableSource, match="column 'id': there are 2 of this name"):
        items(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    "stored", [lambda texts: texts.dictionary_encode(), lambda texts: texts.cast(pa.string_view())]
)
def test_text_of_data_frames_is_text(tmp_path: Path, stored: Callable[[pa.Array], pa.Array]) -> None:
    path = parquet(tmp_path / "t.parquet", id=["a", "b"], name=stored(pa.array(["n", "n"])))
    assert [item.values["name"] for item in items(path) if isinstance(item, RawRecord)] == ["n", "n"]


@pytest.mark.parametrize("readonly", ["yes", 1, [True]])
def test_a_readonly_that_is_no_boolean_is_refused(tmp_path: Path, readonly: object) -> None:
    (tmp_path / "t.jsonl").write_bytes(orjson.dumps({"id": "a", "name": "n", "readonly": readonly}))
    (refused,) = items(tmp_path / "t.jsonl")
    assert isinstance(refused, Refusal)
    assert refused.reason == f"readonly: {readonly!r} is not allowed; expected true or false"


@pytest.mark.parametrize(
    ("form", "field"),
    [(Format.MCP, "inputSchema"), (Format.ANTHROPIC, "input_schema"), (Format.OPENAI, "parameters")],
)
def test_a_schema_that_is_no_object_is_refused_by_the_name_it_has_in_the_file(
    tmp_path: Path, form: Format, field: str
) -> None:
    (tmp_path / "t.json").write_bytes(orjson.dumps([{"name": "good", field: {}}, {"name": "bad", field: [1]}]))
    good, bad = items(tmp_path / "t.json", form)
    assert isinstance(good, RawRecord)
    assert isinstance(bad, Refusal)
    assert (bad.name, bad.reason, bad.place) == ("bad", f"{field}: must be a JSON object", "item 2")


def test_items_and_refusals_say_where_they_stand(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(ROW + b'\n{"id":"b","nam":"x"}\n{\n5\n')
    found = [(item.place, type(item)) for item in items(tmp_path / "t.jsonl") if isinstance(item, RawRecord | Refusal)]
    assert found == [("line 1", RawRecord), ("line 3", Refusal), ("line 4", Refusal), ("line 5", Refusal)]
