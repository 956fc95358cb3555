"""Record files: JSON Lines and Parquet, read from real files."""

import gzip
import pickle
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster.errors import UnreadableSource
from cluster.importers.formats import Format, detect, read_file
from cluster.importers.jsonl import MAX_LINE_BYTES, read_jsonl
from cluster.importers.parquet import read_parquet
from cluster.importers.source import Defaults, Ignored, Item, Opened, RawRecord, Refusal

HERE = Defaults(namespace="here")


def raw(items: list[Item]) -> list[dict[str, object]]:
    return [item.values for item in items if isinstance(item, RawRecord)]


def refused(items: list[Item]) -> list[tuple[str, str]]:
    return [(item.name, item.reason) for item in items if isinstance(item, Refusal)]


def lines(path: Path, *rows: dict[str, Any] | bytes) -> Path:
    path.write_bytes(b"\n".join(row if isinstance(row, bytes) else orjson.dumps(row) for row in rows))
    return path


def test_json_lines_keep_known_fields_and_count_the_rest(tmp_path: Path) -> None:
    row = {
        "id": "a",
        "name": "n",
        "parameters": {"x": 1},
        "label_fa": "الف",
        "source": "s",
        "domain": None,
        "tags": ["", "t"],
    }
    items = list(read_jsonl(lines(tmp_path / "t.jsonl", row, b"", row), HERE))
    kept = {"namespace": "here", "id": "a", "name": "n", "parameters": {"x": 1}, "tags": ["t"]}
    assert raw(items) == [kept] * 2
    assert items[2:] == [Ignored(field="label_fa", records=2), Ignored(field="source", records=2)]
    assert [item.share for item in items if isinstance(item, RawRecord)][-1] == 1.0


@pytest.mark.parametrize(
    ("field", "meant"),
    [
        ("descriptio", "description"),
        ("desc", "description"),
        ("Name", "name"),
        ("tag", "tags"),
        ("parameter", "parameters"),
        ("sourceUrl", "source_url"),
        ("tenant", "access.tenant"),
        ("permissions", "access.permissions"),
    ],
)
def test_a_field_that_looks_mistyped_is_refused_with_the_one_that_was_meant(
    tmp_path: Path, field: str, meant: str
) -> None:
    items = list(read_jsonl(lines(tmp_path / "t.jsonl", {"id": "a", field: "x"}, {"id": "b"}), HERE))
    assert refused(items) == [("a", f"{field}: no field has this name; did you mean {meant!r}?")]
    assert [values["id"] for values in raw(items)] == ["b"]


@pytest.mark.parametrize(
    "field",
    ["source", "label_fa", "label_en", "path", "category", "risk", "lang", "from_index", "summary", "test", "ids"],
)
def test_a_field_of_a_foreign_catalogue_is_none_that_looks_mistyped(tmp_path: Path, field: str) -> None:
    items = list(read_jsonl(lines(tmp_path / "t.jsonl", {"id": "a", field: "x"}), HERE))
    assert items[1:] == [Ignored(field=field, records=1)]


@pytest.mark.parametrize("name", ["my.tools.jsonl", "my.tools.jsonl.gz"])
def test_the_namespace_of_records_without_one_is_the_name_of_their_file(tmp_path: Path, name: str) -> None:
    content = b'{"id": "a"}\n{"id": "b", "namespace": "own"}'
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    for defaults, namespace in ((Defaults(), "my.tools"), (HERE, "here")):
        items = list(read_file(tmp_path / name, Format.AUTO, defaults))
        assert items[0] == Opened(source=str(tmp_path / name))
        assert [values["namespace"] for values in raw(items)] == [namespace, "own"]


def test_the_namespace_of_parquet_rows_is_the_name_of_their_file(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["a", "b"], "namespace": ["own", None]}), tmp_path / "shop.parquet")
    found = raw(list(read_parquet(tmp_path / "shop.parquet", Defaults())))
    assert [values["namespace"] for values in found] == ["own", "shop"]


def test_parameters_may_be_json_text(tmp_path: Path) -> None:
    rows = [{"id": "a", "parameters": '{"x": 1}'}, {"id": "b", "parameters": ""}, {"id": "c", "parameters": "{"}]
    items = list(read_jsonl(lines(tmp_path / "t.jsonl", *rows), HERE))
    assert [values["parameters"] for values in raw(items)] == [{"x": 1}, {}]
    assert refused(items)[0][0] == "c"
    assert "parameters: not JSON" in refused(items)[0][1]


def test_readonly_and_side_effect_beside_access_are_understood(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "readonly": True},
        {"id": "b", "readonly": False},
        {"id": "c", "side_effect": "destructive", "readonly": True},
        {"id": "d", "readonly": True, "access": {"side_effect": "write"}},
    ]
    found = raw(list(read_jsonl(lines(tmp_path / "t.jsonl", *rows), HERE)))
    effects = [values["access"] for values in found]
    assert effects == [{"side_effect": effect} for effect in ("read", "write", "destructive", "write")]


