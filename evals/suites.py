"""Suites: the sets that the committed figures are about, the shipped gold set first. It measures nothing."""

from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Final

from evals.data import GoldSet, read_gold
from evals.sampling import drawn

SAMPLE: Final = 150
"""Queries of a development set: enough to see a fall of a few points, few enough for a coffee break."""

GOLD: Final = "gold"

_GOLD_FOLDER: Final = Path(str(files("evals"))) / "gold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A set that may be there or not.

    Attributes:
        sample: queries to draw, None for all.
    """

    name: str
    tools: Path
    queries: Path
    sample: int | None

    @property
    def there(self) -> bool:
        """Whether its files exist; those of others are optional."""
        return self.tools.is_file() and self.queries.is_file()

    def read(self) -> GoldSet:
        """The set, with the sample of its queries that a fixed seed draws, in their order.

        Raises:
            BadEvalFile: if a file cannot be read.
        """
        gold = read_gold((self.tools,), self.queries)
        return gold if self.sample is None else replace(gold, questions=tuple(drawn(gold.questions, self.sample)))


def suite_of(name: str, data: Path) -> Suite:
    """The suite of this name: the shipped gold set, or ``set`` or ``set.part`` of a folder of development sets.

    ``hesabix.colloquial`` are the queries of ``hesabix/queries.colloquial.dev.jsonl.gz``.
    """
    if name == GOLD:
        return Suite(name=name, tools=_GOLD_FOLDER / "tools.jsonl", queries=_GOLD_FOLDER / "queries.jsonl", sample=None)
    folder, _, part = name.partition(".")
    queries = f"queries.{part}.dev.jsonl.gz" if part else "queries.dev.jsonl.gz"
    return Suite(name=name, tools=data / folder / "tools.jsonl.gz", queries=data / folder / queries, sample=SAMPLE)
