"""Sections and passages: nothing is lost, nothing is too long, and keys depend on as little as they can."""

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cluster.importers.passages.blocks import Block, Document, Shape
from cluster.importers.passages.chunks import MAX_TOKENS, Passage, packed, passages_of
from cluster.importers.passages.markdown import markdown_blocks, read_markdown
from cluster.importers.passages.sections import section_tree, slug, title_and_root
from cluster.tokens import estimate_tokens

WORDS = ("alpha", "beta", "E-1042", "خطا", "رمز", "ошибка", "错误代码", "don't", "x" * 40, "end.", "why?")
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=60).map(" ".join)
LINE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)

paragraphs = st.builds(Block, shape=st.just(Shape.PARAGRAPH), text=TEXT)
listings = st.builds(
    Block,
    shape=st.just(Shape.LINES),
    text=st.lists(TEXT, min_size=1, max_size=12).map("\n".join),
    opening=st.sampled_from(("", "```sh", "| a | b |\n|---|---|", "wide " * 60)),
    closing=st.sampled_from(("", "```")),
)
headings = st.builds(
    Block,
    shape=st.just(Shape.HEADING),
    text=LINE,
    level=st.integers(1, 6),
    anchor=st.sampled_from(("", "", "here")),
)
documents = st.lists(st.one_of(paragraphs, listings, headings), max_size=14)


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[^\s]+", text))


@given(documents, st.integers(16, 400))
def test_no_passage_is_empty_or_above_the_limit_and_no_two_have_one_name(blocks: list[Block], limit: int) -> None:
    passages = list(passages_of(section_tree(blocks), limit))
    assert all(passage.text.strip() for passage in passages)
    assert all(estimate_tokens(passage.text) <= limit for passage in passages)
    names = [(passage.key, passage.part) for passage in passages]
    assert len(set(names)) == len(names)


@given(documents, st.integers(150, 400))
def test_no_word_of_a_document_is_lost(blocks: list[Block], limit: int) -> None:
    """With room for its longest word; a smaller limit parts words, see the next test."""
    passages = list(passages_of(section_tree(blocks), limit))
    found = words("\n".join(text for passage in passages for text in (passage.text, *passage.headings)))
    said = words("\n".join(block.whole for block in blocks if block.shape is not Shape.HEADING))
    named = {word for block in blocks if block.shape is Shape.HEADING for word in block.text.split()}
    assert said - found == Counter()
    assert named <= set(found)


@given(st.text(min_size=1, max_size=400), st.integers(16, 60))
def test_a_paragraph_that_is_parted_keeps_every_character(text: str, limit: int) -> None:
    parts = list(packed([Block(shape=Shape.PARAGRAPH, text=text)], limit))
    assert "".join("".join(parts).split()) == "".join(text.split())


@given(documents, st.integers(0, 13), TEXT)
def test_an_edit_of_one_section_changes_no_passage_of_another(blocks: list[Block], place: int, text: str) -> None:
    inserted = [*blocks[:place], Block(shape=Shape.PARAGRAPH, text=text), *blocks[place:]]
    before = {passage.key: passage for passage in passages_of(section_tree(blocks), short=0)}
    after = {passage.key: passage for passage in passages_of(section_tree(inserted), short=0)}
    changed = {key for key in before | after if before.get(key) != after.get(key)}
    # The section itself; and its parent, where its heading had stood alone and was the parent's text.
    assert len(changed) <= 2


def passages(markdown: str, **limits: int) -> list[Passage]:
    return list(passages_of(title_and_root(read_markdown(markdown, "x.md"), None, "x")[1], **limits))


def test_keys_are_anchors_or_headings_and_numbers_only_for_twins() -> None:
    text = "intro\n\n## Install {#setup}\n\na\n\n### On Linux\n\nb\n\n## Fix\n\nc\n\n## Fix\n\nd\n\n## حذف برنامه\n\ne"
    assert [passage.key for passage in passages(text, short=0)] == [
        "", "setup", "setup/on-linux", "fix", "fix.2", "حذف-برنامه"
    ]  # fmt: skip


def test_a_short_section_with_its_sub_sections_is_one_passage_with_their_headings() -> None:
    [passage] = passages("# T\n\n## A\n\none\n\n## B\n\ntwo")
    assert passage.text == "A\n\none\n\nB\n\ntwo"
    assert (passage.key, passage.headings) == ("", ())


def test_a_listing_that_fits_is_whole_and_stays_with_the_line_that_announces_it() -> None:
    code = "\n".join(f"command {number}" for number in range(20))
    text = f"{'Filler sentence here. ' * 48}\n\nRun this:\n\n```sh\n{code}\n```\n\nDone."
    parts = [passage.text for passage in passages(text)]
    assert parts[1].startswith("Run this:\n\n```sh\ncommand 0\n")
    assert parts[1].endswith("command 19\n```\n\nDone.")


def test_a_table_that_is_too_long_repeats_its_head() -> None:
    rows = "\n".join(f"| code {number} | what it means and what to do |" for number in range(60))
    parts = [passage.text for passage in passages(f"| error | meaning |\n|---|---|\n{rows}")]
    assert len(parts) > 1
    assert all(part.startswith("| error | meaning |\n|---|---|\n| code ") for part in parts)
    assert all(estimate_tokens(part) <= MAX_TOKENS for part in parts)


def test_a_long_section_is_parted_after_sentences_from_its_start() -> None:
    first = "The first sentence of many. " * 60
    one, two = passages(first)[:2]
    assert (one.part, two.part) == (1, 2)
    assert one.text.endswith("many.")
    longer = passages(f"{first}And one more at the end.")
    assert longer[0] == one


def test_a_version_or_a_file_name_is_not_parted() -> None:
    text = "Set it in veloria.conf of 3.1.2 or later " * 60
    words_of_parts = [word for passage in passages(text) for word in passage.text.split()]
    assert words_of_parts == text.split()


def test_the_title_is_stated_or_a_first_heading_or_the_formats_or_the_files() -> None:
    blocks = tuple(markdown_blocks("# Heading\n\ntext", "x"))
    assert title_and_root(Document(blocks=blocks, facts={}, title="head"), None, "file")[0] == "Heading"
    title, root = title_and_root(Document(blocks=blocks, facts={}), "Stated", "file")
    assert (title, root.sections[0].headings) == ("Stated", ("Heading",))
    assert title_and_root(Document(blocks=blocks[1:], facts={}, title="head"), None, "file")[0] == "head"
    assert title_and_root(Document(blocks=blocks[1:], facts={}), None, "file")[0] == "file"


def test_a_slug_of_a_long_heading_is_short_and_its_own() -> None:
    one, two = slug("very long " * 15 + "one"), slug("very long " * 15 + "two")
    assert one != two
    assert len(one) < 70
    assert slug("???") == "section"
