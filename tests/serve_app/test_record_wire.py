"""What one record on the wire may hold, and what the error says when it may not."""

from copy import copy
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serve_app.record_wire import MAX_FIELDS, MAX_PARAMETERS_BYTES, MAX_PARAMETERS_DEPTH, parse_record
from shards.errors import InvalidRecord
from shards.record import Kind, Record, SideEffect, Status

TOOL: dict[str, Any] = {"id": "shop:refund", "name": "refund", "namespace": "shop", "access": {"tenant": "acme"}}
PASSAGE: dict[str, Any] = {
    "id": "kb:1",
    "kind": "passage",
    "title": "Refunds",
    "text": "How to refund.",
    "source_url": "https://kb.example/1",
    "section": "Payments",
    "namespace": "kb",
    "access": {"tenant": "*"},
}


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def test_a_tool_becomes_a_record_with_canonical_parameters() -> None:
    record = parse_record(TOOL | {"parameters": {"b": 1, "a": {"d": 1, "c": 2}}, "tags": ["x"], "status": "disabled"})
    assert record.parameters == '{"a":{"c":2,"d":1},"b":1}'
    assert (record.kind, record.tags, record.status) == (Kind.TOOL, ("x",), Status.DISABLED)


def test_a_passage_keeps_its_title_and_text_and_only_reads() -> None:
    record = parse_record(PASSAGE)
    assert (record.kind, record.name, record.description) == (Kind.PASSAGE, "Refunds", "How to refund.")
    assert (record.source_url, record.section) == ("https://kb.example/1", "Payments")
    assert record.access.side_effect is SideEffect.READ


def test_a_tool_that_declares_no_side_effect_counts_as_writing() -> None:
    assert parse_record(TOOL).access.side_effect is SideEffect.WRITE
    declared = parse_record(TOOL | {"access": {"tenant": "acme", "side_effect": "read"}})
    assert declared.access.side_effect is SideEffect.READ


def test_permissions_and_modes_are_sorted_and_unique() -> None:
    access = {"tenant": "acme", "permissions": ["b", "a", "b"], "modes": ["z", "z"]}
    record = parse_record(TOOL | {"access": access})
    assert (record.access.permissions, record.access.modes) == (("a", "b"), ("z",))


def test_control_characters_in_long_text_become_spaces_and_line_breaks_stay() -> None:
    assert parse_record(TOOL | {"description": "a\x00b\x1b[31m\nc"}).description == "a b [31m\nc"


@pytest.mark.parametrize(
    ("change", "field", "allowed"),
    [
        ({"id": ""}, "id", "at least 1 character"),
        ({"id": "x" * 513}, "id", "at most 512 characters"),
        ({"id": "a\nb"}, "id", "one line of visible text"),
        ({"name": " \t"}, "name", "one line of visible text"),
        ({"name": "a\u2028b"}, "name", "one line of visible text"),
        ({"name": 7}, "name", "valid string"),
        ({"name": "x" * 513}, "name", "at most 512 characters"),
        ({"name": "\ud800"}, "name", "without lone surrogates"),
        ({"description": "x" * 65_537}, "description", "at most 65536 characters"),
        ({"description": "\udfff"}, "description", "without lone surrogates"),
        ({"namespace": ""}, "namespace", "at least 1 character"),
        ({"access": {}}, "access.tenant", "required"),
        ({"access": {"tenant": ""}}, "access.tenant", "at least 1 character"),
        ({"access": {"tenant": "a", "roles": ["x"]}}, "access.roles", "no field of this name"),
        ({"access": {"tenant": "a", "side_effect": "none"}}, "access.side_effect", "read, write or destructive"),
        ({"access": {"tenant": "a", "modes": "all"}}, "access.modes", "a list"),
        ({"tags": ["x"] * 129}, "tags", "at most 128 items"),
        ({"tags": [""]}, "tags.0", "at least 1 character"),
        ({"status": "removed"}, "status", "enabled, disabled or deprecated"),
        ({"version": -1}, "version", "at least 0"),
        ({"version": "1"}, "version", "valid integer"),
        ({"version": True}, "version", "valid integer"),
        ({"kind": "agent"}, "kind", "tool or passage"),
        ({"readonly": True}, "readonly", "no field of this name"),
        ({"title": "A tool has a name"}, "title", "no field of this name"),
        ({"parameters": "{}"}, "parameters", "a JSON object"),
        ({"parameters": {"a": float("nan")}}, "parameters", "finite numbers"),
        ({"parameters": {"a": [float("inf")]}}, "parameters", "finite numbers"),
        ({"parameters": {"a": 2**64}}, "parameters", "64-bit"),
        ({"parameters": {"a": "\ud800"}}, "parameters", "UTF-8"),
        ({"parameters": nested(MAX_PARAMETERS_DEPTH + 1)}, "parameters", "at most 32 levels"),
        ({"parameters": nested(100_000)}, "parameters", "ecursion"),
        ({"parameters": {"a": "x" * MAX_PARAMETERS_BYTES}}, "parameters", "at most 262144 bytes"),
    ],
)
def test_an_unusable_value_is_refused_by_field_with_what_is_allowed(
    change: dict[str, Any], field: str, allowed: str
) -> None:
    with pytest.raises(InvalidRecord) as caught:
        parse_record(TOOL | change)
    assert caught.value.field == field
    assert allowed in caught.value.allowed
    assert len(str(caught.value)) < 400
    str(caught.value).encode()


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (
            {"id": "kb:1", "kind": "passage", "namespace": "kb", "access": {"tenant": "*"}},
            "title: required",
        ),
        (
            TOOL | {"access": {"tenant": "acme", "side_effect": "maybe"}},
            "access.side_effect: 'maybe' is not allowed; expected read, write or destructive",
        ),
        (TOOL | {"descriptio": "Refund."}, "descriptio: no field has this name"),
        (TOOL | {"tags": ["t"] * 129}, "tags: 'a list' is not allowed; expected at most 128 items"),
    ],
)
def test_an_error_reads_as_a_sentence(values: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidRecord) as caught:
        parse_record(values)
    assert str(caught.value) == text


