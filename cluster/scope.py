"""Principal and policy: who calls, and the compiled scope of what that caller may see and change.

Default deny: an unknown role, an unknown mode or an unusable tenant gives a scope without grants. Credentials are
read by ``serve_app.auth``, scopes are evaluated by ``shards.mask``; nothing here looks at a record.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from cluster.errors import InvalidRequest
from cluster.policy_file import (
    NAME_PATTERN,
    OWN_TENANT,
    DenialRule,
    GrantRule,
    PolicyFile,
    RoleRule,
    read_policy_file,
)
from cluster.registry_values import LIST_PATTERN, grant_list_key
from shards.scope import Denial, Grant, Narrowing, Scope

_NAME: Final = re.compile(NAME_PATTERN)
_LIST_NAME: Final = re.compile(LIST_PATTERN)
OPEN: Final = Narrowing()
"""No narrowing."""

_CACHED_SCOPES: Final = 4096
_CACHED_VALUES: Final = 16
"""Values of a narrowing whose scope is kept, so that no request chooses how much memory that takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who calls, from a verified credential only.

    Attributes:
        subject: the caller's name at its issuer, for the audit log.
        tenant: matches ``policy_file.NAME_PATTERN``; never ``"*"``.
        roles: names of roles; those the policy does not know give nothing.
        mode: name of a mode of the policy.
        grant_list: the tenant's own name of a registered list that the credential narrows everything to, or None.
    """

    subject: str
    tenant: str
    roles: frozenset[str]
    mode: str
    grant_list: str | None = None


def is_name(text: str) -> bool:
    """Whether ``text`` can name a caller's tenant, a role or a mode."""
    return _NAME.fullmatch(text) is not None


def is_list_name(text: str) -> bool:
    """Whether ``text`` can name a grant list."""
    return _LIST_NAME.fullmatch(text) is not None


