"""The support knowledge base of our own: every label is of a record that the importer makes."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from cluster.importers.passages.reader import DocsReader
from cluster.importers.passages.settings import Options
from cluster.importers.source import RawRecord, Refusal
from serve_app.record_wire import parse_record
from shards.record import Record, Status

KNOWLEDGE = Path(__file__).parents[2] / "evals/gold/knowledge"
SHAPES = {"amount", "date", "boolean", "name", "text", "list", "comparison"}


@pytest.fixture(scope="module")
def records() -> dict[str, Record]:
    items = list(DocsReader(KNOWLEDGE / "articles", Options(), datetime(2026, 11, 1, tzinfo=UTC)).items())
    assert [item for item in items if isinstance(item, Refusal)] == []
    read = [parse_record(item.values) for item in items if isinstance(item, RawRecord)]
    return {record.id: record for record in read}


def rows(name: str) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in (KNOWLEDGE / name).read_bytes().splitlines()]


def ids(row: dict[str, object]) -> list[str]:
    relevant = row["relevant"]
    assert isinstance(relevant, list)
    return relevant


def plain(text: str) -> str:
    return " ".join(text.replace("`", "").replace("*", "").split())


def test_questions_are_complete_and_answered_by_searchable_records(records: dict[str, Record]) -> None:
    questions = rows("questions.jsonl")
    assert len(questions) >= 100
    assert len({row["id"] for row in questions}) == len(questions)
    for row in questions:
        assert list(row) == ["id", "question", "lang", "kind", "relevant", "answer", "shape"]
        assert row["shape"] in SHAPES
        assert (row["kind"] == "unanswered") == (not ids(row)) == (not row["answer"])
        assert all(records[one].status is Status.ENABLED for one in ids(row)), row["id"]


def test_the_answer_stands_in_the_record_where_it_is_more_than_yes_or_no(records: dict[str, Record]) -> None:
    for row in rows("questions.jsonl"):
        if row["shape"] in ("boolean", "comparison", "list") or not ids(row):
            continue
        texts = [plain(f"{records[one].name} {records[one].description}") for one in ids(row)]
        assert any(str(row["answer"]) in text for text in texts), row["id"]


def test_every_kind_and_language_is_there() -> None:
    kinds = Counter((row["kind"], row["lang"]) for row in rows("questions.jsonl"))
    for kind in ("exact", "paraphrase", "permission"):
        assert {lang for known, lang in kinds if known == kind} == {"en", "fa", "ru"}
    assert kinds["stale", "en"] >= 10


def test_permission_questions_are_about_restricted_records_only(records: dict[str, Record]) -> None:
    for row in rows("questions.jsonl"):
        restricted = [records[one].access.tenant != "*" for one in ids(row)]
        assert all(restricted) if row["kind"] == "permission" else not any(restricted)


def test_pairs_are_of_records_and_duplicates_share_product_locale_and_tenant(records: dict[str, Record]) -> None:
    verdicts: Counter[object] = Counter()
    for row in rows("duplicates.jsonl"):
        assert list(row) == ["id", "left", "right", "verdict", "why"]
        left, right = records[str(row["left"])], records[str(row["right"])]
        verdicts[row["verdict"]] += 1
        if row["verdict"] == "duplicate":
            assert (left.product, left.locale, left.release, left.access) == (
                right.product, right.locale, right.release, right.access
            )  # fmt: skip
    assert set(verdicts) == {"duplicate", "review", "distinct"}
    assert verdicts["duplicate"] >= 10
