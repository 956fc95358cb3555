"""Listing: every authorized record of an index state that matches, by id; what an export is made of.

It scores nothing and cuts nothing, and no search asks for it.
"""

from collections.abc import Sequence

import numpy as np

from shards.authorization import AuthorizedRows
from shards.mask import Mask
from shards.messages import Listing, ListingRequest
from shards.part import Part


def listed(request: ListingRequest, parts: Sequence[tuple[Part, AuthorizedRows]], seq: int) -> Listing:
    """The rows of all parts that match ``request``; an id is alive in one part only, so each comes once."""
    found: list[tuple[str, int]] = []
    for part, rows in parts:
        ordinals = np.flatnonzero(_matching(request, part, rows)).astype(np.int64)
        ids = part.segment.ids.texts_at(ordinals)
        found.extend(zip(ids, part.segment.versions[ordinals].tolist(), strict=True))
    found.sort()
    return Listing(ids=tuple(one for one, _ in found), versions=tuple(version for _, version in found), seq=seq)


def _matching(request: ListingRequest, part: Part, rows: AuthorizedRows) -> Mask:
    if not request.terms:
        return rows.mask
    postings = part.segment.postings
    holds = np.zeros(rows.rows, np.bool_)
    for row in postings.rows.of(request.terms).tolist():
        if row >= 0:
            holds[postings.ordinals_of(row)] = True
    return holds & rows.mask
