"""A folder of documents: which files are in it, and their bytes, within bounds. It opens nothing outside of it."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cluster.errors import OversizedSource, UnreadableSource
from cluster.importers.source import Refusal, reason_of

MAX_FILES: Final = 20_000
MAX_FILE_BYTES: Final = 1_048_576
"""A book of 200,000 words. Hostile Markdown of this size takes some seconds."""

MAX_DEPTH: Final = 32
MAX_ENTRIES: Final = 500_000
"""Names that are looked at, documents or not."""

DEFAULTS_FILE: Final = "shortlist.yaml"
SIDECAR_ENDING: Final = ".yaml"

ENDINGS: Final = (".md", ".markdown", ".html", ".htm", ".txt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A document.

    Attributes:
        path: relative to the folder, with ``/`` on every system.
        sidecar: the path of the file beside it that says what it is (``guide.md.yaml``); None where there is none.
    """

    path: str
    sidecar: str | None

    @property
    def stem(self) -> str:
        """The path without its ending."""
        return self.path.rpartition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a folder holds.

    Attributes:
        documents: by path.
        refused: links that are not followed, by path.
        others: files that are no documents.
    """

    documents: tuple[Found, ...]
    refused: tuple[Refusal, ...]
    others: int


class Folder:
    """One folder; every path that is given to it is relative to it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        try:
            self._real = root.resolve(strict=True)
        except (OSError, RuntimeError) as exc:
            raise UnreadableSource(str(root), reason_of(exc)) from exc
        if not self._real.is_dir():
            raise UnreadableSource(str(root), "is no folder")

    def listing(self) -> Listing:
        """Every document below, without hidden files and folders.

        Links to files inside the folder are documents; links to folders, and links that lead outside, are refused.

        Raises:
            UnreadableSource: if a folder cannot be listed: what is in it must not look as if it were gone.
            OversizedSource: if there are more files, or deeper folders, than the bounds allow.
        """
        documents: list[str] = []
        refused: list[Refusal] = []
        names: set[str] = set()
        for path, entry in self._entries():
            if entry.is_symlink() and (reason := self._why_not(path)) is not None:
                refused.append(Refusal(name=path, reason=reason, source=path))
            elif entry.is_file() or entry.is_symlink():
                names.add(path)
                if path.lower().endswith(ENDINGS):
                    documents.append(path)
            if len(documents) > MAX_FILES:
                raise OversizedSource(str(self.root), "files", MAX_FILES, "documents")
        found = tuple(
            Found(path=path, sidecar=f"{path}{SIDECAR_ENDING}" if f"{path}{SIDECAR_ENDING}" in names else None)
            for path in sorted(documents)
        )
        known = sum(1 for one in found if one.sidecar) + sum(1 for name in names if _file_name(name) == DEFAULTS_FILE)
        return Listing(
            documents=found,
            refused=tuple(sorted(refused, key=lambda one: one.name)),
            others=len(names) - len(found) - known,
        )

    def read(self, path: str) -> bytes:
        """The bytes of a file.

        Raises:
            UnreadableSource: if it leads out of the folder, is no regular file, or cannot be read.
            OversizedSource: if it is larger than ``MAX_FILE_BYTES``.
        """
        target = self._inside(path)
        if target is None:
            raise UnreadableSource(path, "leads out of the folder")
        try:
            # Not blocking, so that a pipe is refused instead of waited for.
            descriptor = os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise UnreadableSource(path, "is no regular file")
                raw = file.read(MAX_FILE_BYTES + 1)
        except OSError as exc:
            raise UnreadableSource(path, reason_of(exc)) from exc
        if len(raw) > MAX_FILE_BYTES:
            raise OversizedSource(path, "size", MAX_FILE_BYTES, "bytes")
        return raw

    def has(self, path: str) -> bool:
        """Whether there is something at ``path``, readable or not."""
        return os.path.lexists(self.root / path)

    def _entries(self) -> Iterator[tuple[str, os.DirEntry[str]]]:
        waiting = [""]
        seen = 0
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(self._real / folder) as entries:
                    for entry in entries:
                        seen += 1
                        if seen > MAX_ENTRIES:
                            raise OversizedSource(str(self.root), "entries", MAX_ENTRIES, "names")
                        if entry.name.startswith("."):
                            continue
                        path = f"{folder}/{entry.name}" if folder else entry.name
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(path)
                            if path.count("/") >= MAX_DEPTH:
                                raise OversizedSource(str(self.root), "depth", MAX_DEPTH, "folders")
                        else:
                            yield path, entry
            except OSError as exc:
                raise UnreadableSource(str(self.root / folder), reason_of(exc)) from exc

    def _why_not(self, link: str) -> str | None:
        target = self._inside(link)
        if target is None:
            return "is a link that leads out of the folder"
        return None if target.is_file() else "is a link to no file"

    def _inside(self, path: str) -> Path | None:
        """What a path stands for after every link, None if that is outside of the folder."""
        try:
            target = (self._real / path).resolve()
        except (OSError, RuntimeError):
            return None
        return target if target.is_relative_to(self._real) else None


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]
