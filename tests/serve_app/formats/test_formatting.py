"""A formatted answer is what its provider takes, leads back to its records, and keeps to the budget."""

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from cluster.errors import InvalidRequest
from cluster.tokens import estimate_tokens
from serve_app.formats.formatting import FormattedView, ProviderFormat, formatted_answer, formatted_record, most_tools
from shards.record import Record
from tests.serve_app.formats.answers import answer_of, passage, reordered, tool
from tests.serve_app.formats.provider_rules import FORMATS, check_view, input_of, name_of

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ODD = {"properties": {"filter[id]": {"type": "int"}, "list": {"type": "array"}}, "anyOf": [{"required": ["list"]}]}
WEATHER = tool("weather:get", "get_weather", CITY, description="The weather in a city.", side_effect="read")
REFUNDS = passage("kb:refunds", "Refunds", "Within 30 days.", source_url="https://acme.example/refunds", section="2.1")

each_format = pytest.mark.parametrize("form", FORMATS)


def view_of(form: ProviderFormat, records: list[Record], summaries: tuple[str, ...] = ()) -> dict[str, Any]:
    view: dict[str, Any] = orjson.loads(orjson.dumps(formatted_answer(form, answer_of(records, summaries)).view))
    check_view(view)
    return view


_PARAMETERS = st.sampled_from([None, CITY, ODD, {"type": "string"}, {"properties": []}, {"oneOf": [CITY, ODD]}])
_RECORDS = st.lists(
    st.builds(
        lambda key, name, parameters, text: tool(f"ns:{key}", name, parameters, description=text),
        st.integers(0, 50),
        st.sampled_from(["search", "search-a", "search_a", "search a", "جستجو", "x" * 90]),
        _PARAMETERS,
        st.sampled_from(["", "Finds.", "Long. " * 300]),
    )
    | st.builds(
        lambda key, text, url: passage(f"kb:{key}", "Title", text, source_url=url),
        st.integers(0, 50),
        st.sampled_from(["", " ", "Text."]),
        st.sampled_from(["", "https://acme.example/a", "page 4 of the handbook"]),
    ),
    max_size=8,
    unique_by=lambda record: record.id,
)


@each_format
@settings(max_examples=50)
@given(records=_RECORDS, draw=st.data())
def test_any_answer_is_one_that_its_provider_takes_in_every_order(
    form: ProviderFormat, records: list[Record], draw: st.DataObject
) -> None:
    summaries = tuple(record.id for record in records if draw.draw(st.booleans()))
    answer = answer_of(records, summaries)
    view = orjson.loads(orjson.dumps(formatted_answer(form, answer).view))
    check_view(view)
    order = draw.draw(st.permutations(range(len(records))))
    other = orjson.loads(orjson.dumps(formatted_answer(form, reordered(answer, order)).view))
    assert other["names"] == view["names"]
    assert {name_of(one): one for one in other["tools"]} == {name_of(one): one for one in view["tools"]}
    assert {*view["names"].values(), *view["content_ids"]} == {record.id for record in records}


@each_format
@settings(max_examples=50)
@given(records=_RECORDS, room=st.integers(0, 200))
def test_what_a_model_reads_never_exceeds_the_budget(form: ProviderFormat, records: list[Record], room: int) -> None:
    cap = answer_of(records).spent.evidence_tokens + room
    view: Any = formatted_answer(form, answer_of(records, evidence_tokens=max(1, cap))).view
    texts = [orjson.dumps(input_of(one)).decode() for one in view["tools"]]
    for one in [*(one.get("function", one) for one in view["tools"]), *view["deferred"]]:
        texts += [one["name"], one.get("description", "")]
    texts += [record.description for record in records if record.id in view["content_ids"]]
    assert sum(map(estimate_tokens, texts)) <= cap


def test_each_provider_has_its_own_wrapper() -> None:
    asked = {"name": "get_weather", "description": "The weather in a city."}
    expected = {
        "openai_chat": {"type": "function", "function": {**asked, "parameters": CITY, "strict": False}},
        "openai_responses": {"type": "function", **asked, "parameters": CITY, "strict": False},
        "anthropic": {**asked, "input_schema": CITY},
        "anthropic_tool_search": {**asked, "input_schema": CITY, "defer_loading": True},
        "mcp": {**asked, "inputSchema": CITY, "annotations": {"readOnlyHint": True}},
    }
    for form in FORMATS:
        view = view_of(form, [WEATHER])  # type: ignore[arg-type]
        assert view["tools"] == [expected[form]]
        assert view["names"] == {"get_weather": "weather:get"}
        assert view["notes"] == []
    assert view_of("anthropic_tool_search", [WEATHER])["references"] == [
        {"type": "tool_reference", "tool_name": "get_weather"}
    ]


def test_passages_are_content_and_no_tools() -> None:
    text = "Refunds\nSource: https://acme.example/refunds\nSection: 2.1\n\nWithin 30 days."
    result = {
        "type": "search_result",
        "source": "https://acme.example/refunds",
        "title": "Refunds · 2.1",
        "content": [{"type": "text", "text": "Within 30 days."}],
        "citations": {"enabled": True},
    }
    resource = {"uri": "https://acme.example/refunds", "mimeType": "text/plain", "text": text}
    expected = {
        "openai_chat": {"type": "text", "text": text},
        "openai_responses": {"type": "input_text", "text": text},
        "anthropic": result,
        "anthropic_tool_search": result,
        "mcp": {"type": "resource", "resource": resource},
    }
    for form in FORMATS:
        view = view_of(form, [REFUNDS, WEATHER])  # type: ignore[arg-type]
        assert view["content"] == [expected[form]]
        assert view["content_ids"] == ["kb:refunds"]
        assert [name_of(one) for one in view["tools"]] == ["get_weather"]


