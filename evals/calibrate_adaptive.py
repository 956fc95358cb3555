"""Fits the curves of ``cluster.adaptive`` on one half of the development requests and reports on the other.

``python -m evals.calibrate_adaptive --data ../shared/data [--models minilm,use,e5]`` writes the shipped file. Without
models the curve for answers with vectors stays as it is.
"""

import asyncio
import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

import click

from cluster.adaptive import AdaptiveK, Curve
from cluster.budget import Budget, Deadline
from cluster.contract import SearchRequest
from cluster.local import LocalIndex
from cluster.vector_cache import VectorCache
from evals.data import Question, read_questions, read_tools
from evals.embedders import open_embedder
from evals.metrics import mean
from evals.sampling import drawn
from evals.systems.setup import EVERYTHING, UNLIMITED_TOKENS

FIXED_K: Final = 48
"""The K that an adaptive one is measured against."""

KEPT: Final = 0.9661
"""Share of the requests whose record is found at ``FIXED_K`` that should still find it."""

MOST_K: Final = 10.19
"""Average K that this may cost."""

FITTED: Final = "hesabix"
"""The set whose fitted half chooses; all others are only reported."""

SETS: Final = (
    "hesabix", "hesabix.colloquial", "metatool", "bfcl", "stabletoolbench", "ultratool-en", "ultratool-zh",
    "toolalpaca", "mcptoolbench-pp", "massive-fa-en", "azure-cli",
)  # fmt: skip

SHARES: Final = tuple(range(200, 1000, 10))
LEASTS: Final = (3, 4, 5, 6, 7, 8)
_SHOWN: Final = SHARES[::8]

_PATIENCE_MS: Final = 600_000
_FILE: Final = Path(str(files("configs"))) / "adaptive.yaml"

_HEAD: Final = """\
# How many of the ranked records an answer shows where K is adaptive: those that score at least share/1024 of the best,
# and the best of them, least in number, in any case; never more than the request's k.
# Written by: python -m evals.calibrate_adaptive, on one half of the {fitted} requests: the curve with the lowest
# average K at which {kept}, and a standard error more, of those that find a relevant record at K = {fixed} still find
# it; where that takes more than {most}, the curve that keeps most.
name: ratio
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A request's ranked list at ``FIXED_K``: scores best first, and the rank from 0 of its first relevant record."""

    scores: tuple[int, ...]
    first: int | None
    fitted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a curve does: average K, and the share that it keeps of the requests that find a relevant record."""

    k: float
    kept: float


def effect_of(curve: Curve, lists: Sequence[Ranked]) -> Effect:
    """Averages over the lists; of none, K is 0 and all is kept."""
    cuts = [curve.cut(one.scores) for one in lists]
    kept = mean([float(one.first < cut) for one, cut in zip(lists, cuts, strict=True) if one.first is not None])
    return Effect(k=mean([float(cut) for cut in cuts]) or 0.0, kept=1.0 if kept is None else kept)


def fit(lists: Sequence[Ranked]) -> Curve:
    """The cheapest curve that keeps ``KEPT`` and a standard error more, so that the half not seen is likely to keep it.

    If that costs more than ``MOST_K``, the one that keeps most for that.
    """
    found = sum(one.first is not None for one in lists)
    wanted = KEPT + math.sqrt(KEPT * (1 - KEPT) / max(1, found))
    curves = [Curve(share=share, least=least) for share in SHARES for least in LEASTS]
    affordable = [(effect, curve) for curve in curves if (effect := effect_of(curve, lists)).k <= MOST_K]
    enough = [(effect.k, curve.share, curve) for effect, curve in affordable if effect.kept >= wanted]
    if enough:
        return min(enough, key=lambda one: one[:2])[-1]
    return max(affordable, key=lambda one: (one[0].kept, one[0].k))[1]


def report(lists: dict[str, list[Ranked]], curve: Curve) -> Iterator[str]:
    """Lines: the curve of the fitted half over shares, then what the chosen one does to every set's other half."""
    yield f"chosen: share {curve.share}, least {curve.least}\n"
    yield f"{'share':>8}{'fitted: K':>12}{'kept':>8}{'other: K':>12}{'kept':>8}   of {FITTED}, least {curve.least}"
    for share in sorted({*_SHOWN, curve.share}):
        cells = ""
        for fitted in (True, False):
            effect = effect_of(
                Curve(share=share, least=curve.least), [one for one in lists[FITTED] if one.fitted is fitted]
            )
            cells += f"{effect.k:>12.2f}{effect.kept:>8.4f}"
        yield f"{share:>8}{cells}"
    yield f"\n{'other half of':24}{'n':>5}{'K':>8}{'kept':>8}{'fixed K as short keeps':>26}"
    for name, ranked in lists.items():
        other = [one for one in ranked if not one.fitted]
        effect = effect_of(curve, other)
        fixed = effect_of(Curve(share=1024, least=max(1, round(effect.k))), other)
        yield f"{name:24}{len(other):>5}{effect.k:>8.2f}{effect.kept:>8.4f}{fixed.kept:>26.4f}"


