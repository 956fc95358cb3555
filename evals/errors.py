"""The errors of an evaluation; each names the file and the place.

Tree::

    EvalError
    ├── BadEvalFile    a file of an evaluation cannot be read as what it should be, or not be written
    ├── NotInstalled   a system or a plot needs an optional package
    └── WouldOverwrite a new gold set would replace files that are there
"""

from pathlib import Path


class EvalError(Exception):
    """Base of every error raised inside ``evals``."""


class BadEvalFile(EvalError):
    """A file is missing, of an unknown format, holds a row that breaks its contract, or cannot be written."""

    def __init__(self, path: Path, place: str, reason: str) -> None:
        super().__init__(path, place, reason)
        self.path = path
        self.place = place
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}{f', {self.place}' if self.place else ''}: {self.reason}"


class NotInstalled(EvalError):
    """What was asked for needs a package that this installation does not have; ``extra`` brings it."""

    def __init__(self, wanted: str, module: str, extra: str = "evals") -> None:
        super().__init__(wanted, module, extra)
        self.wanted = wanted
        self.module = module
        self.extra = extra

    def __str__(self) -> str:
        return f"{self.wanted}: {self.module} is not installed: pip install 'shortlist[{self.extra}]'"


class WouldOverwrite(EvalError):
    """A file that would be written is there already; nothing was written."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: is there already, and is not overwritten"
