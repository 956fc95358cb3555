"""``shortlist import docs``: the documents of a folder as raw records of kind passage, file by file.

An id is ``namespace:document#section~part``. The document is the ``id`` of its front matter, else its path without the
ending; the section is its key (``cluster.importers.passages.sections``), left out for what stands before all sections;
the part is left out for the first one. So ids hold no position and no text: an edit changes the record of the section
that was edited, and no file changes the ids of another. It neither validates records nor writes any.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final
from urllib.parse import quote

from cluster.errors import UnreadableSource
from cluster.importers.markup import cut
from cluster.importers.passages.blocks import Document
from cluster.importers.passages.chunks import Passage, passages_of
from cluster.importers.passages.facts import FILE_FACTS, Fact, Facts, check_facts, from_texts, joined, status_of
from cluster.importers.passages.folder import Folder, Found
from cluster.importers.passages.html_page import read_html
from cluster.importers.passages.markdown import read_markdown
from cluster.importers.passages.plain import read_plain
from cluster.importers.passages.sections import title_and_root
from cluster.importers.passages.settings import FolderSettings, Options
from cluster.importers.source import Ignored, Item, Noted, Opened, RawRecord, Refusal
from cluster.importers.yaml_document import parse_yaml
from shards.record import Status

MAX_SECTION_CHARS: Final = 256
"""As much as a record's ``section`` takes."""

MAX_PASSAGES: Final = 5_000
"""Of one document."""

_PATH: Final = "{path}"


class DocsReader:
    """One folder of documents.

    Args:
        now: the time at which dates of publication are judged; has a zone.

    Attributes:
        namespace: of its records.
        source: name under which they are remembered.
    """

    def __init__(self, root: Path, options: Options, now: datetime) -> None:
        self._folder = Folder(root)
        self._settings = FolderSettings(self._folder, options)
        self._now = now
        self.namespace = self._settings.namespace
        self.source = self._settings.source

    def items(self) -> Iterator[Item]:
        """Every document's passages, or why it has none.

        Raises:
            UnreadableSource: if the folder or a ``shortlist.yaml`` in it cannot be read.
            OversizedSource: if it holds more than ``cluster.importers.passages.folder`` allows.
        """
        listing = self._folder.listing()
        for refusal in listing.refused:
            yield Opened(source=refusal.source)
            yield refusal
        for number, found in enumerate(listing.documents, start=1):
            yield Opened(source=found.path)
            # Outside of the refusals of one file, because a folder's word that cannot be read concerns all of them.
            of_folders = self._settings.of(found.path)
            try:
                yield from self._records(found, of_folders, number / len(listing.documents))
            except (UnreadableSource, ValueError) as exc:
                reason = exc.reason if isinstance(exc, UnreadableSource) else str(exc)
                yield Refusal(name=found.path, reason=reason)
        if listing.others:
            yield Noted(note="left out, because their names do not end like documents' (files)", records=listing.others)

    def _records(self, found: Found, of_folders: Mapping[str, Fact], share: float) -> list[Item]:
        """A document's passages; all of them or an exception."""
        document = self._document(found)
        own = check_facts(self._words(found, document.facts))
        beside = self._sidecar(found)
        if twice := sorted(own.said.keys() & beside.said.keys()):
            raise ValueError(f"{twice[0]}: is said twice, in the file and in {found.sidecar}")
        facts = joined({**own.said, **beside.said}, of_folders)
        stated = facts.get("title")
        title, root = title_and_root(document, None if stated is None else str(stated), _words_of(found))
        status = status_of(facts, self._now)
        name = f"{self.namespace}:{facts.get('id', found.stem)}"
        items: list[Item] = []
        for passage in passages_of(root):
            if len(items) >= MAX_PASSAGES:
                raise ValueError(f"has more than {MAX_PASSAGES} passages")
            values = _values(name, title, passage, facts, first=not items)
            values |= {"namespace": self.namespace, "status": status.value}
            if source_url := _url(str(facts.get("source_url", "")), found, passage):
                values["source_url"] = source_url
            items.append(RawRecord(label=str(values["id"]), values=values, share=share))
        if not items:
            raise ValueError("holds no text")
        if status is not Status.ENABLED:
            items.append(Noted(note="not searchable, by status or date", records=len(items)))
        records = len(items)
        ignored = sorted({*own.ignored, *beside.ignored}) if not found.path.lower().endswith((".html", ".htm")) else ()
        items.extend(Ignored(field=field, records=records) for field in ignored)
        return items

    def _document(self, found: Found) -> Document:
        raw = self._folder.read(found.path)
        ending = found.path.rpartition(".")[2].lower()
        try:
            # Also for HTML, whose parser would read what is no UTF-8 as something else.
            text = raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError as exc:
            raise UnreadableSource(found.path, f"not UTF-8: byte {exc.start}") from exc
        return _READERS[ending](text.replace("\x00", "\N{REPLACEMENT CHARACTER}"), found.path)

    @staticmethod
    def _words(found: Found, facts: Mapping[str, object]) -> Mapping[str, object]:
        return from_texts(facts) if found.path.lower().endswith((".html", ".htm")) else facts

    def _sidecar(self, found: Found) -> Facts:
        if found.sidecar is None:
            return Facts(said={})
        values = parse_yaml(self._folder.read(found.sidecar), found.sidecar)
        if not isinstance(values, dict):
            raise ValueError(f"{found.sidecar}: must be a YAML object")  # noqa: TRY004 -- a fault of a file
        return check_facts(values, FILE_FACTS)


