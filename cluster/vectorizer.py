"""Vectorizer: texts to vectors, each text once: what the cache holds is not embedded again.

It blocks, and knows neither records nor shards; ``cluster.embedding`` and ``cluster.local`` bring both together.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from cluster.embedder import Embedder
from cluster.errors import EmbeddingFailed
from cluster.vector_cache import VectorCache

Vectors = dict[str, bytes]
"""The bytes of int8[dims] by ``search_text_hash``."""

_PLAIN: Final = "search"
"""Where even this fails, it is not the text's fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """What an embedder made of texts; ``refused`` are the hashes of those on which it failed."""

    vectors: Vectors
    refused: frozenset[str] = field(default_factory=frozenset)


class Vectorizer:
    """An embedder and the cache of its vectors; without a cache nothing is known before and nothing kept."""

    def __init__(self, embedder: Embedder, cache: VectorCache | None = None) -> None:
        self.embedder = embedder
        self._cache = cache

    def known(self, hashes: Sequence[str]) -> Vectors:
        """The vectors among these that were kept.

        Raises:
            RegistryUnavailable: if the database of the cache cannot be read.
        """
        if self._cache is None:
            return {}
        found = self._cache.get(self.embedder.id, hashes)
        # A row that another program wrote must not stop the shards: it counts as missing and is replaced.
        return {key: vector for key, vector in found.items() if len(vector) == self.embedder.dims}

    def embed(self, texts: Mapping[str, str]) -> Embedded:
        """Embed texts, given by their hash; nothing is kept.

        Raises:
            EmbeddingFailed: if the embedder fails on these and on a text that every model can read.
        """
        try:
            return Embedded(vectors=self._together(texts))
        except EmbeddingFailed:
            found = self._one_by_one(texts)
            if not found:
                self._together({"": _PLAIN})
            return Embedded(vectors=found, refused=frozenset(texts).difference(found))

    def keep(self, found: Vectors) -> None:
        """Store vectors; they are durable when this returns.

        Raises:
            RegistryUnavailable: if the database of the cache cannot be written.
        """
        if self._cache is not None:
            self._cache.put(self.embedder.id, found)

    def _one_by_one(self, texts: Mapping[str, str]) -> Vectors:
        found: Vectors = {}
        for key, text in texts.items():
            # One text that no model can read must not cost the others their vectors.
            with suppress(EmbeddingFailed):
                found |= self._together({key: text})
        return found

    def _together(self, texts: Mapping[str, str]) -> Vectors:
        embedder = self.embedder
        try:
            values = embedder.embed_records(list(texts.values()))
        except (KeyboardInterrupt, SystemExit, EmbeddingFailed):
            raise
        except BaseException as exc:
            # Foreign code, and a panic of a Rust tokenizer is no Exception. Its own message could repeat the text.
            raise EmbeddingFailed(embedder.id, type(exc).__name__) from exc
        expected = (len(texts), embedder.dims)
        if values.shape != expected or values.dtype != np.int8:
            raise EmbeddingFailed(embedder.id, f"it made {values.dtype}{values.shape} instead of int8{expected}")
        return {key: row.tobytes() for key, row in zip(texts, values, strict=True)}