def test_a_bad_line_is_refused_by_its_number_and_the_rest_is_read(tmp_path: Path) -> None:
    long = orjson.dumps({"id": "x" * MAX_LINE_BYTES})
    path = lines(tmp_path / "t.jsonl", {"id": "a"}, b"{", b"[1]", b'{"id": NaN}', b'"\\ud800"', long, {"id": "z"})
    items = list(read_jsonl(path, HERE))
    assert [values["id"] for values in raw(items)] == ["a", "z"]
    assert [name for name, _ in refused(items)] == [f"line {number}" for number in range(2, 7)]
    assert "longer than 1048576 bytes" in refused(items)[-1][1]


def test_gzip_is_read_like_plain_and_a_torn_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    packed = gzip.compress(b"".join(orjson.dumps({"id": str(n)}) + b"\n" for n in range(5_000)))
    path.write_bytes(packed)
    assert len(raw(list(read_jsonl(path, HERE)))) == 5_000
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(UnreadableSource, match="cannot be read"):
        list(read_jsonl(path, HERE))


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    for reader in (read_jsonl, read_parquet):
        with pytest.raises(UnreadableSource, match="No such file"):
            list(reader(tmp_path / "none.parquet", HERE))


def test_a_parquet_column_that_looks_mistyped_is_an_error_before_any_row(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["a"], "descriptio": ["d"]}), tmp_path / "t.parquet")
    with pytest.raises(UnreadableSource, match=r"column descriptio: .* did you mean 'description'"):
        next(read_parquet(tmp_path / "t.parquet", HERE))


def test_parquet_rows_are_read_without_unknown_columns(tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": ["a", "b"],
            "parameters": ['{"x":1}', ""],
            "tags": [["t"], None],
            "source": ["s", "s"],
            "readonly": [True, None],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    items = list(read_parquet(tmp_path / "t.parquet", HERE))
    assert raw(items) == [
        {"namespace": "here", "id": "a", "parameters": {"x": 1}, "tags": ["t"], "access": {"side_effect": "read"}},
        {"namespace": "here", "id": "b", "parameters": {}},
    ]
    assert items[2:] == [Ignored(field="source", records=2)]


def test_a_parquet_column_of_another_type_is_an_error_before_any_row(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["a"], "description": [b"bytes"]}), tmp_path / "t.parquet")
    with pytest.raises(UnreadableSource, match="column 'description': type binary"):
        list(read_parquet(tmp_path / "t.parquet", HERE))
    pq.write_table(pa.table({"number": [1]}), tmp_path / "u.parquet")
    with pytest.raises(UnreadableSource, match="none of the columns"):
        list(read_parquet(tmp_path / "u.parquet", HERE))


class _Canary:
    """Touches a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


@pytest.mark.parametrize("name", [b"arrow.py_extension_type", b"arrow.uuid", b"arrow.json", b"arrow.opaque"])
def test_an_extension_type_is_refused_and_never_unpickled(tmp_path: Path, name: bytes) -> None:
    canary = tmp_path / "canary"
    kind = pa.binary(16) if name == b"arrow.uuid" else pa.string()
    metadata = {b"ARROW:extension:name": name, b"ARROW:extension:metadata": pickle.dumps(_Canary(canary))}
    if name == b"arrow.uuid":
        metadata[b"ARROW:extension:metadata"] = b""
    fields = [pa.field("id", pa.string()), pa.field("name", kind, metadata=metadata)]
    value = b"0123456789abcdef" if name == b"arrow.uuid" else "n"
    pq.write_table(pa.table([["a"], [value]], schema=pa.schema(fields)), tmp_path / "t.parquet")
    try:
        items = list(read_parquet(tmp_path / "t.parquet", HERE))
    except UnreadableSource:
        items = []
    assert not canary.exists()
    assert all(isinstance(values.get("name"), str) for values in raw(items))


def test_a_damaged_parquet_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": [str(n) for n in range(10_000)]}), path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(UnreadableSource):
        list(read_parquet(path, HERE))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.jsonl", b"", Format.JSONL),
        ("a.b.jsonl.gz", b"", Format.JSONL),
        ("a.parquet", b"", Format.PARQUET),
        ("a.json", b'{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}', Format.MCP),
        ("a.json", b'{"tools":[{"name":"n","inputSchema":{}}]}', Format.MCP),
        ("a.json", b'[{"tools":[]}]', Format.MCP),
        ("a.json", b'[{"name":"n","input_schema":{}}]', Format.ANTHROPIC),
        ("a.json", b'{"tools":[{"type":"web_search_20250305"},{"name":"n","input_schema":{}}]}', Format.ANTHROPIC),
        ("a.json", b'[{"type":"function","function":{"name":"n"}}]', Format.OPENAI),
        ("a.json", b'[{"name":"n","parameters":{}}]', Format.OPENAI),
    ],
)
def test_the_format_of_a_file_is_told_from_its_name_and_shape(
    tmp_path: Path, name: str, content: bytes, expected: Format
) -> None:
    (tmp_path / name).write_bytes(content)
    assert detect(tmp_path / name) is expected


@pytest.mark.parametrize(("name", "content"), [("a.txt", b""), ("a.json", b"[]"), ("a.json", b"{"), ("a.json", b"3")])
def test_a_file_of_no_known_format_is_an_error(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UnreadableSource):
        list(read_file(tmp_path / name, Format.AUTO, Defaults()))
