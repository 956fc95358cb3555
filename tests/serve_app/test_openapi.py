"""The OpenAPI document describes every route, with the shapes that are really sent and received."""

from dataclasses import fields
from typing import Any

import pytest

from cluster.budget import Budget, Spent
from cluster.contract import Answer, Coverage, Miss, Plan, VectorUse
from serve_app.access import ACCESS
from serve_app.answer_view import AnswerView, BudgetView, CoverageView, MissView, PlanView, SpentView, VectorsView
from serve_app.problems import Code, Problem
from tests.endpoint import Endpoint


@pytest.fixture(scope="module")
def document(endpoint: Endpoint) -> dict[str, Any]:
    return dict(endpoint.client.get("/openapi.json").json())


def test_every_row_of_the_access_table_is_described_and_nothing_else(document: dict[str, Any]) -> None:
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert described == {(method, path.replace(":path", "")) for method, path in ACCESS}


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    def references(node: object) -> set[str]:
        if isinstance(node, dict):
            own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
            return own.union(*map(references, node.values()))
        return set().union(*map(references, node)) if isinstance(node, list) else set()

    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert references(document) <= known


def test_the_search_body_is_described_with_its_limits(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert schemas["SearchBody"]["properties"]["query"]["maxLength"] == 4096
    assert schemas["SearchBody"]["additionalProperties"] is False
    assert set(schemas["NarrowBody"]["properties"]) == {
        "kinds", "namespaces", "products", "locales", "releases", "domains", "capabilities", "ids", "grant_list",
    }  # fmt: skip


def test_an_answer_has_exactly_the_fields_that_are_described(endpoint: Endpoint, document: dict[str, Any]) -> None:
    answer = endpoint.search("send an email", explain=True, format="mcp").json()
    schemas = document["components"]["schemas"]
    assert set(answer) == set(schemas["Answer"]["properties"])
    # A record is cut where room ran short, and stands for others where somebody confirmed it.
    assert set(answer["hits"][0]) == set(schemas["HitView"]["properties"]) - {"cut", "duplicates"}
    assert set(answer["hits"][0]["record"]) <= set(schemas["EvidenceView"]["properties"])
    explained = endpoint.post("/v1/explain", {"query": "send an email", "id": "mail:send_email"}).json()
    assert set(explained) == set(schemas["Explanation"]["properties"])
    stored = endpoint.client.get("/v1/records/kb:refunds", headers=endpoint.headers("reader")).json()
    assert set(stored) <= set(schemas["StoredRecord"]["properties"])


@pytest.mark.parametrize(
    ("value", "view"),
    [(Budget, BudgetView), (Spent, SpentView), (Miss, MissView), (Plan, PlanView), (VectorUse, VectorsView)],
)
def test_values_that_are_written_as_they_are_have_the_fields_of_their_view(value: type, view: type) -> None:
    assert [field.name for field in fields(value)] == list(view.__annotations__)


def test_no_field_of_an_answer_is_left_unwritten() -> None:
    # seq counts the changes of every tenant: callers get it inside the opaque index position only.
    # rounds depends on the number of shards, which is no caller's business.
    # surplus is what a shard did wrong, which operators find in the metrics.
    internal = {"hits", "miss", "plan", "budget", "spent", "coverage", "seq", "rounds", "surplus"}
    assert {field.name for field in fields(Answer)} - internal <= set(AnswerView.__annotations__)
    assert {field.name for field in fields(Coverage)} <= set(CoverageView.__annotations__)


def test_a_bulk_write_that_refused_a_line_is_described(document: dict[str, Any]) -> None:
    answers = document["paths"]["/v1/records"]["put"]["responses"]
    assert answers["207"]["content"] == answers["200"]["content"]


def test_every_code_of_a_problem_stands_there_with_its_status(document: dict[str, Any]) -> None:
    code = document["components"]["schemas"]["Code"]
    assert code["enum"] == [code.value for code in Code]
    for known in Code:
        assert f"{known} ({Problem(code=known, detail='').status}): " in code["description"]


def test_k_names_both_of_its_ceilings(document: dict[str, Any]) -> None:
    described = document["components"]["schemas"]["SearchBody"]["properties"]["k"]["description"]
    assert "k_ceiling" in described
    assert "most_k" in described
