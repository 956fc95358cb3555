"""What was changed in a record so that a provider takes it: a bounded list of notes, part of the answer.

Nothing is changed here.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from typing_extensions import TypedDict

MOST_NOTES: Final = 20
"""Notes on one record; the last one counts those left out."""

_MOST_DETAIL_CHARS: Final = 200


class ChangeKind(StrEnum):
    """What happened at a place of a record.

    ``added``: a keyword that says nothing new (``type: object`` of an input). ``modernised``: the same in JSON Schema
    2020-12. ``dropped``: a keyword without meaning there, or one that could not be kept; the detail has its value.
    ``merged``: alternatives became one object. ``described``: a condition now stands in words in the description.
    ``renamed``: a property has another key; ``arguments`` leads back. ``wrapped``: the input is no object, and stands
    under a property of its own. ``moved``: text went from the tool's description to that of its parameters.
    ``unresolved``: a reference that leads nowhere was taken out. ``more``: so many other changes.
    """

    ADDED = "added"
    MODERNISED = "modernised"
    DROPPED = "dropped"
    MERGED = "merged"
    DESCRIBED = "described"
    RENAMED = "renamed"
    WRAPPED = "wrapped"
    MOVED = "moved"
    UNRESOLVED = "unresolved"
    MORE = "more"


class NoteView(TypedDict):
    """One change; ``at`` is a JSON pointer into the record's own ``parameters``, or the name of another field."""

    id: str
    change: ChangeKind
    at: str
    detail: str


@dataclass(slots=True)
class Changes:
    """The changes of one record, in the order in which they were made."""

    _made: list[tuple[ChangeKind, str, str]] = field(default_factory=list)

    def add(self, kind: ChangeKind, at: str, detail: str = "") -> None:
        """Note one."""
        if len(detail) > _MOST_DETAIL_CHARS:
            detail = f"{detail[: _MOST_DETAIL_CHARS - 1]}…"
        self._made.append((kind, at, detail))

    def __bool__(self) -> bool:
        return bool(self._made)

    def notes(self, record_id: str) -> list[NoteView]:
        """At most ``MOST_NOTES`` of them."""
        shown = self._made
        if len(shown) > MOST_NOTES:
            rest = len(shown) - MOST_NOTES + 1
            shown = [*shown[: MOST_NOTES - 1], (ChangeKind.MORE, "", f"{rest} more changes")]
        return [{"id": record_id, "change": kind, "at": at, "detail": detail} for kind, at, detail in shown]
