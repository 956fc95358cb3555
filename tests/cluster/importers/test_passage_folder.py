"""A folder of documents as raw records: what files say, what they must say, and what is never opened."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cluster.errors import OversizedSource, UnreadableSource
from cluster.importers.passages import folder as bounds
from cluster.importers.passages.facts import Fact, check_facts
from cluster.importers.passages.reader import DocsReader
from cluster.importers.passages.settings import Options
from cluster.importers.source import Item, Opened, RawRecord, Refusal
from serve_app.record_wire import parse_record
from shards.record import Record

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)

ALL = 'namespace: kb\ntenant: acme\npermissions: [read]\nstatus: published\nproduct: desk\nlocale: en\nrelease: "3.1"\n'


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    root.mkdir()
    (root / "shortlist.yaml").write_text(ALL)
    return root


def items(root: Path, options: Options | None = None) -> list[Item]:
    return list(DocsReader(root, options or Options(), NOW).items())


def records(root: Path) -> dict[str, Record]:
    read = (parse_record(item.values) for item in items(root) if isinstance(item, RawRecord))
    return {record.id: record for record in read}


def refusals(root: Path) -> dict[str, str]:
    return {item.name: item.reason for item in items(root) if isinstance(item, Refusal)}


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def test_a_file_says_what_it_is_and_its_folder_the_rest(docs: Path) -> None:
    write(
        docs,
        "guide/start.md",
        '---\nid: start\ntitle: Begin\nrelease: "4.0"\nlocale: fa\npermissions: [admin, read]\nmodes: [analyzer]\n'
        "tags: [a]\nkeywords: [E-1]\nsource_url: https://x.example/{path}\n---\n## Step {#one}\n\nDo it.\n\n"
        + "More text of this section. "
        * 30,
    )
    record = records(docs)["kb:start#one"]
    assert (record.name, record.section, record.release, record.locale) == ("Begin", "Step", "4.0", "fa")
    assert (record.access.tenant, record.access.permissions) == ("acme", ("admin", "read"))
    assert (record.access.modes, record.tags, record.keywords) == (("analyzer",), ("a",), ("E-1",))
    assert (record.product, record.source_url) == ("desk", "https://x.example/guide/start#one")
    assert record.status == "enabled"


@pytest.mark.parametrize("field", ["tenant", "permissions", "status", "product", "locale", "release"])
def test_a_fact_that_the_filter_needs_and_nobody_says_refuses_the_file(docs: Path, field: str) -> None:
    kept = [line for line in ALL.splitlines() if not line.startswith(f"{field}:")]
    write(docs, "shortlist.yaml", "\n".join(kept))
    write(docs, "a.md", "text")
    write(docs, "b.md", f"---\n{field}: {'[]' if field == 'permissions' else 'draft'}\n---\ntext")
    assert list(refusals(docs)) == ["a.md"]
    assert refusals(docs)["a.md"].startswith(f"{field}: required")
    assert list(records(docs)) == ["kb:b"]


def test_null_is_not_said(docs: Path) -> None:
    write(docs, "a.md", "---\ntenant: null\n---\ntext")
    assert records(docs)["kb:a"].access.tenant == "acme"


def test_a_namespace_has_to_be_said_because_policies_grant_by_it(docs: Path) -> None:
    write(docs, "shortlist.yaml", "tenant: acme")
    with pytest.raises(UnreadableSource, match="namespace: required"):
        items(docs)


def test_the_nearest_shortlist_yaml_wins_and_an_option_is_the_weakest_word(docs: Path) -> None:
    write(docs, "inner/shortlist.yaml", "permissions: [admin]")
    write(docs, "inner/deep/a.md", "text")
    write(docs, "b.md", "text")
    said: dict[str, Fact] = {"permissions": (), "tenant": "*"}
    read = [item.values["access"] for item in items(docs, Options(facts=said)) if isinstance(item, RawRecord)]
    assert read == [
        {"tenant": "acme", "permissions": ("read",), "modes": ()},
        {"tenant": "acme", "permissions": ("admin",), "modes": ()},
    ]


@pytest.mark.parametrize("text", ["permission: [x]", "colour: red", "title: x", "status: public", ": :", "- a"])
def test_a_shortlist_yaml_that_cannot_be_used_stops_everything(docs: Path, text: str) -> None:
    write(docs, "inner/shortlist.yaml", text)
    write(docs, "inner/a.md", "text")
    with pytest.raises(UnreadableSource, match=r"inner/shortlist\.yaml"):
        items(docs)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("status: draft", "disabled"),
        ("status: archived", "disabled"),
        ("status: superseded", "deprecated"),
        ("draft: true", "disabled"),
        ("draft: false", "enabled"),
        ("published: false", "disabled"),
        ("published: 2026-05-01", "enabled"),
        ("published: 2026-05-02", "disabled"),
        ("published: 2026-05-01T14:00:00+03:00", "enabled"),
        ("published: 2026-05-01T14:00:00", "disabled"),
        ("expires: 2026-05-01", "disabled"),
        ("expires: 2026-06-01", "enabled"),
        ("status: deprecated\npublished: 2026-06-01", "disabled"),
    ],
)
def test_only_what_is_published_now_is_enabled(docs: Path, text: str, status: str) -> None:
    write(docs, "a.md", f"---\n{text}\n---\ntext")
    assert records(docs)["kb:a"].status == status


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("release: 3.10", "release: 3.1 is a number"),
        ("tenent: acme", "did you mean 'tenant'"),
        ("permissions: admin", "permissions: 'admin' is not allowed; expected a list"),
        ("version: '1'\nrelease: '2'", "release: is said twice"),
        ("published: soon", "expected a date"),
        ("status: live", "status: 'live' is not allowed"),
        ("tenant: ''", "tenant: '' is not allowed"),
        ("draft: 'yes'", "draft: 'yes' is not allowed"),
    ],
)
def test_a_word_that_cannot_be_used_refuses_its_file_with_the_reason(docs: Path, text: str, reason: str) -> None:
    write(docs, "a.md", f"---\n{text}\n---\ntext")
    write(docs, "b.md", "text")
    assert reason in refusals(docs)["a.md"]
    assert list(records(docs)) == ["kb:b"]


def test_a_file_beside_says_what_a_text_cannot_and_both_must_not_say_the_same(docs: Path) -> None:
    write(docs, "notes.txt", "one\n\ntwo")
    write(docs, "notes.txt.yaml", "title: Notes\nversion: '9'")
    write(docs, "a.md", "---\ntenant: acme\n---\nx")
    write(docs, "a.md.yaml", "tenant: other")
    record = records(docs)["kb:notes"]
    assert (record.name, record.release, record.description) == ("Notes", "9", "one\n\ntwo")
    assert "said twice" in refusals(docs)["a.md"]


def test_meta_tags_are_texts_and_lists_are_parted_at_commas(docs: Path) -> None:
    metas = '<meta name="permissions" content="read, admin"><meta name="draft" content="true">'
    write(docs, "a.html", f"<html lang='ru'><head><title>T</title>{metas}</head><body><p>x</p></body></html>")
    record = records(docs)["kb:a"]
    assert (record.locale, record.access.permissions, record.status) == ("ru", ("admin", "read"), "disabled")
    write(docs, "b.html", f"{metas}<meta name='tenant' content='a'><meta name='tenant' content='b'><p>x")
    assert "tenant: " in refusals(docs)["b.html"]


def test_nothing_outside_of_the_folder_is_opened(docs: Path) -> None:
    secret = docs.parent / "secret.md"
    secret.write_text("secret")
    write(docs, "real.md", "text")
    (docs / "out.md").symlink_to(secret)
    (docs / "folder").symlink_to(docs.parent)
    (docs / "in.md").symlink_to(docs / "real.md")
    (docs / "loop.md").symlink_to(docs / "loop.md")
    os.mkfifo(docs / "pipe.md")
    (docs / ".hidden.md").write_text("hidden")
    assert set(records(docs)) == {"kb:real", "kb:in"}
    assert set(refusals(docs)) == {"out.md", "folder", "loop.md"}
    with pytest.raises(UnreadableSource, match="leads out"):
        bounds.Folder(docs).read("../secret.md")
    with pytest.raises(UnreadableSource, match="regular file"):
        bounds.Folder(docs).read("pipe.md")


def test_a_shortlist_yaml_that_leads_outside_stops_everything(docs: Path) -> None:
    (docs.parent / "other.yaml").write_text("permissions: []")
    (docs / "inner").mkdir()
    (docs / "inner/shortlist.yaml").symlink_to(docs.parent / "other.yaml")
    write(docs, "inner/a.md", "text")
    with pytest.raises(UnreadableSource, match="leads out"):
        items(docs)


def test_what_is_larger_or_more_than_allowed_is_refused(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(docs, "big.md", "x" * (bounds.MAX_FILE_BYTES + 1))
    write(docs, "a.md", "text")
    assert "size: more than" in refusals(docs)["big.md"]
    monkeypatch.setattr(bounds, "MAX_FILES", 1)
    with pytest.raises(OversizedSource, match="files: more than 1"):
        items(docs)


@pytest.mark.parametrize(
    ("raw", "reason"), [(b"\xff\xfe", "not UTF-8"), (b"", "holds no text"), (b"---\n", "does not end")]
)
def test_a_file_that_cannot_be_read_is_refused_by_name(docs: Path, raw: bytes, reason: str) -> None:
    (docs / "bad.md").write_bytes(raw)
    write(docs, "good.md", "text")
    assert reason in refusals(docs)["bad.md"]
    assert list(records(docs)) == ["kb:good"]


def test_the_items_of_a_file_follow_its_name(docs: Path) -> None:
    write(docs, "b.md", "text")
    write(docs, "a/c.md", "text")
    write(docs, "picture.png", "no document")
    names = [item.source for item in items(docs) if isinstance(item, Opened)]
    assert names == ["a/c.md", "b.md"]


def test_names_of_other_tools_for_facts_are_understood() -> None:
    assert check_facts({"Lang": "en", "publish-date": "2026-01-01", "author": "x"}).said.keys() == {
        "locale", "published"
    }  # fmt: skip
