"""The cost of the edits between a word and a term: one small table filled letter by letter.

It knows code points and integers only. Compiled when this module is imported; releases the GIL.
"""

from typing import Final

import numba
import numpy as np
import numpy.typing as npt
from numba import types

SUBSTITUTED: Final = 10
ALIKE: Final = 7
"""Cost of another letter, and of one that lies beside it on a keyboard or sounds as it does."""

INSERTED: Final = 9
DOUBLED: Final = 6
"""Cost of a letter too many or too few, and of one that repeats its neighbour; nothing costs less."""

SWAPPED: Final = 7
FIRST_LETTER: Final = 4
"""Added where the first letters differ and are not swapped: people rarely mistype the first one."""

FAR: Final = 1 << 20
"""Above every limit."""

LONGEST: Final = 40
"""Letters of a term that is compared; what is longer is a key or many joined words."""

U16: Final = types.Array(types.uint16, 1, "C", readonly=True)
I64: Final = types.Array(types.int64, 1, "C", readonly=True)
TABLE: Final = types.Array(types.uint8, 2, "C", readonly=True)


@numba.njit(
    types.int64(U16, I64, I64, types.uint16[::1], types.int64, TABLE, types.int64[:, ::1]),
    nogil=True,
    cache=True,
)
def edit_cost(  # noqa: PLR0917 -- Numba wants positions
    word: npt.NDArray[np.uint16],
    endings: npt.NDArray[np.int64],
    limits: npt.NDArray[np.int64],
    letters: npt.NDArray[np.uint16],
    count: int,
    alike: npt.NDArray[np.uint8],
    rows: npt.NDArray[np.int64],
) -> int:
    """Least cost of the edits that make some ``word[:n]`` of ``letters[:count]``, with ``endings[n]`` for the rest.

    Optimal string alignment (Damerau without edits inside a swap). Only what costs ``limits[n]`` at most counts;
    ``FAR`` where nothing does. ``rows`` is int64[3, > LONGEST].
    """
    limit = limits.max()
    swapped_first = word[0] == letters[1] and word[1] == letters[0]
    before, above, current = 0, 1, 2
    rows[above, 0] = 0 if word[0] == letters[0] or swapped_first else FIRST_LETTER
    for column in range(1, count + 1):
        doubled = column > 1 and letters[column - 1] == letters[column - 2]
        rows[above, column] = rows[above, column - 1] + (DOUBLED if doubled else INSERTED)
    least, best = FAR, 0
    for line in range(1, len(word) + 1):
        mine = word[line - 1]
        removed = DOUBLED if line > 1 and mine == word[line - 2] else INSERTED
        rows[current, 0] = rows[above, 0] + removed
        best_above, best = best, rows[current, 0]
        for column in range(1, count + 1):
            theirs = letters[column - 1]
            cost = rows[above, column - 1]
            if mine != theirs:
                cost += ALIKE if alike[mine & 255, theirs & 255] else SUBSTITUTED
            inserted = DOUBLED if column > 1 and theirs == letters[column - 2] else INSERTED
            cost = min(cost, rows[above, column] + removed, rows[current, column - 1] + inserted)
            if line > 1 and column > 1 and mine == letters[column - 2] and word[line - 2] == theirs and mine != theirs:
                cost = min(cost, rows[before, column - 2] + SWAPPED)
            rows[current, column] = cost
            best = min(best, cost)
        whole = rows[current, count] + endings[line]
        if whole <= limits[line]:
            least = min(least, whole)
        # Nothing below gets cheaper; a swap reaches over one line.
        if best > limit and best_above + SWAPPED > limit:
            break
        before, above, current = above, current, before
    return least
