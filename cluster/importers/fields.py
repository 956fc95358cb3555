"""The fields of a record row, and what to make of a field that is none: left out and counted, or refused as mistyped.

Foreign catalogues carry fields of their own, so not every unknown one is a fault. It looks at names, never at values.
"""

from difflib import get_close_matches
from functools import lru_cache
from typing import Final

RECORD_FIELDS: Final = frozenset(
    {
        "id", "kind", "name", "description", "parameters", "title", "text", "source_url", "section", "namespace",
        "access", "aliases", "keywords", "examples", "tags", "capability", "domain", "product", "locale", "release",
        "status", "version",
    }
)  # fmt: skip
"""Fields of a record row that are taken over."""

_UNDERSTOOD: Final = RECORD_FIELDS | {"readonly", "side_effect"}
"""Those, and what may stand outside ``access``."""

_OF_ACCESS: Final = frozenset({"tenant", "permissions", "modes"})
"""Left out, these would open a record to callers it was closed to."""

_SIMILAR: Final = 0.81
"""Above ``ids`` for ``id`` (0.80) and ``test`` for ``text`` (0.75), below ``alias`` for ``aliases`` (0.83)."""

_MIN_PREFIX_CHARS: Final = 4


def is_ignored(field: str) -> bool:
    """Whether a field says nothing about a record."""
    return field not in _UNDERSTOOD


def check_field(field: str) -> None:
    """Pass every field but one that looks like a mistyped one.

    Raises:
        ValueError: with the field that was meant.
    """
    if is_ignored(field) and (meant := _meant(field)) is not None:
        raise ValueError(f"{field}: no field has this name; did you mean {meant!r}?")


@lru_cache(maxsize=1_024)
def _meant(field: str) -> str | None:
    lower = field.casefold()
    if lower in _OF_ACCESS:
        return f"access.{lower}"
    if close := get_close_matches(lower, sorted(_UNDERSTOOD), n=1, cutoff=_SIMILAR):
        return close[0]
    return next((known for known in sorted(_UNDERSTOOD) if _cut_short(lower, known)), None)


def _cut_short(field: str, known: str) -> bool:
    """Whether a field is the beginning of a known one; whole words are not (``source`` of ``source_url``)."""
    return len(field) >= _MIN_PREFIX_CHARS and known.startswith(field) and known[len(field)] != "_"
