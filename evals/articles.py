"""Articles of the small knowledge base as records: front matter, headings and sections of Markdown and simple HTML.

It reads our own files in the evaluation and nothing of strangers; their README says what an id is made of.
"""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Final

import yaml

from evals.errors import BadEvalFile
from shards.record import Access, Kind, Record, Status

DEFAULTS: Final = "shortlist.yaml"

_FRONT: Final = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_META: Final = re.compile(r'<meta name="([\w-]+)" content="([^"]*)">')
_TITLE: Final = re.compile(r"^# (.*)$", re.MULTILINE)
_SECTION: Final = re.compile(r"^## (.*)$", re.MULTILINE)
_ANCHOR: Final = re.compile(r"\s*\{#([\w-]+)\}")
_HTML: Final = (
    (re.compile(r"<head>.*?</head>", re.DOTALL), ""),
    (re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL), r"\n# \1\n\n"),
    (re.compile(r'<h2[^>]*id="([^"]*)"[^>]*>(.*?)</h2>', re.DOTALL), r"\n## \2 {#\1}\n\n"),
    (re.compile(r"<li[^>]*>"), "\n- "),
    (re.compile(r"</p>|</ul>|</ol>"), "\n\n"),
    (re.compile(r"<[^>]+>"), ""),
)


def read_articles(folder: Path) -> tuple[Record, ...]:
    """Every section of every article, by path; those that are not published are disabled.

    Raises:
        BadEvalFile: if the folder has no articles, or one cannot be read.
    """
    paths = sorted(path for path in folder.rglob("*") if path.suffix in {".md", ".html"})
    if not paths:
        raise BadEvalFile(folder, "", "holds no articles")
    defaults = _yaml(folder / DEFAULTS, (folder / DEFAULTS).read_text())
    return tuple(record for path in paths for record in _sections(folder, path, defaults))


def _sections(folder: Path, path: Path, defaults: Mapping[str, object]) -> Iterator[Record]:
    text = path.read_text()
    if path.suffix == ".html":
        own: Mapping[str, object] = dict(_META.findall(text))
        for pattern, instead in _HTML:
            text = pattern.sub(instead, text)
        text = unescape(text)
    else:
        front = _FRONT.match(text)
        own = _yaml(path, front[1]) if front else {}
        text = text[front.end() :] if front else text
    title = _TITLE.search(text)
    if title is None:
        raise BadEvalFile(path, "", "has no title")
    place = path.relative_to(folder).as_posix().removesuffix(path.suffix)
    lead, *rest = _SECTION.split(text[title.end() :])
    parts = [("", lead)] if lead.strip() else []
    parts += list(zip(rest[::2], rest[1::2], strict=True))
    for heading, body in parts:
        anchor = _ANCHOR.search(heading)
        suffix = f"#{anchor[1]}" if anchor and len(parts) > 1 else ""
        values = {**defaults, **own}
        yield _record(f"{values['namespace']}:{place}{suffix}", title[1], _ANCHOR.sub("", heading), body, values)


def _record(record_id: str, title: str, section: str, body: str, values: Mapping[str, object]) -> Record:
    return Record(
        id=record_id,
        kind=Kind.PASSAGE,
        name=title.strip(),
        namespace=str(values["namespace"]),
        description=body.strip(),
        section=section.strip(),
        product=str(values.get("product", "")),
        locale=str(values.get("locale", "")),
        release=str(values.get("release", "")),
        keywords=_texts(values.get("keywords")),
        tags=_texts(values.get("tags")),
        access=Access(tenant=str(values["tenant"]), permissions=tuple(sorted(_texts(values.get("permissions"))))),
        status=Status.ENABLED if values["status"] == "published" else Status.DISABLED,
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, list) else ()


def _yaml(path: Path, text: str) -> Mapping[str, object]:
    """Fields as texts and lists of texts: a release is no number, and a day no date."""
    try:
        values: object = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 -- makes texts of everything
    except yaml.YAMLError as exc:
        raise BadEvalFile(path, "", "is no YAML") from exc
    if not isinstance(values, dict):
        raise BadEvalFile(path, "", "must hold fields and their values")
    return values
