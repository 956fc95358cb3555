"""Terms that join a query for its unknown words, from what the shards named."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from cluster.expansion import MARK_SHARE, MOST_TERMS, Expanded, expanded, reads_as_latin
from cluster.query import AnalyzedRequest, Meant
from shards.mentions import NO_MENTIONS
from shards.messages import MAX_TERMS, NearTerm, ShardHits
from shards.near.known_words import MARGIN
from shards.statistics import frequency_weight
from tests.cluster.rig import hits_of


def question(*terms: str) -> AnalyzedRequest:
    return AnalyzedRequest(terms=terms, term_weights=(200,) * len(terms), mentions=NO_MENTIONS, length=len(terms))


def near(position: int, term: str, likeness: int, frequency: int = 1, *, spoken: bool = False) -> NearTerm:
    return NearTerm(position=position, term=term, likeness=likeness, frequency=frequency, spoken=spoken)


def reply(frequencies: Sequence[int], *terms: NearTerm, authorized: int = 10) -> ShardHits:
    hits = hits_of([], len(frequencies))
    return replace(hits, frequencies=np.array(frequencies, np.int64), near=terms, authorized=authorized)


def meant(found: Expanded | None) -> list[str]:
    return [] if found is None else [one.term for one in found.question.meant]


def test_an_unknown_word_is_joined_by_the_terms_that_all_shards_together_hold() -> None:
    asked = question("send", "invioc")
    replies = [
        reply([3, 0], near(1, "invoic", 212, 2), authorized=10),
        reply([1, 0], near(1, "invoic", 212, 3), near(1, "invoin", 200), authorized=20),
    ]
    found = expanded("send invioce", asked, replies)
    assert found is not None
    assert found.question == replace(
        asked,
        terms=("send", "invioc", "invoic", "invoin"),
        term_weights=(200, 200, 165, 156),  # 200 * 212 / 256 and 200 * 200 / 256
        meant=(
            Meant(word="invioc", term="invoic", likeness=212),
            Meant(word="invioc", term="invoin", likeness=200),
        ),
    )
    weights = [frequency_weight(30, count, weight) for count, weight in ((4, 200), (0, 200), (5, 165), (1, 156))]
    assert found.weights.tolist() == weights


def test_a_word_that_any_shard_knows_is_left_alone() -> None:
    replies = [reply([0], near(0, "invoic", 212)), reply([1])]
    assert expanded("invioc", question("invioc"), replies) is None


def test_no_reply_and_no_near_term_add_nothing() -> None:
    assert expanded("invioc", question("invioc"), []) is None
    assert expanded("invioc", question("invioc"), [reply([0])]) is None


def test_only_the_likest_are_added() -> None:
    terms = [near(0, f"invoi{letter}", 212) for letter in "abcd"] + [near(0, "invo", 212 - MARGIN - 1)]
    assert meant(expanded("invioc", question("invioc"), [reply([0], *terms)])) == ["invoia", "invoib", "invoic"]
    assert MOST_TERMS == 3
    far = [near(0, "invoic", 212), near(0, "invo", 212 - MARGIN - 1)]
    assert meant(expanded("invioc", question("invioc"), [reply([0], *far)])) == ["invoic"]


def test_the_order_of_replies_changes_nothing() -> None:
    asked = question("invioc", "sevrer")
    replies = [
        reply([0, 0], near(0, "invoic", 212), near(1, "server", 212)),
        reply([0, 0], near(0, "invoix", 212), near(1, "servir", 230), near(0, "≈invoice", 212)),
    ]
    one, other = expanded("", asked, replies), expanded("", asked, replies[::-1])
    assert one is not None
    assert other is not None
    assert one.question == other.question
    assert one.weights.tolist() == other.weights.tolist()
    assert meant(one) == ["invoic", "invoix", "≈invoice", "servir", "server"]


def test_a_mark_weighs_less_than_a_term() -> None:
    found = expanded("invioc", question("invioc"), [reply([0], near(0, "≈invoice", 256))])
    assert found is not None
    assert found.question.term_weights == (200, 200 * MARK_SHARE // 256)


def test_a_term_is_added_once_for_the_word_that_gives_it_more_weight_and_never_beside_itself() -> None:
    asked = question("invioc", "invocc", "server")
    terms = (near(0, "invoic", 212), near(1, "invoic", 222), near(1, "server", 222))
    found = expanded("", asked, [reply([0, 0, 1], *terms)])
    assert found is not None
    assert found.question.meant == (Meant(word="invocc", term="invoic", likeness=222),)


@pytest.mark.parametrize("free", [0, 1, 2])
def test_a_question_never_has_too_many_terms(free: int) -> None:
    asked = question(*(f"word{number}" for number in range(MAX_TERMS - free)))
    unknown = [0] * len(asked.terms)
    found = expanded("", asked, [reply(unknown, near(0, "work", 212), near(1, "wort", 212), near(2, "worm", 212))])
    assert meant(found) == ["work", "wort", "worm"][:free]


def test_a_text_that_reads_as_latin_has_no_words_of_another_script() -> None:
    terms = (near(0, "فعل", 224, spoken=True), near(0, "fall", 200))
    assert meant(expanded("why did it fail", question("fail"), [reply([0], *terms)])) == ["fall"]
    assert meant(expanded("sabte fail", question("fail"), [reply([0], *terms)])) == ["فعل"]
    assert meant(expanded("why did it تلگرام", question("تلگرام"), [reply([0], near(0, "telegram", 236, spoken=True))]))


@pytest.mark.parametrize(
    "text", ["Why did automation run 418 fail?", "show unpaid invoices of Ahmadi", "créer une facture pour le client"]
)
def test_sentences_of_languages_in_latin_letters_read_as_latin(text: str) -> None:
    assert reads_as_latin(text)


@pytest.mark.parametrize(
    "text", ["foroosh in mah chand toman shode", "sabte faktor", "zakaz tovara", "Zagros", "فاکتور Ahmadi", "", "123"]
)
def test_persian_in_latin_letters_and_names_do_not(text: str) -> None:
    assert not reads_as_latin(text)
