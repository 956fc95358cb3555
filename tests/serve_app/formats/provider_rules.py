"""What a provider refuses, as far as its types and its documented rules tell: the judge of the tests beside it."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from serve_app.formats.references import target_of
from serve_app.formats.schema import schemas_in

SCHEMAS = Path(__file__).parent / "provider_schemas"

FUNCTION_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MCP_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
ANTHROPIC_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")

TOOL_SCHEMAS = {
    "openai_chat": ("openai_chat_tool",),
    "openai_responses": ("openai_responses_tool",),
    "anthropic": ("anthropic_tool",),
    "anthropic_tool_search": ("anthropic_tool",),
    "mcp": ("mcp_tool_2025_11_25", "mcp_tool_2026_07_28"),
}
PASSAGE_SCHEMAS = {
    "openai_chat": ("openai_chat_text",),
    "openai_responses": ("openai_responses_text",),
    "anthropic": ("anthropic_search_result",),
    "anthropic_tool_search": ("anthropic_search_result",),
    "mcp": ("mcp_resource_2025_11_25", "mcp_resource_2026_07_28"),
}
FORBIDDEN_AT_ROOT = {
    "openai_chat": {"$ref", "allOf", "anyOf", "const", "enum", "not", "oneOf"},
    "openai_responses": {"$ref", "allOf", "anyOf", "const", "enum", "not", "oneOf"},
    "anthropic": {"$ref", "allOf", "anyOf", "oneOf"},
    "anthropic_tool_search": {"$ref", "allOf", "anyOf", "oneOf"},
    "mcp": set(),
}
FORMATS = tuple(TOOL_SCHEMAS)


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text()))


def check_view(view: dict[str, Any]) -> None:
    """Fail on anything in a formatted answer that its provider would refuse."""
    form = view["format"]
    name_rule = MCP_NAME if form == "mcp" else FUNCTION_NAME
    names = [name_of(tool) for tool in view["tools"]]
    assert len(set(names)) == len(names)
    assert all(name_rule.fullmatch(name) for name in view["names"])
    assert len(set(view["names"].values())) == len(view["names"])
    assert set(names) | {deferred["name"] for deferred in view["deferred"]} == set(view["names"])
    if form.startswith("openai"):
        assert len(view["tools"]) <= 128
    for tool in view["tools"]:
        for schema in TOOL_SCHEMAS[form]:
            _validator(schema).validate(tool)
        check_input(form, input_of(tool))
        if form.startswith("openai"):
            assert len(tool.get("function", tool).get("description", "")) <= 1024
    for block in view["content"]:
        for schema in PASSAGE_SCHEMAS[form]:
            _validator(schema).validate(block)
    assert len(view["content"]) == len(view["content_ids"])
    for reference in view.get("references", []):
        _validator("anthropic_tool_reference").validate(reference)
    assert [one["tool_name"] for one in view.get("references", [])] in ([], names)


def check_input(form: str, schema: dict[str, Any]) -> None:
    """Fail on an input schema that the provider would refuse."""
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert isinstance(schema["properties"], dict)
    assert not FORBIDDEN_AT_ROOT[form] & set(schema)
    inner = list(schemas_in(schema))
    if form != "mcp":
        references = [one["$ref"] for one in inner if "$ref" in one]
        assert all(isinstance(target_of(schema, ref), dict | bool) or _is_anchor(ref, inner) for ref in references)
    if form.startswith("openai"):
        kinds = [(one, one.get("type", [])) for one in inner]
        assert all("items" in one for one, kind in kinds if kind == "array" or "array" in list(kind))
    if form.startswith("anthropic"):
        assert all(ANTHROPIC_KEY.fullmatch(key) for key in schema["properties"])


def _is_anchor(reference: str, schemas: list[dict[str, Any]]) -> bool:
    return any(f"#{one.get('$anchor')}" == reference for one in schemas)


def name_of(tool: dict[str, Any]) -> str:
    return str(tool.get("function", tool)["name"])


def input_of(tool: dict[str, Any]) -> dict[str, Any]:
    inner = tool.get("function", tool)
    return dict(next(inner[key] for key in ("parameters", "input_schema", "inputSchema") if key in inner))
