"""``POST /v1/explain``: one outcome each, over a catalogue in which the right one is known."""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from serve_app.cli.explain import _SENTENCES
from serve_app.explanation import Outcome
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


def test_an_outranked_record_stands_beside_the_last_one_shown_feature_by_feature(ranked: Endpoint) -> None:
    hits = ranked.search("rotate the certificate of the gateway", explain=True, k=2).json()["hits"]
    why = explain(ranked, "net:d", k=2)
    assert why["ahead"] == [{"id": hit["id"], "rank": hit["rank"], "score": hit["score"]} for hit in hits]
    versus: Any = why["versus"]
    last = hits[-1]
    assert (versus["id"], versus["rank"], versus["score"]["other"]) == (last["id"], 2, last["score"])
    assert versus["score"]["own"] == why["score"]
    # Every part of both scores stands there, and they explain the whole difference.
    for side, parts in (("own", why["parts"]), ("other", last["parts"])):
        held = {pair["term"]: pair[side] for pair in versus["terms"] if pair[side]}
        assert held == {part["term"]: {key: part[key] for key in part if key != "term"} for part in cast("Any", parts)}
    leads = [pair["lead"] for pair in versus["terms"]]
    assert leads == sorted(leads, reverse=True)
    assert sum(leads) + versus["bonus"]["lead"] + versus["similarity"]["lead"] == versus["score"]["lead"] > 0
    # It shows the certificate too, but rotates nothing.
    assert versus["terms"][0]["own"] is None
    assert next(pair for pair in versus["terms"] if pair["term"] == "certif")["own"] is not None


def test_only_what_was_ranked_behind_is_compared(ranked: Endpoint) -> None:
    for record_id, body in (
        ("net:a", {}), ("other:x", {}), ("net:a", {"narrow": {"namespaces": "other"}}),
        ("net:long", {"budget": {"evidence_tokens": 60}}),
    ):  # fmt: skip
        why = explain(ranked, record_id, **body)
        assert (why["ahead"], why["versus"]) == ([], None)


def test_records_that_the_caller_may_not_see_stand_beside_nothing(ranked: Endpoint) -> None:
    # Globex's record scores as the best ones do; acme's explanations are as if it were not there.
    for k in (1, 2, 3, 4):
        why = explain(ranked, "net:d", k=k)
        assert "net:z" not in str(why)
        assert len(cast("Any", why["ahead"])) == k


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


def test_a_record_whose_part_has_not_seen_the_change_that_was_asked_for_is_stale(ranked: Endpoint) -> None:
    why = explain(ranked, "net:a", min_seq=1_000)
    assert (why["outcome"], why["rank"], why["score"]) == ("stale", None, None)
    assert cast("Any", why["coverage"])["gaps"] == ["behind"]


def test_an_unknown_grant_list_is_an_error_and_no_filter(ranked: Endpoint) -> None:
    body = {"query": "rotate", "narrow": {"grant_list": "week"}}
    refused = ranked.post("/v1/explain", {**body, "id": "net:a"})
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_grant_list")
    put = ranked.client.put("/v1/grants/week", json={"ids": ["net:b"]}, headers=ranked.headers("tenant_admin"))
    assert put.status_code == 200
    outcomes = [ranked.post("/v1/explain", {**body, "id": one}).json()["outcome"] for one in ("net:a", "net:b")]
    assert outcomes == ["filtered_by_narrowing", "hit"]
    # Of what the caller may not see, an unknown list tells no more than a known one.
    for name in ("week", "month"):
        hidden = ranked.post("/v1/explain", {**body, "narrow": {"grant_list": name}, "id": "net:z"})
        assert hidden.json()["code"] == "not_found"


def test_every_outcome_has_a_sentence_for_people() -> None:
    assert set(_SENTENCES) == set(Outcome)


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
