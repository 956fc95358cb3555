"""One import from raw items to the registry and its report."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.errors import UnreadableSource
from cluster.importers.source import Defaults, Ignored, Incomplete, Item, Opened, RawRecord, ReadOnlyClaims, Refusal
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


def test_a_refusal_says_where_the_record_stands(registry: Registry) -> None:
    placed = RawRecord(label="b", values={"id": "b", "namespace": "shop"}, share=0.5, place="line 7")
    report = run(registry, item("a"), placed)
    assert [(r.name, r.place, r.reason) for r in report.refused] == [("b", "line 7", "name: required")]


def test_a_source_without_records_is_noted(registry: Registry) -> None:
    assert run(registry).notes == ("The source holds no records.",)
    assert run(registry, item("a")).notes == ()


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
    bare = RawRecord(label="a", values={"id": "a", "name": "n", "namespace": "given"}, share=0.5)
    declared = item("b", access={"side_effect": "destructive", "permissions": ["p"]})
    passage = RawRecord(label="c", values={"id": "c", "kind": "passage", "title": "t", "namespace": "given"}, share=1.0)
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


@pytest.mark.parametrize(("owner", "tenant"), [("acme", None), (None, "acme")])
def test_an_import_never_changes_the_owner_of_an_id(registry: Registry, owner: str | None, tenant: str | None) -> None:
    run(registry, item("a"), defaults=Defaults(tenant=owner))
    report = run(registry, item("a", name="taken"), defaults=Defaults(tenant=tenant))
    assert [(r.name, r.reason) for r in report.refused] == [("a", "id: belongs to another tenant")]
    stored = registry.get("a")
    assert stored is not None
    assert (stored.name, stored.access.tenant) == ("n", owner or "*")


def test_the_report_tells_owner_namespaces_and_an_example_of_what_was_taken(registry: Registry) -> None:
    run(registry, item("theirs"), defaults=Defaults(tenant="acme"))
    report = run(registry, item("theirs", namespace="never"), item("b"), item("a", namespace="crm"))
    assert (report.owners, report.namespaces, report.example) == (("*",), ("crm", "shop"), "b")
    assert run(registry, item("theirs")).example == ""


def test_every_refusal_names_its_file(registry: Registry) -> None:
    run(registry, item("theirs"), defaults=Defaults(tenant="acme"))
    bad = Refusal(name="line 3", reason="not JSON")
    first, second = Opened(source="one.jsonl"), Opened(source="two.jsonl")
    report = run(registry, first, bad, item("a"), second, item("a"), item("b", name=""), item("theirs"))
    assert [(r.name, r.source) for r in report.refused] == [
        ("line 3", "one.jsonl"),
        ("a", "two.jsonl"),
        ("b", "two.jsonl"),
        ("theirs", "two.jsonl"),
    ]


def test_ignored_fields_are_noted_with_their_count_over_all_files(registry: Registry) -> None:
    items = [Ignored(field="label_fa", records=1_200), Ignored(field="x", records=1), Ignored(field="x", records=1)]
    assert run(registry, *items, Ignored(field="y", records=1)).notes == (
        "ignored field 'label_fa' in 1,200 records",
        "ignored field 'x' in 2 records",
        "ignored field 'y' in 1 record",
    )
    many = [Ignored(field=f"f{number}", records=1) for number in range(30)]
    assert run(registry, *many).notes[-1] == "ignored 10 more fields"


def test_claims_to_be_read_only_are_noted_unless_the_operator_says_so_too(registry: Registry) -> None:
    claims = (ReadOnlyClaims(tools=2), ReadOnlyClaims(tools=1))
    assert run(registry, *claims).notes == ("3 tools claim to be read-only; not believed, see --side-effect",)
    assert run(registry, item("a"), *claims, defaults=Defaults(side_effect=SideEffect.READ)).notes == ()


def test_notes_do_not_keep_a_namespace_from_being_replaced(registry: Registry) -> None:
    run(registry, item("a"), item("b"))
    items: list[Item] = [item("a"), Ignored(field="x", records=1)]
    assert replace_namespaces(registry, items, parse_record, Defaults(), lambda *_: None).removed == 1


def test_replacing_beside_records_of_another_tenant_removes_nothing_and_says_so(registry: Registry) -> None:
    run(registry, item("theirs"), defaults=Defaults(tenant="acme"))
    run(registry, item("a"))
    report = replace_namespaces(registry, [item("theirs")], parse_record, Defaults(), lambda *_: None)
    assert (report.removed, report.notes) == (0, ("Nothing was removed where records of another tenant were refused.",))


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
