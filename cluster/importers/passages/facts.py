"""Facts: what a file of documents says of itself, or a folder of its files; checked, and complete or refused.

A fact is never guessed. What decides who finds a passage (tenant, permissions, status) and what requests narrow by
(product, locale, release) has to be said by somebody: by the file, its folder or the operator. An empty product, locale
or release has to be said too, and an empty list of permissions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Final

from shards.record import Status

Fact = str | tuple[str, ...] | bool | datetime
"""Text, a list of texts, a yes or no, or a time with its zone."""

REQUIRED: Final = ("tenant", "permissions", "status", "product", "locale", "release")

_TEXTS: Final = frozenset({"tenant", "product", "locale", "release", "status", "source_url"})
_LISTS: Final = frozenset({"permissions", "modes", "tags", "keywords", "aliases"})
_TIMES: Final = frozenset({"published", "expires"})
_FILE_ONLY: Final = frozenset({"id", "title", "aliases"})

FOLDER_FACTS: Final = (_TEXTS | _LISTS | _TIMES | {"draft"}) - _FILE_ONLY
FILE_FACTS: Final = FOLDER_FACTS | _FILE_ONLY

_OTHER_NAMES: Final = {"version": "release", "lang": "locale", "publish_date": "published", "expiry_date": "expires"}
"""How documents call these."""

_MAY_BE_EMPTY: Final = frozenset({"product", "locale", "release", "source_url"})

_STATUSES: Final = {
    word: status
    for status, words in (
        (Status.ENABLED, ("published", "enabled")),
        (Status.DISABLED, ("draft", "review", "unpublished", "private", "hidden", "archived", "disabled")),
        (Status.DEPRECATED, ("deprecated", "obsolete", "superseded")),
    )
    for word in words
}
_YES_OR_NO: Final = {"true": True, "false": False}

_SIMILAR: Final = 0.81
"""As in ``cluster.importers.fields``: ``permission`` is a mistyped ``permissions``, ``author`` is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Checked facts, and the names of fields that are none.

    Attributes:
        said: by name, in the types of ``Fact``.
        ignored: sorted.
    """

    said: Mapping[str, Fact]
    ignored: tuple[str, ...] = ()


def check_facts(values: Mapping[str, object], known: frozenset[str] = FILE_FACTS) -> Facts:
    """The facts among ``values``; null is not said. Lists may be text with commas only where every value is text.

    Raises:
        ValueError: naming the field, if a value cannot be used, a fact is said twice, or a name looks mistyped.
    """
    said: dict[str, Fact] = {}
    ignored = []
    for field, value in values.items():
        name = _name(field)
        if name not in known:
            if close := get_close_matches(name, sorted({*known, *_OTHER_NAMES}), n=1, cutoff=_SIMILAR):
                raise ValueError(f"{field}: no field has this name; did you mean {close[0]!r}?")
            ignored.append(field)
        elif value is not None:
            if name in said:
                raise ValueError(f"{name}: is said twice")
            said[name] = _fact(name, value)
    return Facts(said=said, ignored=tuple(sorted(ignored)))


def from_texts(values: Mapping[str, object]) -> dict[str, object]:
    """Values of a format that has texts only: lists are parted at commas, ``true`` and ``false`` are meant."""
    parted: dict[str, object] = {}
    for field, value in values.items():
        name = _name(field)
        if isinstance(value, str) and name in _LISTS:
            parted[field] = [item.strip() for item in value.split(",") if item.strip()]
        elif isinstance(value, str) and (name == "draft" or name in _TIMES):
            parted[field] = _YES_OR_NO.get(value.strip().lower(), value)
        else:
            parted[field] = value
    return parted


def joined(*nearest_first: Mapping[str, Fact]) -> dict[str, Fact]:
    """Facts of several speakers: of each fact the word of the nearest one.

    Raises:
        ValueError: naming what nobody said that has to be said.
    """
    facts: dict[str, Fact] = {}
    for said in reversed(nearest_first):
        facts.update(said)
    if missing := [name for name in REQUIRED if name not in facts]:
        raise ValueError(
            f"{', '.join(missing)}: required, but neither the file nor shortlist.yaml nor an option says it"
            + ("; [] is none" if "permissions" in missing else "")
        )
    return facts


def status_of(facts: Mapping[str, Fact], now: datetime) -> Status:
    """What the facts make of a passage at ``now``: of status, draft and dates, the one that shows least decides."""
    status = _STATUSES[str(facts["status"])]
    published, expires = facts.get("published", True), facts.get("expires")
    early = published is False or (isinstance(published, datetime) and now < published)
    late = isinstance(expires, datetime) and now >= expires
    return Status.DISABLED if facts.get("draft") is True or early or late else status


def _name(field: str) -> str:
    name = field.strip().casefold().replace("-", "_")
    return _OTHER_NAMES.get(name, name)


def _fact(name: str, value: object) -> Fact:
    if name in _LISTS:
        return _list(name, value)
    if name == "draft":
        if not isinstance(value, bool):
            raise ValueError(f"draft: {_shown(value)} is not allowed; expected true or false")
        return value
    if name in _TIMES:
        return _time(name, value)
    text = _text(name, value)
    if name == "status" and text not in _STATUSES:
        raise ValueError(f"status: {_shown(value)} is not allowed; expected one of {', '.join(_STATUSES)}")
    return text


def _text(name: str, value: object) -> str:
    if isinstance(value, float):
        raise ValueError(  # noqa: TRY004 -- a fault of a file, not of a program
            f"{name}: {value} is a number and would lose its last zeros; write it in quotes"
        )
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not (value.strip() or name in _MAY_BE_EMPTY):
        raise ValueError(f"{name}: {_shown(value)} is not allowed; expected text")
    return value.strip()


def _list(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise ValueError(f"{name}: {_shown(value)} is not allowed; expected a list of texts")
    return tuple(item.strip() for item in value)


def _time(name: str, value: object) -> datetime | bool:
    if name == "published" and isinstance(value, bool):
        return value
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        time = None
    if time is None:
        raise ValueError(f"{name}: {_shown(value)} is not allowed; expected a date or a time in ISO 8601")
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"  # noqa: PLR2004 -- one line of an error
