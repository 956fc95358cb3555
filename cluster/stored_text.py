"""StoredText: a record's text as the embedding of records handles it, by the hash that stands in its stored body.

The stored hash and not one computed anew, because a shard compares vectors by it: were the two ever different, no
vector of such a record would be taken.
"""

from dataclasses import dataclass
from typing import Self

import orjson

from cluster.embedding_text import embedding_text
from shards.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredText:
    """A record's id, the ``search_text_hash`` of its body, and the body: canonical JSON."""

    record_id: str
    text_hash: str
    body: bytes

    @classmethod
    def of(cls, body: bytes) -> Self:
        """The text of a canonical body."""
        values = orjson.loads(body)
        return cls(record_id=values["id"], text_hash=values["search_text_hash"], body=body)

    def embedding_text(self) -> str:
        """What models read of it."""
        return embedding_text(Record.from_json(self.body))
