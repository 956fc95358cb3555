"""One import from raw items to the registry and its report."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.errors import UnreadableSource
from cluster.importers.source import Defaults, Incomplete, Item, RawRecord, Refusal
from cluster.importing import ImportReport, Phase, replace_namespaces, run_import
from cluster.registry import Registry
from serve_app.record_wire import parse_record
from shards.record import SideEffect

NOTHING_SAID = Defaults()


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    opened = Registry.in_home(tmp_path)
    yield opened
    opened.close()


def item(record_id: str, **values: object) -> RawRecord:
    return RawRecord(label=record_id, values={"id": record_id, "name": "n", "namespace": "shop"} | values, share=0.5)


def run(registry: Registry, *items: Item, defaults: Defaults = NOTHING_SAID) -> ImportReport:
    return run_import(registry, items, parse_record, defaults, lambda *_: None)


def test_sound_records_are_imported_and_bad_ones_refused_by_name_with_the_reason(registry: Registry) -> None:
    bad = Refusal(name="line 3", reason="not JSON")
    report = run(registry, item("a"), item("b", name="x" * 600), bad, item("c"), item("a", name="again"))
    assert (report.imported, report.unchanged, report.seq) == (2, 0, 2)
    assert [refusal.name for refusal in report.refused] == ["b", "line 3", "a"]
    assert "name: 'xxxx" in report.refused[0].reason
    assert "at most 512 characters" in report.refused[0].reason
    assert "an earlier record" in report.refused[2].reason
    stored = registry.get("a")
    assert stored is not None
    assert stored.name == "n"


def test_a_second_import_of_the_same_is_unchanged(registry: Registry) -> None:
    run(registry, item("a"), item("b"))
    report = run(registry, item("a"), item("b", description="new"))
    assert (report.imported, report.unchanged, report.seq) == (1, 1, 3)


def test_a_record_with_an_older_version_is_refused(registry: Registry) -> None:
    run(registry, item("a", version=5))
    report = run(registry, item("a", version=4, description="older"))
    assert [(r.name, r.reason) for r in report.refused] == [("a", "version: must be newer than the stored 5")]


def test_a_source_that_breaks_off_leaves_nothing(registry: Registry) -> None:
    def broken() -> Iterator[Item]:
        yield item("a")
        raise UnreadableSource("file", "torn")

    with pytest.raises(UnreadableSource):
        run_import(registry, broken(), parse_record, Defaults(), lambda *_: None)
    assert registry.last_seq() == 0


def test_defaults_fill_only_what_a_record_does_not_say(registry: Registry) -> None:
    defaults = Defaults(tenant="acme", namespace="given", side_effect=SideEffect.READ)
    bare = RawRecord(label="a", values={"id": "a", "name": "n"}, share=0.5)
    declared = item("b", access={"side_effect": "destructive", "permissions": ["p"]})
    passage = RawRecord(label="c", values={"id": "c", "kind": "passage", "title": "t"}, share=1.0)
    assert run(registry, bare, declared, passage, defaults=defaults).refused == ()
    stored = [registry.get(name) for name in "abc"]
    assert [record and record.access.tenant for record in stored] == ["acme"] * 3
    assert [record and record.access.side_effect for record in stored] == ["read", "destructive", "read"]
    assert [record and record.namespace for record in stored] == ["given", "shop", "given"]


def test_an_import_for_a_tenant_refuses_records_and_ids_of_another(registry: Registry) -> None:
    run(registry, item("taken"))
    claimed = item("a", access={"tenant": "other"})
    report = run(registry, claimed, item("taken"), item("b"), defaults=Defaults(tenant="acme"))
    assert report.imported == 1
    assert [(r.name, r.reason.split(":")[0]) for r in report.refused] == [("a", "access.tenant"), ("taken", "id")]


def test_replacing_removes_what_the_source_no_longer_has(registry: Registry) -> None:
    run(registry, item("a"), item("b"), item("other", namespace="crm"))
    report = replace_namespaces(registry, [item("a"), item("c")], parse_record, Defaults(), lambda *_: None)
    assert (report.imported, report.unchanged, report.removed) == (1, 1, 1)
    assert [registry.get(name) is not None for name in ("a", "b", "c", "other")] == [True, False, True, True]


@pytest.mark.parametrize("flaw", [Refusal(name="x", reason="bad"), Incomplete(reason="more pages")])
def test_replacing_removes_nothing_when_the_source_is_flawed(registry: Registry, flaw: Item) -> None:
    run(registry, item("a"), item("b"))
    report = replace_namespaces(registry, [item("a"), flaw], parse_record, Defaults(), lambda *_: None)
    assert report.removed == 0
    assert "Nothing was removed" in report.notes[-1]
    assert registry.get("b") is not None


def test_progress_goes_from_reading_to_writing_and_ends_at_one(registry: Registry) -> None:
    seen: list[tuple[Phase, float]] = []
    items = [item(str(number)) for number in range(1_200)]
    run_import(registry, items, parse_record, Defaults(), lambda phase, share, _: seen.append((phase, share)))
    assert [phase for phase, _ in seen] == [Phase.READING] * 4 + [Phase.WRITING] * 4
    assert seen[-1] == (Phase.WRITING, 1.0)
