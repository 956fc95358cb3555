"""Parameters and bodies of OpenAPI operations as one JSON schema, and schemas without references."""

from pathlib import Path
from typing import Any

import jsonschema
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.importers import openapi_compose, openapi_input
from cluster.importers.openapi_keywords import plain_keywords
from cluster.importers.openapi_schema import MAX_SCHEMA_BYTES
from tests.cluster.importers.openapi_documents import (
    Json,
    document,
    notes,
    one_operation,
    parameters,
    read,
    refused,
    tools,
)

LOOPED = "schema cut where it contains itself"
CUT = "schema cut where it was too large or too deep"
RENAMED = "parameters of one name in several places told apart"

NODE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "next": {"$ref": "#/components/schemas/Node"}},
}


def posted(schema: object, *, required: bool = True, media: str = "application/json", **schemas: object) -> Json:
    """A document with one operation that takes a body; further schemas stand under ``components``."""
    body = {"required": required, "content": {media: {"schema": schema}}}
    return one_operation({"requestBody": body}, method="post", components={"schemas": schemas})


def of_schema(folder: Path, schema: object, version: str = "3.0.3", **schemas: object) -> Json:
    """What becomes of the schema of one query parameter."""
    operation = {"parameters": [{"name": "q", "in": "query", "schema": schema}]}
    value = one_operation(operation, version=version, components={"schemas": schemas})
    found: Json = parameters(read(folder, value))["properties"]["q"]
    return found


def test_parameters_of_all_places_stand_side_by_side(tmp_path: Path) -> None:
    path_level = [
        {"name": "id", "in": "path", "schema": {"type": "integer"}},
        {"name": "q", "in": "query", "schema": {"type": "string"}},
    ]
    own = [
        {"name": "q", "in": "query", "required": True, "description": "What to *find*.", "schema": {"type": "string"}},
        {"name": "X-Trace", "in": "header", "schema": {"type": "string", "description": "Own words."}},
        {"name": "Authorization", "in": "header", "required": True, "schema": {"type": "string"}},
        {"name": "session", "in": "cookie", "schema": {"type": "string"}},
        {"name": "filter", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}},
    ]  # fmt: skip
    value = document({"/x/{id}": {"parameters": path_level, "get": {"parameters": own}}})
    assert parameters(read(tmp_path, value)) == {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "q": {"type": "string", "description": "What to *find*."},
            "filter": {"type": "object"},
            "X-Trace": {"type": "string", "description": "Own words."},
            "session": {"type": "string"},
        },
        "required": ["id", "q"],
    }


def test_an_operation_without_input_has_no_schema(tmp_path: Path) -> None:
    assert parameters(read(tmp_path, one_operation({}))) == {}


def test_parameters_of_one_name_are_told_apart_and_say_how(tmp_path: Path) -> None:
    listed = [
        {"name": "id", "in": "header", "description": "Of the call.", "schema": {"type": "string"}},
        {"name": "id", "in": "query", "required": True, "schema": {"type": "integer"}},
        {"name": "id_header", "in": "query", "schema": {"type": "boolean"}},
    ]
    items = read(tmp_path, document({"/x/{id}": {"get": {"parameters": listed}}}))
    assert parameters(items) == {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "The path parameter 'id'."},
            "id_query": {"type": "integer", "description": "The query parameter 'id'."},
            "id_header": {"type": "boolean"},
            "id_header_2": {"type": "string", "description": "The header parameter 'id'. Of the call."},
        },
        "required": ["id", "id_query"],
    }
    assert notes(items) == {RENAMED: 1}


def test_the_properties_of_a_json_body_stand_beside_the_parameters(tmp_path: Path) -> None:
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
    assert parameters(read(tmp_path, posted(schema))) == schema