def ranked_lists(index: LocalIndex, questions: Sequence[Question]) -> list[Ranked]:
    """Each question's ranked list, as the index's router ranks it."""
    return asyncio.run(_all(index, questions))


async def _all(index: LocalIndex, questions: Sequence[Question]) -> list[Ranked]:
    return [await _ranked(index, question) for question in questions if question.relevant]


async def _ranked(index: LocalIndex, question: Question) -> Ranked:
    budget = Budget(
        candidate_k=100, rerank_k=100, evidence_k=FIXED_K, evidence_tokens=UNLIMITED_TOKENS, timeout_ms=_PATIENCE_MS
    )
    ranked = await index.router.candidates(
        SearchRequest(
            query=question.text,
            scope=EVERYTHING,
            budget=budget,
            deadline=Deadline.after(_PATIENCE_MS),
            request_id="calibration",
        )
    )
    return Ranked(
        scores=ranked.scores[:FIXED_K],
        first=next((rank for rank, one in enumerate(ranked.ids[:FIXED_K]) if one in question.relevant), None),
        fitted=hashlib.blake2b(question.id.encode(), digest_size=1).digest()[0] % 2 == 0,
    )


def document(words: Curve, hybrid: Curve) -> str:
    """The configuration file."""
    head = _HEAD.format(kept=f"{100 * KEPT:.2f} %", fixed=FIXED_K, fitted=FITTED, most=MOST_K)
    return head + "".join(
        f"{name}: {{share: {curve.share}, least: {curve.least}}}\n"
        for name, curve in (("words", words), ("hybrid", hybrid))
    )


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True, file_okay=False), required=True)
@click.option("--models", default="", help="Embedding models by name, separated by commas.")
@click.option("--vector-cache", type=click.Path(path_type=Path), help="Database file of vectors to keep.")
@click.option("--sample", default=300, show_default=True, help="Most requests of a set.")
@click.option("--write/--dry-run", default=True, show_default=True)
def command(data: Path, models: str, vector_cache: Path | None, sample: int, *, write: bool) -> None:
    """Fit the curves of an adaptive K."""
    cache = None if vector_cache is None else VectorCache(f"sqlite:///{vector_cache}")
    embedder = open_embedder(tuple(filter(None, models.split(","))))
    by_words: dict[str, list[Ranked]] = {}
    with_vectors: dict[str, list[Ranked]] = {}
    for name in SETS:
        click.echo(name)
        folder, _, part = name.partition(".")
        records, _ = read_tools((data / folder / "tools.jsonl.gz",))
        file = f"queries.{part}.dev.jsonl.gz" if part else "queries.dev.jsonl.gz"
        questions = drawn(read_questions(data / folder / file), sample)
        index = LocalIndex.from_records(records, embedder=embedder, cache=cache)
        if embedder is not None:
            with_vectors[name] = ranked_lists(index, questions)
        by_words[name] = ranked_lists(LocalIndex(index.shards), questions)
    words = calibrated("by words alone", by_words)
    hybrid = calibrated("with vectors", with_vectors) if with_vectors else AdaptiveK.from_config().hybrid
    if write:
        _FILE.write_text(document(words, hybrid), "utf-8")
        click.echo(f"\nwritten: {_FILE}")


def calibrated(title: str, lists: dict[str, list[Ranked]]) -> Curve:
    """Fit, and show what came of it."""
    curve = fit([one for one in lists[FITTED] if one.fitted])
    click.echo(f"\n{title}")
    for line in report(lists, curve):
        click.echo(line)
    return curve


if __name__ == "__main__":
    command()
