"""Writes the schemas beside it from the types of the providers' own packages, closed to fields they do not know.

Run it where ``openai``, ``anthropic`` and ``mcp`` are installed; the tests need only what it wrote.
"""

import json
from importlib.metadata import version
from pathlib import Path

import mcp_types._v2025_11_25 as mcp_2025
import mcp_types._v2026_07_28 as mcp_2026
from anthropic.types import SearchResultBlockParam, ToolParam, ToolReferenceBlockParam
from openai.types.chat import ChatCompletionContentPartTextParam, ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam, ResponseInputTextParam
from pydantic import TypeAdapter

SHAPES = {
    "openai_chat_tool": ("openai", ChatCompletionFunctionToolParam),
    "openai_chat_text": ("openai", ChatCompletionContentPartTextParam),
    "openai_responses_tool": ("openai", FunctionToolParam),
    "openai_responses_text": ("openai", ResponseInputTextParam),
    "anthropic_tool": ("anthropic", ToolParam),
    "anthropic_tool_reference": ("anthropic", ToolReferenceBlockParam),
    "anthropic_search_result": ("anthropic", SearchResultBlockParam),
    "mcp_tool_2025_11_25": ("mcp-types", mcp_2025.Tool),
    "mcp_tool_2026_07_28": ("mcp-types", mcp_2026.Tool),
    "mcp_resource_2025_11_25": ("mcp-types", mcp_2025.EmbeddedResource),
    "mcp_resource_2026_07_28": ("mcp-types", mcp_2026.EmbeddedResource),
}


def closed(node: object) -> object:
    """The schema without prose, and with no other fields where the type does not say that there may be some."""
    if isinstance(node, list):
        return [closed(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    schema = {
        key: closed(inner)
        for key, inner in node.items()
        if key not in ("description", "title") or not isinstance(inner, str)
    }
    if schema.get("type") == "object" and "properties" in schema:
        schema.setdefault("additionalProperties", False)
    return schema


if __name__ == "__main__":
    for name, (package, shape) in SHAPES.items():
        source = f"{package} {version(package)}: {shape.__module__}.{shape.__qualname__}"
        schema = closed(TypeAdapter(shape).json_schema(by_alias=True) | {"$comment": source})
        text = json.dumps(schema, indent=1, sort_keys=True)
        (Path(__file__).parent / f"{name}.json").write_text(f"{text}\n")