@pytest.mark.parametrize(
    ("schema", "required"),
    [
        ({"type": "array", "items": {"type": "string"}}, True),
        ({"type": "object", "additionalProperties": {"type": "string"}}, True),
        ({"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "string"}}, True),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, True),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, False),
        ({"type": "string", "format": "binary"}, True),
        ({}, True),
    ],
)
def test_a_body_that_would_lose_something_stays_one(tmp_path: Path, schema: Json, required: bool) -> None:  # noqa: FBT001
    expected: Json = {"type": "object", "properties": {"body": schema}} | ({"required": ["body"]} if required else {})
    assert parameters(read(tmp_path, posted(schema, required=required))) == expected


def test_a_body_whose_properties_are_parameters_too_stays_one_under_a_free_name(tmp_path: Path) -> None:
    value = posted({"type": "object", "properties": {"id": {"type": "string"}}})
    value["paths"]["/x"]["post"]["parameters"] = [
        {"name": name, "in": "query", "schema": {"type": "string"}} for name in ("id", "body")
    ]
    schema = parameters(read(tmp_path, value))
    assert list(schema["properties"]) == ["id", "body", "body_2"]
    assert schema["properties"]["body_2"]["properties"] == {"id": {"type": "string"}}


def test_json_is_the_body_that_is_taken_then_forms(tmp_path: Path) -> None:
    kinds = [
        "text/csv",
        "multipart/form-data",
        "application/x-www-form-urlencoded",
        "application/hal+json",
        "application/json; charset=utf-8",
    ]
    for best in range(len(kinds) - 1, -1, -1):
        content = {
            kind: {"schema": {"type": "object", "properties": {kind: {"type": "string"}}}} for kind in kinds[: best + 1]
        }
        value = one_operation({"requestBody": {"content": content}}, method="put")
        assert list(parameters(read(tmp_path, value))["properties"]) == [kinds[best]]


def test_forms_and_files_of_version_2_are_properties(tmp_path: Path) -> None:
    listed = [
        {"name": "image", "in": "formData", "type": "file", "required": True},
        {
            "name": "tags",
            "in": "formData",
            "type": "array",
            "items": {"type": "string"},
            "collectionFormat": "csv",
            "maxItems": 3,
        },
    ]
    assert parameters(read(tmp_path, one_operation({"parameters": listed}, method="post", version="2.0"))) == {
        "type": "object",
        "properties": {
            "image": {"type": "string", "format": "binary"},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        },
        "required": ["image"],
    }


def test_what_only_answers_hold_is_no_input(tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "required": ["id", "name"],
        "properties": {
            "id": {"type": "string", "readOnly": True},
            "at": {"$ref": "#/components/schemas/At"},
            "name": {},
        },
    }
    found = parameters(read(tmp_path, posted(schema, At={"type": "string", "readOnly": True})))
    assert found == {"type": "object", "properties": {"name": {}}, "required": ["name"]}


def test_a_schema_inside_itself_is_cut_and_the_report_says_so(tmp_path: Path) -> None:
    items = read(tmp_path, posted({"$ref": "#/components/schemas/Node"}, Node=NODE))
    assert parameters(items)["properties"] == {
        "name": {"type": "string"},
        "next": {"type": "object", "description": "nested Node"},
    }
    assert notes(items) == {LOOPED: 1}


def test_loops_through_lists_alternatives_and_parts_are_cut(tmp_path: Path) -> None:
    ref = {"$ref": "#/components/schemas/A"}
    stub = {"description": "nested A"}
    assert of_schema(tmp_path, ref, A={"type": "array", "items": ref}) == {
        "type": "array", "items": {"type": "array"} | stub,
    }  # fmt: skip
    assert of_schema(tmp_path, ref, A={"anyOf": [ref, {"type": "string"}]}) == {"anyOf": [stub, {"type": "string"}]}
    assert (
        of_schema(tmp_path, ref, A={"type": "object", "additionalProperties": ref})["additionalProperties"]
        == {"type": "object"} | stub
    )
    assert of_schema(tmp_path, ref, A={"allOf": [ref, {"type": "string"}]}) == {"type": "string"}


def test_parts_become_one_object(tmp_path: Path) -> None:
    base = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "kind": {"type": "string"}}}
    own = {"properties": {"age": {"type": "integer"}, "kind": {"enum": ["cat"]}}, "required": ["age"]}
    schema = {"description": "A cat.", "allOf": [{"$ref": "#/components/schemas/Base"}, own]}
    assert of_schema(tmp_path, schema, Base=base) == {
        "type": "object",
        "description": "A cat.",
        "properties": {
            "id": {"type": "string"},
            "kind": {"type": "string", "enum": ["cat"]},
            "age": {"type": "integer"},
        },
        "required": ["id", "age"],
    }


