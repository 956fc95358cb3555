"""Mentions: which hash stands for a key, and where the keys of each field lie."""

import hashlib

import pytest

from shards.mentions import NO_MENTIONS, MentionField, Mentions, key_hash


@pytest.mark.parametrize("key", ["", "getuser", "ثبت", "🙂", "\udc00"])
def test_a_key_is_asked_for_by_eight_bytes_of_blake2b(key: str) -> None:
    expected = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    assert key_hash(key) == int.from_bytes(expected)
    asked = Mentions.of({MentionField.NAME: [(key, 1)]})
    assert asked.hashes.tolist() == ([int.from_bytes(expected)] if key else [])


def test_the_keys_of_a_field_lie_together_in_the_order_given() -> None:
    asked = Mentions.of({MentionField.DOMAIN: [("mail", 3)], MentionField.NAME: [("send", 7), ("", 9), ("post", 8)]})
    assert asked.hashes.tolist() == [key_hash("send"), key_hash("post"), key_hash("mail")]
    assert asked.bonuses.tolist() == [7, 8, 3]
    assert asked.bounds == (0, 2, 2, 3)


def test_an_empty_key_names_nothing() -> None:
    assert Mentions.of({MentionField.CAPABILITY: [("", 1)]}) == NO_MENTIONS
    assert len(NO_MENTIONS) == 0


def test_keys_grouped_by_bonus_are_the_mentions_of_their_pairs() -> None:
    labels = ("mail", "send mail")
    grouped = Mentions.grouped(
        {
            MentionField.CAPABILITY: ((labels, 2),),
            MentionField.NAME: ((("post",), 9), ((), 5), (("sendmail", "قراءة"), 3)),
            MentionField.DOMAIN: ((labels, 1),),
        }
    )
    pairs = {
        MentionField.NAME: [("post", 9), ("sendmail", 3), ("قراءة", 3)],
        MentionField.CAPABILITY: [(label, 2) for label in labels],
        MentionField.DOMAIN: [(label, 1) for label in labels],
    }
    assert grouped == Mentions.of(pairs)
    assert grouped.bounds == (0, 3, 5, 7)


def test_the_bonuses_that_queries_share_cannot_be_written_to() -> None:
    asked = Mentions.of({MentionField.NAME: [("send", 7)]})
    assert not asked.bonuses.flags.writeable
