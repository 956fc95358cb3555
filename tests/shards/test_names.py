"""Look-ups of whole fields, and the bonus that each mention gives."""

import pytest

from shards.mentions import MentionField
from shards.names import NameTable
from shards.record import Record
from shards.segment import Segment
from shards.segment_builder import SegmentBuilder
from tests.shards.makers import bonus_of, mentions_of, record

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


Span = tuple[MentionField, str, int]


def bonuses(*spans: Span, segment: Segment | None = None) -> list[int]:
    held = segment or segment_of(*CATALOGUE)
    return held.names.bonuses(mentions_of(*spans), held.columns, len(held)).tolist()


def name(text: str, bonus: int = 100) -> Span:
    return MentionField.NAME, text, bonus


def domain(text: str, bonus: int = 10) -> Span:
    return MentionField.DOMAIN, text, bonus


def capability(text: str, bonus: int = 1) -> Span:
    return MentionField.CAPABILITY, text, bonus


@pytest.mark.parametrize(
    ("spans", "expected"),
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
def test_a_mention_gives_its_bonus_once_per_field(spans: tuple[Span, ...], expected: list[int]) -> None:
    assert bonuses(*spans) == expected
    assert [bonus_of(one, mentions_of(*spans)) for one in CATALOGUE] == (expected or [0] * 4)


def test_a_value_shared_by_all_records_is_found_too() -> None:
    segment = segment_of(record("a", domain="files"), record("b", domain="files"))
    assert bonuses(domain("files"), segment=segment) == [10, 10]


def test_a_record_that_has_two_of_the_asked_names_gets_the_better_bonus_whichever_comes_first() -> None:
    segment = segment_of(record("a", name="x_y_z", aliases=("u_v_w",)))
    assert bonuses(name("x y z", 5), name("u v w", 7), segment=segment) == [7]
    assert bonuses(name("u v w", 7), name("x y z", 5), segment=segment) == [7]


def test_a_query_without_a_hit_touches_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def touched(*_: object) -> None:
        raise AssertionError

    segment = segment_of(*CATALOGUE)
    monkeypatch.setattr(NameTable, "spans", touched)
    assert bonuses(name("nothing here"), capability("nor here"), domain("or here"), segment=segment) == []
    # Each field is looked up in its own table only.
    assert bonuses(name("code search"), capability("source code"), domain("find symbol"), segment=segment) == []
