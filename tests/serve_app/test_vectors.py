"""Vectors over HTTP: what an answer, an explanation and the metrics say of them, and that they show nothing hidden."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from cluster.local import LocalCluster
from cluster.registry import Registry
from serve_app.cli.main import cli
from serve_app.record_wire import parse_record
from tests.embedders import WordEmbedder
from tests.endpoint import SENTINEL, Endpoint, served, services_of, settings_in
from tests.serve_app.catalogue import CATALOGUE, SEEN

QUERIES: Final = ("send an email to my colleague", "send_email", "a folder with files", "kb refunds", "سلام دنیا")


def cluster_over(home: Path, records: Sequence[dict[str, object]], embedder: WordEmbedder) -> LocalCluster:
    registry = Registry.in_home(home)
    registry.upsert_many([parse_record(record) for record in records])
    return LocalCluster(registry, shards=2, embedder=embedder)


@pytest.fixture(scope="module")
def model() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory: pytest.TempPathFactory, model: WordEmbedder) -> Iterator[Endpoint]:
    home = tmp_path_factory.mktemp("home")
    with served(services_of(settings_in(home), cluster_over(home, CATALOGUE, model))) as running:
        yield running


def test_an_answer_says_that_vectors_were_used_and_by_which_embedder(hybrid: Endpoint) -> None:
    answer = hybrid.search("send an email to my colleague").json()
    assert answer["vectors"] == {"state": "used", "embedder": "words-1", "missing": 0}
    assert (answer["exact"], answer["doubt"]) == (True, None)
    assert answer["hits"][0]["id"] == "mail:send_email"
    assert "similarity" not in answer["hits"][0]


def test_the_parts_of_a_score_add_up_in_search_and_explain(hybrid: Endpoint) -> None:
    query = "send an email to a person"
    hits = hybrid.search(query, explain=True).json()["hits"]
    assert any(hit["similarity"]["score"] > 0 for hit in hits)
    for hit in hits:
        similar = hit["similarity"]
        assert similar["score"] == similar["likeness"] * similar["weight"]
        assert hit["score"] == hit["bonus"] + similar["score"] + sum(part["score"] for part in hit["parts"])
        why = hybrid.post("/v1/explain", {"query": query, "id": hit["id"]}).json()
        assert (why["similarity"], why["score"], why["outcome"]) == (similar, hit["score"], "hit")


def test_a_language_that_no_model_knows_is_answered_by_words(hybrid: Endpoint, endpoint: Endpoint) -> None:
    query = "send an email — ایمیل"
    answer, words = (one.search(query, explain=True).json() for one in (hybrid, endpoint))
    assert answer["vectors"] == {"state": "language", "embedder": "words-1", "missing": 0}
    assert words["vectors"] == {"state": "off", "embedder": "", "missing": 0}
    assert [hit["similarity"] for hit in answer["hits"]] == [None] * len(answer["hits"])
    assert [(hit["id"], hit["score"]) for hit in answer["hits"]] == [(hit["id"], hit["score"]) for hit in words["hits"]]


def test_a_world_without_the_hidden_records_gives_the_same_bytes_with_vectors(
    hybrid: Endpoint, model: WordEmbedder, tmp_path: Path
) -> None:
    with served(services_of(settings_in(tmp_path), cluster_over(tmp_path, SEEN, model))) as private:
        for query in QUERIES:
            bodies = [one.search(query, explain=True).content for one in (hybrid, private)]
            steady = [
                re.sub(rb'"request_id":"[^"]*"|"index_position":"[^"]*"|"timings_ms":\{[^}]*\}', b"", body)
                for body in bodies
            ]
            assert steady[0] == steady[1]
            assert SENTINEL.encode() not in bodies[0]


def test_the_metrics_count_states_proofs_and_the_time_of_embedding(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    services = services_of(settings_in(tmp_path), cluster_over(tmp_path, SEEN, embedder))
    with served(services) as endpoint:
        for query in ("send an email", "send an email", "ایمیل email"):
            endpoint.search(query)
        embedder.fault = RuntimeError("broken")
        endpoint.search("delete an email")
        text = endpoint.client.get("/metrics", headers=endpoint.headers("admin")).text
    for line in (
        'shortlist_vectors_total{state="used"} 2.0',
        'shortlist_vectors_total{state="language"} 1.0',
        'shortlist_vectors_total{state="failed"} 1.0',
        'shortlist_exact_answers_total{exact="true",proof="first_round",retrieval="hybrid"} 2.0',
        'shortlist_exact_answers_total{exact="true",proof="first_round",retrieval="words"} 2.0',
        "shortlist_query_embedding_seconds_count 4.0",
    ):
        assert line in text


def over_http(endpoint: Endpoint, *arguments: str) -> str:
    places = ("--url", str(endpoint.client.base_url), "--home", str(endpoint.home))
    environment = {"COLUMNS": "140", "SHORTLIST_URL": "", "SHORTLIST_TOKEN": ""}
    return (
        CliRunner().invoke(cli, (*arguments, *places, "--tenant", "acme", "--mode", "analyzer"), env=environment).output
    )


def test_the_commands_tell_people_what_vectors_gave_or_why_they_did_not(hybrid: Endpoint) -> None:
    assert "By words alone: no model knows the query's language." in over_http(hybrid, "search", "email — ایمیل")
    assert "By words alone" not in over_http(hybrid, "search", "send an email")
    assert "likeness of vectors" in over_http(hybrid, "explain", "send an email", "mail:send_email")
    assert "likeness of vectors" not in over_http(hybrid, "explain", "email — ایمیل", "mail:send_email")
