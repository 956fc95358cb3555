"""Misspelt words change no equality: what they may mean comes from authorized records only, and from all of them.

Every answer also agrees with the oracle, which compares words in plain Python.
"""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from cluster.contract import Answer
from cluster.query import plan_query
from shards.record import Access, Kind, Record
from shards.scope import Scope
from tests.depth import examples
from tests.equalities import test_vector_answers
from tests.equalities.asks import budgets
from tests.equalities.test_private_index import assert_right
from tests.equalities.test_vector_answers import vector_index_of
from tests.indexes import LOOSE, Ask, answers, index_of
from tests.oracle import Oracle
from tests.worlds import SENTINEL, SENTINEL_WORD, WIDE, WORDS, Question, World, callers, hidden, worlds

LETTERS = "aeioudkmrsv"


@st.composite
def misspelt(draw: st.DrawFn) -> str:
    """One or two joined words with a letter left out, doubled, replaced, added or swapped; few are words of a world."""
    word = "".join(draw(st.lists(st.sampled_from((*WORDS, SENTINEL_WORD)), min_size=1, max_size=2)))
    place = draw(st.integers(1, len(word) - 2))
    letter = draw(st.sampled_from(LETTERS))
    before, here, after = word[:place], word[place], word[place + 1 :]
    return draw(
        st.sampled_from(
            (
                before + letter + after,
                before + here + letter + after,
                before + here + here + after,
                before + after + here,
                before + after[:1] + here + after[1:],
                word[: place + 3],
            )
        )
    )


texts = st.lists(st.one_of(misspelt(), misspelt(), st.sampled_from(WORDS)), min_size=1, max_size=5).map(" ".join)
asks = st.builds(
    Ask,
    scope=callers,
    question=st.builds(Question, text=texts).filter(lambda one: not _says_more(one.text)),
    budget=budgets,
)


def _says_more(text: str) -> bool:
    """Whether analysis finds more in a text than its words, which the oracle cannot know."""
    return list(plan_query(text).terms) != list(dict.fromkeys(text.split()))


def meanings(answer: Answer) -> int:
    return sum(bool(part.instead_of) for hit in answer.hits for part in hit.parts)


@examples(40)
@given(
    world=worlds(),
    crowd=st.sampled_from((0, 50, 200)),
    shards=st.sampled_from((1, 2, 3, 5)),
    asked=st.lists(asks, min_size=4, max_size=6),
)
def test_misspelt_words_mean_what_they_mean_in_a_private_index_of_one_shard(
    world: World, crowd: int, shards: int, asked: list[Ask], compared: Counter[str]
) -> None:
    oracle = Oracle((*world.records, *hidden(crowd)), world.grant_lists)
    open_to_all = answers(index_of(world, more=hidden(crowd), shards=shards), asked)
    for ask, answer in zip(asked, open_to_all, strict=True):
        private = World(records=tuple(oracle.visible(ask.scope)), grant_lists=world.grant_lists)
        assert [answer] == answers(index_of(private), [ask])
        assert SENTINEL not in repr(answer)
        assert_right(answer, oracle, ask)
        compared["answers to misspelt words"] += 1
        compared["answers to misspelt words, terms meant"] += meanings(answer)


@examples(25)
@given(
    world=worlds(),
    bare=st.sampled_from(((), (), ("r01", "r02", "r03"), tuple(f"r{number:02d}" for number in range(0, 40, 2)))),
    shards=st.sampled_from((1, 2, 5)),
    asked=st.lists(asks, min_size=4, max_size=6),
)
def test_misspelt_words_beside_vectors_that_are_there_or_missing(
    world: World, bare: tuple[str, ...], shards: int, asked: list[Ask], compared: Counter[str]
) -> None:
    oracle = Oracle(world.records, world.grant_lists)
    one = answers(vector_index_of(world, bare), asked)
    assert answers(vector_index_of(world, bare, more=hidden(50), shards=shards), asked) == one
    for ask, answer in zip(asked, one, strict=True):
        test_vector_answers.assert_right(answer, oracle, ask, bare)
        compared[f"answers to misspelt words, vectors {answer.vectors.state}, terms meant"] += meanings(answer)


def _record(number: int, text: str, tenant: str = "acme") -> Record:
    access = Access(tenant=tenant)
    return Record(id=f"{number:03d}", kind=Kind.TOOL, name="zibu", namespace="", description=text, access=access)


def _asked(text: str) -> Ask:
    return Ask(scope=Scope(grants=(WIDE,)), question=Question(text=text))


def test_nearer_terms_of_hidden_records_crowd_out_nothing() -> None:
    # One vowel for another is nearer than a consonant, and more of them than a shard names.
    nearer = [_record(number, f"zorbalink{vowel}t", SENTINEL) for number, vowel in enumerate("eiouy")]
    world = World(records=(_record(99, "zorbalinkxt"),), grant_lists={})
    (answer,) = answers(index_of(world, more=nearer), [_asked("zorbalinkat")])
    assert [hit.record.id for hit in answer.hits] == ["099"]
    (part,) = answer.hits[0].parts
    assert (part.term, part.instead_of) == ("zorbalinkxt", "zorbalinkat")


def test_a_word_that_one_shard_knows_is_not_looked_for_in_the_others() -> None:
    records = tuple(_record(number, "zorbalinkot" if number else "zorbalinkat") for number in range(8))
    for shards in range(1, 6):
        (answer,) = answers(index_of(World(records=records, grant_lists={}), shards=shards), [_asked("zorbalinkat")])
        assert [hit.record.id for hit in answer.hits] == ["000"]


def test_the_answer_to_a_misspelt_word_is_proved_in_two_rounds_at_any_cut() -> None:
    records = tuple(_record(number, "zorbalinkot " + " ".join(WORDS[: number % 7])) for number in range(60))
    tight = replace(LOOSE, candidate_k=1, rerank_k=1, evidence_k=1)
    ask = replace(_asked("zorbalinkat veku"), budget=tight)
    expected = answers(index_of(World(records=records, grant_lists={})), [ask])
    for shards in (2, 3, 5):
        (answer,) = found = answers(index_of(World(records=records, grant_lists={}), shards=shards), [ask])
        assert answer.exact
        assert found == expected
