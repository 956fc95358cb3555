"""Record and Access: the frozen values that everything else stores, indexes and returns.

Validation of foreign input is the edge's task (``serve_app.wire``); this module only guards its own invariants.
"""

import hashlib
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Final, Self

import orjson

from shards.errors import InvalidRecord

SCHEMA_VERSION: Final = 1
"""Version of the record's fields; stored with every row so that an older row is seen to be stale."""

SHARED_TENANT: Final = "*"
"""The tenant of records that are offered to every tenant (a policy still has to grant them)."""

BUCKETS: Final = 1024
"""Hash buckets that the registry stores with each record; a shard owns a contiguous range of them."""


class Kind(StrEnum):
    """What a record describes."""

    TOOL = "tool"
    PASSAGE = "passage"


class Status(StrEnum):
    """The life of a record; only ``enabled`` is ever a candidate."""

    ENABLED = "enabled"
    DISABLED = "disabled"
    DEPRECATED = "deprecated"


class SideEffect(StrEnum):
    """What calling a tool does to the world, as its operator declared it. Passages only ``read``."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who may see a record. A record without a tenant cannot exist.

    Attributes:
        tenant: owner, or ``"*"`` for records shared with every tenant.
        permissions: the caller must hold all of these; sorted, unique.
        modes: caller modes the record is offered in; sorted, unique; empty means every mode.
        side_effect: what calling it does.
    """

    tenant: str
    permissions: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    side_effect: SideEffect = SideEffect.READ

    def __post_init__(self) -> None:
        if not self.tenant:
            raise InvalidRecord("access.tenant", self.tenant, "a non-empty tenant, or '*' for shared")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One retrievable item: a tool, or a passage of knowledge.

    A passage keeps its title in ``name`` and its text in ``description``; the wire calls them by their own names.

    Attributes:
        parameters: JSON schema of a tool's input as canonical JSON text (sorted keys), ``"{}"`` where there is none.
        version: grows with every accepted change of this id, from 1; the registry assigns it.
        indexed_at: RFC 3339 UTC time at which the registry accepted this version; empty before that.
    """

    id: str
    kind: Kind
    name: str
    namespace: str
    description: str
    access: Access
    parameters: str = "{}"
    aliases: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    capability: str = ""
    domain: str = ""
    product: str = ""
    locale: str = ""
    release: str = ""
    source_url: str = ""
    section: str = ""
    status: Status = Status.ENABLED
    version: int = 0
    schema_version: int = SCHEMA_VERSION
    indexed_at: str = ""
    search_text_hash: str = field(init=False)

    def __post_init__(self) -> None:
        if not self.id:
            raise InvalidRecord("id", self.id, "a non-empty string")
        if not self.name:
            raise InvalidRecord("name", self.name, "a non-empty string")
        object.__setattr__(self, "search_text_hash", _search_text_hash(self))

    def accepted(self, version: int, indexed_at: str) -> Self:
        """This record as the registry took it: only version and time differ, so no hash is computed again."""
        written = object.__new__(type(self))
        for name in _FIELDS:
            object.__setattr__(written, name, getattr(self, name))
        object.__setattr__(written, "version", version)
        object.__setattr__(written, "indexed_at", indexed_at)
        return written

    def to_json(self) -> bytes:
        """Canonical JSON of every field; equal records give equal bytes."""
        return orjson.dumps(self, option=orjson.OPT_SORT_KEYS)

    @classmethod
    def from_json(cls, body: bytes) -> Self:
        """Rebuild a record from ``to_json``. The stored hash is ignored and computed anew.

        Raises:
            InvalidRecord: if a value breaks the contract.
        """
        values: dict[str, Any] = orjson.loads(body)
        values.pop("search_text_hash", None)
        access = values["access"]
        values["access"] = Access(
            tenant=access["tenant"],
            permissions=tuple(access["permissions"]),
            modes=tuple(access["modes"]),
            side_effect=_SIDE_EFFECTS.get(access["side_effect"]) or SideEffect(access["side_effect"]),
        )
        values["kind"] = _KINDS.get(values["kind"]) or Kind(values["kind"])
        values["status"] = _STATUSES.get(values["status"]) or Status(values["status"])
        for name in ("aliases", "keywords", "examples", "tags"):
            values[name] = tuple(values[name])
        return cls(**values)


_FIELDS: Final = tuple(one.name for one in fields(Record))

# A look-up takes a fifth of the time that an enumeration takes to find its member.
_KINDS: Final = {kind.value: kind for kind in Kind}
_STATUSES: Final = {status.value: status for status in Status}
_SIDE_EFFECTS: Final = {effect.value: effect for effect in SideEffect}


def text_hash_in(body: bytes) -> str:
    """The ``search_text_hash`` that stands in canonical JSON, at a tenth of what ``Record.from_json`` costs."""
    text_hash: str = orjson.loads(body)["search_text_hash"]
    return text_hash


def bucket_of(record_id: str) -> int:
    """The hash bucket of an id, in ``[0, BUCKETS)``; stable across processes, machines and Python versions."""
    return int.from_bytes(hashlib.blake2b(record_id.encode(), digest_size=8).digest()) % BUCKETS


def _search_text_hash(record: Record) -> str:
    """Hex digest (128 bit) over all that is indexed as text, so that an unchanged text is never analysed twice."""
    text = (
        record.name, record.aliases, record.keywords, record.description, record.parameters, record.capability,
        record.domain, record.namespace, record.examples, record.tags, record.section,
    )  # fmt: skip
    return hashlib.blake2b(orjson.dumps(text), digest_size=16).hexdigest()
