"""Loading: bring a fresh copy of a shard to what the registry held a moment ago, from a snapshot or record by record.

The last few changes are the task of ``cluster.keeper``, which applies them in step with all other copies.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cluster.copies import Copy
from cluster.feed import batches, steps
from cluster.partition import bucket_range
from cluster.registry import Registry
from cluster.snapshots import SnapshotStore
from shards.errors import CorruptSnapshot

LOAD_BATCH: Final = 2_000
"""Bodies in one message to a copy that is not searchable yet."""

FEED_BATCH: Final = 256
"""Changes in one message to a copy that answers searches: it keeps them waiting for some ten milliseconds at most."""

STEP_TIMEOUT_S: Final = 120.0
"""A loading copy that shows no progress for this long is given up; the first step compiles the kernels."""

_log = logging.getLogger(__name__)

Progress = Callable[[int], None]
"""Told how many more records are loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A copy that is searchable at ``seq``; ``fresh`` if it was read from the registry and is worth a snapshot."""

    seq: int
    fresh: bool


class Loader:
    """Loads copies of ``shards`` shards out of one registry."""

    def __init__(self, registry: Registry, snapshots: SnapshotStore, shards: int) -> None:
        self._registry = registry
        self._snapshots = snapshots
        self._shards = shards

    async def load(self, shard: int, copy: Copy, progress: Progress) -> Loaded:
        """Fill a copy.

        Raises:
            ShardUnavailable: if the copy dies.
            TimeoutError: if it stops making progress.
            RegistryUnavailable: if the database does.
        """
        async with asyncio.timeout(STEP_TIMEOUT_S):
            await copy.begin_load()
        newest = await asyncio.to_thread(self._snapshots.newest, shard)
        if newest is not None:
            seq = await self._open(copy, newest)
            if seq is not None:
                return Loaded(seq=seq, fresh=False)
            async with asyncio.timeout(STEP_TIMEOUT_S):
                await copy.begin_load()
        return Loaded(seq=await self._read(shard, copy, progress), fresh=True)

    async def follow(
        self, shard: int, copy: Copy, seq: int, upto_seq: int, step_timeout_s: float = STEP_TIMEOUT_S
    ) -> int:
        """Apply changes to a copy that answers no searches yet. Returns the seq reached.

        Never beyond ``upto_seq``: copies that answer searches must all stand at the same seq.

        Raises:
            TimeoutError: if one step of them takes longer than ``step_timeout_s``.
        """
        while seq < upto_seq:
            changes = await asyncio.to_thread(self._registry.changes, seq, min(FEED_BATCH, upto_seq - seq))
            for step in steps(changes):
                batch = batches(step, seq, self._shards)[shard]
                async with asyncio.timeout(step_timeout_s):
                    await copy.apply(batch)
                seq = batch.upto_seq
        return seq

    async def save(self, shard: int, copy: Copy, seq: int) -> int:
        """Save a copy that stands at ``seq``, or a little further by now, and drop the older snapshots.

        Returns:
            The seq of the snapshot; 0 if there is none: a full disk costs the snapshot only.

        Raises:
            ShardUnavailable: if the copy dies.
            TimeoutError: if it does not come to an end.
            RegistryUnavailable: if the database does.
        """
        if seq == 0:
            return 0
        place = await asyncio.to_thread(self._snapshots.place, shard, seq)
        there = await asyncio.to_thread(place.exists)
        try:
            async with asyncio.timeout(STEP_TIMEOUT_S):
                saved = await copy.save(str(place))
            if saved != seq:
                place = await asyncio.to_thread(self._snapshots.renamed, place, shard, saved)
        except OSError:
            _log.warning("snapshot_not_saved", extra={"shard": shard}, exc_info=True)
            if not there:
                await asyncio.to_thread(self._snapshots.discard, place)
            return 0
        await asyncio.to_thread(self._snapshots.keep_only, shard, place)
        return saved

    async def _open(self, copy: Copy, path: Path) -> int | None:
        """The seq of the opened snapshot; None if it was damaged, and then it is gone."""
        try:
            async with asyncio.timeout(STEP_TIMEOUT_S):
                return await copy.open(str(path))
        except (CorruptSnapshot, OSError) as exc:
            _log.warning("snapshot_refused", extra={"path": str(path), "reason": str(exc)})
            await asyncio.to_thread(self._snapshots.discard, path)
            return None

    async def _read(self, shard: int, copy: Copy, progress: Progress) -> int:
        """Stream the shard's bodies of one registry snapshot; a thread of its own holds the database cursor."""
        buckets = bucket_range(shard, self._shards)
        entered = self._registry.snapshot()
        snapshot = await asyncio.to_thread(entered.__enter__)
        try:
            bodies = snapshot.bodies(buckets, LOAD_BATCH)
            while (part := await asyncio.to_thread(next, bodies, None)) is not None:
                async with asyncio.timeout(STEP_TIMEOUT_S):
                    await copy.load_batch(part)
                progress(len(part))
            grant_lists = await asyncio.to_thread(snapshot.grant_lists)
            twins = await asyncio.to_thread(snapshot.twins, buckets)
            async with asyncio.timeout(STEP_TIMEOUT_S):
                await copy.finish_load(snapshot.seq, grant_lists, twins)
            return snapshot.seq
        finally:
            await asyncio.to_thread(entered.__exit__, None, None, None)
