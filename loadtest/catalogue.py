"""Catalogue: the records that benchmarks run over, in any number. It indexes nothing and writes to no registry.

Fewer records than the catalogue has are a seeded sample; more are real ones and renamed copies of them.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Final

from cluster.importers.botocore import read_botocore
from cluster.importers.source import Defaults, RawRecord
from evals.data import read_tools
from loadtest.circumstances import version_of
from loadtest.synthetic import grown
from serve_app.record_wire import parse_record
from shards.record import Record

SEED: Final = 149


@dataclass(frozen=True)
class Catalogue:
    """A file of tools, or without one the installed AWS operations; read when the first record is needed.

    Attributes:
        file: as ``shortlist import`` takes it, None for the installed operations.
    """

    file: Path | None

    @property
    def name(self) -> str:
        """How results call it."""
        return self.file.name if self.file else f"botocore {version_of('botocore')}"

    @cached_property
    def digest(self) -> str:
        """Of what the records are read from, so that an index of other records is never taken for theirs."""
        content = self.file.read_bytes() if self.file else self.name.encode()
        return hashlib.blake2b(content, digest_size=6).hexdigest()

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """All real records, with their own access, in a seeded order.

        Raises:
            UnreadableSource: if botocore is asked for and not installed.
            BadEvalFile: naming what is wrong with the file.
        """
        found = _installed() if self.file is None else read_tools((self.file,), access=None)[0]
        return tuple(Random(SEED).sample(found, len(found)))  # noqa: S311 -- an order that can be drawn again

    def sized(self, size: int) -> Iterator[Record]:
        """``size`` records: the first real ones, then copies where there are too few. Ids are distinct."""
        return grown(self.records, size)


def _installed() -> tuple[Record, ...]:
    """The operations of AWS, as the first start of `shortlist serve` imports them."""
    items = (item for item in read_botocore() if isinstance(item, RawRecord))
    return tuple(parse_record(Defaults().fill(item.values)) for item in items)
