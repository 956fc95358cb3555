"""ShardIndex: one immutable generation of a shard's index; readers keep theirs while the next one is made.

It holds parts, grant lists and the sequence number they stand for. How generations follow each other is the
shard's knowledge (``shards.shard``).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from shards import bundle
from shards.authorization import AuthorizedRows, Authorizer
from shards.bundle import Question
from shards.cache import BoundedCache
from shards.compaction import compacted
from shards.deadline import Expired
from shards.grants import GrantLists
from shards.listing import listed
from shards.messages import Document, DocumentRequest, Listing, ListingRequest, Outcome, ShardHits, ShardQuery, Twin
from shards.part import Part
from shards.retrieval import nothing, retrieve
from shards.scope import Scope
from shards.segment import next_uid
from shards.sight import Sight
from shards.text_table import joined
from shards.utf8 import encoded
from shards.vector_arrivals import inherited

SIGHTS_BYTES: Final = 16 << 20
"""Of sights: some 1,400 scopes of 75,000 records; their rows count here, too, though an ``Authorizer`` has them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShardIndex:
    """All live records of a shard at one sequence number.

    Attributes:
        parts: each live id occurs in exactly one part.
        seq: the last change that is in.
        twins: what holds of records that somebody confirmed to be duplicates, by their ids.
        sights: of this generation alone, by the fingerprint of their scope.
    """

    parts: tuple[Part, ...] = ()
    lists: GrantLists = field(default_factory=GrantLists)
    seq: int = 0
    authorizer: Authorizer = field(default_factory=Authorizer)
    twins: Mapping[str, Twin] = field(default_factory=dict)
    sights: BoundedCache[str, Sight] = field(init=False, default_factory=lambda: BoundedCache(SIGHTS_BYTES))

    def search(self, query: ShardQuery, expired: Expired) -> ShardHits:
        """Answer one query; ``expired`` says whether its time has run out."""
        (hits,) = self.search_batch((query,), lambda _: expired)
        return hits

    def search_batch(
        self, batch: Sequence[ShardQuery], expiry_of: Callable[[ShardQuery], Expired]
    ) -> tuple[ShardHits, ...]:
        """Answer queries, up to ``bundle.MOST`` of them in one go."""
        answers: dict[int, ShardHits] = {}
        bundled: dict[int, Question] = {}
        rows = 0
        for place, query in enumerate(batch):
            question = self._question(query, expiry_of(query))
            if isinstance(question, Question) and bundle.is_full(len(bundled), rows, question):
                self._answer(bundled, answers)
                bundled, rows = {}, 0
                if question.expired():
                    question = Outcome.EXPIRED
            if isinstance(question, Question):
                bundled[place] = question
                rows += question.sight.authorized
            else:
                answers[place] = nothing(query, question, self.seq)
        self._answer(bundled, answers)
        found = [answers[place] for place in range(len(batch))]
        return tuple([self._with_twins(hits) for hits in found] if self.twins else found)

    def documents(self, request: DocumentRequest) -> tuple[Document, ...]:
        """Documents of the asked ids that the scope admits, in the order asked, each once."""
        authorized = [(part, self._authorized(request.scope, part)) for part in self.parts]
        found = (self._document(record_id, authorized) for record_id in dict.fromkeys(request.ids))
        return tuple(document for document in found if document is not None)

    def listing(self, request: ListingRequest) -> Listing:
        """Everything that matches ``request`` here."""
        return listed(request, [(part, self._authorized(request.scope, part)) for part in self.parts], self.seq)

    def changed(
        self,
        added: tuple[Part, ...],
        gone: Iterable[str],
        lists: Mapping[str, Iterable[str] | None],
        seq: int,
        twins: Mapping[str, Twin | None] | None = None,
    ) -> "ShardIndex":
        """The next generation: the records of ``added`` are in, the old state of ``gone`` is out, some lists differ.

        ``twins`` says what holds of duplicates from now on, by their ids, None where nothing does any more.

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
            twins={one: twin for one, twin in {**self.twins, **twins}.items() if twin} if twins else self.twins,
        )

    def with_parts(self, parts: tuple[Part, ...]) -> "ShardIndex":
        """The next generation: the same records at the same seq, with other vectors."""
        return replace(self, parts=parts)

    @property
    def records(self) -> int:
        """Live records."""
        return sum(part.count for part in self.parts)

    def _answer(self, bundled: Mapping[int, Question], answers: dict[int, ShardHits]) -> None:
        """Add the answers to these questions, by their places in the batch."""
        if bundled:
            answers.update(zip(bundled, retrieve(tuple(bundled.values()), self.parts, self.seq), strict=True))

    def _question(self, query: ShardQuery, expired: Expired) -> Question | Outcome:
        """What is to be searched, or how it ends before that."""
        if query.min_seq > self.seq:
            return Outcome.BEHIND
        sight = self._sight(query.scope, expired)
        if sight is not None and sight.authorized == 0:
            return Outcome.COMPLETE
        return Outcome.EXPIRED if sight is None or expired() else Question(query, sight, expired)

    def _sight(self, scope: Scope, expired: Expired) -> Sight | None:
        """What ``scope`` sees of this generation; None where the time runs out over it."""
        sight = self.sights.get(scope.fingerprint)
        if sight is None:
            authorized = []
            for part in self.parts:
                if expired():
                    return None
                authorized.append((part, self._authorized(scope, part)))
            sight = Sight.of(authorized)
            self.sights.put(scope.fingerprint, sight, sight.nbytes)
        return sight

    def _with_twins(self, hits: ShardHits) -> ShardHits:
        """The rows, with what was confirmed of them."""
        twins = self.twins
        return replace(hits, twins=tuple([twins[record_id] for record_id in hits.ids if record_id in twins]))

    def _authorized(self, scope: Scope, part: Part) -> AuthorizedRows:
        return self.authorizer.authorize(scope, part, self.lists)

    @staticmethod
    def _document(record_id: str, authorized: Iterable[tuple[Part, AuthorizedRows]]) -> Document | None:
        for part, rows in authorized:
            ordinal = part.segment.ordinal_of(record_id)
            if ordinal >= 0 and rows.holds(ordinal):
                version = int(part.segment.versions[ordinal])
                return Document(id=record_id, version=version, body=part.segment.documents.body(ordinal))
        return None
