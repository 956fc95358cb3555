"""Homes: registries of the first records of a catalogue, imported once and used again. It starts nothing."""

import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cluster.registry import Registry
from loadtest.catalogue import Catalogue
from shards.record import Record

_DONE: Final = "imported"


@dataclass(frozen=True, slots=True, kw_only=True)
class Homes:
    """Folders of instances under ``folder``; ``tell`` hears what takes long."""

    catalogue: Catalogue
    folder: Path
    tell: Callable[[str], None]

    def of(self, size: int | None = None) -> Path:
        """A home with ``size`` real records, all of the catalogue if None; snapshots in it survive from run to run."""
        name = "all" if size is None else str(size)
        home = self.folder / "homes" / f"{self.catalogue.digest}-{name}"
        if not (home / _DONE).exists():
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(mode=0o700, parents=True)
            self.tell(f"Importing {name} records of {self.catalogue.name} …")
            records = self.catalogue.records[:size]
            seconds = import_records(home, records)
            self.tell(f"… {len(records):,} records in {seconds:.1f} s")
            (home / _DONE).touch()
        return home


def import_records(home: Path, records: Iterable[Record]) -> float:
    """Write records to the registry in ``home``; returns the seconds it took."""
    started_s = time.monotonic()
    registry = Registry.in_home(home)
    try:
        registry.upsert_many(records)
    finally:
        registry.close()
    return time.monotonic() - started_s
