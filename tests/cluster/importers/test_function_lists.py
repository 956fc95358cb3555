"""Tool lists of MCP servers and model providers, as they are dumped to files."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from cluster.errors import UnreadableSource
from cluster.importers.anthropic import read_anthropic
from cluster.importers.mcp import read_mcp
from cluster.importers.openai import read_openai
from cluster.importers.source import Defaults, Incomplete, Item, RawRecord, ReadOnlyClaims, Refusal

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}


def dumped(folder: Path, document: object) -> Path:
    path = folder / "github.json"
    path.write_bytes(orjson.dumps(document))
    return path


def values(items: list[Item]) -> list[dict[str, object]]:
    return [item.values for item in items if isinstance(item, RawRecord)]


def mcp_tool(**more: object) -> dict[str, Any]:
    return {"name": "search", "description": "Find.", "inputSchema": SCHEMA} | more


EXPECTED: dict[str, object] = {
    "id": "github:search",
    "name": "search",
    "namespace": "github",
    "description": "Find.",
    "parameters": SCHEMA,
}


@pytest.mark.parametrize(
    "document",
    [
        {"tools": [mcp_tool()]},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [mcp_tool()]}},
        [{"tools": [mcp_tool()], "nextCursor": "p2"}, {"tools": []}],
        [mcp_tool()],
    ],
)
def test_an_mcp_dump_is_read_in_every_wrapping(tmp_path: Path, document: object) -> None:
    assert list(read_mcp(dumped(tmp_path, document), Defaults())) == [
        RawRecord(label="search", values=EXPECTED, share=1.0)
    ]


def test_the_operator_names_the_namespace_of_a_list(tmp_path: Path) -> None:
    path = dumped(tmp_path, {"tools": [mcp_tool()]})
    found = values(list(read_mcp(path, Defaults(namespace="gh"))))
    assert [(record["id"], record["namespace"]) for record in found] == [("gh:search", "gh")]


def test_a_first_page_alone_is_reported_as_incomplete(tmp_path: Path) -> None:
    path = dumped(tmp_path, {"result": {"tools": [mcp_tool()], "nextCursor": "p2"}})
    notes = [item for item in read_mcp(path, Defaults()) if isinstance(item, Incomplete)]
    assert len(notes) == 1
    assert "nextCursor" in notes[0].reason


def test_hints_of_a_server_never_lower_a_side_effect(tmp_path: Path) -> None:
    tools = [
        mcp_tool(name="claims", annotations={"readOnlyHint": True, "destructiveHint": False}),
        mcp_tool(name="warns", annotations={"destructiveHint": True}),
    ]
    items = list(read_mcp(dumped(tmp_path, {"tools": tools}), Defaults()))
    first, second = values(items)
    assert items[-1] == ReadOnlyClaims(tools=1)
    assert Defaults().fill(first)["access"] == {"tenant": "*", "side_effect": "write"}
    assert Defaults().fill(second)["access"] == {"tenant": "*", "side_effect": "destructive"}


def test_a_title_becomes_an_alias(tmp_path: Path) -> None:
    tools = [mcp_tool(title="Search code"), mcp_tool(name="b", annotations={"title": "B it"}), mcp_tool(title="search")]
    found = values(list(read_mcp(dumped(tmp_path, {"tools": tools}), Defaults())))
    assert [record.get("aliases") for record in found] == [["Search code"], ["B it"], None]


def test_one_bad_tool_is_refused_by_its_place_and_the_rest_is_read(tmp_path: Path) -> None:
    items = list(read_mcp(dumped(tmp_path, {"tools": [3, {"name": ""}, {"name": 5}, mcp_tool()]}), Defaults()))
    assert [item.name for item in items if isinstance(item, Refusal)] == ["item 1", "item 2", "item 3"]
    assert len(values(items)) == 1


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "search", "description": "Find.", "parameters": SCHEMA}},
        {"type": "function", "name": "search", "description": "Find.", "parameters": SCHEMA, "strict": True},
        {"name": "search", "description": "Find.", "parameters": SCHEMA},
    ],
)
def test_openai_functions_are_read_in_every_shape(tmp_path: Path, tool: dict[str, Any]) -> None:
    for document in ([tool], {"model": "m", "tools": [tool]}):
        assert values(list(read_openai(dumped(tmp_path, document), Defaults()))) == [EXPECTED]


def test_anthropic_tools_are_read(tmp_path: Path) -> None:
    tool = {"name": "search", "description": "Find.", "input_schema": SCHEMA}
    for document in ([tool], {"tools": [tool | {"type": "custom"}]}):
        assert values(list(read_anthropic(dumped(tmp_path, document), Defaults()))) == [EXPECTED]


def test_built_in_tools_of_a_provider_are_refused_with_the_reason(tmp_path: Path) -> None:
    openai = list(read_openai(dumped(tmp_path, [{"type": "web_search"}]), Defaults()))
    anthropic = list(read_anthropic(dumped(tmp_path, [{"type": "bash_20250124", "name": "bash"}]), Defaults()))
    assert [(item.name, "built-in" in item.reason) for item in openai if isinstance(item, Refusal)] == [
        ("item 1", True)
    ]
    assert [(item.name, "server tool" in item.reason) for item in anthropic if isinstance(item, Refusal)] == [
        ("bash", True)
    ]


@pytest.mark.parametrize("document", [{}, {"tools": {}}, 5, {"result": {"error": 1}}])
def test_a_document_without_a_tool_list_is_an_error(tmp_path: Path, document: object) -> None:
    for reader in (read_mcp, read_openai, read_anthropic):
        with pytest.raises(UnreadableSource):
            list(reader(dumped(tmp_path, document), Defaults()))


def test_names_that_differ_only_in_a_separator_stay_apart(tmp_path: Path) -> None:
    tools = [mcp_tool(name="search-a"), mcp_tool(name="search_a")]
    found = values(list(read_mcp(dumped(tmp_path, {"tools": tools}), Defaults())))
    assert [record["id"] for record in found] == ["github:search-a", "github:search_a"]


@pytest.mark.parametrize(
    ("reader", "field", "reason"),
    [
        (read_openai, "input_schema", "parameters: missing, but there is 'input_schema': use --format anthropic"),
        (read_openai, "inputSchema", "parameters: missing, but there is 'inputSchema': use --format mcp"),
        (read_anthropic, "parameters", "input_schema: missing, but there is 'parameters': use --format openai"),
        (read_mcp, "input_schema", "inputSchema: missing, but there is 'input_schema': use --format anthropic"),
    ],
)
def test_a_list_of_another_format_is_refused_instead_of_losing_its_parameters(
    tmp_path: Path, reader: Callable[[Path, Defaults], Iterator[Item]], field: str, reason: str
) -> None:
    items = list(reader(dumped(tmp_path, [{"name": "search", field: SCHEMA}]), Defaults()))
    assert items == [Refusal(name="search", reason=reason)]
    assert len(values(list(reader(dumped(tmp_path, [{"name": "ping"}]), Defaults())))) == 1
