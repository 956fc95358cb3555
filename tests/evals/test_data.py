"""Gold files of every container give the same sets; a bad row is named with file, line and field."""

import gzip
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evals.data import read_gold, read_questions, read_tools
from evals.errors import BadEvalFile
from shards.record import SHARED_TENANT, Access, Status

TOOLS: list[dict[str, object]] = [
    {
        "id": "shop:refund",
        "name": "refund_order",
        "description": "Pays an order back.",
        "namespace": "shop",
        "parameters": {"type": "object", "properties": {"order": {"type": "string"}}},
        "tags": ["orders"],
        "risk": "write",
    },
    {"id": "shop:find", "name": "find_order", "description": "Finds an order.", "namespace": "shop", "parameters": {}},
]
QUERIES: list[dict[str, object]] = [
    {"id": "q1", "query": "pay it back", "relevant": ["shop:refund"], "acceptable": ["shop:find"], "lang": "en"},
    {"id": "q2", "query": "آب و هوا", "relevant": [], "lang": "fa"},
    {"id": "q3", "query": "find", "relevant": ["shop:find", "shop:gone"]},
]


def lines(rows: list[dict[str, object]]) -> bytes:
    return b"\n".join(map(orjson.dumps, rows)) + b"\n\n"


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    path = tmp_path / "queries.jsonl"
    path.write_bytes(lines(QUERIES))
    return path


def tools_as(path: Path) -> Path:
    if path.suffix == ".parquet":
        flat = [row | {"parameters": orjson.dumps(row["parameters"]).decode()} for row in TOOLS]
        pq.write_table(pa.Table.from_pylist(flat), path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(lines(TOOLS)))
    else:
        path.write_bytes(lines(TOOLS))
    return path


@pytest.mark.parametrize("name", ["tools.jsonl", "tools.jsonl.gz", "tools.parquet"])
def test_every_container_gives_the_same_records(tmp_path: Path, name: str) -> None:
    records, joined = read_tools([tools_as(tmp_path / name)])
    assert [record.id for record in records] == ["shop:refund", "shop:find"]
    assert joined == 0
    assert records[0].parameters == '{"properties":{"order":{"type":"string"}},"type":"object"}'
    assert (records[0].tags, records[1].tags) == (("orders",), ())


def test_a_list_of_functions_is_a_catalogue_too(tmp_path: Path) -> None:
    path = tmp_path / "shop.json"
    path.write_bytes(orjson.dumps({"tools": [{"name": "find_order", "inputSchema": {"type": "object"}}]}))
    records, _ = read_tools([path])
    assert [(record.id, record.parameters) for record in records] == [("shop:find_order", '{"type":"object"}')]


def test_every_record_is_open_to_the_evaluation_whatever_its_row_says_of_access(tmp_path: Path) -> None:
    path = tmp_path / "tools.jsonl"
    path.write_bytes(lines([TOOLS[0] | {"access": {"tenant": "acme", "permissions": ["x"]}, "status": "disabled"}]))
    (record,), _ = read_tools([path])
    assert (record.access, record.status) == (Access(tenant=SHARED_TENANT), Status.ENABLED)


def test_records_keep_their_own_access_where_the_questions_have_a_caller(tmp_path: Path) -> None:
    path = tmp_path / "tools.jsonl"
    path.write_bytes(lines([TOOLS[0] | {"access": {"tenant": "acme", "permissions": ["x"]}, "status": "disabled"}]))
    (record,), _ = read_tools([path], access=None)
    assert (record.access.tenant, record.access.permissions, record.status) == ("acme", ("x",), Status.DISABLED)


def test_a_template_that_waits_to_be_filled_in_is_no_question_and_a_filled_one_is(tmp_path: Path) -> None:
    template: dict[str, object] = {"id": "q1", "query": "", "relevant": ["a"], "todo": "Ask for it."}
    path = tmp_path / "queries.jsonl"
    path.write_bytes(lines([template, template | {"id": "q2", "query": "do it"}]))
    assert [question.id for question in read_questions(path)] == ["q2"]
    path.write_bytes(lines([template]))
    with pytest.raises(BadEvalFile, match="holds no queries: 1 templates wait to be filled in"):
        read_questions(path)


def test_the_kind_of_a_question_is_a_word_or_several(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"id": "a", "query": "x", "relevant": [], "kind": "typo"},
        {"id": "b", "query": "x", "relevant": [], "kind": ["short", "typo"]},
        {"id": "c", "query": "x", "relevant": []},
    ]
    path = tmp_path / "queries.jsonl"
    path.write_bytes(lines(rows))
    assert [question.kind for question in read_questions(path)] == ["typo", "short+typo", ""]


