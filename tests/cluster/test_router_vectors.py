"""A request whose query has a vector: what it adds, when an answer is made by words alone, and that it says so."""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster.contract import Answer, Doubt, SearchRequest, VectorState, VectorUse
from cluster.dispatcher import RuleDispatcher
from cluster.query import AnalyzedRequest, plan_query
from cluster.ranker import Candidates
from cluster.router import Router
from cluster.shard_client import ShardClient
from shards.messages import ScoreMix, ShardHits, ShardQuery
from shards.record import Record
from tests.cluster.rig import (
    BUDGET,
    RANKER,
    Client,
    comparable,
    ids_of,
    map_of,
    request,
    router_over,
    shards_of,
    timed,
    tool,
    with_vectors,
)
from tests.embedders import WordEmbedder
from tests.quick_time import run_quickly

MAIL = tool("t01", "gmail_send", "Deliver an email message")
FILE = tool("t02", "upload_file", "Upload a file to a folder")
USER = tool("t03", "create_user", "Create a user of the directory")
TEAM = tool("t04", "send_message", "Send a chat message to a team")
FOREIGN = tool("t00", "post_letter", "Post a letter", tenant="zeta")
CATALOGUE = (MAIL, FILE, USER, TEAM, FOREIGN)
MEANINGS = {
    "t00": "post a letter by courier",
    "t01": "post a letter",
    "t02": "store some data",
    "t03": "register somebody",
    "t04": "talk with colleagues",
}
"""What the records mean in words that they do not hold."""

FOREVER = float("inf")
EMBEDDED = replace(plan_query("post a letter"), embedded=WordEmbedder().embed_query("post a letter"))
SIMILARITY = RANKER.mix(EMBEDDED).similarity
AWHILE_S = 0.3
"""How long a model that is there may take, in real time."""


