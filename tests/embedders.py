"""Embedders without a model: every word points somewhere of its own, and texts that share words point the same way.

One of them can hang or fail, as a model can.
"""

import hashlib
import math
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from cluster.embedder import EmbeddedQuery
from shards.messages import VectorQuery

RECORD_SCALE: Final = 512
QUERY_SCALE: Final = 2048
LOW: Final = 0.1
HIGH: Final = 0.9
"""Cosines that count as likeness 0 and 1024."""


@dataclass(kw_only=True)
class WordEmbedder:
    """Hashed words in ``dims`` dimensions; a text with none points nowhere, one that is not ASCII is of no language.

    Attributes:
        hold: queries wait until it is set.
        fault: raised instead of a query's vector.
        asked: texts of all queries that reached the model.
        called: set once the first query has reached it.
    """

    id: str = "words-1"
    dims: int = 24
    hold: threading.Event | None = None
    fault: BaseException | None = None
    asked: list[str] = field(default_factory=list)
    called: threading.Event = field(default_factory=threading.Event)

    def embed_records(self, texts: Sequence[str]) -> npt.NDArray[np.int8]:
        rows = [[_clipped(RECORD_SCALE * part) for part in self.direction(text)] for text in texts]
        return np.array(rows, np.int8).reshape(len(rows), self.dims)

    def embed_query(self, text: str) -> EmbeddedQuery | None:
        self.asked.append(text)
        self.called.set()
        if self.hold is not None:
            self.hold.wait()
        if self.fault is not None:
            raise self.fault
        if not text.isascii():
            return None
        spread = 1 / (HIGH - LOW)
        values = [round(QUERY_SCALE * spread * part) for part in self.direction(text)]
        floor = round(RECORD_SCALE * QUERY_SCALE * spread * LOW)
        vector = VectorQuery(embedder=self.id, values=np.array(values, np.int16), floor=floor)
        return EmbeddedQuery(vector=vector, models=("words",))

    def direction(self, text: str) -> list[float]:
        """A vector of length 1, or of zeros where the text has no word."""
        total = [0] * self.dims
        for word in re.findall(r"[a-z0-9]+", text.lower()):
            digest = hashlib.blake2b(word.encode(), digest_size=self.dims).digest()
            total = [known + byte - 128 for known, byte in zip(total, digest, strict=True)]
        length = math.sqrt(sum(part * part for part in total))
        return [part / length if length else 0.0 for part in total]


def _clipped(value: float) -> int:
    return max(-127, min(127, round(value)))
