import pytest

from shards.analyzer import name_key
from shards.messages import Mention, MentionField
from shards.names import key_hashes
from shards.record import Record
from shards.segment import Segment
from shards.segment_builder import SegmentBuilder
from tests.shards.makers import bonus_of, record

CATALOGUE = (
    record("a", name="find_symbol", aliases=("lookUp",), domain="Source code", capability="code.search"),
    record("b", name="findSymbol", domain="source_code"),
    record("c", name="list_files", aliases=("find symbol", "find_symbol"), capability="code.search"),
    record("d", name="noop", domain="files"),
)


def segment_of(*records: Record) -> Segment:
    builder = SegmentBuilder()
    for one in records:
        builder.add(one, one.to_json())
    return builder.build()


def bonuses(*mentions: Mention, segment: Segment | None = None) -> list[int]:
    held = segment or segment_of(*CATALOGUE)
    return held.names.bonuses(mentions, key_hashes(mentions), held.columns, len(held)).tolist()


def name(text: str, bonus: int = 100) -> Mention:
    return Mention(field=MentionField.NAME, key=name_key(text), bonus=bonus)


def domain(text: str, bonus: int = 10) -> Mention:
    return Mention(field=MentionField.DOMAIN, key=name_key(text), bonus=bonus)


def capability(text: str, bonus: int = 1) -> Mention:
    return Mention(field=MentionField.CAPABILITY, key=name_key(text), bonus=bonus)


@pytest.mark.parametrize(
    ("mentions", "expected"),
    [
        ((name("find symbol"),), [100, 100, 100, 0]),
        ((name("look up"),), [100, 0, 0, 0]),
        ((domain("source code"),), [10, 10, 0, 0]),
        ((capability("code search"),), [1, 0, 1, 0]),
        ((name("find symbol"), domain("source code"), capability("code search")), [111, 110, 101, 0]),
        ((name("find symbol", 100), name("look up", 300), name("look up", 200)), [300, 100, 100, 0]),
        ((domain("find symbol"), name("source code"), name("find")), []),
        ((name(""), domain(""), capability("")), []),
        ((), []),
    ],
)
def test_a_mention_gives_its_bonus_once_per_field(mentions: tuple[Mention, ...], expected: list[int]) -> None:
    assert bonuses(*mentions) == expected
    assert [bonus_of(one, mentions) for one in CATALOGUE] == (expected or [0] * 4)


def test_a_value_shared_by_all_records_is_found_too() -> None:
    segment = segment_of(record("a", domain="files"), record("b", domain="files"))
    assert bonuses(domain("files"), segment=segment) == [10, 10]


def test_two_values_whose_keys_share_a_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shards.names.key_hash", lambda _: 7)
    segment = segment_of(record("a", domain="files"), record("b", domain="mail"))
    assert bonuses(domain("mail"), segment=segment) == [0, 10]