class Policy:
    """A policy file, ready to compile principals. Immutable; equal meanings have equal versions.

    Attributes:
        version: hex digest of the meaning (order and comments left out).
        modes: the modes a caller may name.
        roles: the roles that give something.
    """

    def __init__(self, rules: PolicyFile) -> None:
        self._rules = rules
        self.version: Final = _version(rules)
        self.modes: Final = frozenset(rules.modes)
        self.roles: Final = frozenset(rules.roles)
        # The keys hold the whole principal, so an entry can never serve another caller.
        self._open = lru_cache(maxsize=_CACHED_SCOPES)(self._compile)
        self._narrowed = lru_cache(maxsize=_CACHED_SCOPES)(self._narrow)

    def __reduce__(self) -> tuple[type["Policy"], tuple[PolicyFile]]:
        return Policy, (self._rules,)

    @classmethod
    def load(cls, path: Path | None = None) -> "Policy":
        """The policy of the file at ``path``, or the shipped one.

        Raises:
            InvalidConfiguration: if the file is not a policy.
        """
        return cls(read_policy_file(path))

    def compile(self, principal: Principal, narrowing: Narrowing = OPEN) -> Scope:
        """What ``principal`` may see, narrowed; the narrowed scope admits a subset of the open one.

        ``narrowing.grant_list`` is the registry's name of a list (``grant_list_key``).

        Raises:
            InvalidRequest: if the narrowing names a grant list that is not the principal's tenant's, or that cannot be
                added to those the credential and the policy already ask for.
        """
        if narrowing is OPEN or narrowing == OPEN:
            return self._open(principal)
        values = (getattr(narrowing, part.name) for part in fields(Narrowing))
        few = sum(len(value) for value in values if isinstance(value, frozenset)) <= _CACHED_VALUES
        return (self._narrowed if few else self._narrow)(principal, narrowing)

    def _narrow(self, principal: Principal, narrowing: Narrowing) -> Scope:
        scope = self._open(principal)
        narrowed = replace(scope, narrowing=replace(narrowing, grant_list=scope.narrowing.grant_list))
        if narrowing.grant_list is None:
            return narrowed
        if not narrowing.grant_list.startswith(f"{principal.tenant}/"):
            raise InvalidRequest("grant_list", narrowing.grant_list, "a list of the caller's tenant")
        return _with_grant_list(narrowed, narrowing.grant_list)

    def writable_tenants(self, principal: Principal) -> frozenset[str] | None:
        """The tenants whose records ``principal`` may change, ``"*"`` for the shared ones; None means all of them."""
        levels = {role.write for _, role in self._roles(principal)}
        if "any" in levels:
            return None
        return frozenset({principal.tenant} if "own_tenant" in levels else ())

    def may_manage_grant_lists(self, principal: Principal) -> bool:
        """Whether ``principal`` may read, register and remove the grant lists of its tenant."""
        return any(role.manage_grant_lists for _, role in self._roles(principal))

    def may_operate(self, principal: Principal) -> bool:
        """Whether ``principal`` may see figures that count the records of every tenant."""
        return any(role.operate for _, role in self._roles(principal))

    def k_ceiling(self, mode: str) -> int:
        """Most records in one answer for callers in ``mode``.

        Raises:
            InvalidRequest: if the policy has no such mode.
        """
        if mode not in self._rules.modes:
            raise InvalidRequest("mode", mode[:128], "a mode of the policy")
        return self._rules.modes[mode].k_ceiling

    def _roles(self, principal: Principal) -> Iterator[tuple[str, RoleRule]]:
        """The principal's known roles in the order of their names; none for a principal that cannot be one."""
        if principal.mode in self._rules.modes and is_name(principal.tenant):
            for name in sorted(principal.roles):
                if name in self._rules.roles:
                    yield name, self._rules.roles[name]

    def _compile(self, principal: Principal) -> Scope:
        # Grants that differ in their reason only are one grant, so that equal authority has one fingerprint.
        grants: dict[Grant, Grant] = {}
        denials = [_denial("policy", rule) for rule in self._rules.denials]
        for name, role in self._roles(principal):
            for rule in role.grants:
                grant = self._grant(name, rule, principal)
                if grant is not None:
                    grants.setdefault(replace(grant, reason=""), grant)
            denials += [_denial(name, rule) for rule in role.denials]
        scope = Scope(grants=tuple(grants.values()), denials=tuple(denials))
        if principal.grant_list is None:
            return scope
        return _with_grant_list(scope, grant_list_key(principal.tenant, principal.grant_list))

    def _grant(self, role: str, rule: GrantRule, principal: Principal) -> Grant | None:
        """The grant that ``rule`` gives in the principal's mode, None where the mode leaves nothing of it."""
        side_effects = frozenset(rule.side_effects) & frozenset(self._rules.modes[principal.mode].side_effects)
        if not side_effects or (rule.modes is not None and principal.mode not in rule.modes):
            return None
        return Grant(
            reason=f"{role}/{rule.name}",
            tenants=frozenset(principal.tenant if tenant == OWN_TENANT else tenant for tenant in rule.tenants),
            permissions=frozenset(rule.permissions),
            mode=principal.mode,
            side_effects=side_effects,
            namespaces=None if rule.namespaces is None else frozenset(rule.namespaces),
            ids=None if rule.ids is None else frozenset(rule.ids),
            grant_list=None if rule.grant_list is None else grant_list_key(principal.tenant, rule.grant_list),
        )


def _with_grant_list(scope: Scope, key: str) -> Scope:
    """``scope`` limited to a further grant list: a scope has one place for a list itself, and one in each grant."""
    if scope.narrowing.grant_list in {None, key}:
        return replace(scope, narrowing=replace(scope.narrowing, grant_list=key))
    if any(grant.grant_list not in {None, key} for grant in scope.grants):
        raise InvalidRequest("grant_list", key, "no further list: the credential and the policy already name others")
    return replace(scope, grants=tuple(replace(grant, grant_list=key) for grant in scope.grants))


def _denial(source: str, rule: DenialRule) -> Denial:
    return Denial(
        reason=f"{source}/{rule.name}",
        namespaces=frozenset(rule.namespaces or ()),
        ids=frozenset(rule.ids or ()),
    )


def _version(rules: PolicyFile) -> str:
    """Every list of a policy is a set, so sorting all of them leaves only the meaning."""
    return hashlib.blake2b(_canonical(rules.model_dump(mode="json")).encode(), digest_size=16).hexdigest()


def _canonical(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{_canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted(map(_canonical, value))) + "]"
    return json.dumps(value)
