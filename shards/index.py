"""ShardIndex: one immutable generation of a shard's index; readers keep theirs while the next one is made.

It holds parts, grant lists and the sequence number they stand for. How generations follow each other is the
shard's knowledge (``shards.shard``).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from shards.authorization import AuthorizedRows, Authorizer
from shards.compaction import compacted
from shards.deadline import Expired
from shards.grants import GrantLists
from shards.listing import listed
from shards.messages import Document, DocumentRequest, Listing, ListingRequest, Outcome, ShardHits, ShardQuery
from shards.part import Part
from shards.retrieval import nothing, retrieve
from shards.scope import Scope
from shards.segment import next_uid
from shards.text_table import joined
from shards.utf8 import encoded
from shards.vector_arrivals import inherited


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShardIndex:
    """All live records of a shard at one sequence number.

    Attributes:
        parts: each live id occurs in exactly one part.
        seq: the last change that is in.
    """

    parts: tuple[Part, ...] = ()
    lists: GrantLists = field(default_factory=GrantLists)
    seq: int = 0
    authorizer: Authorizer = field(default_factory=Authorizer)

    def search(self, query: ShardQuery, expired: Expired) -> ShardHits:
        """Answer one query; ``expired`` says whether its time has run out."""
        if query.min_seq > self.seq:
            return nothing(query, Outcome.BEHIND, self.seq)
        authorized = []
        for part in self.parts:
            if expired():
                return nothing(query, Outcome.EXPIRED, self.seq)
            authorized.append((part, self._authorized(query.scope, part)))
        return retrieve(query, authorized, self.seq, expired)

    def documents(self, request: DocumentRequest) -> tuple[Document, ...]:
        """Documents of the asked ids that the scope admits, in the order asked, each once."""
        authorized = [(part, self._authorized(request.scope, part)) for part in self.parts]
        found = (self._document(record_id, authorized) for record_id in dict.fromkeys(request.ids))
        return tuple(document for document in found if document is not None)

    def listing(self, request: ListingRequest) -> Listing:
        """Everything that matches ``request`` here."""
        return listed(request, [(part, self._authorized(request.scope, part)) for part in self.parts], self.seq)

    def changed(
        self, added: tuple[Part, ...], gone: Iterable[str], lists: Mapping[str, Iterable[str] | None], seq: int
    ) -> "ShardIndex":
        """The next generation: the records of ``added`` are in, the old state of ``gone`` is out, some lists differ.

        ``gone`` names every id whose old state ends, so those of ``added`` too. Records whose text stays the same keep
        their vector.
        """
        # In order, so that a look-up finds in the cache what the one before it read.
        ids = sorted(encoded(record_id) for record_id in frozenset(gone))
        added = tuple(inherited(part, self.parts) for part in added)
        texts = joined(ids)
        parts = tuple(part.without_joined(*texts) for part in self.parts) if ids else self.parts
        return ShardIndex(
            parts=compacted((*parts, *added)),
            lists=self.lists.changed(lists, next_uid()) if lists else self.lists,
            seq=seq,
            authorizer=self.authorizer,
        )

    def with_parts(self, parts: tuple[Part, ...]) -> "ShardIndex":
        """The next generation: the same records at the same seq, with other vectors."""
        return replace(self, parts=parts)

    @property
    def records(self) -> int:
        """Live records."""
        return sum(part.count for part in self.parts)

    def _authorized(self, scope: Scope, part: Part) -> AuthorizedRows:
        return self.authorizer.authorize(scope, part, self.lists)

    @staticmethod
    def _document(record_id: str, authorized: Iterable[tuple[Part, AuthorizedRows]]) -> Document | None:
        for part, rows in authorized:
            ordinal = part.segment.ordinal_of(record_id)
            if ordinal >= 0 and rows.mask[ordinal]:
                version = int(part.segment.versions[ordinal])
                return Document(id=record_id, version=version, body=part.segment.documents.body(ordinal))
        return None