def _plain(text: str, source: str) -> Document:  # noqa: ARG001 -- the signature of readers
    return read_plain(text)


def _html(text: str, source: str) -> Document:
    return read_html(text.encode(), source)


_READERS: Final[Mapping[str, Callable[[str, str], Document]]] = {
    "md": read_markdown,
    "markdown": read_markdown,
    "html": _html,
    "htm": _html,
    "txt": _plain,
}


def passage_id(document: str, passage: Passage) -> str:
    """The id of a passage of ``document`` (namespace and document), as the module says."""
    part = f"~{passage.part}" if passage.part > 1 else ""
    return f"{document}#{passage.key}{part}" if passage.key or part else document


def _values(
    document: str, title: str, passage: Passage, facts: Mapping[str, Fact], *, first: bool
) -> dict[str, object]:
    values: dict[str, object] = {
        "kind": "passage",
        "id": passage_id(document, passage),
        "title": title,
        "text": passage.text,
        "section": _section(passage.headings),
        "access": {
            "tenant": facts["tenant"],
            "permissions": facts["permissions"],
            "modes": facts.get("modes", ()),
        },
    }
    for field in ("product", "locale", "release", "tags", "keywords"):
        values[field] = facts.get(field, ())
    # Another name of the document is a name of where it begins, not of each passage.
    if first and "aliases" in facts:
        values["aliases"] = facts["aliases"]
    return {name: value for name, value in values.items() if value != ()}


def _section(headings: tuple[str, ...]) -> str:
    """``Install › Windows``; where that is too long the outer headings go first."""
    for start in range(len(headings)):
        path = " › ".join(headings[start:])
        if len(path) <= MAX_SECTION_CHARS:
            return path
    return cut(headings[-1], MAX_SECTION_CHARS) if headings else ""


def _url(template: str, found: Found, passage: Passage) -> str:
    """Where the passage can be read; ``{path}`` is that of the file without its ending."""
    url = template.replace(_PATH, quote(found.stem, safe="/"))
    return f"{url}#{quote(passage.anchor, safe='')}" if url and passage.anchor and "#" not in url else url


def _words_of(found: Found) -> str:
    return " ".join(found.stem.rpartition("/")[2].replace("-", " ").replace("_", " ").split()) or found.path
