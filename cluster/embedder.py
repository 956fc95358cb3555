"""Embedder: the seam between text and vectors, and how several models share one vector.

It knows no registry and no shard. The models that come with packages live in ``cluster.models``; how vectors reach the
shards is ``cluster.embedding``'s task.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from cluster.embedding_text import RECIPE, query_text
from cluster.errors import EmbeddingFailed, InvalidConfiguration
from cluster.language import language_of
from shards.messages import LIKENESS_SHIFT, MOST_DIMS, VectorQuery

ONE: Final = 1024 << LIKENESS_SHIFT
"""The dot product, above the floor, of a record that is surely meant: the scale of records times that of queries."""

INT16: Final = 32_767

MANY_DIMS: Final = 256
"""From here on a component of a unit vector is hardly ever 0.25 or more."""

NARROWEST: Final = 1 / 15
"""Least of ``high - low``: a gain of at most 15. One model's block adds at most 127 * sqrt(dims) * 4096 * 15 / n to a
dot product of n models, which makes 7.1e8 of all with ``MOST_DIMS``: inside int32."""

MOST_HIGH: Final = 2


class TextModel(Protocol):
    """One pretrained model: text to unit vectors. It loads its weights when it is made and touches no network.

    Attributes:
        name: short and stable, as in the settings.
        fingerprint: of weights, tokenizer and code that decide a vector; changes whenever any vector could.
        dims: length of a vector.
        languages: ISO 639-1 codes of the languages it is asked in, None for every one that no other model names.
        low: cosine of two texts that have little to do with each other.
        high: cosine that counts as a sure likeness: that of a request and the tool that serves it, or more, up to 2,
            where a model is to count for less beside words.
    """

    name: str
    fingerprint: str
    dims: int
    languages: frozenset[str] | None
    low: float
    high: float

    def encode_records(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """float32[n, dims], each row of length 1."""

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """float32[dims] of length 1."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EmbeddedQuery:
    """A query's vector, and the names of the models that were asked, in their order."""

    vector: VectorQuery
    models: tuple[str, ...]


class Embedder(Protocol):
    """Text to the integers that shards compare.

    Attributes:
        id: of everything that decides a vector; stored beside vectors and in every snapshot.
        dims: length of a vector.
    """

    id: str
    dims: int

    def embed_records(self, texts: Sequence[str]) -> npt.NDArray[np.int8]:
        """int8[n, dims]; the vector of a text does not depend on the others in the call."""

    def embed_query(self, text: str) -> EmbeddedQuery | None:
        """None where no model knows the language of the text."""


class CompositeEmbedder:
    """Several models behind one vector: each has a block of it, and is asked in the languages it knows.

    The likeness of a record is the mean over the models asked of ``(cosine - low) / (high - low)``, where 1024 is 1.

    Args:
        models: at least one, of different names. ``low`` and ``high`` only turn cosines into likenesses: they change
            queries, not the vectors that are stored, and so are no part of ``id``.

    Raises:
        InvalidConfiguration: if there is no model, a name twice, or a model whose range or length cannot be used.
    """

    def __init__(self, models: Sequence[TextModel]) -> None:
        _check(models)
        self.models = tuple(models)
        self.dims = sum(model.dims for model in models)
        self.id = f"{'+'.join(model.name for model in models)}-{_digest(models)}"

    def embed_records(self, texts: Sequence[str]) -> npt.NDArray[np.int8]:
        """See ``Embedder``; texts are those of ``cluster.embedding_text``.

        Raises:
            EmbeddingFailed: if a model makes vectors of another shape, or none that are finite.
        """
        blocks = [
            np.rint(scale_of(model) * self._checked(model, model.encode_records(texts), (len(texts), model.dims)))
            for model in self.models
        ]
        return np.concatenate(blocks, axis=1).clip(-127, 127).astype(np.int8)

    def embed_query(self, text: str) -> EmbeddedQuery | None:
        """See ``Embedder``; the text is cut to ``cluster.embedding_text.MOST_QUERY_CHARACTERS``.

        Raises:
            EmbeddingFailed: as ``embed_records``.
        """
        read = query_text(text)
        asked = self._asked(language_of(read))
        if not asked or not read:
            return None
        values = np.zeros(self.dims, np.int16)
        floor = 0.0
        for model, block in self._blocks():
            if model.name in asked:
                gain = 1 / ((model.high - model.low) * len(asked))
                vector = self._checked(model, model.encode_query(read), (model.dims,))
                scaled = np.rint(ONE / scale_of(model) * gain * vector.astype(np.float64))
                values[block] = scaled.clip(-INT16, INT16)
                floor += gain * model.low
        vector_query = VectorQuery(embedder=self.id, values=values, floor=round(ONE * floor))
        names = tuple(model.name for model in self.models if model.name in asked)
        return EmbeddedQuery(vector=vector_query, models=names)

    def _asked(self, language: str) -> set[str]:
        """Names of the models that know the language by name; where there are none, of those that know every one.

        Such a model is slow, and beside one that is made for the language it adds nothing (measured).
        """
        at_home = {model.name for model in self.models if model.languages is not None and language in model.languages}
        return at_home or {model.name for model in self.models if model.languages is None}

    def _blocks(self) -> Iterator[tuple[TextModel, slice]]:
        bounds = accumulate((model.dims for model in self.models), initial=0)
        return zip(self.models, (slice(*bound) for bound in pairwise(bounds)), strict=True)

    def _checked(
        self, model: TextModel, vectors: npt.NDArray[np.float32], shape: tuple[int, ...]
    ) -> npt.NDArray[np.float32]:
        if vectors.shape != shape:
            raise EmbeddingFailed(self.id, f"{model.name} made {vectors.shape} instead of {shape}")
        if not np.isfinite(vectors).all():
            raise EmbeddingFailed(self.id, f"{model.name} made a vector that is not finite")
        return vectors


def scale_of(model: TextModel) -> int:
    """A component of a record's unit vector times this is an int8.

    Components are about ``1 / sqrt(dims)``: in few dimensions 512 would clip nine records in ten at 0.25, and change
    the nearest record of a quarter of all queries (measured with 128); in many, 256 wastes a bit.
    """
    return 512 if model.dims >= MANY_DIMS else 256


def _check(models: Sequence[TextModel]) -> None:
    names = [model.name for model in models]
    if not names or len(set(names)) != len(names):
        raise InvalidConfiguration("models", ", ".join(names), "at least one, none twice")
    for model in models:
        if not -1 <= model.low <= model.high - NARROWEST or model.high > MOST_HIGH:
            low_high, allowed = f"{model.low} and {model.high}", f"from -1 to {MOST_HIGH}, at least 1/15 apart"
            raise InvalidConfiguration(f"{model.name}: low and high", low_high, allowed)
    if (dims := sum(model.dims for model in models)) > MOST_DIMS:
        raise InvalidConfiguration("models", f"{dims} dimensions", f"at most {MOST_DIMS} together")


def _digest(models: Sequence[TextModel]) -> str:
    parts = [f"text {RECIPE}, one {ONE}"]
    parts += [f"{model.name} {model.dims} {scale_of(model)} {model.fingerprint}" for model in models]
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()
