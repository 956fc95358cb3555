"""AWS operations as tools: a small hand-made service model, and the installed models themselves."""

from typing import Any

import pytest

from cluster.importers.botocore import ServiceModel, plain_text, read_botocore, service_items, side_effect_of
from cluster.importers.source import RawRecord
from shards.record import SideEffect

MODEL: ServiceModel = {
    "metadata": {"serviceFullName": "Amazon Tree Service", "serviceAbbreviation": "Amazon Tree"},
    "operations": {
        "PutNode": {
            "documentation": "<p>Puts a <code>Node</code>. See <a href='x'>the guide</a>.</p>",
            "input": {"shape": "PutNodeRequest"},
        },
        "ListNodes": {"deprecated": True},
    },
    "shapes": {
        "PutNodeRequest": {
            "type": "structure",
            "required": ["Node"],
            "members": {
                "Node": {"shape": "Node", "documentation": "<p>The node.</p>"},
                "Filters": {"shape": "Filters"},
                "Size": {"shape": "Size"},
            },
        },
        "Node": {
            "type": "structure",
            "members": {
                "Parent": {"shape": "PutNodeRequest"},
                "Children": {"shape": "Nodes"},
                "Name": {"shape": "Name"},
            },
        },
        "Nodes": {"type": "list", "member": {"shape": "Node"}},
        "Filters": {"type": "list", "documentation": "<p>What to keep.</p>", "member": {"shape": "Filter"}},
        "Filter": {
            "type": "structure",
            "required": ["Key"],
            "members": {"Key": {"shape": "Name", "documentation": "deep"}},
        },
        "Name": {"type": "string"},
        "Size": {"type": "long"},
    },
}


def tools(model: ServiceModel) -> list[dict[str, Any]]:
    return [item.values for item in service_items("tree", model, 1.0)]


def test_an_operation_becomes_a_tool() -> None:
    put, listed = tools(MODEL)
    assert (put["id"], put["name"], put["namespace"]) == ("aws:tree:PutNode", "PutNode", "aws/tree")
    assert put["description"] == "Puts a Node. See the guide."
    assert (put["tags"], put["access"]) == (["Amazon Tree"], {"side_effect": "write"})
    assert (listed["tags"], listed["access"]) == (["Amazon Tree", "deprecated"], {"side_effect": "read"})
    assert listed["parameters"] == {}


def test_an_input_is_described_at_the_top_and_only_typed_below_with_cycles_cut() -> None:
    assert tools(MODEL)[0]["parameters"] == {
        "type": "object",
        "required": ["Node"],
        "properties": {
            "Node": {
                "type": "object",
                "description": "The node.",
                "properties": {
                    "Parent": {"type": "object", "description": "nested PutNodeRequest"},
                    "Children": {"type": "array"},
                    "Name": {"type": "string"},
                },
            },
            "Filters": {
                "type": "array",
                "description": "What to keep.",
                "items": {"type": "object", "required": ["Key"], "properties": {"Key": {"type": "string"}}},
            },
            "Size": {"type": "integer"},
        },
    }


def test_a_list_that_holds_itself_is_cut() -> None:
    model: ServiceModel = {
        "metadata": {"serviceFullName": "S"},
        "operations": {"PutX": {"input": {"shape": "In"}}},
        "shapes": {
            "In": {"type": "structure", "members": {"L": {"shape": "L"}}},
            "L": {"type": "list", "member": {"shape": "L"}},
        },
    }
    inner = {"type": "array", "description": "nested L"}
    assert tools(model)[0]["parameters"]["properties"] == {"L": {"type": "array", "items": inner}}


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("GetObject", SideEffect.READ),
        ("BatchGetItem", SideEffect.READ),
        ("DescribeInstances", SideEffect.READ),
        ("TerminateInstances", SideEffect.DESTRUCTIVE),
        ("BatchDeleteImage", SideEffect.DESTRUCTIVE),
        ("AdminDeleteUser", SideEffect.DESTRUCTIVE),
        ("RunInstances", SideEffect.WRITE),
        ("Getaway", SideEffect.WRITE),
        ("GETThing", SideEffect.WRITE),
        ("", SideEffect.WRITE),
    ],
)
def test_the_verb_decides_the_side_effect_and_an_unknown_one_writes(operation: str, expected: SideEffect) -> None:
    assert side_effect_of(operation) is expected


def test_text_is_cut_at_a_word() -> None:
    assert plain_text("<p>one&nbsp;two\n three</p><ul><li>four</li></ul>", 100) == "one two three four"
    assert plain_text("one two three", 9) == "one two…"
    assert plain_text("unbreakable", 5) == "unbr…"


def test_the_installed_models_give_thousands_of_distinct_tools() -> None:
    items = []
    for item in read_botocore():
        assert isinstance(item, RawRecord)
        items.append(item)
        if len(items) == 3_000:
            break
    assert len({item.values["id"] for item in items}) == 3_000
    assert sum(bool(item.values["description"]) for item in items) > 2_900
    assert all(len(str(item.values["description"])) <= 600 for item in items)
