"""The errors of an evaluation; each names the file and the place.

Tree::

    EvalError
    └── BadEvalFile   a tools or queries file that cannot be read as one
"""

from pathlib import Path


class EvalError(Exception):
    """Base of every error raised inside ``evals``."""


class BadEvalFile(EvalError):
    """A tools or queries file is missing, of an unknown format, or holds a row that breaks its contract."""

    def __init__(self, path: Path, place: str, reason: str) -> None:
        super().__init__(path, place, reason)
        self.path = path
        self.place = place
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}{f', {self.place}' if self.place else ''}: {self.reason}"
