"""Draft: a record as the registry takes it: what decides about a write, and the canonical JSON of all its writer said.

It hands out neither versions nor times; both are put into the JSON as it stands, so that nothing is serialised twice.
"""

import hashlib
from typing import NamedTuple, Self

import orjson

from shards.record import Record


class Draft(NamedTuple):
    """A record before the registry has accepted it.

    What the registry decides stands at the end of canonical JSON, whose keys are in the order of the record's fields.

    Attributes:
        version: that its writer named, 0 for none.
        content: canonical JSON of the record with version 0 and no time.
    """

    id: str
    kind: str
    tenant: str
    namespace: str
    status: str
    version: int
    schema_version: int
    search_text_hash: str
    content: bytes

    @classmethod
    def of(cls, record: Record) -> Self:
        """The draft of a record, whatever time stands in it."""
        written = record.version or record.indexed_at
        content = (record.accepted(0, "") if written else record).to_json()
        draft = cls(
            record.id, record.kind.value, record.access.tenant, record.namespace, record.status.value, record.version,
            record.schema_version, record.search_text_hash, content,
        )  # fmt: skip
        if not content.endswith(draft._end(0, "")):
            raise AssertionError("the canonical JSON of a record does not end as its draft takes it to")
        return draft

    @classmethod
    def from_lines(cls, head: bytes, content: bytes) -> Self:
        """The draft of two lines of ``to_lines``, without their ends."""
        return cls._make((*orjson.loads(head), content))

    def to_lines(self) -> bytes:
        """Two lines, each with its end: JSON holds no bare line break."""
        return b"%b\n%b\n" % (orjson.dumps(self[:-1]), self.content)

    def content_hash(self) -> str:
        """Hex digest (128 bit) of all that a writer decides: every field but the version and the time of acceptance."""
        return hashlib.blake2b(self.content, digest_size=16).hexdigest()

    def accepted(self, version: int, indexed_at: str) -> bytes:
        """Canonical JSON of the record as the registry took it; ``indexed_at`` is RFC 3339."""
        return self.content.removesuffix(self._end(0, "")) + self._end(version, indexed_at)

    def _end(self, version: int, indexed_at: str) -> bytes:
        return b'"version":%d,"schema_version":%d,"indexed_at":"%b","search_text_hash":"%b"}' % (
            version, self.schema_version, indexed_at.encode(), self.search_text_hash.encode(),
        )  # fmt: skip
