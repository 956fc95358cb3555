"""Store: shards over the first records of a catalogue, kept as snapshots so that later runs only open them.

A snapshot of another analyzer or format is built anew. Segments are those of a bulk load.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cluster.partition import shard_of
from loadtest.catalogue import Catalogue
from loadtest.tiers import tiered
from shards.errors import CorruptSnapshot
from shards.record import bucket_of
from shards.shard import Shard

_BATCH: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """Snapshots of one catalogue under ``folder``; ``tell`` hears what takes long."""

    catalogue: Catalogue
    folder: Path
    tell: Callable[[str], None]

    def shards(self, size: int, count: int = 1) -> tuple[Shard, ...]:
        """``size`` records in ``count`` shards, owned by the tenants of ``loadtest.tiers``."""
        places = self.places(size, count)
        return tuple(Shard.open(number, place) for number, place in enumerate(places))

    def places(self, size: int, count: int = 1) -> tuple[Path, ...]:
        """The snapshots of ``shards``, built where they are not there yet."""
        home = self.folder / "shards" / f"{self.catalogue.digest}-{size}-{count}"
        places = tuple(home / str(number) for number in range(count))
        try:
            for number, place in enumerate(places):
                Shard.open(number, place)
        except CorruptSnapshot:
            shutil.rmtree(home, ignore_errors=True)
            self.tell(f"Indexing {size:,} records in {count} shard(s) …")
            for shard, place in zip(self.built(size, count), places, strict=True):
                shard.save(place)
        return places

    def built(self, size: int, count: int) -> tuple[Shard, ...]:
        """The same shards, by a bulk load of their own."""
        shards = tuple(Shard(number) for number in range(count))
        waiting: list[list[bytes]] = [[] for _ in shards]
        for shard in shards:
            shard.begin_load()
        for one in tiered(self.catalogue.sized(size), size):
            owner = shard_of(bucket_of(one.record.id), count)
            waiting[owner].append(one.record.to_json())
            if len(waiting[owner]) == _BATCH:
                shards[owner].load_batch(waiting[owner])
                waiting[owner] = []
        for shard, rest in zip(shards, waiting, strict=True):
            shard.load_batch(rest)
            shard.finish_load(1, {})
        return shards
