"""Policy: default deny, narrowing that only narrows, and compiled scopes that say what the policy file says."""

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.errors import InvalidConfiguration, InvalidRequest
from cluster.policy_file import DenialRule, GrantRule, ModeRule, PolicyFile, RoleRule
from cluster.registry_values import grant_list_key
from cluster.scope import Policy, Principal
from shards.record import Access, Kind, Record, SideEffect, Status
from shards.scope import Denial, Grant, Narrowing, Scope

TENANTS = ("acme", "bolt", "*")
PERMISSIONS = ("p", "q")
MODES = ("analyzer", "autonomous")
NAMESPACES = ("aws", "aws.s3", "azure")
PATTERNS = ("aws", "aws*", "azure", "*")
IDS = ("r1", "r2", "r3")
LISTS = ("one", "two")

T = TypeVar("T")
U = TypeVar("U")
Lists = Mapping[str, tuple[str, ...]]


def fits(pattern: str, namespace: str) -> bool:
    return namespace[: len(pattern) - 1] == pattern[:-1] if pattern[-1] == "*" else namespace == pattern


def listed(name: str | None, record: Record, lists: Lists) -> bool:
    return name is None or record.id in lists.get(name, ())


def grant_admits(grant: Grant, record: Record, lists: Lists) -> bool:
    access = record.access
    return (
        access.tenant in grant.tenants
        and set(access.permissions) <= grant.permissions
        and (not access.modes or grant.mode in access.modes)
        and access.side_effect in grant.side_effects
        and (grant.namespaces is None or any(fits(one, record.namespace) for one in grant.namespaces))
        and (grant.ids is None or record.id in grant.ids)
        and listed(grant.grant_list, record, lists)
    )


def denial_matches(denial: Denial, record: Record) -> bool:
    return record.id in denial.ids or any(fits(one, record.namespace) for one in denial.namespaces)


def narrowing_admits(narrowing: Narrowing, record: Record, lists: Lists) -> bool:
    return (
        (narrowing.kinds is None or record.kind in narrowing.kinds)
        and (narrowing.namespaces is None or any(fits(one, record.namespace) for one in narrowing.namespaces))
        and (narrowing.domains is None or record.domain in narrowing.domains)
        and (narrowing.ids is None or record.id in narrowing.ids)
        and listed(narrowing.grant_list, record, lists)
    )


def admits(scope: Scope, record: Record, lists: Lists) -> bool:
    """The meaning of a scope as ``shards.scope`` words it."""
    return (
        record.status is Status.ENABLED
        and any(grant_admits(grant, record, lists) for grant in scope.grants)
        and not any(denial_matches(denial, record) for denial in scope.denials)
        and narrowing_admits(scope.narrowing, record, lists)
    )


def intended(rules: PolicyFile, principal: Principal, record: Record, lists: Lists) -> bool:
    """The meaning of a policy file, written without a scope in between."""
    if principal.mode not in rules.modes or record.status is not Status.ENABLED:
        return False
    held = [rules.roles[role] for role in principal.roles if role in rules.roles]
    for denial in (*rules.denials, *(denial for role in held for denial in role.denials)):
        if record.id in (denial.ids or ()) or any(fits(one, record.namespace) for one in denial.namespaces or ()):
            return False
    if principal.grant_list is not None and record.id not in lists.get(
        f"{principal.tenant}/{principal.grant_list}", ()
    ):
        return False
    for rule in (grant for role in held for grant in role.grants):
        tenants = {principal.tenant if tenant == "$tenant" else tenant for tenant in rule.tenants}
        own_list = None if rule.grant_list is None else f"{principal.tenant}/{rule.grant_list}"
        if (
            record.access.tenant in tenants
            and all(permission in rule.permissions for permission in record.access.permissions)
            and record.access.side_effect in rule.side_effects
            and record.access.side_effect in rules.modes[principal.mode].side_effects
            and (rule.modes is None or principal.mode in rule.modes)
            and (not record.access.modes or principal.mode in record.access.modes)
            and (rule.namespaces is None or any(fits(one, record.namespace) for one in rule.namespaces))
            and (rule.ids is None or record.id in rule.ids)
            and listed(own_list, record, lists)
        ):
            return True
    return False


