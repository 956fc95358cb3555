"""One instance per home: a lock that the kernel frees when its process ends, however that ends.

It guards against a second ``shortlist serve`` only; imports and questions may use the registry beside it.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from cluster.errors import InvalidConfiguration

FILE_NAME: Final = "serve.lock"

_PID_BYTES: Final = 20


class HomeInUse(Exception):
    """Another instance, process ``pid`` (empty where it has not said yet), serves from ``home``."""

    def __init__(self, home: str, pid: str) -> None:
        super().__init__(home, pid)
        self.home = home
        self.pid = pid

    def __str__(self) -> str:
        who = f" (process {self.pid})" if self.pid else ""
        return f"Another shortlist serve{who} already uses {self.home}; stop it, or choose another folder with --home."


@contextmanager
def locked_home(home: Path) -> Iterator[None]:
    """Inside this block no other process serves from ``home``, which is made if it is not there.

    Raises:
        HomeInUse: if one does already.
        InvalidConfiguration: if the folder cannot be made or written.
    """
    path = home / FILE_NAME
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Not inherited by the processes of Ray: the lock ends with this one. The file stays, for its name is the lock.
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as exc:
        raise InvalidConfiguration(str(path), exc.strerror or type(exc).__name__, "a folder to write in") from exc
    try:
        _take(lock, home)
        yield
    finally:
        os.close(lock)


def _take(lock: int, home: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as exc:
        raise HomeInUse(str(home), os.pread(lock, _PID_BYTES, 0).decode("ascii", "replace").strip()) from exc
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
