"""Private-index equality: a caller's whole answer is that of an index of only what this caller may see.

Both answers also agree with the oracle, so they cannot be wrong together.
"""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from cluster.contract import Answer, MissReason
from cluster.evidence import piece_of
from shards.record import Access, Kind, Record
from shards.scope import Scope
from tests.depth import examples
from tests.equalities.asks import asks
from tests.indexes import LOOSE, Ask, answers, expected_hits, index_of, verdict_on
from tests.oracle import Oracle
from tests.worlds import SENTINEL, WIDE, Question, World, hidden, worlds


def assert_right(answer: Answer, oracle: Oracle, ask: Ask) -> None:
    """Ids, scores, order, counts, coverage, truncation and miss are those of the oracle."""
    verdict = verdict_on(oracle, ask)
    hits = [(hit.record.id, hit.score) for hit in answer.hits]
    assert hits == expected_hits(oracle, ask, verdict)
    assert all(hit.record == piece_of(oracle.records[hit.record.id].to_json()) for hit in answer.hits)
    assert answer.exact
    assert answer.spent.matched == verdict.matched
    assert (answer.coverage.searched, answer.coverage.authorized) == (verdict.authorized, verdict.authorized)
    assert answer.coverage.full
    assert answer.truncated == bool({one for one, _ in verdict.ranking} - {one for one, _ in hits})
    reason = MissReason.NO_MATCH if verdict.authorized else MissReason.NOTHING_AUTHORIZED
    assert (answer.miss.reason if answer.miss else None) == (None if hits else reason)


@examples(25, deep=1500)
@given(
    world=worlds(),
    count=st.sampled_from((0, 1, 50)),
    shards=st.integers(1, 3),
    asked=st.lists(asks, min_size=4, max_size=8),
)
def test_hidden_records_change_nothing_in_an_answer(
    world: World, count: int, shards: int, asked: list[Ask], compared: Counter[str]
) -> None:
    _compare_worlds(world, count, shards, asked, compared)


@examples(8, deep=500)
@given(world=worlds(max_size=10), asked=st.lists(asks, min_size=8, max_size=8))
def test_a_thousand_hidden_records_change_nothing_in_an_answer(
    world: World, asked: list[Ask], compared: Counter[str]
) -> None:
    _compare_worlds(world, 1000, 1, asked, compared)


def _compare_worlds(world: World, count: int, shards: int, asked: list[Ask], compared: Counter[str]) -> None:
    open_to_all = answers(index_of(world, more=hidden(count), shards=shards), asked)
    oracle = Oracle((*world.records, *hidden(count)), world.grant_lists)
    for ask, answer in zip(asked, open_to_all, strict=True):
        private = World(records=tuple(oracle.visible(ask.scope)), grant_lists=world.grant_lists)
        assert [answer] == answers(index_of(private, shards=shards), [ask])
        assert SENTINEL not in repr(answer)
        assert_right(answer, oracle, ask)
        compared["hidden worlds"] += 1


def _twin(number: int, tenant: str, text: str) -> Record:
    return Record(
        id=f"{number:05d}", kind=Kind.TOOL, name="dapo", namespace="", description=text, access=Access(tenant=tenant)
    )


def test_no_number_of_better_hidden_records_starves_the_one_that_is_authorized() -> None:
    better = (_twin(number, f"{SENTINEL}_tenant", "veku molo ruxo") for number in range(20_000))
    mine = replace(_twin(99_999, "acme", "veku"), name="zibu")
    one = replace(LOOSE, candidate_k=40, rerank_k=40, evidence_k=1)
    ask = Ask(scope=Scope(grants=(WIDE,)), question=Question(text="dapo veku molo ruxo"), budget=one)
    (answer,) = answers(index_of(World(records=(mine,), grant_lists={}), more=better, shards=2), [ask])
    assert [hit.record.id for hit in answer.hits] == ["99999"]
    assert (answer.spent.matched, answer.coverage.authorized, answer.exact) == (1, 1, True)


def test_an_empty_authorized_set_is_a_typed_miss_whatever_is_hidden() -> None:
    asked = [
        Ask(scope=Scope(grants=()), question=Question(text="dapo", pinned=(hidden(1)[0].id,))),
        Ask(scope=Scope(grants=(WIDE,)), question=Question(text="dapo", preferred=(hidden(1)[0].id,))),
    ]
    for answer in answers(index_of(World(records=(), grant_lists={}), more=hidden(50)), asked):
        assert answer.miss is not None
        assert answer.miss.reason is MissReason.NOTHING_AUTHORIZED
        assert (answer.hits, answer.spent.matched, answer.coverage.authorized) == ((), 0, 0)
        assert (answer.exact, answer.truncated) == (True, False)