def some(values: tuple[str, ...], at_least: int = 1) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), min_size=at_least, unique=True).map(lambda found: tuple(sorted(found)))


def mostly(value: T, otherwise: st.SearchStrategy[U]) -> st.SearchStrategy[T | U]:
    """Keeps most filters open, so that each one alone often decides."""
    return st.integers(0, 3).flatmap(lambda die: otherwise if die == 0 else st.just(value))


side_effects = st.lists(st.sampled_from(tuple(SideEffect)), min_size=1, unique=True).map(tuple)
grant_rules = st.builds(
    GrantRule,
    name=st.just("rule"),
    tenants=some(("$tenant", "*", "bolt")),
    permissions=mostly(PERMISSIONS, some(PERMISSIONS, 0)),
    side_effects=mostly(tuple(SideEffect), side_effects),
    modes=st.none() | some(MODES),
    namespaces=mostly(None, some(PATTERNS)),
    ids=mostly(None, some(IDS)),
    grant_list=mostly(None, st.sampled_from(LISTS)),
)
denial_rules = st.builds(DenialRule, name=st.just("no"), namespaces=st.none() | some(PATTERNS[:3]), ids=some(IDS))
role_rules = st.builds(
    RoleRule,
    write=st.sampled_from(["none", "own_tenant", "any"]),
    grants=grant_rules.map(lambda rule: (rule,)) | st.just(()),
    denials=st.just(()) | denial_rules.map(lambda rule: (rule,)),
)
policies = st.builds(
    PolicyFile,
    modes=st.fixed_dictionaries(
        {mode: st.builds(ModeRule, side_effects=side_effects, k_ceiling=st.just(9)) for mode in MODES}
    ),
    roles=st.dictionaries(st.sampled_from(["reader", "writer", "admin"]), role_rules),
    denials=st.just(()) | denial_rules.map(lambda rule: (rule,)),
)
principals = st.builds(
    Principal,
    subject=st.just("s"),
    tenant=st.sampled_from(("acme", "bolt")),
    roles=st.frozensets(st.sampled_from(["reader", "writer", "admin", "ghost"])),
    mode=st.sampled_from((*MODES, "ghost")),
    grant_list=mostly(None, st.sampled_from(LISTS)),
)
records = st.builds(
    Record,
    id=st.sampled_from(IDS),
    kind=st.sampled_from(tuple(Kind)),
    name=st.just("n"),
    namespace=st.sampled_from(NAMESPACES),
    description=st.just(""),
    domain=st.sampled_from(["", "mail"]),
    status=mostly(Status.ENABLED, st.sampled_from(tuple(Status))),
    access=st.builds(
        Access,
        tenant=st.sampled_from(TENANTS),
        permissions=mostly((), some(PERMISSIONS, 0)),
        modes=mostly((), some(MODES, 0)),
        side_effect=st.sampled_from(tuple(SideEffect)),
    ),
)
narrowings = st.builds(
    Narrowing,
    kinds=st.none() | st.frozensets(st.sampled_from(("tool", "passage"))),
    namespaces=st.none() | st.frozensets(st.sampled_from(PATTERNS)),
    domains=st.none() | st.frozensets(st.sampled_from(("", "mail"))),
    ids=st.none() | st.frozensets(st.sampled_from(IDS)),
)
grant_lists = st.dictionaries(
    st.sampled_from([f"{tenant}/{name}" for tenant in ("acme", "bolt") for name in LISTS]), some(IDS, 0)
)


def principal(*roles: str, tenant: str = "acme", mode: str = "autonomous", grant_list: str | None = None) -> Principal:
    return Principal(subject="s", tenant=tenant, roles=frozenset(roles), mode=mode, grant_list=grant_list)


