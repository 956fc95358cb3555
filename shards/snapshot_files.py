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
_UNNAMED: Final = "0" * 2 * _DIGEST_BYTES


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


def temporary_in(directory: Path, suffix: str) -> Path:
    """Where a library that knows only paths may write, for ``adopted``; ``remove_others`` ends what a crash left."""
    return directory / f"{_UNNAMED}.{suffix}{_TEMPORARY}"


def adopted(temporary: Path) -> str:
    """Store a whole file of ``temporary_in`` under the digest of its bytes and return its name."""
    suffix = temporary.name.removesuffix(_TEMPORARY).partition(".")[2]
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    name = f"{digest_of([_mapped(temporary, mmap.ACCESS_READ)])}.{suffix}"
    temporary.replace(temporary.with_name(name))
    sync_directory(temporary.parent)
    return name


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
    return _verified(directory, name, mmap.ACCESS_READ)


def map_privately(directory: Path, name: str) -> bytes | mmap.mmap:
    """As ``map_verified``, but writable: what is written stays in this process and never reaches the file."""
    return _verified(directory, name, mmap.ACCESS_COPY)


def read_verified(directory: Path, name: str) -> bytes:
    """The bytes of an addressed file, in memory; errors as ``map_verified``."""
    return bytes(map_verified(directory, name))


def _verified(directory: Path, name: str, access: int) -> bytes | mmap.mmap:
    path = directory / name
    if not _NAME.fullmatch(name):
        raise CorruptSnapshot(str(path), "is not a data file of a snapshot")
    try:
        content = _mapped(path, access)
    except OSError as exc:
        raise CorruptSnapshot(str(path), f"cannot be read: {exc.strerror}") from exc
    if digest_of([content]) != path.stem:
        raise CorruptSnapshot(str(path), "does not match its checksum")
    return content


def _mapped(path: Path, access: int) -> bytes | mmap.mmap:
    with path.open("rb") as file:
        # An empty file cannot be mapped.
        return mmap.mmap(file.fileno(), 0, access=access) if os.fstat(file.fileno()).st_size else b""


def _intact(path: Path) -> bool:
    try:
        map_verified(path.parent, path.name)
    except CorruptSnapshot:
        return False
    return True
