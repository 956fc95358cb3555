"""``POST /v1/explain``: one outcome each, over a catalogue in which the right one is known."""

from collections.abc import Iterator

import pytest

from tests.endpoint import Endpoint, endpoint_over, tool

LONG = "Rotate the certificate of the gateway. " * 40


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """``net:a`` to ``net:e`` match "rotate the certificate of the gateway" ever less; ``other:x`` not at all."""
    records = [
        tool("net:a", "Rotate the certificate of the gateway", aliases=["rotate certificate of gateway"]),
        tool("net:b", "Rotate the certificate of the gateway"),
        tool("net:c", "Rotate the certificate"),
        tool("net:d", "Show a certificate"),
        tool("net:long", LONG, parameters={"type": "object", "description": LONG}),
        tool("other:x", "Bake bread"),
        tool("net:z", "Rotate the certificate of the gateway", tenant="globex"),
    ]
    with endpoint_over(tmp_path_factory.mktemp("home"), records) as running:
        yield running


def explain(endpoint: Endpoint, record_id: str, **body: object) -> dict[str, object]:
    response = endpoint.post("/v1/explain", {"query": "rotate the certificate of the gateway", "id": record_id, **body})
    assert response.status_code == 200, response.text
    return dict(response.json())


def test_a_hit_is_explained_with_the_rank_score_and_parts_of_the_search(ranked: Endpoint) -> None:
    answer = ranked.search("rotate the certificate of the gateway", explain=True).json()
    for hit in answer["hits"]:
        why = explain(ranked, hit["id"])
        assert (why["outcome"], why["rank"], why["score"]) == ("hit", hit["rank"], hit["score"])
        assert (why["parts"], why["bonus"]) == (hit["parts"], hit["bonus"])
        assert why["coverage"] == answer["coverage"]


def test_an_outranked_record_shows_its_rank_and_the_score_it_missed(ranked: Endpoint) -> None:
    hits = ranked.search("rotate the certificate of the gateway").json()["hits"]
    why = explain(ranked, "net:d", k=2)
    assert (why["outcome"], why["k"], why["rank"]) == ("outranked", 2, 5)
    assert why["kth_score"] == hits[1]["score"]
    assert why["score"] == hits[4]["score"] < hits[1]["score"]


def test_a_record_beyond_the_ranked_ones_is_outranked_without_a_rank(ranked: Endpoint) -> None:
    why = explain(ranked, "net:d", k=1, budget={"candidate_k": 2, "rerank_k": 2})
    assert (why["outcome"], why["rank"]) == ("outranked", None)


def test_a_record_that_shares_nothing_is_no_candidate(ranked: Endpoint) -> None:
    why = explain(ranked, "other:x")
    assert (why["outcome"], why["rank"], why["score"], why["parts"]) == ("not_a_candidate", None, 0, [])


def test_a_record_that_the_request_narrows_away_is_said_to_be(ranked: Endpoint) -> None:
    why = explain(ranked, "net:a", narrow={"namespaces": "other"})
    assert (why["outcome"], why["score"], why["coverage"]) == ("filtered_by_narrowing", None, None)


def test_a_record_that_does_not_fit_the_tokens_is_cut_by_the_budget(ranked: Endpoint) -> None:
    why = explain(ranked, "net:long", budget={"evidence_tokens": 60})
    assert (why["outcome"], why["k"]) == ("cut_by_budget", 10)
    assert isinstance(why["rank"], int)
    assert why["rank"] <= 10


@pytest.mark.parametrize("record_id", ["net:z", "nothing", "x" * 512])
def test_a_record_that_the_caller_may_not_see_is_not_found(ranked: Endpoint, record_id: str) -> None:
    response = ranked.post("/v1/explain", {"query": "rotate", "id": record_id})
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "body", [{"query": "x"}, {"id": "net:a"}, {"query": "x", "id": ""}, {"query": "x", "id": "a", "pinned": []}]
)
def test_an_unusable_explain_body_names_its_field(ranked: Endpoint, body: dict[str, object]) -> None:
    response = ranked.post("/v1/explain", body)
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
