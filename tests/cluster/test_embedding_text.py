"""The text that a model reads of a record and of a query, by hand."""

import hashlib
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from cluster.embedding_text import (
    MOST_CHARACTERS,
    MOST_QUERY_CHARACTERS,
    RECIPE,
    embedding_text,
    query_text,
)
from shards.record import Access, Kind, Record

RECORD = Record(
    id="r",
    kind=Kind.TOOL,
    name="S3_putObject",
    namespace="aws",
    description="Stores a file.",
    access=Access(tenant="t"),
)


def text_of(**fields: object) -> str:
    return embedding_text(replace(RECORD, **fields))  # type: ignore[arg-type]


def test_a_tool_is_its_name_in_words_and_its_description() -> None:
    assert embedding_text(RECORD) == "S3 put Object. Stores a file"
    assert text_of(name="az acr manifest-list", description="") == "az acr manifest list"
    assert text_of(name="ListURLsOfIPv4Pool", description="") == "List URLs Of IPv4 Pool"
    assert text_of(name="créerFacture", description="") == "créerFacture"
    assert text_of(name="ثبت_فاکتور", description="") == "ثبت فاکتور"
    assert text_of(name="___", description="") == ""


def test_what_owners_added_stands_before_the_description() -> None:
    text = text_of(
        aliases=("upload",),
        keywords=("storage", "bucket"),
        examples=("save my photo.", "keep it", "back up", "no more"),
    )
    assert text == "S3 put Object. upload, storage, bucket, save my photo, keep it, back up. Stores a file"


def test_a_passage_is_its_title_its_section_and_its_text() -> None:
    text = text_of(
        kind=Kind.PASSAGE, name="Refunds", section="Terms / Payment", description="Money comes back in 14 days."
    )
    assert text == "Refunds. Terms / Payment. Money comes back in 14 days"


def test_many_aliases_leave_room_for_the_description() -> None:
    text = text_of(keywords=tuple(f"keyword{number}" for number in range(200)))
    assert text.endswith("Stores a file")
    assert len(text) < 200


def test_markup_and_addresses_are_left_out() -> None:
    assert text_of(name="x", description="<p>Adds <b>one</b> user &amp; <!-- not two --> a role.</p>") == (
        "x. Adds one user & a role"
    )
    assert text_of(
        name="x", description="## Use\n- **Bold** `code` [guide](https://a.b/c) see https://a.b/d\n> |a|b|"
    ) == ("x. Use Bold code guide see a b")
    assert text_of(name="x", description="if a < b and c > d, C# or 5-6") == "x. if a < b and c > d, C# or 5-6"
    assert text_of(name="x", description="<div>" * 500) == "x"


def test_one_text_in_several_encodings_is_one_text() -> None:
    assert query_text("ميخواهم ۱۲ فاكتور ثبت كنم") == query_text("میخواهم 12 فاکتور ثبت کنم")
    assert query_text("cafe\u0301 ﬁle　ＡＢＣ") == "café file ABC"
    assert query_text("soft\u00adhyphen \u200fmark\u200e tab\tzero\0end \ud800") == "softhyphen mark tab zero end"
    assert query_text("می\u200cخواهم") == "می\u200cخواهم"
    assert query_text("أريد ملفي") == "أريد ملفي"  # Arabic keeps its own letters
    assert query_text("  ") == ""


@given(st.text(max_size=50), st.text(), st.lists(st.text(), max_size=5), st.text())
def test_any_record_gives_a_bounded_text_that_models_can_read(
    name: str, description: str, keywords: list[str], section: str
) -> None:
    text = text_of(name=name or "x", description=description, keywords=tuple(keywords), section=section)
    assert len(text) <= MOST_CHARACTERS
    assert text == text.strip()
    text.encode()
    assert "\0" not in text


@given(st.text(max_size=200))
def test_a_query_that_was_read_is_read_again_as_the_same(text: str) -> None:
    read = query_text(text)
    assert len(read) <= MOST_QUERY_CHARACTERS
    read.encode()
    assert query_text(read) == read


def test_hostile_texts_take_no_time() -> None:
    for bad in ("<a" * 50_000, "[" * 100_000, "[x](" * 30_000, "&#" * 50_000, "*" * 100_000, "\u200b" * 100_000):
        text_of(description=bad)
        query_text(bad)


def test_a_text_depends_on_nothing_that_the_hash_of_the_search_text_leaves_out() -> None:
    hidden = {
        "id": "other",
        "kind": Kind.PASSAGE,
        "product": "p",
        "locale": "de",
        "release": "2",
        "source_url": "https://x",
    }
    assert text_of(**hidden) == embedding_text(RECORD)


def test_a_change_of_the_recipe_is_told_by_its_number() -> None:
    samples = [
        embedding_text(RECORD),
        text_of(aliases=("a", "b"), examples=("c.",), section="s", description="<p>d &amp; e</p> **f** " * 30),
        text_of(name="ثبت_سند", description="ثبت سند حسابداري در سال ۱۴۰۲"),
        text_of(name="DescribeInstances", description="查询实例列表，支持分页。"),
    ]
    digest = hashlib.blake2b("\n".join(samples).encode(), digest_size=6).hexdigest()
    # Another digest? Then raise RECIPE, so that vectors of the old text are not compared with new ones.
    assert (RECIPE, digest) == (1, "288df619aabd")
