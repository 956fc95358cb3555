"""Where identifiers part, where a summary ends, and which words a JSON schema has."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards.analysis.cjk import pairs
from shards.analysis.identifiers import parts_of, without_clitic
from shards.analysis.prose import split_summary
from shards.analysis.schema import DEEPEST, MOST_VALUES, SchemaText, schema_text
from shards.analysis.scripts import normalise


@pytest.mark.parametrize(
    ("run", "parts"),
    [
        ("describeDBInstances", ["describe", "DB", "Instances"]),
        ("EC2Instance", ["EC2", "Instance"]),
        ("URLs", ["URLs"]),
        ("DescribeVPCsAndVMs", ["Describe", "VPCs", "And", "VMs"]),
        ("x509Cert", ["x509", "Cert"]),
        ("listUsersV2", ["list", "Users", "V2"]),
        ("ПолучитьСписок", ["Получить", "Список"]),
        ("a__b--c", ["a", "b", "c"]),
        ("ID", ["ID"]),
    ],
)
def test_a_run_parts_at_connectors_and_changes_of_case(run: str, parts: list[str]) -> None:
    assert parts_of(run) == parts


@given(st.from_regex(r"[A-Za-z0-9_.\-]{1,30}", fullmatch=True))
def test_parts_hold_every_letter_and_digit_in_order(run: str) -> None:
    assert "".join(parts_of(run)) == "".join(character for character in run if character.isalnum())


@pytest.mark.parametrize(("run", "word"), [("user's", "user"), ("I'M", "I"), ("we've", "we"), ("o'clock", "o'clock")])
def test_clitics_fall_away(run: str, word: str) -> None:
    assert without_clitic(run) == word


@given(st.text())
def test_the_normal_form_is_its_own_normal_form(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(min_size=2))
def test_pairs_overlap_and_cover_the_run(run: str) -> None:
    found = pairs(run)
    assert len(found) == len(run) - 1
    assert found[0][0] + "".join(pair[1] for pair in found) == run


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("Deletes a chat room in an account. You must own it.", "Deletes a chat room in an account. "),
        ("No. This one is still the same summary. Rest.", "No. This one is still the same summary. "),
        ("Returns items, e.g. orders or carts, of a user", "Returns items, e.g. orders or carts, of a user"),
        (
            "创建直播互动机器人并且进入指定的房间播放曲库中的歌曲。支持其他。",
            "创建直播互动机器人并且进入指定的房间播放曲库中的歌曲。",
        ),
        ("", ""),
    ],
)
def test_a_summary_ends_with_its_first_sentence(text: str, summary: str) -> None:
    assert split_summary(text) == (summary, text[len(summary) :])


def test_a_schema_gives_names_texts_and_values_of_nested_properties() -> None:
    inner = {"properties": {"city": {"description": "Town", "enum": ["Bonn", 5, "Rom"]}}}
    schema = {"properties": {"address": inner, "tags": {"type": "array", "items": inner}, "odd": True}}
    found = schema_text(orjson.dumps(schema).decode())
    assert found == SchemaText(
        names=["address", "city", "tags", "city", "odd"], texts=["Town", "Town"], values=["Bonn", "Rom", "Bonn", "Rom"]
    )


def test_a_schema_is_read_to_a_bounded_depth_and_length() -> None:
    schema: dict[str, object] = {"enum": [str(index) for index in range(100)]}
    for level in range(100):
        schema = {"properties": {f"level{level}": schema}}
    found = schema_text(orjson.dumps(schema).decode())
    assert len(found.names) == DEEPEST + 1
    wide = {"properties": {"code": {"enum": [str(index) for index in range(100)]}}}
    assert len(schema_text(orjson.dumps(wide).decode()).values) == MOST_VALUES


@pytest.mark.parametrize("schema", ["", "[]", "{}", "null", "{", '{"properties": 3}', '{"properties": {"a": 1}}'])
def test_what_is_no_schema_has_no_texts(schema: str) -> None:
    assert schema_text(schema).texts == []
