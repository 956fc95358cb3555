"""Turns a YAML file into a strict pydantic model, or into one typed error. It does not know which models exist."""

from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from cluster.errors import InvalidConfiguration
from cluster.strict_yaml import Json, read_yaml

_SHOWN_CHARACTERS = 80


class StrictModel(BaseModel):
    """Base of everything an operator writes: frozen, no unknown keys, no coercion between types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)


Model = TypeVar("Model", bound=StrictModel)


def read_model(model: type[Model], path: Path, context: dict[str, Path] | None = None) -> Model:
    """The model in the file at ``path``; an empty file means every default.

    Raises:
        InvalidConfiguration: for the first thing wrong: the file, a field, its value and what is allowed.
    """
    return validated(model, read_yaml(path), str(path), context)


def validated(model: type[Model], value: Json, source: str, context: dict[str, Path] | None = None) -> Model:
    """As ``read_model``, for a value that came from ``source``."""
    try:
        # JSON mode, so that strictness still lets a list be a tuple and a string a path.
        return model.model_validate_json(orjson.dumps({} if value is None else value), context=context)
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        location = first["loc"]
        field = f"{source}: {'.'.join(str(part) for part in location) or 'top level'}"
        if first["type"] == "extra_forbidden":
            known = ", ".join(_known_keys(model, location[:-1])) or "a known key"
            # The value of a misspelt key may be a secret: it is not repeated.
            raise InvalidConfiguration(field, "an unknown key", f"one of: {known}") from None
        shown = "nothing" if first["type"] == "missing" else repr(first["input"])[:_SHOWN_CHARACTERS]
        allowed = first["msg"].removeprefix("Value error, ")
        raise InvalidConfiguration(field, shown, allowed[:1].lower() + allowed[1:]) from None


def _known_keys(model: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """The keys of the model that sits at ``location`` under ``model``; empty where the way there is not by fields."""
    here: Any = model
    for part in location:
        if (
            isinstance(part, str)
            and isinstance(here, type)
            and issubclass(here, BaseModel)
            and part in here.model_fields
        ):
            here = here.model_fields[part].annotation
        else:
            return []
    return list(here.model_fields) if isinstance(here, type) and issubclass(here, BaseModel) else []