@each_format
def test_a_summary_is_deferred_and_never_a_tool_without_parameters(form: ProviderFormat) -> None:
    long = tool("files:read", "read file", {"properties": {"path": {"description": "Where. " * 50}}})
    view = view_of(form, [WEATHER, long], summaries=("files:read",))
    (deferred,) = view["deferred"]
    assert [name_of(one) for one in view["tools"]] == ["get_weather"]
    assert view["names"][deferred["name"]] == "files:read"
    assert (deferred["reason"], deferred["fetch"]) == ("summary", "/v1/records/files%3Aread")
    fetched: Any = formatted_record(form, answer_of([long]).hits[0].record.full.json)
    check_view(orjson.loads(orjson.dumps(fetched)))
    assert name_of(fetched["tools"][0]) == deferred["name"]


def test_a_summary_that_saves_nothing_is_the_whole_record() -> None:
    bare = tool("clock:now", "now", None, description="The time.")
    assert len(view_of("openai_chat", [bare], summaries=("clock:now",))["tools"]) == 1


def test_parameters_that_are_no_schema_are_deferred() -> None:
    view = view_of("anthropic", [tool("a:b", "b", {"properties": ["x"]})])
    assert (view["tools"], view["deferred"][0]["reason"]) == ([], "schema")


def test_a_schema_that_grows_past_the_budget_is_deferred() -> None:
    grows = tool("a:b", "b", {"properties": {f"p{n}": {"type": "array"} for n in range(40)}})
    spent = answer_of([grows]).spent.evidence_tokens
    tight: Any = formatted_answer("openai_chat", answer_of([grows], evidence_tokens=spent)).view
    roomy: Any = formatted_answer("openai_chat", answer_of([grows], evidence_tokens=2 * spent)).view
    assert [one["reason"] for one in tight["deferred"]] == ["tokens"]
    assert len(roomy["tools"]) == 1


def test_changes_are_noted_with_their_record_and_arguments_lead_back() -> None:
    view = view_of("anthropic", [WEATHER, tool("shop:list", "list", ODD)])
    assert {note["id"] for note in view["notes"]} == {"shop:list"}
    assert {note["change"] for note in view["notes"]} >= {"renamed", "merged", "modernised"}
    ((made, original),) = view["arguments"]["list"].items()
    assert original == "filter[id]"
    assert made in input_of(view["tools"][1])["properties"]


@pytest.mark.parametrize("form", ["openai_chat", "openai_responses"])
def test_what_is_too_long_for_a_description_goes_on_in_the_parameters(form: ProviderFormat) -> None:
    text = "One sentence of the manual. " * 100
    parameters = {**CITY, "description": "Where to look."}
    view = view_of(form, [tool("a:b", "b", parameters, description=text)])
    function = view["tools"][0].get("function", view["tools"][0])
    start, rest = function["description"], function["parameters"]["description"]
    assert f"{start} {rest}" == f"{text.rstrip()} \nWhere to look."
    assert start.endswith("manual.")
    assert [note["change"] for note in view["notes"]] == ["moved"]


@pytest.mark.parametrize("form", ["openai_chat", "openai_responses"])
def test_openai_takes_128_tools_and_more_are_refused(form: ProviderFormat) -> None:
    records = [tool(f"a:t{n}") for n in range(129)]
    assert most_tools(form) == 128
    assert len(view_of(form, records[:128])["tools"]) == 128
    with pytest.raises(InvalidRequest, match="128"):
        formatted_answer(form, answer_of(records))
    assert len(view_of("mcp", records)["tools"]) == 129


def test_mcp_hints_say_what_the_operator_declared() -> None:
    records = [tool(f"a:{effect}", effect, side_effect=effect) for effect in ("read", "write", "destructive")]
    hints = [one["annotations"] for one in view_of("mcp", records)["tools"]]
    assert hints == [{"readOnlyHint": True}, {"readOnlyHint": False}, {"readOnlyHint": False, "destructiveHint": True}]


def test_what_a_provider_has_no_place_for_stays_with_the_hits() -> None:
    (remainder,) = formatted_answer("openai_chat", answer_of([WEATHER])).remainders
    assert (remainder["id"], remainder["side_effect"], remainder["version"]) == ("weather:get", "read", 0)
    assert not {"name", "description", "parameters"} & set(remainder)


def test_the_view_can_be_described_in_the_openapi_document() -> None:
    described = TypeAdapter(FormattedView).json_schema(ref_template="#/components/schemas/{model}")
    assert set(described["properties"]) == {*view_of("mcp", []), "references"}
    assert described["properties"]["format"]["enum"] == list(FORMATS)


@each_format
def test_a_miss_has_nothing_to_hand_over(form: ProviderFormat) -> None:
    view = view_of(form, [])
    assert (view["tools"], view["content"], view["names"], view["deferred"]) == ([], [], {}, [])