def test_questions_of_every_container_are_the_same_ones(tmp_path: Path, queries: Path) -> None:
    pq.write_table(pa.Table.from_pylist(QUERIES), tmp_path / "queries.parquet")
    assert read_questions(tmp_path / "queries.parquet") == read_questions(queries)


def test_questions_of_which_none_has_an_answer_can_come_as_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["q"], "query": ["x"], "relevant": [[]]}), tmp_path / "queries.parquet")
    (question,) = read_questions(tmp_path / "queries.parquet")
    assert question.relevant == frozenset()


def test_several_tool_files_are_joined_by_id_and_the_first_file_wins(tmp_path: Path, queries: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(lines([TOOLS[1] | {"name": "later"}, TOOLS[1] | {"id": "shop:more"}]))
    gold = read_gold([tools_as(tmp_path / "tools.jsonl"), other], queries)
    assert [(tool.id, tool.name) for tool in gold.tools] == [
        ("shop:refund", "refund_order"),
        ("shop:find", "find_order"),
        ("shop:more", "find_order"),
    ]
    assert gold.joined == 1


def test_questions_keep_relevant_and_acceptable_apart_and_may_have_neither(queries: Path) -> None:
    first, second, third = read_questions(queries)
    assert (first.relevant, first.acceptable) == (frozenset({"shop:refund"}), frozenset({"shop:find"}))
    assert first.lang == "en"
    assert (second.relevant, second.lang) == (frozenset(), "fa")
    assert (third.acceptable, third.lang) == (frozenset(), "und")


def test_labels_that_no_tool_has_are_counted(tmp_path: Path, queries: Path) -> None:
    assert read_gold([tools_as(tmp_path / "tools.jsonl")], queries).unknown_labels == 1


def test_limit_takes_the_first_questions(tmp_path: Path, queries: Path) -> None:
    gold = read_gold([tools_as(tmp_path / "tools.jsonl")], queries, limit=2)
    assert [question.id for question in gold.questions] == ["q1", "q2"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"id": "a", "query": "x"}\n', ["line 1", "relevant"]),
        (b'{"id": "a", "query": "", "relevant": []}\n', ["line 1", "query"]),
        (b'\n{"id": "a", "query": 3, "relevant": []}\n', ["line 2", "query"]),
        (b'{"id": "a", "query": "x", "relevant": "t"}\n', ["line 1", "relevant"]),
        (b'{"id": "a", "query": "x", "relevant": []}\n{broken\n', ["line 2", "JSON"]),
        (b"[1]\n", ["line 1", "object"]),
        (b'{"id":"a","query":"x","relevant":[]}\n{"id":"a","query":"y","relevant":[]}\n', ["line 2", "'a'"]),
        (b'{"id": "a", "query": "x", "relevant": [], "kind": 3}\n', ["line 1", "kind"]),
        (b"\n", ["holds no queries"]),
    ],
)
def test_a_bad_queries_file_is_refused_with_line_and_field(tmp_path: Path, body: bytes, words: list[str]) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_bytes(body)
    with pytest.raises(BadEvalFile) as caught:
        read_questions(path)
    assert all(word in str(caught.value) for word in ["queries.jsonl", *words])


@pytest.mark.parametrize(
    ("name", "body", "word"),
    [
        ("tools.csv", b"id,name\n", ".jsonl"),
        ("tools.jsonl", b"", "holds no tools"),
        ("tools.jsonl", b'{"id": "a"}\n', "name"),
        ("tools.jsonl", b'{"id": "a", "name": "n", "parameters": "{"}\n', "parameters"),
        ("tools.jsonl", b'{"id": "a", "name": "n", "parameters": [1]}\n', "parameters"),
        ("tools.jsonl.gz", b"not gzip", "cannot be read"),
        ("tools.jsonl.gz", gzip.compress(b'{"id": "a", "name": "n"}\n')[:-9], "cannot be read"),
        ("tools.parquet", b"not parquet", "cannot be read"),
    ],
)
def test_a_bad_tools_file_is_refused_by_name(tmp_path: Path, name: str, body: bytes, word: str) -> None:
    path = tmp_path / name
    path.write_bytes(body)
    with pytest.raises(BadEvalFile, match=word):
        read_tools([path])


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BadEvalFile, match=r"none\.jsonl: cannot be read: No such file or directory$"):
        read_tools([tmp_path / "none.jsonl"])
