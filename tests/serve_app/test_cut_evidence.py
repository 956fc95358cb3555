"""Evidence that is cut, at the endpoint: what a hit says of itself, where the whole is, what providers are given."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema.validators import Draft202012Validator
from tokenizers import Tokenizer, models, pre_tokenizers

from cluster.local import LocalCluster
from cluster.registry import Registry
from cluster.tokenizer import FileTokenizer
from serve_app.formats.formatting import ProviderFormat
from serve_app.record_wire import parse_record
from tests.endpoint import Endpoint, endpoint_over, served, services_of, settings_in, tool

FIELD = {"type": "string", "description": "A value that has to be given in words. " * 6}
WIDE = {
    "type": "object",
    "properties": {f"field_{number:02d}": FIELD for number in range(30)},
    "required": ["field_29", "field_03"],
}
RECORDS = [
    tool("crm:create_contact", "Create a contact of a customer.", parameters=WIDE),
    tool("crm:delete_contact", "Delete a contact of a customer.", parameters={"type": "object", "properties": {}}),
    {
        "id": "kb:contacts",
        "kind": "passage",
        "title": "Contacts of customers",
        "text": "A contact belongs to a customer. It is created once.\n\n" + "More about contacts. " * 400,
        "namespace": "kb",
        "source_url": "https://example.com/contacts",
        "section": "CRM",
        "access": {"tenant": "acme"},
    },
]


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    with endpoint_over(tmp_path_factory.mktemp("home"), RECORDS) as running:
        yield running


def hit_of(answer: dict[str, Any], record_id: str) -> dict[str, Any]:
    return next(hit for hit in answer["hits"] if hit["id"] == record_id)


def test_a_tool_too_wide_is_cut_at_its_properties_and_says_where_the_whole_is(endpoint: Endpoint) -> None:
    budget = {"evidence_tokens": 600}
    answer = endpoint.search("create a contact", narrow={"kinds": "tool"}, budget=budget).json()
    hit = hit_of(answer, "crm:create_contact")
    shown = hit["record"]["parameters"]
    Draft202012Validator.check_schema(shown)
    assert hit["form"] == "cut"
    assert {"field_29", "field_03"} < set(shown["properties"])
    assert all(shown["properties"][name] == FIELD for name in shown["properties"])
    assert hit["cut"]["properties_left_out"] == 30 - len(shown["properties"])
    whole = endpoint.client.get(hit["cut"]["fetch"], headers=endpoint.headers("reader")).json()
    assert whole["parameters"] == WIDE
    assert whole["search_text_hash"] == hit["record"]["search_text_hash"]
    spent = answer["spent"]
    assert spent["evidence_tokens"] == sum(hit["tokens"] for hit in answer["hits"]) <= 600
    assert spent["dropped"] == 0
    assert spent["dropped_tokens"] == hit["cut"]["tokens_left_out"] > 0
    assert "cut" not in hit_of(answer, "crm:delete_contact")


def test_a_passage_keeps_title_source_and_whole_paragraphs(endpoint: Endpoint) -> None:
    answer = endpoint.search("contacts", narrow={"kinds": "passage"}, budget={"evidence_tokens": 70}).json()
    hit = answer["hits"][0]
    assert hit["form"] == "cut"
    assert (hit["record"]["title"], hit["record"]["section"]) == ("Contacts of customers", "CRM")
    assert hit["record"]["source_url"] == "https://example.com/contacts"
    assert hit["record"]["text"].endswith(("once.", "contacts."))
    assert hit["cut"]["properties_left_out"] == 0
    assert answer["spent"]["dropped_tokens"] > 0


@pytest.mark.parametrize("form", get_args(ProviderFormat))
def test_no_provider_is_given_a_schema_that_was_cut(endpoint: Endpoint, form: str) -> None:
    narrow, budget = {"kinds": "tool"}, {"evidence_tokens": 600}
    answer = endpoint.search("create a contact", narrow=narrow, budget=budget, format=form).json()
    assert hit_of(answer, "crm:create_contact")["form"] == "cut"
    (deferred,) = answer["formatted"]["deferred"]
    assert (deferred["id"], deferred["reason"]) == ("crm:create_contact", "summary")
    assert deferred["fetch"] == "/v1/records/crm%3Acreate_contact"
    assert len(answer["formatted"]["tools"]) == 1
    assert "parameters" not in hit_of(answer, "crm:create_contact")["record"]


def test_an_answer_says_what_counted_its_tokens(endpoint: Endpoint, tmp_path: Path) -> None:
    assert endpoint.search("contact").json()["tokens_by"] == "estimate"
    toy = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    toy.pre_tokenizer = pre_tokenizers.Whitespace()
    registry = Registry.in_home(tmp_path)
    registry.upsert_many([parse_record(record) for record in RECORDS])
    counter = FileTokenizer(toy, "toy")
    with served(services_of(settings_in(tmp_path), LocalCluster(registry, counter=counter))) as running:
        answer = running.search("delete a contact", narrow={"kinds": "tool"}, k=1, format="mcp").json()
    assert answer["tokens_by"] == "toy"
    text = hit_of(answer, "crm:delete_contact")
    # crm : delete_contact | delete_contact | crm | six words and a stop | the schema, with two tokens for each field.
    parameters = '{"properties":{},"type":"object"}'
    assert text["tokens"] == 3 + 1 + 1 + 7 + counter.count(parameters) + 5 * 2
    assert len(answer["formatted"]["tools"]) == 1