def record(tenant: str, side_effect: SideEffect = SideEffect.READ, name: str = "r1", namespace: str = "aws") -> Record:
    access = Access(tenant=tenant, side_effect=side_effect)
    return Record(id=name, kind=Kind.TOOL, name="n", namespace=namespace, description="", access=access)


@given(rules=policies, caller=principals, found=st.lists(records, min_size=4, max_size=12), lists=grant_lists)
def test_a_compiled_scope_admits_what_the_policy_file_says(
    rules: PolicyFile, caller: Principal, found: list[Record], lists: Lists
) -> None:
    scope = Policy(rules).compile(caller)
    for one in found:
        assert admits(scope, one, lists) == intended(rules, caller, one, lists)


@given(
    rules=policies,
    caller=principals,
    narrowing=narrowings,
    list_name=st.none() | st.sampled_from(LISTS),
    found=st.lists(records, min_size=4, max_size=12),
    lists=grant_lists,
)
def test_a_narrowing_only_narrows(
    *,
    rules: PolicyFile,
    caller: Principal,
    narrowing: Narrowing,
    list_name: str | None,
    found: list[Record],
    lists: Lists,
) -> None:
    key = None if list_name is None else grant_list_key(caller.tenant, list_name)
    asked = Narrowing(
        kinds=narrowing.kinds,
        namespaces=narrowing.namespaces,
        domains=narrowing.domains,
        ids=narrowing.ids,
        grant_list=key,
    )
    policy = Policy(rules)
    try:
        narrowed = policy.compile(caller, asked)
    except InvalidRequest:
        return  # three different lists do not fit one scope, and an error admits nothing
    opened = policy.compile(caller)
    for one in found:
        expected = admits(opened, one, lists) and narrowing_admits(asked, one, lists)
        assert admits(narrowed, one, lists) == expected


@given(rules=policies, caller=principals, more=denial_rules, found=st.lists(records, min_size=4, max_size=12))
def test_a_further_denial_only_narrows(
    rules: PolicyFile, caller: Principal, more: DenialRule, found: list[Record]
) -> None:
    stricter = rules.model_copy(update={"denials": (more,)}) if not rules.denials else rules
    before, after = Policy(rules).compile(caller), Policy(stricter).compile(caller)
    for one in found:
        assert admits(before, one, {}) or not admits(after, one, {})


@given(rules=policies, caller=principals)
def test_compiling_is_deterministic_and_survives_pickling(rules: PolicyFile, caller: Principal) -> None:
    policy = Policy(rules)
    again = pickle.loads(pickle.dumps(policy))  # noqa: S301 -- our own bytes
    assert again.version == policy.version
    assert again.compile(caller).fingerprint == policy.compile(caller).fingerprint


@pytest.mark.parametrize(
    "caller",
    [
        principal(),
        principal("ghost"),
        principal("Reader"),
        principal("reader", mode="ghost"),
        principal("reader", mode=""),
        principal("reader", tenant=""),
        principal("reader", tenant="*"),
        principal("reader", tenant="$tenant"),
        principal("reader", tenant="acme/x"),
        principal("admin", tenant="*"),
    ],
)
def test_what_the_policy_does_not_know_gets_nothing(caller: Principal) -> None:
    policy = Policy.load()
    assert policy.compile(caller).grants == ()
    assert policy.writable_tenants(caller) == frozenset()
    assert not policy.may_manage_grant_lists(caller)
    assert not policy.may_operate(caller)


