"""Any parameters become an input schema that each provider takes, and what was changed is noted."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from serve_app.formats import anthropic, mcp, openai
from serve_app.formats.adaptation import SchemaRules, adapted
from serve_app.formats.changes import MOST_NOTES, Changes
from serve_app.formats.repair import UnusableSchema
from serve_app.formats.schema import BY_NAME, HOLDS, ONE, SOME, TYPES, Schema
from tests.serve_app.formats.provider_rules import check_input

RULES = {"openai_chat": openai.RULES, "anthropic": anthropic.RULES, "mcp": mcp.RULES}

_KEYS = st.sampled_from(["a", "b", "filter[id]", "$top", "سن", "x" * 70, "a/b", "properties", "required", "type"])
_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(allow_nan=False, allow_infinity=False, width=16),
    st.sampled_from(["", "string", "dict", "any", "#", "#/$defs/a", "#/properties/filter[id]", "https://x.y/z", "#a"]),
)
_JSON = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3), max_leaves=6
)


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas of all keywords, which mostly hold what they should."""
    optional: dict[str, st.SearchStrategy[Any]] = {
        **dict.fromkeys(ONE, inner),
        **dict.fromkeys(SOME, st.lists(inner, min_size=1, max_size=3)),
        **dict.fromkeys(BY_NAME, st.dictionaries(_KEYS, inner, max_size=3)),
        **dict.fromkeys([*HOLDS, "dependencies", "additionalItems", "const", "default"], _JSON),
        "type": st.sampled_from([*sorted(TYPES), "dict", "any", ["object", "null"]]),
        "required": st.lists(_KEYS, max_size=3) | st.booleans(),
        "$ref": st.sampled_from(["#", "#/$defs/a", "#/properties/a", "#/properties/filter[id]", "https://x.y/z"]),
    }
    return st.lists(st.sampled_from(sorted(optional)), max_size=5, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: optional[name] for name in names})
    )


_PARAMETERS = st.recursive(_JSON, lambda inner: _schemas(inner) | _schemas(inner), max_leaves=12).filter(
    lambda value: isinstance(value, dict)
)


@pytest.mark.parametrize("form", RULES)
@given(parameters=_PARAMETERS)
def test_whatever_comes_in_a_provider_takes_what_comes_out(form: str, parameters: Schema) -> None:
    before = repr(parameters)
    try:
        result = adapted(parameters, RULES[form], Changes())
    except UnusableSchema:
        return
    check_input(form, result.schema)
    assert repr(parameters) == before
    assert set(result.arguments) <= set(result.schema["properties"])  # type: ignore[call-overload]


_FITTING = st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "properties": st.dictionaries(
            st.sampled_from(["a", "b", "c"]),
            st.sampled_from([{"type": "string"}, {"type": "array", "items": {"type": "integer"}}, {"enum": [1, 2]}]),
        ),
    },
    optional={"required": st.lists(st.sampled_from(["a", "b"]), unique=True), "additionalProperties": st.booleans()},
)


@pytest.mark.parametrize("form", RULES)
@given(parameters=_FITTING)
def test_a_schema_that_fits_stays_as_it_is_without_a_note(form: str, parameters: Schema) -> None:
    changes = Changes()
    assert adapted(parameters, RULES[form], changes).schema == parameters
    assert not changes


_KNOWN = st.sampled_from([{"type": "string"}, {"const": 1}, {"const": "x"}, {"enum": ["y", 2]}])
_BRANCHES = st.lists(
    st.fixed_dictionaries(
        {"properties": st.fixed_dictionaries({"a": _KNOWN, "b": _KNOWN})},
        optional={"required": st.lists(st.sampled_from(["a", "b"]), max_size=2, unique=True)},
    ),
    min_size=1,
    max_size=3,
)
_VALUES = st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["x", "y", 1, 2]))


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
@given(branches=_BRANCHES, value=_VALUES)
def test_a_flat_schema_takes_every_input_that_its_combination_takes(
    keyword: str, branches: list[Schema], value: dict[str, object]
) -> None:
    combined: Schema = {"type": "object", keyword: branches}
    flat = adapted(combined, openai.RULES, Changes()).schema
    if Draft202012Validator(combined).is_valid(value):
        assert Draft202012Validator(flat).is_valid(value)
    elif keyword == "allOf":
        assert not Draft202012Validator(flat).is_valid(value)


