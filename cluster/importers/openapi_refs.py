"""``$ref`` inside one OpenAPI document: what a value stands for. It opens no file and no connection, ever.

A reference to anything outside the document is refused by its text alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

MAX_CHAIN: Final = 64
"""References that lead from one to the next."""

_SHOWN_CHARS: Final = 120


class UnusableOperation(ValueError):
    """An operation cannot be imported; the text says why and names the field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a value stands for.

    Attributes:
        value: holds no ``$ref`` of its own.
        names: the references on the way to it, in order; empty where the value was no reference.
    """

    value: object
    names: tuple[str, ...]


class References:
    """Follows the references of one document."""

    def __init__(self, document: Mapping[str, object]) -> None:
        self._document = document

    def follow(self, value: object) -> Target:
        """What a value stands for, after all its references.

        Raises:
            UnusableOperation: if one leads out of the document, to nothing, or back to itself.
        """
        names: list[str] = []
        while isinstance(value, dict) and "$ref" in value:
            reference = value["$ref"]
            if not isinstance(reference, str):
                raise UnusableOperation("$ref: must be text")
            if reference in names:
                raise UnusableOperation(f"$ref: {shown(reference)} leads back to itself")
            if len(names) == MAX_CHAIN:
                raise UnusableOperation(f"$ref: more than {MAX_CHAIN} in a row, from {shown(names[0])} on")
            names.append(reference)
            value = self._at(reference)
        return Target(value=value, names=tuple(names))

    def _at(self, reference: str) -> object:
        if not reference.startswith("#"):
            raise UnusableOperation(f"$ref: {shown(reference)} is outside the document, and is never opened")
        if not reference.startswith("#/"):
            raise UnusableOperation(f"$ref: {shown(reference)} is no path inside the document, as '#/a/b'")
        value: object = self._document
        for part in reference[2:].split("/"):
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
                value = value[int(key)]
            else:
                raise UnusableOperation(f"$ref: {shown(reference)} leads to nothing in the document")
        return value


def object_at(field: str, value: object) -> dict[str, object]:
    """The value, which has to be a JSON object.

    Raises:
        UnusableOperation: naming ``field``, for any other value.
    """
    if not isinstance(value, dict):
        raise UnusableOperation(f"{field}: must be a JSON object")
    return value


def list_at(field: str, value: object) -> list[object]:
    """The value, which has to be a list; nothing counts as an empty one.

    Raises:
        UnusableOperation: naming ``field``, for any other value.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise UnusableOperation(f"{field}: must be a list")
    return value


def shown(text: str) -> str:
    """A text of the document for a reason: quoted, and short."""
    return repr(text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…")
