"""How much of a ranked list an answer shows, through the router over real shards."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.abstention import Rule, Strictness
from cluster.adaptive import AdaptiveK, Curve
from cluster.config import Settings
from cluster.contract import Answer, MissReason, SearchRequest, VectorState
from cluster.discovery import Discovery, discovery_of
from cluster.dispatcher import RuleDispatcher
from cluster.flags import Flags
from cluster.router import Router
from cluster.settings.search import DiscoverySettings
from cluster.shard_client import LocalShardClient, ShardClient
from shards.messages import ShardHits, ShardQuery
from shards.record import Record
from tests.cluster.rig import (
    BUDGET,
    RANKER,
    Client,
    comparable,
    ids_of,
    map_of,
    request,
    scope_of,
    shards_of,
    tool,
    with_vectors,
)
from tests.embedders import WordEmbedder

SHIPPED = Discovery.shipped(None)

ACCOUNTING = [
    tool("t00", "create_invoice", "Create a sales invoice for a customer."),
    tool("t01", "list_cheques", "List cheques that are due this week."),
    tool("t02", "sales_report", "Report of the sales of a month."),
    tool("t03", "time_sheet", "Hours worked today by each employee."),
]
WEATHER = tool("w00", "get_weather", "Current weather of a city.")


def router(clients: Sequence[ShardClient | None], discovery: Discovery = SHIPPED) -> Router:
    return Router(map_of(clients), ranker=RANKER, dispatcher=RuleDispatcher(), discovery=discovery)


def ask(records: Sequence[Record], asked: SearchRequest, *, shards: int = 1, discovery: Discovery = SHIPPED) -> Answer:
    clients = [LocalShardClient(shard) for shard in shards_of(records, shards)]
    return asyncio.run(router(clients, discovery).search(asked))


@pytest.mark.parametrize(
    "query",
    [
        "hello",
        "good morning, how are you?",
        "who made you?",
        "thank you so much",
        "سلام",
        "خداحافظ",
        "مرحبا",
        "谢谢",
        "спасибо",
        "tell me a joke today",
    ],
)
def test_small_talk_gets_a_typed_miss_that_says_what_to_do(query: str) -> None:
    answer = ask(ACCOUNTING, request(query, explain=True))
    assert answer.miss is not None
    assert answer.miss.reason is MissReason.NO_MATCH
    assert not answer.hits
    assert answer.plan is None
    assert answer.exact


def test_weak_hits_of_talk_are_turned_away_and_the_advice_says_so() -> None:
    answer = ask(ACCOUNTING, request("tell me a joke today"))
    assert answer.spent.matched == 1
    assert answer.miss is not None
    assert "talk" in answer.miss.advice
    assert answer.talk is not None
    assert answer.talk.abstained
    assert answer.talk.score < answer.talk.threshold
    assert answer.talk.signals.words > 0


def test_a_request_keeps_its_hits_however_polite() -> None:
    answer = ask(ACCOUNTING, request("hello, please create an invoice for my customer, thanks"))
    assert ids_of(answer)[0] == "t00"


def test_what_somebody_talks_about_is_a_request_where_a_tool_serves_it() -> None:
    question = request("will it rain today?")
    assert ask(ACCOUNTING, question).miss is not None
    served = ask([*ACCOUNTING, WEATHER], question)
    assert served.miss is None
    assert served.talk is not None
    assert not served.talk.abstained


def test_a_tool_that_the_caller_may_not_see_serves_nothing() -> None:
    """The verdict is that of a private index: a hidden weather tool changes no number of it."""
    hidden = replace(WEATHER, access=replace(WEATHER.access, tenant="other"))
    question = request("will it rain today?", explain=True)
    alone, beside = ask(ACCOUNTING, question), ask([*ACCOUNTING, hidden], question)
    assert comparable(alone) == comparable(beside)
    both = ask([*ACCOUNTING, hidden], request("will it rain today?", scope=scope_of("acme", "other")))
    assert both.miss is None


@pytest.mark.parametrize("shards", [2, 3, 5])
@pytest.mark.parametrize("query", ["will it rain today?", "tell me a joke today", "sales of this month", "hello"])
def test_the_number_of_shards_changes_nothing(query: str, shards: int) -> None:
    for records in (ACCOUNTING, [*ACCOUNTING, WEATHER]):
        one, many = (ask(records, request(query, explain=True), shards=count) for count in (1, shards))
        assert replace(comparable(one), rounds=0) == replace(comparable(many), rounds=0)


def test_a_tool_that_is_named_exactly_is_always_a_hit() -> None:
    greeter = tool("g00", "hello", "Says something nice.")
    assert ids_of(ask([*ACCOUNTING, greeter], request("hello"))) == ["g00"]


def test_pinned_records_stay_where_talk_is_turned_away() -> None:
    answer = ask(ACCOUNTING, request("tell me a joke today", pinned=("t01",)))
    assert ids_of(answer) == ["t01"]
    assert answer.miss is None
    assert answer.talk is not None
    assert answer.talk.abstained


def test_nobody_is_turned_away_where_abstention_is_off() -> None:
    off = Discovery.shipped(None, settings=DiscoverySettings(abstention="off"))
    answer = ask(ACCOUNTING, request("tell me a joke today"), discovery=off)
    assert ids_of(answer) == ["t03"]
    assert answer.talk is None


def test_strictness_only_turns_more_away() -> None:
    turned: dict[str, set[str]] = {}
    queries = [
        "hello",
        "joke about an invoice",
        "sing a song about sales and cheques",
        "weather report",
        "sales report",
    ]
    for strictness in ("cautious", "balanced", "strict"):
        discovery = Discovery.shipped(None, settings=DiscoverySettings(abstention=strictness))
        turned[strictness] = {one for one in queries if ask(ACCOUNTING, request(one), discovery=discovery).miss}
    assert turned["cautious"] <= turned["balanced"] <= turned["strict"]
    assert "sales report" not in turned["strict"]


def test_a_part_that_does_not_answer_turns_nobody_away() -> None:
    parts = shards_of(ACCOUNTING, 2)
    answer = asyncio.run(router([LocalShardClient(parts[0]), None]).search(request("tell me a joke today")))
    assert answer.talk is None
    assert answer.miss is None or answer.miss.reason is MissReason.UNAVAILABLE


class Fading(Client):
    """Answers the search, and nothing that comes after it."""

    async def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        self.failing = bool(self.batches)
        return await super().search(batch)


def test_a_shard_that_fades_before_it_says_what_is_served_leaves_the_hits() -> None:
    (part,) = shards_of(ACCOUNTING, 1)
    clients = [Fading(shard=part)]
    answer = asyncio.run(router(clients).search(request("tell me a joke today")))
    assert answer.talk is not None
    assert not answer.talk.abstained


def test_only_a_suspicion_costs_a_second_look() -> None:
    (part,) = shards_of(ACCOUNTING, 1)
    client = Client(shard=part)
    asyncio.run(router([client]).search(request("sales report of a month")))
    assert len(client.queries) == 1
    asyncio.run(router([client]).search(request("tell me a joke today")))
    assert len(client.queries) > 2
    # No second look searches for near terms.
    assert [query.weights is None for query in client.queries] == [True, True] + [False] * (len(client.queries) - 2)


def test_where_talk_is_not_embedded_the_rule_for_words_judges_an_answer_with_vectors() -> None:
    embedder = WordEmbedder()
    meanings = {one.id: f"{one.name} {one.description}" for one in ACCOUNTING}
    clients = [LocalShardClient(shard) for shard in with_vectors(shards_of(ACCOUNTING, 1), meanings, embedder)]
    hybrid = Router(map_of(clients), ranker=RANKER, dispatcher=RuleDispatcher(), embedder=embedder, discovery=SHIPPED)
    answer = asyncio.run(hybrid.search(request("tell me a joke today")))
    hybrid.close()
    assert answer.vectors.state is VectorState.USED
    rule = Rule.from_config()
    assert answer.talk is not None
    assert answer.talk == rule.judge(answer.talk.signals, Strictness.BALANCED, vectors=False)
    assert answer.talk != rule.judge(answer.talk.signals, Strictness.BALANCED, vectors=True)


def test_nothing_authorized_is_said_before_any_talk() -> None:
    answer = ask(ACCOUNTING, request("hello", scope=scope_of("nobody")))
    assert answer.miss is not None
    assert answer.miss.reason is MissReason.NOTHING_AUTHORIZED


SALES = [tool(f"s{number:02d}", f"sales_{number}", "Sales " * (5 - number % 5)) for number in range(20)]
SHORT = Discovery(adaptive=AdaptiveK(version="t", words=Curve(share=900, least=2), hybrid=Curve(share=900, least=2)))
ADAPTIVE = Flags(adaptive_discovery_k=True)


def test_an_adaptive_answer_is_the_start_of_the_fixed_one_and_says_its_k() -> None:
    question = request("sales 3", budget=replace(BUDGET, evidence_k=10))
    fixed = ask(SALES, question)
    short = ask(SALES, replace(question, flags=ADAPTIVE), discovery=SHORT)
    assert short.adaptive_k == len(short.hits) < len(fixed.hits) == 10
    assert ids_of(short) == ids_of(fixed)[: len(short.hits)]
    assert short.truncated
    assert fixed.adaptive_k is None


def test_an_adaptive_answer_keeps_its_pinned_records() -> None:
    question = request("sales 3", budget=replace(BUDGET, evidence_k=10), pinned=("s07",), flags=ADAPTIVE)
    short = ask(SALES, question, discovery=SHORT)
    assert "s07" in ids_of(short)
    assert short.adaptive_k is not None
    assert len(short.hits) <= short.adaptive_k + 1


def test_without_the_flag_every_answer_has_its_own_k() -> None:
    answer = ask(SALES, request("sales 3"), discovery=SHORT)
    assert answer.adaptive_k is None
    assert len(answer.hits) == BUDGET.evidence_k


def test_an_instance_uses_what_its_settings_say(tmp_path: Path) -> None:
    settings = Settings(
        home=tmp_path,
        discovery=DiscoverySettings(abstention="off"),
    )
    discovery = discovery_of(settings, None)
    assert discovery.abstainer is None
    assert discovery.adaptive is not None
    usual = discovery_of(Settings(home=tmp_path), None)
    assert usual.abstainer is not None
