"""A log file that several processes add whole lines to. It is opened anew for each batch, so renaming it rotates it."""

import fcntl
import os
from pathlib import Path
from typing import Final, Protocol

from cluster.errors import InvalidConfiguration

_STANDARD_ERROR: Final = 2


class Sink(Protocol):
    """Where lines go."""

    def append(self, lines: bytes) -> None:
        """Write whole lines.

        Raises:
            OSError: if they, or a part of them, could not be written.
        """


class LogFile:
    """A file of mode 0600.

    Args:
        path: of the file; its folder is made.
        most_bytes: size from which it is renamed to end in ``.1``, in place of the one before; None lets it grow.

    Raises:
        InvalidConfiguration: if it cannot be written.
    """

    def __init__(self, path: Path, most_bytes: int | None = None) -> None:
        self._path = path
        self._old = path.with_name(path.name + ".1")
        self._most_bytes = most_bytes
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.append(b"")
        except OSError as exc:
            raise InvalidConfiguration(str(path), exc.strerror or type(exc).__name__, "a file to write to") from exc

    def append(self, lines: bytes) -> None:
        """See ``Sink``."""
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _write(file, lines)
            if self._most_bytes is not None and os.fstat(file).st_size >= self._most_bytes:
                self._rotate(file)
        finally:
            os.close(file)

    def _rotate(self, file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)
        # Another process may have been quicker: what this one has open is the old file then.
        if self._path.exists() and os.path.samestat(os.fstat(file), self._path.stat()):
            self._path.replace(self._old)


class StandardError:
    """Standard error of this process."""

    def append(self, lines: bytes) -> None:
        """See ``Sink``."""
        _write(_STANDARD_ERROR, lines)


def _write(file: int, lines: bytes) -> None:
    left = memoryview(lines)
    while left:
        left = left[os.write(file, left) :]
