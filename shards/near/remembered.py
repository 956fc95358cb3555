"""RememberedWords: the near terms of the words that were searched for last, of every dictionary of this process.

The words of queries repeat, and to search a dictionary for one takes long. Who may see a term is not known here.
"""

from collections.abc import Sequence
from typing import Final

from shards.cache import BoundedCache
from shards.near.terms import NearTerms, nearest

REMEMBERED_BYTES: Final = 16 << 20
"""Some 20,000 words of two dictionaries, where a word has four near terms."""

_ENTRY_BYTES: Final = 350
"""What Python takes for one word of one dictionary besides the numbers."""


class RememberedWords:
    """The least recently used are forgotten; those of a dictionary that is gone, too, as nobody asks for them."""

    def __init__(self, ceiling_bytes: int = REMEMBERED_BYTES) -> None:
        self._known: BoundedCache[tuple[int, str], bytes] = BoundedCache(ceiling_bytes)

    def nearest(
        self, dictionaries: Sequence[NearTerms], word: str, silent_written: int, silent_spoken: int
    ) -> list[bytes]:
        """As ``terms.nearest``, the numbers as bytes of int64; the limits must depend on the word alone."""
        known = self._known
        found = [known.get((one.uid, word)) for one in dictionaries]
        missing = [place for place, numbers in enumerate(found) if numbers is None]
        if missing:
            lacking = [dictionaries[place] for place in missing]
            searches = nearest(lacking, word, silent_written, silent_spoken)
            for place, one, searched in zip(missing, lacking, searches, strict=True):
                found[place] = numbers = searched.tobytes()
                known.put((one.uid, word), numbers, len(numbers) + _ENTRY_BYTES)
        return [numbers for numbers in found if numbers is not None]

    @property
    def held_bytes(self) -> int:
        """Memory in bytes, about."""
        return self._known.held_bytes