def test_every_fault_of_a_record_is_told_at_once_up_to_five() -> None:
    with pytest.raises(InvalidRecord) as caught:
        parse_record({"id": "a", "status": "gone", "access": {"tenant": "acme"}})
    assert caught.value.field == "namespace"
    assert caught.value.allowed == (
        "a value (required); status: expected enabled, disabled or deprecated; name: expected a value (required)"
    )
    assert str(caught.value) == (
        "namespace: required; status: 'gone' is not allowed; expected enabled, disabled or deprecated; name: required"
    )
    with pytest.raises(InvalidRecord, match="2 more faults"):
        parse_record(TOOL | {f"field{number}": 1 for number in range(7)})


def test_an_error_of_a_record_can_be_rebuilt_from_its_arguments() -> None:
    with pytest.raises(InvalidRecord) as caught:
        parse_record(TOOL | {"name": 7})
    copied = copy(caught.value)
    assert (copied.field, str(copied)) == ("name", str(caught.value))


def test_a_passage_takes_neither_parameters_nor_another_side_effect_than_read() -> None:
    with pytest.raises(InvalidRecord, match="parameters"):
        parse_record(PASSAGE | {"parameters": {}})
    with pytest.raises(InvalidRecord, match="only read"):
        parse_record(PASSAGE | {"access": {"tenant": "*", "side_effect": "write"}})


def test_the_deepest_allowed_parameters_are_taken() -> None:
    parameters = nested(MAX_PARAMETERS_DEPTH)
    assert orjson.loads(parse_record(TOOL | {"parameters": parameters}).parameters) == parameters


def test_references_in_a_schema_are_kept_as_text_and_never_followed() -> None:
    schema = {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"properties": {"a": {"$ref": "#/$defs/a"}}}},
        "x": {"$ref": "file:///etc"},
    }
    assert orjson.loads(parse_record(TOOL | {"parameters": schema}).parameters) == schema


def parse_or_refuse(values: dict[str, Any]) -> Record | InvalidRecord:
    try:
        return parse_record(values)
    except InvalidRecord as error:
        return error


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150)
@given(
    st.dictionaries(st.sampled_from([*TOOL, *PASSAGE, "parameters", "tags", "version"]) | st.text(max_size=6), _JSON)
)
def test_any_json_object_gives_a_record_or_a_named_refusal_and_nothing_else(values: dict[str, Any]) -> None:
    for base in (TOOL, PASSAGE, {}):
        parsed = parse_or_refuse(base | values)
        if isinstance(parsed, InvalidRecord):
            assert parsed.field
            str(parsed).encode()
        else:
            assert Record.from_json(parsed.to_json()) == parsed


@pytest.mark.parametrize(
    ("field", "hostile"),
    [
        ("record", {f"k{number}": 1 for number in range(MAX_FIELDS)}),
        ("access", {"access": {f"k{number}": 1 for number in range(MAX_FIELDS + 1)}}),
        ("keywords.0", {"keywords": [1] * 200_000}),
    ],
)
def test_a_record_of_a_great_many_faults_is_refused_at_its_first(field: str, hostile: dict[str, Any]) -> None:
    refused = parse_or_refuse(TOOL | hostile)
    assert isinstance(refused, InvalidRecord)
    assert refused.field == field
    assert len(str(refused)) < 200
