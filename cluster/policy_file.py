"""The policy file as an operator writes it: modes, roles, grants and denials, strictly checked.

It compiles nothing and decides nothing about a caller: that is ``cluster.scope``.
"""

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from cluster.registry_values import LIST_PATTERN
from cluster.yaml_model import StrictModel, read_model
from shards.record import SideEffect

OWN_TENANT: Final = "$tenant"
"""Stands for the caller's own tenant where a grant lists tenants."""

NAME_PATTERN: Final = r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}"
"""Tenants of credentials, roles and modes: no ``*``, no ``$``, no ``/``, no space."""


def _unique(values: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(values)) != len(values):
        raise ValueError("each value once")
    return tuple(sorted(values))


Name = Annotated[str, StringConstraints(pattern=f"^{NAME_PATTERN}$")]
ListName = Annotated[str, StringConstraints(pattern=f"^{LIST_PATTERN}$")]
Tenant = Annotated[str, StringConstraints(pattern=rf"^(\*|\$tenant|{NAME_PATTERN})$")]
Pattern = Annotated[str, StringConstraints(pattern=r"^[^*]+\*?$|^\*$", max_length=512)]
RecordId = Annotated[str, StringConstraints(min_length=1, max_length=512)]
Permission = Annotated[str, StringConstraints(min_length=1, max_length=128)]

Tenants = Annotated[tuple[Tenant, ...], Field(min_length=1), AfterValidator(_unique)]
Permissions = Annotated[tuple[Permission, ...], AfterValidator(_unique)]
Patterns = Annotated[tuple[Pattern, ...], Field(min_length=1), AfterValidator(_unique)]
RecordIds = Annotated[tuple[RecordId, ...], Field(min_length=1), AfterValidator(_unique)]
Names = Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(_unique)]
SideEffects = Annotated[tuple[SideEffect, ...], Field(min_length=1), AfterValidator(_unique)]


class ModeRule(StrictModel):
    """What a mode allows at most, whoever calls."""

    side_effects: SideEffects
    k_ceiling: int = Field(ge=1, le=1000)


class GrantRule(StrictModel):
    """One grant of a role, a conjunction. What is left out of ``permissions`` and ``side_effects`` means the least."""

    name: Name
    tenants: Tenants
    permissions: Permissions = ()
    side_effects: SideEffects = (SideEffect.READ,)
    modes: Names | None = None
    namespaces: Patterns | None = None
    ids: RecordIds | None = None
    grant_list: ListName | None = None


class DenialRule(StrictModel):
    """Records that no grant of the caller admits, whichever role the grant comes from."""

    name: Name
    namespaces: Patterns | None = None
    ids: RecordIds | None = None

    @model_validator(mode="after")
    def _check_something_denied(self) -> Self:
        if self.namespaces is None and self.ids is None:
            raise ValueError("namespaces, ids or both")
        return self


class RoleRule(StrictModel):
    """What the holders of a role may see, write and manage."""

    write: Literal["none", "own_tenant", "any"] = "none"
    manage_grant_lists: bool = False
    operate: bool = False
    grants: tuple[GrantRule, ...] = ()
    denials: tuple[DenialRule, ...] = ()


class PolicyFile(StrictModel):
    """The whole file. Rule names are unique within their list, so that an audit line names one rule."""

    modes: dict[Name, ModeRule] = Field(min_length=1)
    roles: dict[Name, RoleRule] = Field(default_factory=dict)
    denials: tuple[DenialRule, ...] = ()

    @model_validator(mode="after")
    def _check_references(self) -> Self:
        for name, role in self.roles.items():
            _check_names(f"roles.{name}.grants", role.grants)
            _check_names(f"roles.{name}.denials", role.denials)
            for grant in role.grants:
                unknown = set(grant.modes or ()) - set(self.modes)
                if unknown:
                    raise ValueError(f"roles.{name}.grants.{grant.name}.modes out of the modes of this file")
        _check_names("denials", self.denials)
        return self


def _check_names(where: str, rules: tuple[GrantRule, ...] | tuple[DenialRule, ...]) -> None:
    if len({rule.name for rule in rules}) != len(rules):
        raise ValueError(f"a different name for each rule of {where}")


def read_policy_file(path: Path | None = None) -> PolicyFile:
    """The policy file at ``path``, or the shipped one.

    Raises:
        InvalidConfiguration: for the first unreadable, unknown or out-of-range thing, with what is allowed.
    """
    if path is not None:
        return read_model(PolicyFile, path)
    with as_file(files("configs") / "policy.yaml") as shipped:
        return read_model(PolicyFile, shipped)