@pytest.mark.parametrize(
    ("role", "own", "shared", "foreign", "manage", "operate"),
    [
        ("reader", False, False, False, False, False),
        ("writer", True, False, False, False, False),
        ("tenant_admin", True, False, False, True, False),
        ("admin", True, True, True, True, True),
    ],
)
def test_the_shipped_roles_have_these_rights(
    *, role: str, own: bool, shared: bool, foreign: bool, manage: bool, operate: bool
) -> None:
    policy, caller = Policy.load(), principal(role, mode="analyzer")
    writable = policy.writable_tenants(caller)
    assert [writable is None or tenant in writable for tenant in ("acme", "*", "bolt")] == [own, shared, foreign]
    assert policy.may_manage_grant_lists(caller) == manage
    assert policy.may_operate(caller) == operate


@pytest.mark.parametrize("role", ["reader", "writer", "tenant_admin", "admin"])
def test_the_shipped_roles_see_their_own_and_the_shared_records_only(role: str) -> None:
    scope = Policy.load().compile(principal(role))
    assert [admits(scope, record(tenant), {}) for tenant in ("acme", "*", "bolt")] == [True, True, False]


def test_analyzers_see_reading_records_only() -> None:
    policy = Policy.load()
    for mode, seen in (("analyzer", [True, False, False]), ("autonomous", [True, True, True])):
        scope = policy.compile(principal("admin", mode=mode))
        assert [admits(scope, record("acme", effect), {}) for effect in SideEffect] == seen


def test_the_shipped_modes_have_these_ceilings() -> None:
    policy = Policy.load()
    assert policy.modes == {"analyzer", "autonomous"}
    assert (policy.k_ceiling("analyzer"), policy.k_ceiling("autonomous")) == (48, 128)
    with pytest.raises(InvalidRequest, match="mode"):
        policy.k_ceiling("ghost")


def parsed(text: str, folder: Path) -> Policy:
    path = folder / "policy.yaml"
    path.write_text("modes: {analyzer: {side_effects: [read], k_ceiling: 5}}\n" + text)
    return Policy.load(path)


def test_one_denied_tool_of_an_allowed_server_is_denied(tmp_path: Path) -> None:
    policy = parsed(
        "roles: {r: {grants: [{name: g, tenants: ['*'], namespaces: [aws]}], denials: [{name: d, ids: [bad]}]}}",
        tmp_path,
    )
    scope = policy.compile(principal("r", mode="analyzer"))
    assert admits(scope, record("*", name="good"), {})
    assert not admits(scope, record("*", name="bad"), {})
    assert not admits(scope, record("*", name="good", namespace="azure"), {})


def test_a_policy_on_record_ids_admits_just_those(tmp_path: Path) -> None:
    policy = parsed("roles: {r: {grants: [{name: g, tenants: ['*'], ids: [a, b]}]}}", tmp_path)
    scope = policy.compile(principal("r", mode="analyzer"))
    assert [admits(scope, record("*", name=one), {}) for one in ("a", "b", "c")] == [True, True, False]


def test_a_denial_of_one_role_takes_away_what_another_grants(tmp_path: Path) -> None:
    policy = parsed(
        "roles: {r: {grants: [{name: g, tenants: ['*']}]}, x: {denials: [{name: d, namespaces: ['aw*']}]}}", tmp_path
    )
    assert admits(policy.compile(principal("r", mode="analyzer")), record("*"), {})
    assert not admits(policy.compile(principal("r", "x", mode="analyzer")), record("*"), {})


