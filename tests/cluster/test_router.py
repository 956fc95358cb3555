"""The story of a request over real shards."""

import asyncio
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from cluster.budget import Budget, Deadline
from cluster.contract import Answer, Coverage, EvidenceForm, MissReason, PlanReason
from cluster.errors import InvalidRequest, InvalidShardMap
from cluster.evidence import piece_of
from cluster.partition import shard_of
from cluster.query import AnalyzedRequest
from cluster.ranker import Candidates
from cluster.shard_client import LocalShardClient
from cluster.shard_map import ShardCopy, ShardMap
from shards.messages import Change, ScoreMix, ShardHits, ShardQuery
from shards.record import BUCKETS, Record, Status, bucket_of
from tests.cluster.rig import (
    ACME,
    BUDGET,
    RANKER,
    Client,
    comparable,
    ids_of,
    map_of,
    request,
    router_of,
    router_over,
    scope_of,
    shards_of,
    timed,
    tool,
)
from tests.quick_time import run_quickly

MAIL = tool("t01", "Gmail_SendEmail", "Send an email message to a recipient")
FILE = tool("t02", "upload_file", "Upload a file to a folder")
USER = tool("t03", "create_user", "Create a user of the directory")
TEAM = tool("t04", "send_message", "Send a chat message to a team")
FOREIGN = tool("t00", "send_email", "Send an email message", tenant="zeta")
CATALOGUE = (MAIL, FILE, USER, TEAM, FOREIGN)


