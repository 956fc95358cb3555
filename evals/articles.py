"""Articles of the small knowledge base as records, read as ``shortlist import docs`` reads a folder; it ranks none."""

from datetime import UTC, datetime
from pathlib import Path

from cluster.errors import UnreadableSource
from cluster.importers.passages.reader import DocsReader
from cluster.importers.passages.settings import Options
from cluster.importers.source import Defaults, RawRecord, Refusal
from evals.errors import BadEvalFile
from serve_app.record_wire import parse_record
from shards.record import Record


def read_articles(folder: Path) -> tuple[Record, ...]:
    """Every section of every article, by path; those that are not published are disabled.

    Raises:
        BadEvalFile: if the folder has no articles, or one cannot be read.
    """
    records = []
    try:
        for item in DocsReader(folder, Options(), datetime.now(UTC)).items():
            if isinstance(item, Refusal):
                raise BadEvalFile(folder / item.name, "", item.reason)
            if isinstance(item, RawRecord):
                records.append(parse_record(Defaults().fill(item.values)))
    except UnreadableSource as exc:
        raise BadEvalFile(folder, "", exc.reason) from exc
    if not records:
        raise BadEvalFile(folder, "", "holds no articles")
    return tuple(records)
