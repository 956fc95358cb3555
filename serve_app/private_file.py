"""Reads and creates files that hold secrets. It does not know what the secrets are for."""

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from cluster.errors import InvalidConfiguration
from shards.snapshot_files import sync_directory

MAX_BYTES: Final = 1 << 20
"""Size limit of a secret file."""


def read_private_file(path: Path) -> bytes:
    """The content of a file that only its owner can read.

    The open descriptor is checked, not the path, so the file cannot be exchanged between check and read.

    Raises:
        InvalidConfiguration: if the file is missing, not a regular file, too large, owned by another user (root is
            fine), or open to its group or to others.
    """
    try:
        # A named pipe would otherwise block until somebody writes to it.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise InvalidConfiguration(str(path), "not a regular file", "a regular file")
            if found.st_uid not in {0, os.geteuid()}:
                raise InvalidConfiguration(str(path), f"owner {found.st_uid}", "a file of the user who runs Shortlist")
            if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise InvalidConfiguration(
                    str(path), f"mode {stat.S_IMODE(found.st_mode):04o}", "mode 0600 or stricter"
                )
            content = file.read(MAX_BYTES + 1)
    except OSError as exc:
        raise InvalidConfiguration(str(path), exc.strerror or type(exc).__name__, "a readable file") from exc
    if len(content) > MAX_BYTES:
        raise InvalidConfiguration(str(path), "a larger file", f"at most {MAX_BYTES} bytes")
    return content


def create_private_file(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path`` with mode 0600, whole or not at all; a file that is already there stays.

    Of several processes that race, one wins and all find its file complete: linking fails where the name is taken.

    Raises:
        InvalidConfiguration: if the folder cannot be made or written.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _link_new_file(path, content)
    except OSError as exc:
        raise InvalidConfiguration(str(path), exc.strerror or type(exc).__name__, "a folder to write in") from exc


def _link_new_file(path: Path, content: bytes) -> None:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(draft)
        sync_directory(path.parent)
    finally:
        draft.unlink(missing_ok=True)