@pytest.fixture(params=[1, 3], ids=["one shard", "three shards"])
def count(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def test_a_question_finds_the_tool_and_the_answer_accounts_for_itself(count: int) -> None:
    answer = asyncio.run(router_of(CATALOGUE, count).search(request("send an email to my colleague")))
    assert ids_of(answer) == ["t01", "t04"]
    assert answer.hits[0].record == piece_of(MAIL.to_json())
    assert answer.hits[0].form is EvidenceForm.FULL
    assert answer.miss is None
    assert answer.exact
    assert answer.coverage == Coverage(searched=4, authorized=4, buckets_searched=BUCKETS)
    assert (answer.spent.candidates, answer.spent.reranked, answer.spent.evidence, answer.spent.matched) == (2, 2, 2, 2)
    assert answer.spent.evidence_tokens == sum(hit.evidence.tokens for hit in answer.hits)
    assert not answer.truncated
    assert answer.plan is not None
    assert answer.ranker == RANKER.version
    assert set(answer.timings_ms) == {"plan", "embed", "search", "documents", "evidence", "total"}


def test_more_matches_than_shown_are_told() -> None:
    budget = replace(BUDGET, evidence_k=1)
    answer = asyncio.run(router_of(CATALOGUE).search(request("send message", budget=budget)))
    assert (len(answer.hits), answer.truncated, answer.spent.matched) == (1, True, 2)
    assert answer.plan is not None
    assert answer.plan.reason is PlanReason.ONE_HIT


def test_pinned_records_stay_take_the_last_places_and_keep_their_rank(count: int) -> None:
    budget = replace(BUDGET, evidence_k=2)
    router = router_of(CATALOGUE, count)
    answer = asyncio.run(router.search(request("send email message", budget=budget, pinned=("t03", "t00"))))
    assert [(hit.record.id, hit.pinned, hit.score > 0) for hit in answer.hits] == [
        ("t01", False, True),
        ("t03", True, False),
    ]
    assert answer.spent.matched == 2
    assert answer.truncated  # t04 matched and is not shown


def test_more_pinned_records_than_places_are_refused() -> None:
    budget = replace(BUDGET, evidence_k=1)
    with pytest.raises(InvalidRequest, match="at most evidence_k = 1"):
        asyncio.run(router_of(CATALOGUE).search(request("x", budget=budget, pinned=("t01", "t02"))))


def test_a_preferred_record_stays_a_candidate_but_is_no_hit_without_a_score(count: int) -> None:
    asked = request("send email message", preferred=("t03",))
    answer = asyncio.run(router_of(CATALOGUE, count).search(asked))
    assert ids_of(answer) == ["t01", "t04"]
    assert answer.spent.candidates == 3


def test_a_question_without_words_matches_nothing_but_what_is_pinned(count: int) -> None:
    router = router_of(CATALOGUE, count)
    answer = asyncio.run(router.search(request("?!", preferred=("t01",))))
    assert answer.miss is not None
    assert answer.miss.reason is MissReason.NO_MATCH
    assert answer.plan is None
    assert answer.coverage.full
    assert ids_of(asyncio.run(router.search(request("?!", pinned=("t01",))))) == ["t01"]


def test_each_miss_names_its_reason(count: int) -> None:
    router = router_of(CATALOGUE, count)

    def reason(asked: object) -> MissReason:
        answer = asyncio.run(router.search(asked))  # type: ignore[arg-type]
        assert not answer.hits
        assert answer.miss is not None
        return answer.miss.reason

    assert reason(request("hello")) is MissReason.NO_MATCH
    assert reason(request("send email", scope=scope_of("nobody"))) is MissReason.NOTHING_AUTHORIZED
    assert reason(request("send email", budget=replace(BUDGET, evidence_tokens=1))) is MissReason.BUDGET
    assert reason(replace(request("send email"), deadline=Deadline.after(0))) is MissReason.TIMEOUT


def test_an_explained_hit_adds_up_to_its_score(count: int) -> None:
    answer = asyncio.run(router_of(CATALOGUE, count).search(request("send an email message", explain=True)))
    for hit in answer.hits:
        assert hit.parts
        assert hit.score == hit.bonus + sum(part.score for part in hit.parts)
    plain = asyncio.run(router_of(CATALOGUE, count).search(request("send an email message")))
    assert [replace(hit, parts=()) for hit in answer.hits] == list(plain.hits)


def test_a_warm_cache_shows_nothing_to_a_principal_who_may_not_see_it() -> None:
    router = router_of(CATALOGUE)
    both, acme = scope_of("acme", "zeta"), ACME
    assert "t00" in ids_of(asyncio.run(router.search(request("send email", scope=both))))
    assert "t00" not in ids_of(asyncio.run(router.search(request("send email", scope=acme, pinned=("t00",)))))
    assert asyncio.run(router.documents(acme, ["t00"], Deadline.after(1_000))) == ()


def test_a_changed_record_is_never_shown_from_the_cache() -> None:
    (shard,) = shards_of(CATALOGUE, 1)
    router = router_over([LocalShardClient(shard)])
    assert asyncio.run(router.search(request("email"))).hits[0].record == piece_of(MAIL.to_json())
    newer = replace(MAIL, description="Send an email, newly described", version=2)
    shard.apply(1, 2, [Change(seq=2, record_id="t01", body=newer.to_json())])
    assert asyncio.run(router.search(request("email"))).hits[0].record == piece_of(newer.to_json())
    disabled = replace(newer, status=Status.DISABLED, version=3)
    shard.apply(2, 3, [Change(seq=3, record_id="t01", body=disabled.to_json())])
    answer = asyncio.run(router.search(request("email")))
    assert answer.miss is not None
    assert answer.seq == 3


def test_a_record_that_went_between_search_and_look_up_is_left_out() -> None:
    (shard,) = shards_of(CATALOGUE, 1)

    class Vanishing(Client):
        async def documents(self, batch):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            shard.apply(1, 2, [Change(seq=2, record_id="t01")])
            return await super().documents(batch)

    answer = asyncio.run(router_over([Vanishing(shard=shard, bodiless=True)]).search(request("send email message")))
    assert ids_of(answer) == ["t04"]


def test_documents_that_come_along_save_the_look_up_and_change_nothing(count: int) -> None:
    catalogue = [tool(f"t{number:02d}", f"tool_{number}", "send email " * (1 + number % 7)) for number in range(60)]
    budget = replace(BUDGET, evidence_k=12)

    # t13 is far from the best rows.
    def answered(*, bodiless: bool, pinned: tuple[str, ...] = ("t13",)) -> tuple[Answer, int]:
        asked = request("send email", pinned=pinned, budget=budget)
        clients = [Client(shard=shard, bodiless=bodiless) for shard in shards_of(catalogue, count)]
        answer = asyncio.run(router_over(clients, cache_bytes=0).search(asked))
        return answer, sum(client.looked_up for client in clients)

    brought, calls = answered(bodiless=False)
    fetched, more_calls = answered(bodiless=True)
    assert comparable(brought) == comparable(fetched)
    assert calls <= more_calls == count
    if count == 1:
        assert answered(bodiless=False, pinned=())[1] == 0


def test_a_router_that_holds_what_is_asked_for_wants_no_documents_along() -> None:
    async def story() -> list[int]:
        (shard,) = shards_of(CATALOGUE, 1)
        client = Client(shard=shard)
        router = router_over([client])
        for _ in range(100):
            await router.search(request("send email"))
        return [query.bodies for query in client.queries]

    asked = asyncio.run(story())
    assert asked[0] == BUDGET.evidence_k
    assert asked[-1] == 0


def test_a_ranked_list_brings_no_documents_along() -> None:
    (shard,) = shards_of(CATALOGUE, 1)
    client = Client(shard=shard)
    asyncio.run(router_over([client]).candidates(request("send email")))
    assert [query.bodies for query in client.queries] == [0]


def test_documents_come_in_the_order_asked_and_unknown_or_closed_ones_do_not(count: int) -> None:
    router = router_of(CATALOGUE, count)
    asked = ["t03", "nope", "t00", "t01", "t03"]
    assert asyncio.run(router.documents(ACME, asked, Deadline.after(1_000))) == (USER, MAIL)


def test_candidates_are_the_whole_ranked_list(count: int) -> None:
    catalogue = [tool(f"t{n:02d}", f"tool_{n}", "send email " * (1 + n % 7)) for n in range(60)]
    budget = Budget(candidate_k=40, rerank_k=40, evidence_k=2, evidence_tokens=1, timeout_ms=5_000)
    router = router_of(catalogue, count)
    ranked = asyncio.run(router.candidates(request("send email", budget=budget)))
    assert (len(ranked.ids), ranked.matched, ranked.exact, ranked.coverage.full) == (40, 60, True, True)
    rows = list(zip(ranked.scores, ranked.ids, strict=True))
    assert rows == sorted(rows, key=lambda row: (-row[0], row[1]))
    wider = asyncio.run(router.candidates(request("send email", budget=replace(budget, candidate_k=60, rerank_k=60))))
    assert wider.ids[:40] == ranked.ids


class Lifting:
    """A ranker that adds ``lift`` where a record's first term has a weak impact: its order is not the index order."""

    version = "lifting-1"

    def __init__(self, lift: int, bound: int | None) -> None:
        self.lift = lift
        self.bound = bound

    def mix(self, request: AnalyzedRequest) -> ScoreMix:
        return RANKER.mix(request)

    def rank(self, request: AnalyzedRequest, candidates: Candidates) -> npt.NDArray[np.int64]:
        return RANKER.rank(request, candidates) + self.lift * (candidates.values[:, 0, 0] < 200)


CROWD = tuple(tool(f"t{n:03d}", f"tool{n}", "send " * (1 + n % 23) + "filler " * (n % 5)) for n in range(200))


def test_the_cut_doubles_until_a_ranker_with_a_bound_is_proved_and_no_further(count: int) -> None:
    clients = [Client(shard=shard) for shard in shards_of(CROWD, count)]
    router = router_over(clients, ranker=Lifting(0, 0))
    additive = asyncio.run(router.search(request("send")))
    assert (additive.exact, additive.spent.candidates) == (True, 32)
    small = asyncio.run(router_over(clients, ranker=Lifting(0, 1)).search(request("send")))
    assert small.exact == (small.spent.candidates < 100)
    huge = asyncio.run(router_over(clients, ranker=Lifting(10**9, 10**9)).search(request("send")))
    assert (huge.exact, huge.spent.candidates, huge.spent.reranked) == (False, 100, 100)
    assert {query.n for client in clients for query in client.queries} == {32, 64, 100}


def test_a_ranker_without_a_bound_gets_all_candidates_and_claims_nothing(count: int) -> None:
    answer = asyncio.run(router_of(CROWD, count, ranker=Lifting(0, None)).search(request("send")))
    assert (answer.exact, answer.spent.candidates) == (False, 100)


def test_a_ranker_that_is_not_additive_gives_the_same_answer_for_any_number_of_shards() -> None:
    for ranker in (Lifting(3_000, 3_000), Lifting(3_000, None), Lifting(50_000, 50_000)):
        one, four = (
            comparable(asyncio.run(router_of(CROWD, shards, ranker=ranker).search(request("send filler"))))
            for shards in (1, 4)
        )
        assert one == four


def lopsided() -> list[Record]:
    """Half of the shards of two hold "mail" everywhere and "send" rarely, the others the other way round."""
    records = []
    for number in range(240):
        record_id = f"t{number:03d}"
        common, rare = ("mail", "send") if shard_of(bucket_of(record_id), 2) == 0 else ("send", "mail")
        text = f"{rare} text" if number % 11 == 0 else f"{common} " * (1 + number % 2)
        records.append(tool(record_id, f"tool{number}", text))
    return records


def test_a_second_round_with_the_summed_weights_settles_what_the_first_left_in_doubt() -> None:
    clients = [Client(shard=shard) for shard in shards_of(lopsided(), 2)]
    answer = asyncio.run(router_over(clients).search(request("send mail", explain=True)))
    assert answer.exact
    alone = asyncio.run(router_of(lopsided()).search(request("send mail", explain=True)))
    assert comparable(answer) == comparable(alone)
    (summed,) = {query.weights for client in clients for query in client.queries if query.weights is not None}
    assert {part.weight for hit in answer.hits for part in hit.parts} <= set(summed)


class OnceClient(Client):
    """Answers a first round and hangs in a second one; documents come."""

    async def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        if any(query.weights is not None for query in batch):
            await asyncio.get_running_loop().create_future()
        return await super().search(batch)


def test_a_second_round_that_never_ends_costs_the_proof_and_not_the_answer() -> None:
    shards = shards_of(lopsided(), 2)
    whole = asyncio.run(router_over([Client(shard=shard) for shard in shards]).search(request("send mail")))
    clients = [OnceClient(shard=shard) for shard in shards]
    quick = request("send mail", budget=replace(BUDGET, timeout_ms=300))
    answer, _ = run_quickly(timed(router_over(clients), quick))
    assert answer.coverage == whole.coverage
    assert answer.spent == whole.spent
    assert len(answer.hits) == len(whole.hits)
    assert (answer.exact, whole.exact) == (False, True)


def test_where_the_proof_holds_no_shard_is_asked_twice() -> None:
    clients = [Client(shard=shard) for shard in shards_of(CROWD, 2)]
    assert asyncio.run(router_over(clients).search(request("send"))).exact
    assert [len(client.queries) for client in clients] == [1, 1]


def test_a_map_that_names_a_shard_twice_is_refused() -> None:
    copy = ShardCopy(shard=0, buckets=BUCKETS, client=None)
    with pytest.raises(InvalidShardMap):
        ShardMap(version=1, copies=(copy, copy))
    with pytest.raises(InvalidShardMap):
        ShardMap(version=1, copies=())


def test_a_new_map_is_used_from_the_next_request_and_an_older_one_is_ignored() -> None:
    (old,), (new,) = shards_of(CATALOGUE, 1), shards_of((FILE,), 1)
    router = router_over([LocalShardClient(old)])
    router.replace_map(map_of([LocalShardClient(new)], version=5))
    assert ids_of(asyncio.run(router.search(request("upload a file, send an email")))) == ["t02"]
    router.replace_map(map_of([LocalShardClient(old)], version=4))
    assert router.shard_map.version == 5