def test_parts_that_contradict_each_other_stay_apart(tmp_path: Path) -> None:
    parts = [{"type": "string", "maxLength": 3}, {"type": "string", "maxLength": 5}]
    assert of_schema(tmp_path, {"allOf": parts}) == {"allOf": parts}


def test_words_beside_a_reference_count_and_from_3_1_on_all_of_it(tmp_path: Path) -> None:
    schema = {"$ref": "#/components/schemas/S", "description": "Here.", "maxLength": 3}
    own = {"type": "string", "description": "There."}
    assert of_schema(tmp_path, schema, S=own) == {"type": "string", "description": "Here."}
    assert of_schema(tmp_path, schema, version="3.1.0", S=own) == {
        "type": "string", "description": "Here.", "maxLength": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"oneOf": [{"type": "string"}], "nullable": True}, {"oneOf": [{"type": "string"}, {"type": "null"}]}),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, {"type": "integer", "exclusiveMinimum": 1}),
        ({"type": "integer", "maximum": 9, "exclusiveMaximum": False}, {"type": "integer", "maximum": 9}),
        ({"type": "number", "exclusiveMaximum": 9.5}, {"type": "number", "exclusiveMaximum": 9.5}),
        ({"type": "long"}, {}),
        ({"type": 5, "enum": "x", "pattern": 1, "minLength": "2", "required": True, "properties": []}, {}),
        ({"properties": {"a": True, "b": False}}, {"type": "object", "properties": {"a": {}, "b": {"not": {}}}}),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        ({"not": {"type": "string", "minLength": 2}}, {}),
        ({"type": "array", "items": [{"type": "string"}]}, {"type": "array", "prefixItems": [{"type": "string"}]}),
        (
            {"properties": {"a": {}}, "patternProperties": {"^x-": {}}, "additionalProperties": False},
            {"type": "object", "properties": {"a": {}}},
        ),
        ({"const": 1, "default": 1, "example": 2, "xml": {}, "x-y": 1}, {"const": 1, "default": 1}),
        ({"type": "string", "title": "T"}, {"type": "string", "description": "T"}),
    ],
)
def test_a_schema_is_written_in_the_words_of_json_schema(tmp_path: Path, schema: Json, expected: Json) -> None:
    assert of_schema(tmp_path, schema, version="3.1.0") == expected


def test_a_long_list_of_values_is_told_instead_of_given() -> None:
    words = plain_keywords({"description": "A zone.", "enum": [f"zone {n}" for n in range(1_000)]})["description"]
    assert words == (
        "A zone. One of 1,000 values, as zone 0, zone 1, zone 2, zone 3, zone 4, zone 5, zone 6, zone 7."
    )  # fmt: skip


def test_what_does_not_fit_is_the_deepest_and_the_report_says_so(tmp_path: Path) -> None:
    wide = {"type": "object", "properties": {f"property {n}": {"type": "string"} for n in range(900)}}
    schema = {"type": "object", "properties": dict.fromkeys("abc", wide) | {"z": {"type": "string"}}}
    items = read(tmp_path, posted(schema | {"additionalProperties": False}))
    found = parameters(items)
    assert [len(part.get("properties", {})) for part in found["properties"].values()] == [900, 0, 0, 0]
    assert len(orjson.dumps(found)) <= MAX_SCHEMA_BYTES
    assert notes(items) == {CUT: 1}


def test_of_what_does_not_fit_the_required_properties_are_shown_and_the_object_stays_open(tmp_path: Path) -> None:
    wide = {"properties": {f"property {n}": {} for n in range(2_000)}, "required": ["property 7"]}
    found = of_schema(tmp_path, wide | {"additionalProperties": False})
    assert found == {"type": "object", "properties": {"property 7": {}}, "required": ["property 7"]}


