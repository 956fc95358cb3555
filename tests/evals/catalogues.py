"""Small catalogues and questions for tests of evaluations."""

from collections.abc import Collection, Sequence

from evals.data import OPEN, GoldSet, Question
from evals.systems.setup import Setup
from shards.record import Access, Kind, Record


def tool(record_id: str, description: str, *, namespace: str = "", access: Access = OPEN) -> Record:
    """A tool whose name is what follows the colon of its id."""
    return Record(
        id=record_id,
        kind=Kind.TOOL,
        name=record_id.rpartition(":")[2],
        namespace=namespace,
        description=description,
        access=access,
    )


def question(text: str, relevant: Collection[str], *, lang: str = "en") -> Question:
    """A question named by its text."""
    return Question(id=text, text=text, relevant=frozenset(relevant), acceptable=frozenset(), lang=lang)


def gold_set(tools: Sequence[Record], questions: Sequence[Question]) -> GoldSet:
    """A gold set of these."""
    return GoldSet(tools=tuple(tools), questions=tuple(questions), joined=0)


def setup(k: int = 5, n: int = 10) -> Setup:
    """A setup with small cuts."""
    return Setup(k=k, n=n)