@pytest.fixture(params=[1, 3], ids=["one shard", "three shards"])
def count(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def clients_of(
    records: Sequence[Record] = CATALOGUE, count: int = 1, *, meanings: dict[str, str] = MEANINGS
) -> list[Client]:
    """Over shards with vectors of these meanings."""
    shards = with_vectors(shards_of(records, count), meanings, WordEmbedder())
    return [Client(shard=shard) for shard in shards]


def hybrid(clients: Sequence[ShardClient | None], embedder: WordEmbedder | None = None) -> Router:
    return router_over(clients, embedder=embedder or WordEmbedder())


def search(router: Router, asked: SearchRequest) -> Answer:
    return run_quickly(timed(router, asked), for_threads_s=AWHILE_S)[0]


def by_words(clients: Sequence[ShardClient | None], asked: SearchRequest) -> Answer:
    """The answer of a router without an embedder over the same shards."""
    return search(router_over(clients), asked)


def without_use(answer: Answer) -> Answer:
    return replace(comparable(answer), vectors=VectorUse(state=VectorState.OFF))


def test_a_record_is_found_by_what_it_means(count: int) -> None:
    clients = clients_of(count=count)
    asked = request("post a letter")
    assert ids_of(by_words(clients, asked)) == []
    answer = search(hybrid(clients), asked)
    assert ids_of(answer)[0] == "t01"
    assert answer.exact
    assert answer.doubt is None
    assert answer.vectors == VectorUse(state=VectorState.USED, embedder="words-1", missing=0)
    assert answer.coverage.authorized == 4


def test_words_and_meaning_add_up_and_are_explained(count: int) -> None:
    asked = request("post a letter, send a message", explain=True)
    answer = search(hybrid(clients_of(count=count)), asked)
    assert {"t01", "t04"} <= set(ids_of(answer))
    for hit in answer.hits:
        assert hit.similarity is not None
        assert hit.similarity.score == hit.similarity.likeness * hit.similarity.weight
        assert hit.score == hit.bonus + sum(part.score for part in hit.parts) + hit.similarity.score
    plain = search(hybrid(clients_of(count=count)), replace(asked, explain=False))
    assert {hit.similarity for hit in plain.hits} == {None}
    assert [(hit.record.id, hit.score) for hit in plain.hits] == [(hit.record.id, hit.score) for hit in answer.hits]


def test_the_ranked_list_says_of_vectors_what_the_answer_does(count: int) -> None:
    router, asked = hybrid(clients_of(count=count)), request("post a letter")
    ranked = asyncio.run(router.candidates(asked))
    answer = search(router, asked)
    assert ranked.vectors == answer.vectors
    assert ranked.exact
    assert list(ranked.ids) == ids_of(answer)
    assert list(ranked.scores) == [hit.score for hit in answer.hits]


CROWD = tuple(tool(f"t{n:03d}", f"tool{n}", "send " * (1 + n % 23) + "filler " * (n % 5)) for n in range(200))
CROWD_MEANINGS = {record.id: f"send word{n % 17} word{n % 5}" for n, record in enumerate(CROWD)}
STRANGERS = tuple(tool(f"z{n:03d}", f"tool{n}", "send", tenant="zeta") for n in range(50))


@pytest.mark.parametrize(("missing", "state"), [(0, "used"), (2, "used"), (3, "embedding"), (200, "embedding")])
def test_more_than_one_record_in_a_hundred_without_a_vector_makes_the_answer_by_words(
    count: int, missing: int, state: str
) -> None:
    # None of the records of another tenant has a vector, which is not this caller's business.
    meanings = dict(list(CROWD_MEANINGS.items())[missing:])
    clients = clients_of((*CROWD, *STRANGERS), count, meanings=meanings)
    asked = request("send word3", explain=True)
    answer = search(hybrid(clients), asked)
    assert answer.vectors == VectorUse(state=VectorState(state), embedder="words-1", missing=missing)
    assert answer.exact
    if state == "embedding":
        assert answer.rounds == 2
        assert without_use(answer) == comparable(by_words(clients, asked))
    else:
        assert ids_of(answer) != ids_of(by_words(clients, asked))


def test_vectors_of_another_embedder_count_as_missing() -> None:
    answer = search(hybrid(clients_of(), WordEmbedder(id="words-2")), request("send a message"))
    assert answer.vectors == VectorUse(state=VectorState.EMBEDDING, embedder="words-2", missing=4)
    assert ids_of(answer)[0] == "t04"


class WordlessClient(Client):
    """Answers a search with a vector, and hangs in one without."""

    async def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        if any(query.vector is None for query in batch):
            await asyncio.get_running_loop().create_future()
        return await super().search(batch)


def test_a_round_by_words_that_never_ends_costs_the_proof_and_not_the_answer() -> None:
    clients = clients_of(CROWD, 2, meanings={})
    silent = [WordlessClient(shard=client.shard) for client in clients]
    quick = request("send word3", budget=replace(BUDGET, timeout_ms=300))
    whole, answer = search(hybrid(clients), quick), search(hybrid(silent), quick)
    assert (whole.doubt, answer.doubt) == (None, Doubt.CUT)
    assert answer.vectors == whole.vectors
    assert answer.coverage == whole.coverage
    assert [(hit.record.id, hit.score) for hit in answer.hits] == [(hit.record.id, hit.score) for hit in whole.hits]


@pytest.mark.parametrize(
    ("embedder", "text", "state"),
    [
        (WordEmbedder(), "send a message — پیام", "language"),
        (WordEmbedder(fault=ValueError("broken")), "send a message", "failed"),
        (WordEmbedder(hold=threading.Event()), "send a message", "timeout"),
    ],
)
def test_a_query_without_a_vector_is_answered_by_words_and_says_why(
    count: int, embedder: WordEmbedder, text: str, state: str
) -> None:
    clients = clients_of(count=count)
    asked = request(text, budget=replace(BUDGET, timeout_ms=400), explain=True)
    answer = search(hybrid(clients, embedder), asked)
    assert answer.vectors == VectorUse(state=VectorState(state), embedder="words-1")
    assert without_use(answer) == comparable(by_words(clients, asked))
    assert all(query.vector is None and query.mix.similarity == 0 for client in clients for query in client.queries)


class GraphClient(Client):
    """Says that a graph chose its rows."""

    async def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        return tuple(replace(hits, approximate=True) for hits in await super().search(batch))


def test_rows_that_a_graph_chose_are_no_proof_and_are_not_asked_for_again() -> None:
    first, second = clients_of(CROWD, 2, meanings=CROWD_MEANINGS)
    graph = GraphClient(shard=first.shard)
    answer = search(hybrid([graph, second]), request("send word3"))
    assert (answer.exact, answer.doubt) == (False, Doubt.GRAPH)
    assert len(graph.queries) == 1
    assert ids_of(answer) == ids_of(search(hybrid([first, second]), request("send word3")))


def test_a_missing_part_is_the_first_doubt() -> None:
    first, second = clients_of(CROWD, 2, meanings=CROWD_MEANINGS)
    second.failing = True
    answer = search(hybrid([GraphClient(shard=first.shard), second]), request("send word3"))
    assert answer.doubt is Doubt.COVERAGE
    assert answer.vectors.state is VectorState.USED


def lopsided(count: int) -> list[Client]:
    """Words and meanings of a record depend on its number; the shards' own weights differ."""
    clients = [client.shard for client in clients_of(CROWD, count, meanings=CROWD_MEANINGS)]
    return [Client(shard=shard) for shard in clients]


@pytest.mark.parametrize("text", ["send filler", "tool3 word3 filler", "word11 send", "word2"])
def test_the_number_of_shards_changes_nothing(text: str) -> None:
    asked = request(text, explain=True)
    one, *others = (comparable(search(hybrid(lopsided(count)), asked)) for count in (1, 2, 5))
    assert others == [one, one]
    assert one.exact
    whole = asyncio.run(
        hybrid(lopsided(2)).candidates(replace(asked, budget=replace(BUDGET, candidate_k=500, rerank_k=500)))
    )
    assert list(whole.ids[:5]) == ids_of(one)
    assert whole.matched == one.spent.matched


@dataclass
class Doubling:
    """The built-in sum, with likeness counted twice; says nothing of a bound, and keeps what it was handed."""

    seen: list[tuple[tuple[str, ...], list[int]]]
    version = "doubling-1"
    bound = None

    def mix(self, request: AnalyzedRequest) -> ScoreMix:
        return RANKER.mix(request)

    def rank(self, request: AnalyzedRequest, candidates: Candidates) -> npt.NDArray[np.int64]:
        models = () if request.embedded is None else request.embedded.models
        self.seen.append((models, candidates.likenesses.tolist()))
        return RANKER.rank(request, candidates) + self.mix(request).similarity * candidates.likenesses.astype(np.int64)


def test_a_ranker_of_ones_own_gets_likenesses_and_the_models_asked() -> None:
    ranker = Doubling(seen=[])
    router = router_over(clients_of(), ranker=ranker, embedder=WordEmbedder())
    answer = search(router, request("post a letter"))
    ((models, likenesses),) = ranker.seen
    assert models == ("words",)
    assert answer.hits[0].score == 2 * SIMILARITY * max(likenesses)
    search(router_over(clients_of(), ranker=ranker), request("send a message"))
    assert ranker.seen[1][0] == ()
    assert set(ranker.seen[1][1]) == {0}


MANY = tuple(tool(f"m{n:03d}", f"tool{n}", f"send word{n % 29} filler{n % 7}") for n in range(600))
MANY_MEANINGS = {record.id: f"send word{n % 17} word{n % 5}" for n, record in enumerate(MANY)}


def test_how_many_records_there_are_is_learnt_in_a_second_round_and_then_known() -> None:
    asked = request("send word3 word4")
    routers = [hybrid(clients_of(MANY, count, meanings=MANY_MEANINGS)) for count in (1, 3)]
    first, second = ([search(router, asked) for router in routers] for _ in range(2))
    assert [answer.rounds for answer in (*first, *second)] == [2, 2, 1, 1]
    assert len({tuple(hit.score for hit in answer.hits) for answer in (*first, *second)}) == 1
    assert [ids_of(answer) for answer in (*first, *second)] == [ids_of(first[0])] * 4
    assert all(answer.exact for answer in (*first, *second))


def test_a_router_that_was_used_on_one_loop_is_good_on_the_next() -> None:
    router = hybrid(clients_of())
    first, second = (search(router, request("post a letter")) for _ in range(2))
    assert comparable(first) == comparable(second)


def fleet(count: int, delays_s: Sequence[float]) -> list[Client]:
    clients = clients_of(CROWD, count, meanings=CROWD_MEANINGS)
    for client, delay_s in zip(clients, delays_s, strict=True):
        client.delay_s = delay_s
    return clients


@settings(max_examples=25)
@given(
    hung=st.booleans(),
    delays_s=st.lists(st.sampled_from([0.0, 0.0, 0.01, 0.2, FOREVER]), min_size=1, max_size=3),
    timeout_ms=st.sampled_from([20, 60, 120]),
)
def test_no_model_and_no_shard_makes_an_answer_late(hung: bool, delays_s: list[float], timeout_ms: int) -> None:  # noqa: FBT001
    hold = threading.Event()
    router = hybrid(fleet(len(delays_s), delays_s), WordEmbedder(hold=hold if hung else None))

    async def story() -> tuple[Answer, float]:
        asked = request("send word3", budget=replace(BUDGET, timeout_ms=timeout_ms))
        timely = await timed(router, asked)
        router.close()
        await asyncio.sleep(0.01)
        assert len(asyncio.all_tasks()) == 1
        return timely

    try:
        answer, elapsed_ms = run_quickly(story(), for_threads_s=0.02)
    finally:
        hold.set()
    assert elapsed_ms <= timeout_ms
    assert (answer.miss is None) == bool(answer.hits)
    if hung:
        assert answer.vectors.state is VectorState.TIMEOUT
    if set(delays_s) == {0.0} and timeout_ms == 120:
        assert answer.exact


def test_shards_of_a_router_without_an_embedder_are_never_sent_a_vector() -> None:
    clients = clients_of()
    assert by_words(clients, request("send a message")).vectors == VectorUse(state=VectorState.OFF)
    assert [query.vector for client in clients for query in client.queries] == [None]


def test_a_router_whose_embedder_could_not_be_loaded_answers_by_words_and_says_so() -> None:
    clients, asked = clients_of(), request("send a message")
    router = Router(map_of(clients), ranker=RANKER, dispatcher=RuleDispatcher(), absence=VectorState.FAILED)
    answer = search(router, asked)
    assert answer.vectors == VectorUse(state=VectorState.FAILED)
    assert without_use(answer) == comparable(by_words(clients, asked))


def test_an_empty_index_is_answered() -> None:
    answer = search(hybrid([Client(shard=shard) for shard in shards_of((), 2)]), request("send"))
    assert answer.vectors.state is VectorState.USED
    assert answer.exact