def _adapted(
    parameters: Schema, rules: SchemaRules = openai.RULES
) -> tuple[Schema, dict[str, str], list[tuple[str, str]]]:
    changes = Changes()
    result = adapted(parameters, rules, changes)
    return result.schema, result.arguments, [(note["change"].value, note["at"]) for note in changes.notes("x")]


def test_no_parameters_are_an_object_without_properties() -> None:
    assert _adapted({})[0] == {"type": "object", "properties": {}}


def test_a_choice_of_required_names_is_said_in_words() -> None:
    parameters: Schema = {
        "type": "object",
        "description": "What is touched.",
        "properties": {"route": {"type": "string"}, "file": {"type": "string"}},
        "anyOf": [{"required": ["route"]}, {"required": ["file"]}],
    }
    schema, _, notes = _adapted(parameters)
    assert schema["description"] == "What is touched.\nAt least one of these sets of properties: (route) | (file)."
    assert schema["properties"] == parameters["properties"]
    assert notes == [("merged", "/anyOf"), ("described", "/anyOf")]
    assert _adapted(parameters, mcp.RULES) == (parameters, {}, [])


def test_alternatives_become_one_object_and_definitions_nobody_needs_go() -> None:
    parameters: Schema = {
        "oneOf": [{"$ref": "#/$defs/Create"}, {"$ref": "#/$defs/Delete"}],
        "$defs": {
            "Create": {
                "type": "object",
                "properties": {"action": {"const": "create"}, "who": {"$ref": "#/$defs/Who"}, "note": {}},
                "required": ["action", "who"],
            },
            "Delete": {
                "type": "object",
                "properties": {"action": {"const": "delete"}, "id": {"type": "string"}},
                "required": ["action", "id"],
            },
            "Who": {"type": "string"},
        },
    }
    schema, _, _ = _adapted(parameters, anthropic.RULES)
    assert schema == {
        "type": "object",
        "properties": {
            "action": {"anyOf": [{"const": "create"}, {"const": "delete"}]},
            "who": {"$ref": "#/$defs/Who"},
            "note": {},
            "id": {"type": "string"},
        },
        "required": ["action"],
        "$defs": {"Who": {"type": "string"}},
        "description": 'Exactly one of these sets of properties: (action="create", who; optional note)'
        ' | (action="delete", id).',
    }


def test_conditions_that_only_openai_refuses_stay_for_the_others() -> None:
    parameters: Schema = {"type": "object", "properties": {"a": {}, "b": {}}, "not": {"required": ["a", "b"]}}
    schema, _, notes = _adapted(parameters)
    assert schema["description"] == 'The input as a whole must not match {"required":["a","b"]}.'
    assert notes == [("described", "/not")]
    assert _adapted(parameters, anthropic.RULES)[0] == parameters


def test_keys_that_anthropic_refuses_get_others_and_a_way_back() -> None:
    parameters: Schema = {
        "type": "object",
        "properties": {
            "filter[id]": {"type": "string"},
            "filter_id": {"$ref": "#/properties/filter[id]"},
            "سن": {"type": "object", "properties": {"$top": {"type": "integer"}}},
        },
        "required": ["filter[id]", "سن"],
        "dependentRequired": {"filter[id]": ["filter_id"]},
        "if": {"required": ["filter[id]"]},
    }
    schema, arguments, notes = _adapted(parameters, anthropic.RULES)
    new = {old: name for name, old in arguments.items()}
    assert set(new) == {"filter[id]", "سن"}
    made = new["filter[id]"]
    assert made.startswith("filter_id_")
    assert schema["required"] == [made, new["سن"]]
    assert schema["dependentRequired"] == {made: ["filter_id"]}
    assert schema["if"] == {"required": [made]}
    assert schema["properties"] == {
        made: {"type": "string"},
        "filter_id": {"$ref": f"#/properties/{made}"},
        new["سن"]: {"type": "object", "properties": {"$top": {"type": "integer"}}},
    }
    assert notes == [("renamed", "/properties/filter[id]"), ("renamed", "/properties/سن")]
    assert _adapted(parameters)[1] == {}


