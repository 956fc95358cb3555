"""LocalEmbedding: gives records of shards in this process their vectors, at once and in the foreground.

The background form, for shards in processes of their own, is ``cluster.embedding``.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from cluster.partition import shard_of
from cluster.stored_text import StoredText
from cluster.vectorizer import Vectorizer, Vectors
from shards.messages import NewVector
from shards.record import bucket_of
from shards.shard import Shard

AT_ONCE: Final = 64
"""Records between two words of progress, and in one transaction of the cache."""

Progress = Callable[[int], None]
"""Told how many more records have been seen to."""

_log = logging.getLogger(__name__)


class LocalEmbedding:
    """All shards of an index, by number, and what makes vectors."""

    def __init__(self, shards: Sequence[Shard], vectorizer: Vectorizer) -> None:
        self._shards = shards
        self._vectorizer = vectorizer

    def embed(self, bodies: Iterable[bytes], progress: Progress) -> None:
        """Give the records of these canonical bodies their vectors; those that the cache holds are not embedded.

        Raises:
            EmbeddingFailed: if the embedder does; the records before keep their vectors.
            RegistryUnavailable: if the database of the cache does not answer.
        """
        for texts in _parts(map(StoredText.of, bodies)):
            self._hand_out(texts, self._vectors(texts))
            progress(len(texts))

    def embed_changed(self, bodies: Iterable[bytes]) -> None:
        """As ``embed``, for records that changed and may have the text, and so the vector, that they had before."""
        embedder = self._vectorizer.embedder.id
        lacking = {
            one.record_id for shard in self._shards for one in shard.missing_vectors(embedder, shard.status().records)
        }
        self.embed((body for body in bodies if StoredText.of(body).record_id in lacking), lambda _: None)

    def build_graphs(self) -> None:
        """Build every graph that is worth having."""
        for shard in self._shards:
            while shard.build_graph():
                _log.debug("graph_built")

    def _vectors(self, texts: Sequence[StoredText]) -> Vectors:
        known = self._vectorizer.known(list({text.text_hash for text in texts}))
        new = {text.text_hash: text.embedding_text() for text in texts if text.text_hash not in known}
        if not new:
            return known
        made = self._vectorizer.embed(new)
        self._vectorizer.keep(made.vectors)
        if made.refused:
            _log.warning("texts_not_embedded", extra={"texts": len(made.refused)})
        return known | made.vectors

    def _hand_out(self, texts: Sequence[StoredText], vectors: Vectors) -> None:
        parts: dict[int, list[NewVector]] = {}
        for text in texts:
            if (values := vectors.get(text.text_hash)) is not None:
                vector = NewVector(record_id=text.record_id, search_text_hash=text.text_hash, values=values)
                parts.setdefault(shard_of(bucket_of(text.record_id), len(self._shards)), []).append(vector)
        for shard, part in parts.items():
            self._shards[shard].take_vectors(self._vectorizer.embedder.id, part)


def _parts(texts: Iterable[StoredText]) -> Iterator[list[StoredText]]:
    rest = iter(texts)
    while part := list(islice(rest, AT_ONCE)):
        yield part
