"""YAML of strangers as plain JSON values: what scalars mean, and bombs that are refused."""

import orjson
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from cluster.errors import OversizedSource, UnreadableSource
from cluster.importers import yaml_document
from cluster.importers.yaml_document import parse_yaml

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"], exclude_characters="\ufeff"), max_size=12)
NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False, width=32)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


def read(text: str) -> object:
    return parse_yaml(text.encode(), "x.yaml")


@given(VALUES)
def test_json_is_read_as_json(value: object) -> None:
    text = orjson.dumps(value)
    if b'"<<"' not in text:
        assert parse_yaml(text, "x.yaml") == orjson.loads(text)


@given(VALUES)
def test_dumped_yaml_is_read_as_what_was_dumped(value: object) -> None:
    assert parse_yaml(yaml.safe_dump(value, allow_unicode=True).encode(), "x.yaml") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("on", "on"), ("2024-01-01", "2024-01-01"), ("01234", "01234"), ("1:30", "1:30"),
        ("0x1f", "0x1f"), ("1_000", "1_000"), (".inf", ".inf"), ("true", True), ("False", False), ("~", None),
        ("", None), ("-7", -7), ("1.50", 1.5), ("1e3", 1000.0), ("9" * 30, 1e30), ("'1'", "1"), ("!!str 1", "1"),
        ("9223372036854775807", 2**63 - 1), ("-9223372036854775809", -(2.0**63)), ("18446744073709551616", 2.0**64),
        ("!!int 1", 1), ("9" * 5000, "9" * 5000),
    ],
)  # fmt: skip
def test_a_scalar_means_what_it_would_in_json(text: str, value: object) -> None:
    found = read(text)
    assert (found, type(found)) == (value, type(value))


def test_keys_are_text_as_they_are_written() -> None:
    assert read("200: a\non: b\nnull: c\n1.0: d") == {"200": "a", "on": "b", "null": "c", "1.0": "d"}


def test_aliases_and_merges_are_what_they_stand_for() -> None:
    text = "a: &a {x: 1, y: 2}\nb: *a\nc: {<<: *a, y: 3}\nd: {<<: [{x: 0}, *a], z: 4}\ne: &n name\nf: *n"
    a = {"x": 1, "y": 2}
    assert read(text) == {
        "a": a,
        "b": a,
        "c": {"x": 1, "y": 3},
        "d": {"x": 0, "y": 2, "z": 4},
        "e": "name",
        "f": "name",
    }


def test_a_bomb_of_aliases_is_refused_at_once() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    with pytest.raises(OversizedSource, match="values: more than 10000000 of them, aliases replaced"):
        read("\n".join(lines))


def test_a_bomb_of_merges_is_refused_at_once() -> None:
    lines = ["a0: &a0 {x: 1}"] + [f"a{n}: &a{n} {{l: *a{n - 1}, r: *a{n - 1}}}" for n in range(1, 40)]
    with pytest.raises(OversizedSource, match="values"):
        read("\n".join(lines))


def test_many_aliases_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_document, "MAX_ALIASES", 3)
    with pytest.raises(OversizedSource, match="aliases: more than 3 of them") as caught:
        read("a: &a 1\nb: [*a, *a, *a, *a]")
    assert (caught.value.field, caught.value.limit) == ("aliases", 3)


def test_depth_is_bounded_also_through_aliases() -> None:
    with pytest.raises(OversizedSource, match="depth: more than 500 levels"):
        read("[" * 501 + "]" * 501)
    deep = "[" * 480 + "]" * 480
    assert read(f"- &a {deep}")
    with pytest.raises(OversizedSource, match="depth"):
        read(f"- &a {deep}\n- {'[' * 20}*a{']' * 20}")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: &a {b: *a}", r"line 1: \*a refers to itself, or to nothing"),
        ("a: *b", r"line 1: (\*b refers to itself, or to nothing|.*undefined alias)"),
        ("a: 1\nb: 2\na: 3", "line 3: key 'a' is given twice"),
        ("? [a]\n: b", "line 1: a key must be text"),
        ("a: !!python/object/apply:os.system [ls]", "line 1: tag .* is not known"),
        ("a: !!binary aGk=", "line 1: tag .* is not known"),
        ("a: {<<: 5}", "line 1: '<<' takes objects only"),
        ("a: 1\n---\nb: 2", "line 2: a second document begins"),
        ("a: [1", "not YAML: line "),
        ("a: \x00", "not YAML"),
    ],
)
def test_what_cannot_be_meant_is_an_error_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(UnreadableSource, match=reason):
        read(text)


def test_bytes_that_are_no_text_are_an_error() -> None:
    for raw in (b"a: \xff\xfe", b'a: "\\ud800"'):
        with pytest.raises(UnreadableSource, match="not YAML"):
            parse_yaml(raw, "x.yaml")
