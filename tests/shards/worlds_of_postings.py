"""Postings drawn at random, with enough rows for several words of bits and with dense and rare terms."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from shards.messages import ScoreMix
from shards.postings import Postings, assembled, packed

TERMS = 7


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """Postings of ``rows`` records and a query's rows of the dictionary, with -1 for a term that nobody holds."""

    postings: Postings
    rows: int
    terms: npt.NDArray[np.int64]
    mask: npt.NDArray[np.bool_]
    base: npt.NDArray[np.int32]


@st.composite
def drawn_postings(draw: st.DrawFn) -> Drawn:
    """Some terms in nearly every row, some in few; few or many distinct impacts, so that scores tie."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = draw(st.sampled_from((1, 63, 64, 65, 300, 1_100)))
    largest = draw(st.sampled_from((1, 3, 255)))
    held = rng.random((TERMS, rows)) < rng.choice((0.0, 0.02, 0.3, 0.95), (TERMS, 1))
    terms, ordinals = np.nonzero(held)
    impacts = rng.integers(1, largest + 1, len(terms)).astype(np.uint8)
    names = (rng.integers(0, largest + 1, len(terms)) * (rng.random(len(terms)) < 0.2)).astype(np.uint8)
    postings = assembled(
        [b"t%02d" % term for term in range(TERMS)],
        packed(terms.astype(np.uint64), ordinals.astype(np.uint16), impacts, names),
    )
    base = (rng.integers(1, 5_000, rows) * (rng.random(rows) < 0.05)).astype(np.int32)
    return Drawn(
        postings=postings,
        rows=rows,
        terms=rng.permutation(postings.terms.find_all([b"t%02d" % term for term in range(TERMS)])),
        mask=rng.random(rows) < draw(st.sampled_from((0.0, 0.02, 0.1, 0.5, 1.0))),
        base=base if draw(st.booleans()) else np.zeros(0, np.int32),
    )


mixes = st.builds(
    ScoreMix, impact=st.integers(0, 15), name=st.integers(0, 15), presence=st.sampled_from((0, 1, 300, 3825))
)