def test_an_exponential_schema_takes_no_more_room_than_any_other(tmp_path: Path) -> None:
    levels = {
        f"L{n}": {"properties": {name: {"$ref": f"#/components/schemas/L{n + 1}"} for name in "abcdefgh"}}
        for n in range(12)
    } | {"L12": {"type": "string"}}
    items = read(tmp_path, posted({"$ref": "#/components/schemas/L0"}, **levels))
    assert 10_000 < len(orjson.dumps(parameters(items))) <= MAX_SCHEMA_BYTES
    assert notes(items) == {CUT: 1}


def test_a_deep_schema_is_cut_before_a_record_would_refuse_it(tmp_path: Path) -> None:
    schema: Json = {"type": "string"}
    for _ in range(50):
        schema = {"anyOf": [{"type": "object", "properties": {"a": schema}}]}
    items = read(tmp_path, posted(schema))
    assert _depth(parameters(items)) <= 32
    assert notes(items) == {CUT: 1}


def test_limits_of_one_operation_refuse_it_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    doubling: Json = {"allOf": [{"type": "object"}]}
    for _ in range(10):
        doubling = {"allOf": [doubling, doubling]}
    assert refused(read(tmp_path, posted(doubling))) == [("POST /x", "allOf: more than 512 parts in one schema")]
    chain = {f"C{n}": {"$ref": f"#/components/schemas/C{n + 1}"} for n in range(70)}
    items = read(tmp_path, posted(chain["C0"], **chain, C70={}))
    assert refused(items) == [("POST /x", "$ref: more than 64 in a row, from '#/components/schemas/C1' on")]
    nested: Json = {"type": "object"}
    for _ in range(40):
        nested = {"allOf": [nested]}
    assert refused(read(tmp_path, posted(nested))) == [("POST /x", "allOf: nested deeper than 32 levels")]
    parts = {"properties": {name: {"allOf": [{"type": "string"}] * 2} for name in "ab"}}
    with monkeypatch.context() as patched:
        patched.setattr(openapi_compose, "MAX_PARTS_OF_OPERATION", 3)
        assert "allOf: more than 3 parts in one operation" in refused(read(tmp_path, posted(parts)))[0][1]
    monkeypatch.setattr(openapi_compose, "MAX_PROPERTIES", 2)
    wide = {"allOf": [{"properties": {"a": {}, "b": {}}}, {"properties": {"c": {}}}]}
    assert "properties: more than 2 in one schema" in refused(read(tmp_path, posted(wide)))[0][1]
    monkeypatch.setattr(openapi_input, "MAX_PARAMETERS", 1)
    many = [{"name": name, "in": "query"} for name in "ab"]
    assert refused(read(tmp_path, one_operation({"parameters": many}))) == [("GET /x", "parameters: more than 1")]


def _depth(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(_depth, inner), default=0)


_NAMES = st.sampled_from(["A", "B", "C", "D"])
_LEAVES = (
    st.fixed_dictionaries({"type": st.sampled_from(["string", "integer", "file", "odd", 5, ["string", "null"]])})
    | st.builds(lambda name: {"$ref": f"#/components/schemas/{name}"}, _NAMES)
    | st.sampled_from([True, False, {}, {"enum": [1, "a", None]}, {"nullable": True}, {"$ref": "#/nowhere"}, None, 5])
)
SCHEMAS = st.recursive(
    _LEAVES,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            "required": st.lists(st.sampled_from("abc"), max_size=3),
            "items": inner,
            "allOf": st.lists(inner, max_size=2),
            "oneOf": st.lists(inner, max_size=2),
            "additionalProperties": inner,
            "description": st.sampled_from(["words", 5]),
        },
    ),
    max_leaves=12,
)


@given(st.dictionaries(_NAMES, SCHEMAS), SCHEMAS, st.booleans())
def test_any_schema_is_refused_or_becomes_a_sound_one_without_references(
    tmp_path_factory: pytest.TempPathFactory,
    schemas: dict[str, Any],
    body: object,
    required: bool,  # noqa: FBT001
) -> None:
    items = read(tmp_path_factory.getbasetemp(), posted(body, required=required, **schemas))
    assert len(tools(items)) + len(refused(items)) == 1
    for tool in tools(items):
        jsonschema.Draft202012Validator.check_schema(tool["parameters"])
        text = orjson.dumps(tool["parameters"])
        assert b'"$ref"' not in text
        assert len(text) <= MAX_SCHEMA_BYTES
