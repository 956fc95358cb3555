"""Files named by the digest of their bytes: written durably, verified whole when read.

What is in them is ``shards.snapshot``'s knowledge.
"""

import hashlib
import mmap
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from shards.errors import CorruptSnapshot

Buffer = bytes | memoryview | mmap.mmap

_DIGEST_BYTES: Final = 32
_NAME: Final = re.compile(r"[0-9a-f]{64}\.[a-z]+")
_TEMPORARY: Final = ".tmp"


def digest_of(chunks: Sequence[Buffer]) -> str:
    """Hex blake2b-256 of the chunks one after the other."""
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()


def write_addressed(directory: Path, suffix: str, chunks: Sequence[Buffer]) -> str:
    """Store the chunks under their digest and return the file's name; an intact file of that name is kept."""
    name = f"{digest_of(chunks)}.{suffix}"
    if not _intact(directory / name):
        write_durably(directory / name, chunks)
    return name


def write_durably(path: Path, chunks: Sequence[Buffer]) -> None:
    """Write a file so that after a crash it is either the old or the new one, whole."""
    temporary = path.with_name(path.name + _TEMPORARY)
    with temporary.open("wb") as file:
        for chunk in chunks:
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make renames and new names in ``directory`` durable."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_others(directory: Path, kept: frozenset[str]) -> None:
    """Delete the addressed and temporary files that are not in ``kept``; other files are not ours."""
    for path in directory.iterdir():
        stem = path.name.removesuffix(_TEMPORARY)
        if path.name not in kept and (_NAME.fullmatch(stem) or stem in kept):
            path.unlink(missing_ok=True)


def map_verified(directory: Path, name: str) -> bytes | mmap.mmap:
    """The bytes of an addressed file, memory-mapped.

    Raises:
        CorruptSnapshot: if the name is not one of ours, or the file is missing or not what its name says.
    """
    path = directory / name
    if not _NAME.fullmatch(name):
        raise CorruptSnapshot(str(path), "is not a data file of a snapshot")
    try:
        with path.open("rb") as file:
            # An empty file cannot be mapped.
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if os.fstat(file.fileno()).st_size else b""
    except OSError as exc:
        raise CorruptSnapshot(str(path), f"cannot be read: {exc.strerror}") from exc
    if digest_of([content]) != path.stem:
        raise CorruptSnapshot(str(path), "does not match its checksum")
    return content


def read_verified(directory: Path, name: str) -> bytes:
    """The bytes of an addressed file, in memory; errors as ``map_verified``."""
    return bytes(map_verified(directory, name))


def _intact(path: Path) -> bool:
    try:
        map_verified(path.parent, path.name)
    except CorruptSnapshot:
        return False
    return True
