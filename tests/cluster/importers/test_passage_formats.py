"""Markdown and HTML to blocks: what is kept, what is dropped, and what is refused instead of read by halves."""

import time
from contextlib import suppress

import pytest

from cluster.errors import UnreadableSource
from cluster.importers.passages.html_page import read_html
from cluster.importers.passages.markdown import markdown_blocks, read_markdown
from cluster.importers.passages.plain import read_plain


def texts(markdown: str) -> list[str]:
    return [block.whole for block in markdown_blocks(markdown, "x.md")]


def page(body: str, head: str = "") -> list[str]:
    html = f"<html><head>{head}</head><body>{body}</body></html>"
    return [block.whole for block in read_html(html.encode(), "x.html").blocks]


def test_links_and_emphasis_become_words_and_code_keeps_its_quotes() -> None:
    assert texts("See **the [guide](https://x.example/y)** for `a < b`, ![a plan](p.png).") == [
        "See the guide for `a < b`, a plan."
    ]


def test_a_heading_inside_a_listing_is_none() -> None:
    assert texts("```sh\n# not a heading\nls\n```") == ["```sh\n# not a heading\nls\n```"]


def test_lists_keep_their_numbers_and_depth() -> None:
    assert texts("3. one\n4. two\n   - inner\n\n     more\n5. three") == [
        "3. one\n4. two\n  - inner\n    more\n5. three"
    ]


def test_tables_keep_their_rows() -> None:
    assert texts("|a|b|\n|-|-|\n|1|`x\\|y`|") == ["| a | b |\n|---|---|\n| 1 | `x\\|y` |"]


def test_html_in_markdown_is_read_as_html() -> None:
    assert texts("<details><summary>More</summary>\n<script>bad()</script>\nHidden <b>text</b>\n</details>") == [
        "More",
        "Hidden text",
    ]
    assert texts("one<br>two <!-- gone --> three") == ["one\ntwo  three"]


@pytest.mark.parametrize(
    "text",
    ["---\ntitle: x\n\n# never closed", "+++\ndraft = true\n+++\n", "---\n- a\n---\n", "---\na: 1\na: 2\n---\n"],
)
def test_front_matter_that_cannot_be_read_is_refused_not_taken_for_text(text: str) -> None:
    with pytest.raises(UnreadableSource):
        read_markdown(text, "x.md")


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("One\n===\n\ntext\n\nTwo\n---\nmore\n", [(1, "One"), (0, "text"), (2, "Two"), (0, "more")]),
        ("=====\nOne\n=====\n\ntext", [(1, "One"), (0, "text")]),
        ("before\nProgram  \n======== \nafter", [(0, "before"), (1, "Program"), (0, "after")]),
        ("a line over a rule is no heading\n---\nmore", [(0, "a line over a rule is no heading\n---\nmore")]),
        ("name   size\n----   ----\na      1", [(0, "name   size\n----   ----\na      1")]),
        ("---\n\n=====\n\nCAPITALS\n\n1. a number", [(0, "---"), (0, "====="), (0, "CAPITALS"), (0, "1. a number")]),
        ("=====\n=====", [(0, "=====\n=====")]),
        ("", []),
    ],
)
def test_underlined_lines_of_a_text_are_its_headings(text: str, blocks: list[tuple[int, str]]) -> None:
    assert [(block.level, block.text) for block in read_plain(text).blocks] == blocks


def test_hostile_text_takes_linear_time() -> None:
    started_s = time.process_time()
    for unit in ("=====\n", "a\n===\n", "\n", "-" * 1000):
        read_plain(unit * (200_000 // len(unit)))
    assert time.process_time() - started_s < 2


def test_front_matter_is_facts_and_no_text() -> None:
    document = read_markdown('---\ntitle: A\nrelease: "3.10"\n---\ntext', "x.md")
    assert document.facts == {"title": "A", "release": "3.10"}
    assert [block.text for block in document.blocks] == ["text"]


def test_nesting_beyond_what_is_read_is_refused() -> None:
    with pytest.raises(UnreadableSource, match="nested deeper"):
        markdown_blocks("> " * 500 + "deep", "x.md")
    with pytest.raises(UnreadableSource, match="no HTML"):
        page("<div>" * 5_000 + "deep")


def test_scripts_styles_navigation_and_hidden_elements_are_dropped() -> None:
    body = (
        "<nav>menu</nav><script>x()</script><style>p{}</style><p>kept<span hidden>gone</span> too</p>"
        "<footer>imprint</footer><p>last</p>"
    )
    assert page(body) == ["kept too", "last"]


def test_only_main_is_read_where_there_is_one() -> None:
    assert page("<p>frame</p><main><h1>T</h1><p>text</p></main><p>frame</p>") == ["T", "text"]


def test_html_blocks_keep_listings_tables_and_lists() -> None:
    body = (
        '<h2 id="fix">Fix <em>it</em></h2>before<p>Run <code>a  b</code>:</p><pre>x\n  <b>y</b></pre>'
        "<table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>a|b</td></tr></table>"
        "<ol><li>one<ul><li>deep</li></ul></li><li><p>two</p></li></ol>after<br>break"
    )
    assert page(body) == [
        "Fix it",
        "before",
        "Run `a b`:",
        "```\nx\n  y\n```",
        "| k | v |\n|---|---|\n| 1 | a\\|b |",
        "1. one\n  - deep\n2. two",
        "after\nbreak",
    ]
    assert read_html(f"<body>{body}</body>".encode(), "x").blocks[0].anchor == "fix"


def test_meta_language_and_canonical_address_are_facts() -> None:
    html = b'<html lang="fa"><head><meta name="Tenant" content="acme"><link rel="canonical" href="https://x.example/a">'
    assert read_html(html, "x").facts == {
        "locale": "fa", "tenant": "acme", "source_url": "https://x.example/a"
    }  # fmt: skip


@pytest.mark.parametrize("unit", ["<!--", "<a ", "<![CDATA[", "</", "<p>x", "&", '<a b="', "<?"])
def test_hostile_html_takes_linear_time(unit: str) -> None:
    started = time.process_time()
    with suppress(UnreadableSource):
        page(unit * 100_000)
    assert time.process_time() - started < 5


@pytest.mark.parametrize("unit", ["[", "](", "*a ", "`", "<a", "![", "> ", "- ", "|a", "&#", "\\", "_ "])
def test_hostile_markdown_takes_bounded_time(unit: str) -> None:
    started = time.process_time()
    with suppress(UnreadableSource):
        markdown_blocks(unit * 4_000, "x.md")
    assert time.process_time() - started < 5
