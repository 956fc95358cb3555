"""What the registry hands out: receipts, grant lists, counts, stale rows. Values only, no database."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from cluster.errors import InvalidRequest

LIST_PATTERN: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""Names of grant lists, wherever one is written: in a path, a token, a policy, the registry."""

_LIST_NAME: Final = re.compile(LIST_PATTERN)


class WriteOutcome(StrEnum):
    """What a write did.

    ``foreign``: another tenant has or had the id, or the writer may not write for this one. ``claimed``: the record
    came from elsewhere than the folder of documents that is being imported.
    """

    IMPORTED = "imported"
    UNCHANGED = "unchanged"
    STALE = "stale"
    FOREIGN = "foreign"
    CLAIMED = "claimed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The registry's answer to one write.

    Attributes:
        outcome: ``unchanged``, ``stale`` and ``foreign`` wrote nothing.
        seq: the change that holds the state now on record, whoever wrote it; a search with this ``min_seq`` sees it.
        version: the version now on record; 0 for ``foreign``, which tells nothing.
    """

    record_id: str
    outcome: WriteOutcome
    seq: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantList:
    """A named set of record ids, owned by one tenant; ``ids`` is sorted and unique."""

    tenant: str
    name: str
    ids: tuple[str, ...]
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryCounts:
    """How many rows the registry holds, for operators only."""

    enabled: int
    disabled: int
    deprecated: int
    removed: int
    grant_lists: int
    last_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleRow:
    """A record whose derived columns are not what the current code computes."""

    record_id: str
    stored_hash: str
    current_hash: str
    stored_schema: int
    current_schema: int


def grant_list_key(tenant: str, name: str) -> str:
    """The one name under which shards and scopes know a tenant's list; two tenants never share a key.

    The list's own name holds no ``/``, so the last one separates.

    Raises:
        InvalidRequest: if the name or the tenant is unusable.
    """
    if not _LIST_NAME.fullmatch(name):
        raise InvalidRequest("grant_list", name, "1 to 64 letters, digits and . _ -, a letter or digit first")
    if not tenant:
        raise InvalidRequest("tenant", tenant, "a non-empty tenant")
    return f"{tenant}/{name}"
