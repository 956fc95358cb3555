"""A scope's mask beside the meaning of the scope for each record."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given

from shards.grants import GrantLists
from shards.mask import NamespaceRows, admitted
from shards.record import Access, Kind, Record, SideEffect, Status
from shards.scope import Denial, Narrowing, Scope
from shards.segment_builder import SegmentBuilder
from tests.depth import examples
from tests.shards.makers import ALL, EVERYTHING, admits, record
from tests.worlds import World, scopes, worlds


def seen(scope: Scope, *records: Record, lists: dict[str, tuple[str, ...]] | None = None) -> list[str]:
    builder = SegmentBuilder()
    for one in records:
        builder.add(one, one.to_json())
    segment = builder.build()
    mask = admitted(scope, segment, GrantLists().changed(lists or {}, 1), NamespaceRows())
    return [record_id for record_id, visible in zip(segment.ids, mask.tolist(), strict=True) if visible]


@examples(100)
@given(world=worlds(), scope=scopes)
def test_the_mask_is_the_meaning_of_the_scope_for_each_record(world: World, scope: Scope) -> None:
    expected = sorted(one.id for one in world.records if admits(scope, one, world.grant_lists))
    assert seen(scope, *world.records, lists=world.grant_lists) == expected


def granting(**values: object) -> Scope:
    return Scope(grants=(replace(ALL, **values),))  # type: ignore[arg-type]


def accessible(record_id: str, **values: object) -> Record:
    return record(record_id, access=replace(Access(tenant="*"), **values))  # type: ignore[arg-type]


DENIED = Denial(reason="no", namespaces=frozenset({"srv.one"}))
MODES = (accessible("a"), accessible("b", modes=("analyzer",)), accessible("c", modes=("autonomous", "other")))
PERMISSIONS = (
    accessible("a"),
    accessible("b", permissions=("p1",)),
    accessible("c", permissions=("p1", "p2")),
    accessible("d", permissions=("p3",)),
)
NAMESPACES = tuple(record(name, namespace=name) for name in ("srv", "srv.one", "srv.two", "srvx"))
EFFECTS = tuple(accessible(effect.value[0], side_effect=effect) for effect in SideEffect)


@pytest.mark.parametrize(
    ("scope", "records", "expected"),
    [
        pytest.param(Scope(grants=()), MODES, [], id="no grant admits nothing"),
        pytest.param(granting(mode="analyzer"), MODES, ["a", "b"], id="a record without modes is in every mode"),
        pytest.param(granting(mode=""), MODES, ["a"], id="a caller without a mode sees records without modes"),
        pytest.param(granting(permissions=frozenset({"p1"})), PERMISSIONS, ["a", "b"], id="all permissions are needed"),
        pytest.param(granting(permissions=frozenset()), PERMISSIONS, ["a"], id="no permission sees open records"),
        pytest.param(granting(tenants=frozenset()), MODES, [], id="no tenant, nothing"),
        pytest.param(
            granting(tenants=frozenset({"*"})),
            (record("a", access=Access(tenant="acme")), record("b")),
            ["b"],
            id="the star is the shared tenant and no wildcard",
        ),
        pytest.param(granting(side_effects=frozenset({SideEffect.READ})), EFFECTS, ["r"], id="side effects"),
        pytest.param(granting(namespaces=frozenset({"srv"})), NAMESPACES, ["srv"], id="an exact namespace"),
        pytest.param(granting(namespaces=frozenset({"srv.*"})), NAMESPACES, ["srv.one", "srv.two"], id="a prefix"),
        pytest.param(granting(namespaces=frozenset()), NAMESPACES, [], id="an empty set of namespaces admits none"),
        pytest.param(granting(ids=frozenset({"a", "zz"})), MODES, ["a"], id="ids"),
        pytest.param(granting(ids=frozenset()), MODES, [], id="an empty set of ids admits none"),
        pytest.param(granting(grant_list="unknown"), MODES, [], id="an unknown grant list admits nothing"),
        pytest.param(
            Scope(grants=(replace(ALL, grant_list="unknown"), replace(ALL, ids=frozenset({"c"}), mode="other"))),
            MODES,
            ["c"],
            id="one grant is enough",
        ),
        pytest.param(
            Scope(grants=(ALL, replace(ALL, ids=frozenset({"srv.one"}))), denials=(DENIED,)),
            NAMESPACES,
            ["srv", "srv.two", "srvx"],
            id="a denied namespace beats any grant",
        ),
        pytest.param(
            Scope(grants=(ALL,), denials=(Denial(reason="no", ids=frozenset({"a", "zz"})),)),
            MODES,
            ["b"],
            id="a denied id beats any grant",
        ),
        pytest.param(
            Scope(grants=(), narrowing=Narrowing(ids=frozenset({"a"}))), MODES, [], id="narrowing never widens"
        ),
        pytest.param(Scope(grants=(ALL,), narrowing=Narrowing(kinds=frozenset())), MODES, [], id="narrowed to no kind"),
        pytest.param(
            Scope(grants=(ALL,), narrowing=Narrowing(kinds=frozenset({"passage"}))),
            (record("a"), record("b", kind=Kind.PASSAGE)),
            ["b"],
            id="narrowed to a kind",
        ),
        pytest.param(
            EVERYTHING,
            (record("a"), record("b", status=Status.DISABLED), record("c", status=Status.DEPRECATED)),
            ["a"],
            id="only enabled records",
        ),
    ],
)
def test_who_sees_what(scope: Scope, records: tuple[Record, ...], expected: list[str]) -> None:
    assert seen(scope, *records) == expected
    assert [one.id for one in records if admits(scope, one, {})] == expected


@pytest.mark.parametrize("make", [frozenset, lambda ids: frozenset((*ids, *map(str, range(50))))])
def test_few_and_many_ids_are_looked_up_alike(make: Callable[[tuple[str, ...]], frozenset[str]]) -> None:
    records = [record(f"r{number}") for number in range(20)]
    assert seen(granting(ids=make(("r3", "r7"))), *records) == ["r3", "r7"]
