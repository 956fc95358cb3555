"""EmbeddingPace: how fast an embedder is, and so how many texts one call of it may have. It reads no clock."""

from typing import Final

CALL_S: Final = 0.1
"""How long one call shall take: a record that was just written waits for no longer one."""

FIRST_CALL: Final = 4
"""Texts in the first call, before anything is known of the embedder."""

MOST_IN_CALL: Final = 256

_NEWEST: Final = 0.3
"""Weight of the newest measurement; the rest is that of all before it."""


class EmbeddingPace:
    """Running means of one embedder on this machine.

    Attributes:
        records_per_s: at which records get their vector, looking up and storing included; 0 before the first.
    """

    def __init__(self) -> None:
        self.records_per_s = 0.0
        self._text_s = CALL_S / FIRST_CALL

    @property
    def call(self) -> int:
        """Texts for the next call, from 1 to ``MOST_IN_CALL``."""
        return max(1, min(MOST_IN_CALL, int(CALL_S / self._text_s))) if self._text_s > 0 else MOST_IN_CALL

    def called(self, texts: int, seconds: float) -> None:
        """A call with so many texts took so long."""
        self._text_s += _NEWEST * (seconds / texts - self._text_s)

    def finished(self, records: int, seconds: float) -> None:
        """So many records got their vector in this time."""
        rate, known = records / max(seconds, 1e-6), self.records_per_s
        self.records_per_s = known + _NEWEST * (rate - known) if known else rate
