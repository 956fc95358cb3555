"""Scope x columns -> the rows of a segment that a principal may see, before anything is scored.

Default deny: without a grant that admits it, a row is out. Live and tombstoned rows are told apart elsewhere.
"""

from collections.abc import Callable, Iterable
from typing import Final

import numpy as np
import numpy.typing as npt
import orjson

from shards.cache import BoundedCache
from shards.columns import Field
from shards.grants import GrantLists
from shards.record import Status
from shards.scope import Denial, Grant, Narrowing, Scope
from shards.segment import Segment
from shards.utf8 import encoded

NAMESPACES_BYTES: Final = 16 << 20

ENTRY_BYTES: Final = 512
"""What an entry of a cache costs beside its array: key and objects."""

Mask = npt.NDArray[np.bool_]


class NamespaceRows:
    """Rows by patterns of namespaces. What patterns admit is remembered, because all callers of a role ask the same.

    A catalogue has thousands of namespaces, so that they cost more than all other clauses of a scope together.
    """

    def __init__(self, ceiling_bytes: int = NAMESPACES_BYTES) -> None:
        self._decided: BoundedCache[tuple[int, frozenset[str]], Mask] = BoundedCache(ceiling_bytes)

    def of(self, patterns: frozenset[str], segment: Segment) -> Mask:
        """bool[rows]: in a namespace that any pattern matches; ``Grant.namespaces`` says how."""
        column, key = segment.columns[Field.NAMESPACE], (segment.uid, patterns)
        decided = self._decided.get(key)
        if decided is None:
            decided = column.decided(_namespace_test(patterns))
            self._decided.put(key, decided, decided.nbytes + ENTRY_BYTES * (1 + len(patterns)))
        return column.rows_with(decided)


def admitted(scope: Scope, segment: Segment, lists: GrantLists, namespaces: NamespaceRows) -> Mask:
    """bool[rows]: enabled, admitted by any grant, matched by no denial, and inside every narrowing."""
    mask = np.zeros(len(segment), np.bool_)
    for grant in scope.grants:
        mask |= _granted(grant, segment, lists, namespaces)
    if not mask.any():
        return mask
    mask &= segment.columns[Field.STATUS].where(lambda status: status == Status.ENABLED)
    for denial in scope.denials:
        mask &= ~_denied(denial, segment, namespaces)
    for part in _narrowed(scope.narrowing, segment, lists, namespaces):
        mask &= part
    return mask


def _granted(grant: Grant, segment: Segment, lists: GrantLists, namespaces: NamespaceRows) -> Mask:
    columns = segment.columns
    mask = columns[Field.TENANT].where(lambda tenant: tenant in grant.tenants)
    if not mask.any():
        return mask
    mask &= columns[Field.PERMISSIONS].where(lambda required: grant.permissions.issuperset(orjson.loads(required)))
    mask &= columns[Field.MODES].where(lambda modes: not (names := orjson.loads(modes)) or grant.mode in names)
    mask &= columns[Field.SIDE_EFFECT].where(lambda effect: effect in grant.side_effects)
    if grant.namespaces is not None:
        mask &= namespaces.of(grant.namespaces, segment)
    if grant.ids is not None:
        mask &= _rows_with_ids(grant.ids, segment)
    if grant.grant_list is not None:
        mask &= _rows_with_ids(lists.ids(grant.grant_list), segment)
    return mask


def _denied(denial: Denial, segment: Segment, namespaces: NamespaceRows) -> Mask:
    mask = _rows_with_ids(denial.ids, segment)
    if denial.namespaces:
        mask |= namespaces.of(denial.namespaces, segment)
    return mask


def _narrowed(narrowing: Narrowing, segment: Segment, lists: GrantLists, namespaces: NamespaceRows) -> Iterable[Mask]:
    exact = (
        (Field.KIND, narrowing.kinds),
        (Field.PRODUCT, narrowing.products),
        (Field.LOCALE, narrowing.locales),
        (Field.RELEASE, narrowing.releases),
        (Field.DOMAIN, narrowing.domains),
        (Field.CAPABILITY, narrowing.capabilities),
    )
    for field, wanted in exact:
        if wanted is not None:
            yield segment.columns[field].where(wanted.__contains__)
    if narrowing.namespaces is not None:
        yield namespaces.of(narrowing.namespaces, segment)
    if narrowing.ids is not None:
        yield _rows_with_ids(narrowing.ids, segment)
    if narrowing.grant_list is not None:
        yield _rows_with_ids(lists.ids(narrowing.grant_list), segment)


def _namespace_test(patterns: frozenset[str]) -> Callable[[str], bool]:
    """Whether any pattern matches (``Grant.namespaces`` says how), at the cost of one look-up and one C call."""
    exact = frozenset(pattern for pattern in patterns if not pattern.endswith("*"))
    prefixes = tuple(pattern[:-1] for pattern in patterns if pattern.endswith("*"))
    return lambda namespace: namespace in exact or namespace.startswith(prefixes)


def _rows_with_ids(ids: frozenset[str], segment: Segment) -> Mask:
    if len(ids) > len(segment):
        return np.fromiter(map(ids.__contains__, segment.ids), np.bool_, len(segment))
    mask = np.zeros(len(segment), np.bool_)
    rows = segment.ids.find_all([encoded(record_id) for record_id in ids])
    mask[rows[rows >= 0]] = True
    return mask