def test_older_drafts_and_other_catalogues_are_put_in_todays_words() -> None:
    parameters: Schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "dict",
        "properties": {
            "age": {"type": "Integer", "minimum": 0, "exclusiveMinimum": True, "required": True},
            "pair": {"type": "array", "items": [{"type": "string"}, {"type": "float"}], "additionalItems": False},
            "name": "String",
            "any": {"type": "any", "description": None},
        },
        "required": ["pair", "pair"],
    }
    schema, _, notes = _adapted(parameters, mcp.RULES)
    assert schema == {
        "type": "object",
        "properties": {
            "age": {"type": "integer", "exclusiveMinimum": 0},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "items": False},
            "name": {"type": "string"},
            "any": {},
        },
        "required": ["pair", "age"],
    }
    assert ("modernised", "/type") in notes
    assert ("dropped", "/properties/any/description") in notes
    assert ("dropped", "/$schema") in notes


def test_a_type_that_is_no_type_keeps_its_meaning() -> None:
    inner = {"enum": ["Inventory", "Service"], "description": "Type of the item."}
    parameters: Schema = {
        "type": "object",
        "properties": {"type": {"type": inner}, "day": {"type": "date (yyyy-mm-dd)", "description": "When."}},
    }
    schema, _, notes = _adapted(parameters)
    assert schema["properties"] == {
        "type": {"allOf": [inner]},
        "day": {"description": "When. Type: date (yyyy-mm-dd)."},
    }
    assert notes == [("modernised", "/properties/type/type"), ("modernised", "/properties/day/type")]


def test_a_reference_that_leads_nowhere_is_taken_out_where_providers_refuse_it() -> None:
    parameters: Schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "https://example.com/a.json"},
            "b": {"$ref": "#/properties/c"},
            "d": {"$ref": "#"},
        },
    }
    schema, _, notes = _adapted(parameters)
    assert schema["properties"] == {"a": {}, "b": {}, "d": {"$ref": "#"}}
    assert notes == [("unresolved", "/properties/a/$ref"), ("unresolved", "/properties/b/$ref")]
    assert _adapted(parameters, mcp.RULES)[0] == parameters


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "array", "items": {"type": "string"}},
        {"anyOf": [{"type": "string"}, {"type": "number"}]},
        {"$ref": "#/$defs/Text", "$defs": {"Text": {"type": "string"}}},
    ],
)
@pytest.mark.parametrize("form", RULES)
def test_an_input_that_is_no_object_goes_under_a_property(form: str, parameters: Schema) -> None:
    schema, _, notes = _adapted(parameters, RULES[form])
    inner = {key: value for key, value in parameters.items() if key != "$defs"}
    assert schema["properties"] == {"input": inner}
    assert schema["required"] == ["input"]
    assert ("wrapped", "") in notes


@pytest.mark.parametrize("parameters", [{"properties": ["a"]}, {"$ref": "https://example.com/a.json"}])
def test_parameters_that_say_nothing_of_the_input_are_unusable_not_empty(parameters: Schema) -> None:
    with pytest.raises(UnusableSchema):
        adapted(parameters, openai.RULES, Changes())


def test_properties_without_a_schema_around_them_are_properties() -> None:
    schema, _, notes = _adapted({"city": {"type": "string"}, "type": {"type": "string"}})
    assert schema["properties"] == {"city": {"type": "string"}, "type": {"type": "string"}}
    assert ("added", "") in notes


def test_combinations_that_refer_to_each_other_end() -> None:
    parameters: Schema = {
        "$ref": "#/$defs/d0",
        "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 3} for n in range(30)} | {"d30": {"$ref": "#"}},
    }
    assert _adapted(parameters)[0]["type"] == "object"


def test_notes_are_bounded_and_count_the_rest() -> None:
    _, _, notes = _adapted({"type": "object", "properties": {f"p{n}": {"type": "int"} for n in range(50)}})
    assert len(notes) == MOST_NOTES
    assert notes[-1][0] == "more"