def test_a_grant_for_one_mode_is_gone_in_the_other(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(
        "modes: {a: {side_effects: [read], k_ceiling: 1}, b: {side_effects: [read], k_ceiling: 1}}\n"
        "roles: {r: {grants: [{name: g, tenants: ['*'], modes: [a]}]}}"
    )
    policy = Policy.load(path)
    assert [len(policy.compile(principal("r", mode=mode)).grants) for mode in ("a", "b")] == [1, 0]


def test_parts_of_two_grants_never_add_up(tmp_path: Path) -> None:
    policy = parsed(
        "roles: {a: {grants: [{name: g, tenants: ['*'], permissions: [p]}]},"
        " b: {grants: [{name: g, tenants: ['*'], permissions: [q]}]}}",
        tmp_path,
    )
    both = Record(
        id="r",
        kind=Kind.TOOL,
        name="n",
        namespace="",
        description="",
        access=Access(tenant="*", permissions=("p", "q")),
    )
    assert not admits(policy.compile(principal("a", "b", mode="analyzer")), both, {})


def test_every_grant_and_denial_names_its_rule(tmp_path: Path) -> None:
    policy = parsed(
        "roles: {r: {grants: [{name: g, tenants: ['*']}], denials: [{name: d, ids: [x]}]}}\n"
        "denials: [{name: all, ids: [y]}]",
        tmp_path,
    )
    scope = policy.compile(principal("r", mode="analyzer"))
    assert [grant.reason for grant in scope.grants] == ["r/g"]
    assert [denial.reason for denial in scope.denials] == ["policy/all", "r/d"]


def test_equal_authority_has_one_fingerprint() -> None:
    policy = Policy.load()
    one = policy.compile(Principal(subject="a", tenant="acme", roles=frozenset({"reader"}), mode="analyzer"))
    two = policy.compile(Principal(subject="b", tenant="acme", roles=frozenset({"reader", "x"}), mode="analyzer"))
    other = policy.compile(principal("reader", mode="analyzer", tenant="bolt"))
    assert one.fingerprint == two.fingerprint != other.fingerprint


@pytest.mark.parametrize(
    "other",
    [
        principal("reader", tenant="bolt", mode="analyzer"),
        principal("reader", mode="autonomous"),
        principal("writer", mode="analyzer"),
        principal("reader", mode="analyzer", grant_list="mine"),
    ],
)
def test_a_warm_policy_never_serves_another_callers_scope(other: Principal) -> None:
    policy = Policy.load()
    first = policy.compile(principal("reader", mode="analyzer"))
    assert policy.compile(other) == Policy.load().compile(other)
    assert policy.compile(other).fingerprint != first.fingerprint
    narrowing = Narrowing(namespaces=frozenset({"mail"}))
    narrowed = policy.compile(principal("reader", mode="analyzer"), narrowing)
    assert policy.compile(principal("reader", mode="analyzer"), narrowing) is narrowed
    assert policy.compile(other, narrowing) == Policy.load().compile(other, narrowing) != narrowed


def test_a_request_cannot_choose_how_much_memory_its_scope_takes() -> None:
    policy, caller = Policy.load(), principal("reader", mode="analyzer")
    long = Narrowing(ids=frozenset(f"id{number}" for number in range(1000)))
    assert policy.compile(caller, long) == policy.compile(caller, long)
    assert policy.compile(caller, long) is not policy.compile(caller, long)


def test_a_tokens_grant_list_and_a_requests_both_hold() -> None:
    scope = Policy.load().compile(
        principal("reader", grant_list="mine"), Narrowing(grant_list=grant_list_key("acme", "now"))
    )
    lists = {"acme/mine": ("a", "b"), "acme/now": ("b", "c"), "bolt/now": ("a",)}
    assert [admits(scope, record("*", name=one), lists) for one in ("a", "b", "c")] == [False, True, False]


def test_a_removed_grant_list_admits_nothing() -> None:
    scope = Policy.load().compile(principal("admin", grant_list="mine"))
    assert not admits(scope, record("acme"), {})


@pytest.mark.parametrize("name", ["bolt/mine", "mine", "acme", "", "acmex/mine"])
def test_a_grant_list_of_another_tenant_is_an_error(name: str) -> None:
    with pytest.raises(InvalidRequest, match="grant_list"):
        Policy.load().compile(principal("reader"), Narrowing(grant_list=name))


def test_a_third_grant_list_is_an_error_and_never_ignored(tmp_path: Path) -> None:
    policy = parsed("roles: {r: {grants: [{name: g, tenants: ['*'], grant_list: one}]}}", tmp_path)
    caller = principal("r", mode="analyzer", grant_list="two")
    with pytest.raises(InvalidRequest, match="grant_list"):
        policy.compile(caller, Narrowing(grant_list="acme/three"))
    for repeated in ("acme/one", "acme/two"):
        scope = policy.compile(caller, Narrowing(grant_list=repeated))
        assert {scope.narrowing.grant_list, *(grant.grant_list for grant in scope.grants)} == {"acme/one", "acme/two"}


def test_the_version_is_of_the_meaning(tmp_path: Path) -> None:
    base = "roles: {name: {grants: [{name: g, tenants: ['*', $tenant], permissions: [p, q]}]}, b: {}}"
    version = parsed(base, tmp_path).version
    same = (
        "# said\nroles: {b: {write: none}, name: {grants: [{permissions: [q, p], tenants: [$tenant, '*'], name: g}]}}"
    )
    assert parsed(same, tmp_path).version == version
    for changed in (
        base.replace("p, q", "p"),
        base.replace("'*', ", ""),
        base.replace("b: {}", "b: {write: any}"),
        base.replace(", b: {}", ""),
        base + "\ndenials: [{name: d, ids: [x]}]",
    ):
        assert parsed(changed, tmp_path).version != version


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("rolls: {}", "rolls"),
        ("roles: {r: {grant: []}}", "roles.r.grant"),
        ("roles: {r: {grants: [{name: g}]}}", "roles.r.grants.0.tenants"),
        ("roles: {r: {grants: [{name: g, tenants: []}]}}", "roles.r.grants.0.tenants"),
        ("roles: {r: {grants: [{name: g, tenants: ['a*']}]}}", "roles.r.grants.0.tenants.0"),
        ("roles: {r: {grants: [{name: g, tenants: [$me]}]}}", "roles.r.grants.0.tenants.0"),
        ("roles: {r: {grants: [{name: g, tenants: [no]}]}}", "roles.r.grants.0.tenants.0"),
        ("roles: {r: {grants: [{name: g, tenants: [a, a]}]}}", "roles.r.grants.0.tenants"),
        ("roles: {r: {grants: [{name: g, tenants: [a], side_effects: [delete]}]}}", "roles.r.grants.0.side_effects.0"),
        ("roles: {r: {grants: [{name: g, tenants: [a], side_effects: []}]}}", "roles.r.grants.0.side_effects"),
        ("roles: {r: {grants: [{name: g, tenants: [a], namespaces: []}]}}", "roles.r.grants.0.namespaces"),
        ("roles: {r: {grants: [{name: g, tenants: [a], namespaces: ['a*b']}]}}", "roles.r.grants.0.namespaces.0"),
        ("roles: {r: {grants: [{name: g, tenants: [a], grant_list: b/c}]}}", "roles.r.grants.0.grant_list"),
        ("roles: {r: {grants: [{name: g, tenants: [a], modes: [ghost]}]}}", "top level"),
        ("roles: {r: {grants: [{name: g, tenants: [a]}, {name: g, tenants: [b]}]}}", "top level"),
        ("roles: {r: {write: all}}", "roles.r.write"),
        ("roles: {r: {operate: 1}}", "roles.r.operate"),
        ("roles: {'*': {}}", "roles.*.[key]"),
        ("roles: {r: {}, r: {}}", "line 2"),
        ("denials: [{name: d}]", "denials.0"),
        ("denials: [{name: d, ids: []}]", "denials.0.ids"),
        ("modes: {}", "line 2"),
    ],
)
def test_a_wrong_policy_file_is_one_typed_error(tmp_path: Path, text: str, field: str) -> None:
    with pytest.raises(InvalidConfiguration) as caught:
        parsed(text, tmp_path)
    assert caught.value.field.endswith(f"policy.yaml: {field}")
    assert caught.value.allowed


def test_an_empty_policy_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("")
    with pytest.raises(InvalidConfiguration, match="modes"):
        Policy.load(path)
