"""Where snapshots of shards lie, and whether one belongs to this registry.

It never looks inside a snapshot; ``shards`` checks what is in the files, and the registry can always replace them.
"""

import hashlib
import re
import shutil
from pathlib import Path
from typing import Final

import orjson

from cluster.registry import Registry

_NAME: Final = re.compile(r"(?P<seq>\d+)-(?P<mark>[0-9a-f]{16})")


class SnapshotStore:
    """Snapshots under ``root/<shards>/<shard>/<seq>-<mark>``; the mark ties a snapshot to one registry's history."""

    def __init__(self, root: Path, registry: Registry, shards: int) -> None:
        self._root = root / str(shards)
        self._registry = registry

    def newest(self, shard: int) -> Path | None:
        """The newest snapshot that this registry's history continues, None where there is none.

        A registry that was deleted and filled anew, or restored from an older copy, has other changes at the same
        seq, and so another mark.
        """
        found = sorted(self._of(shard), reverse=True)
        return next((path for seq, path in found if path.name == _name(seq, self._mark(seq))), None)

    def place(self, shard: int, seq: int) -> Path:
        """Where to save the snapshot of a shard at ``seq``."""
        return self._root / str(shard) / _name(seq, self._mark(seq))

    def renamed(self, path: Path, shard: int, seq: int) -> Path:
        """The same snapshot as the one at ``seq``; an older one that stands there gives way."""
        place = self.place(shard, seq)
        self.discard(place)
        return path.rename(place)

    def discard(self, path: Path) -> None:
        """Remove one snapshot."""
        shutil.rmtree(path, ignore_errors=True)

    def keep_only(self, shard: int, path: Path) -> None:
        """Remove all snapshots of a shard but one."""
        for _, other in self._of(shard):
            if other != path:
                self.discard(other)

    def _of(self, shard: int) -> list[tuple[int, Path]]:
        folder = self._root / str(shard)
        if not folder.is_dir():
            return []
        named = ((_NAME.fullmatch(path.name), path) for path in folder.iterdir())
        return [(int(match["seq"]), path) for match, path in named if match]

    def _mark(self, seq: int) -> str:
        """Hex digest (64 bit) over the registry's first change and the one at ``seq``; empty where it is not there.

        Bodies carry the time of their acceptance, so two registries do not share a first change by accident.
        """
        first, last = (self._registry.changes(after, 1) for after in (0, seq - 1))
        if not first or not last or last[0].seq != seq:
            return ""
        parts = [(change.seq, change.record_id, change.grant_list, change.grant_ids) for change in (*first, *last)]
        digest = hashlib.blake2b(orjson.dumps(parts), digest_size=8)
        for change in (*first, *last):
            digest.update(change.body or b"")
        return digest.hexdigest()


def _name(seq: int, mark: str) -> str:
    return f"{seq}-{mark}"
