"""Kinds of values that several sections of the settings hold. A range that one setting has alone stands with it."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo


def _absolute(path: Path, info: ValidationInfo) -> Path:
    """Anchor a relative path at the folder that ``load_settings`` passes, so that every process reads the same file."""
    return path if info.context is None else info.context["folder"] / path


ConfiguredPath = Annotated[Path, AfterValidator(_absolute)]
Port = Annotated[int, Field(ge=1, le=65_535)]
Percent = Annotated[int, Field(ge=0, le=100)]
