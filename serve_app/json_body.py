"""A JSON body, from bytes to a validated model or to a problem that names every unusable field.

It knows JSON and pydantic's errors, no particular model. What pydantic's parser lets through and JSON readers
disagree about (repeated keys) is refused here too.
"""

import json
from collections.abc import Iterable
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, from_json

from serve_app.problems import Code, FieldError, Problem, Refused, invalid_request

_SHOWN_ERRORS: Final = 8
_SHOWN_NAME: Final = 64

_LARGE_BYTES: Final = 2**20
_MOST_FIELDS: Final = 64

_ALLOWED: Final = {
    "missing": "a value; the field is required",
    "literal_error": "one of {expected}",
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
    "string_pattern_mismatch": "a string that matches {pattern}",
    "list_type": "a list",
    "too_short": "at least {min_length} entries; leave the field out to not use it",
    "too_long": "at most {max_length} entries",
    "greater_than_equal": "an integer of at least {ge}",
    "less_than_equal": "an integer of at most {le}",
}
"""What a field takes, by pydantic's name of the fault; its own sentence where none stands here."""

ModelT = TypeVar("ModelT", bound=BaseModel)


class RepeatedKey(ValueError):
    """Two JSON readers may take two different values of a repeated key, so none is taken."""


def parse_body(model: type[ModelT], body: bytes) -> ModelT:
    """The validated body.

    Raises:
        Refused: ``invalid_body`` if it is not one JSON value in UTF-8 (NaN, lone surrogates, nesting beyond 200 and
            numbers beyond 4,300 digits are not), else ``invalid_request`` with each unusable field.
    """
    if len(body) > _LARGE_BYTES:
        _check_number_of_fields(body)
    try:
        parsed = model.model_validate_json(body)
        # Each key has a colon after it: with no more colons than fields that were set, none came twice.
        if body.count(b":") > len(parsed.model_fields_set):
            # Runs on bodies that the model accepted, so nesting is bounded; costs a few microseconds.
            check_keys(body)
    except ValidationError as error:
        raise Refused(problem_of_validation(model, error)) from error
    except RepeatedKey as error:
        raise Refused(Problem(code=Code.INVALID_BODY, detail="An object repeats a key.")) from error
    return parsed


def _check_number_of_fields(body: bytes) -> None:
    """Refuse what pydantic would describe key by key, for seconds where there are a million of them."""
    try:
        values: object = from_json(body)
    except ValueError:
        return  # The model's own error says where.
    if isinstance(values, dict) and len(values) > _MOST_FIELDS:
        raise Refused(invalid_request(FieldError(field="body", allowed=f"an object of at most {_MOST_FIELDS} fields")))


def problem_of_validation(model: type[BaseModel], error: ValidationError) -> Problem:
    """What pydantic found, without a single value of the input."""
    found = error.errors(include_url=False, include_input=False)
    if found[0]["type"] == "json_invalid":
        return Problem(code=Code.INVALID_BODY, detail=f"The body is not valid JSON: {found[0]['ctx']['error']}.")
    return invalid_request(*(_field_error(model, one) for one in found[:_SHOWN_ERRORS]))


def _field_error(model: type[BaseModel], found: ErrorDetails) -> FieldError:
    match found["type"]:
        case "extra_forbidden":
            allowed = f"only the fields {', '.join(_fields_at(model, found['loc'][:-1]))}"
        case "model_type":
            allowed = f"an object with the fields {', '.join(_fields_at(model, found['loc']))}"
        case kind if kind in _ALLOWED:
            allowed = _ALLOWED[kind].format(**found.get("ctx", {}))
        case _:
            allowed = found["msg"].removeprefix("Input should be ")
    return FieldError(field=_path(found["loc"]), allowed=allowed)


def _path(location: tuple[int | str, ...]) -> str:
    """``narrow.ids[3]``; names that came from the caller are cut and escaped, and the whole body is ``body``."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{_shown(part)}" for part in location)
    return "".join(parts).removeprefix(".") or "body"


def _shown(name: str) -> str:
    return name[:_SHOWN_NAME].encode("unicode_escape").decode()


def _fields_at(model: type[BaseModel], location: Iterable[int | str]) -> tuple[str, ...]:
    for part in location:
        inner = model.model_fields[part].annotation if part in model.model_fields else None
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            model = inner
    return tuple(model.model_fields)


def check_keys(body: bytes) -> None:
    """Read valid JSON in UTF-8 once more, for what pydantic's parser does not say.

    Raises:
        RepeatedKey: if one of its objects repeats a key.
    """
    _READER.decode(body.decode())


def without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A hook for ``json``: the object of these pairs.

    Raises:
        RepeatedKey: if two of them have one key.
    """
    values = dict(pairs)
    if len(values) != len(pairs):
        raise RepeatedKey
    return values


_READER: Final = json.JSONDecoder(object_pairs_hook=without_repeats)
