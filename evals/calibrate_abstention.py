"""Fits the rule of ``cluster.abstention`` on one half of the development requests and reports on the other.

``python -m evals.calibrate_abstention --data ../shared/data [--models minilm,use,e5]`` writes the shipped file. Without
models the weights for answers with vectors stay as they are.
"""

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Final

import click
import numpy as np
import numpy.typing as npt

from cluster.abstention import Rule, Strictness, Weights
from cluster.contract import TalkSignals
from cluster.vector_cache import VectorCache
from evals.embedders import open_embedder
from evals.metrics import mean
from evals.talk_cases import GROUPS, Case, Group, abstains, talk_cases
from evals.talk_report import lines_of

SIGNALS: Final = ("shared", "likeness", "words", "nearer")
SIGNS: Final = np.array([1, 1, -1, -1])
_WRITTEN: Final = (*SIGNALS, "least_words", "least_nearer")

SCALE: Final = 256
"""Signals are divided by it in the fit, so that all lie in 0..8."""

LARGEST: Final = 64
"""The largest weight as an integer; finer steps change nothing."""

LEAST_WORDS: Final = (32, 64, 96, 128, 192)
"""Shares, of 1,024, of a query's weight from which on words of talk speak for it."""

LEAST_NEARER: Final = (1, 16, 32, 48, 64, 96)
"""Likenesses by which a query must be more like talk than like its best record before that speaks for talk."""

STEPS: Final = 4000
RATE: Final = 0.3
SHRINKING: Final = 1e-3

FALSE_EMPTY: Final = {Strictness.CAUTIOUS: 0.002, Strictness.BALANCED: 0.005, Strictness.STRICT: 0.02}
"""Real requests that each strictness may turn away on the fitted half: the mean of the shares of all groups."""

WORST: Final = 2
"""Times that, no group of at least ``MANY`` cases may lose more, but for ``HARD``."""

MANY: Final = 100
HARD: Final = frozenset({"hesabix.colloquial"})
"""Written with typos, in Persian in Latin letters and in slang; much of it finds nothing right in any case."""

_FILE: Final = Path(str(files("configs"))) / "abstention.yaml"

_HEAD: Final = """\
# When a request is taken for talk: words from least_words on, or nearer from least_nearer on, speak for it, and
#   shared * shared + likeness * likeness - words * words - nearer * nearer
# of these weights and the signals of the same names (TalkSignals in cluster/contract.py) is below the threshold.
# Written by: python -m evals.calibrate_abstention. Of real requests the thresholds turn away, on average over the sets
# and on the half that the weights were fitted on, at most {shares}.
name: talk
"""


def fit(cases: Sequence[Case]) -> Weights:
    """The weights of a logistic regression whose signs are held, with the least signals that find most talk."""
    nearer = LEAST_NEARER if any(case.signals and case.signals.nearer for case in cases) else LEAST_NEARER[:1]
    choices = [_fitted(cases, _weights(*least)) for least in product(LEAST_WORDS, nearer)]
    return max(choices, key=lambda weights: _talk_found(cases, weights))


def _fitted(cases: Sequence[Case], silent: Weights) -> Weights:
    shared, likeness, words, nearer = _regression(cases, silent)
    weights = replace(silent, shared=shared, likeness=likeness, words=words, nearer=nearer)
    return replace(weights, thresholds={one: _threshold(cases, weights, most) for one, most in FALSE_EMPTY.items()})


def _regression(cases: Sequence[Case], silent: Weights) -> list[int]:
    """Over the cases that the rule decides; the weights as integers up to ``LARGEST``, in the order of ``SIGNALS``."""
    decided = [case for case in cases if case.signals is not None and silent.hears(case.signals)]
    signals = np.array([_values(case.signals) for case in decided if case.signals is not None], np.float64) / SCALE
    real = np.array([case.group.real for case in decided], np.float64)
    share = _shares(decided, real)
    factors, bias = np.zeros(len(SIGNALS)), 0.0
    for _ in range(STEPS):
        error = share * (1 / (1 + np.exp(-(signals @ factors + bias))) - real)
        factors -= RATE * (signals.T @ error + SHRINKING * factors)
        factors = np.where(factors * SIGNS > 0, factors, 0.0)
        bias -= RATE * float(error.sum())
    return [round(float(factor)) for factor in np.abs(factors) * LARGEST / np.abs(factors).max()]


def _shares(cases: Sequence[Case], real: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """What each case counts: by its group's weight, however large the group, and both kinds alike."""
    share = np.array([case.group.weight for case in cases])
    for group in GROUPS:
        inside = np.array([case.group == group for case in cases])
        share[inside] /= max(1, inside.sum())
    for label in (0, 1):
        share[real == label] /= share[real == label].sum()
    return share


def _threshold(cases: Sequence[Case], weights: Weights, most: float) -> int:
    """The highest threshold at which real requests lose no more than this share, and no group much more."""
    real = [group for group in (_of(cases, group) for group in GROUPS if group.real) if group]
    scores = sorted({weights.score(one.signals) for one in cases if one.signals and weights.hears(one.signals)})
    low, high = 0, len(scores)
    while low < high:
        middle = (low + high + 1) // 2
        if _bearable(real, weights, scores[middle - 1] + 1, most):
            low = middle
        else:
            high = middle - 1
    return scores[low - 1] + 1 if low else scores[0]


def _bearable(real: Sequence[Sequence[Case]], weights: Weights, threshold: int, most: float) -> bool:
    """Whether the groups of real requests lose no more than ``most``."""
    shares = [_share_of(group, weights, threshold) for group in real]
    worst = [
        share
        for share, group in zip(shares, real, strict=True)
        if len(group) >= MANY and group[0].group.queries not in HARD
    ]
    return (mean(shares) or 0.0) <= most and max(worst, default=0.0) <= WORST * most


def _share_of(group: Sequence[Case], weights: Weights, threshold: int) -> float:
    return sum(abstains(case, weights, threshold) for case in group) / len(group)


def _of(cases: Sequence[Case], group: Group) -> list[Case]:
    return [case for case in cases if case.group == group]


def _talk_found(cases: Sequence[Case], weights: Weights) -> float:
    """Share of the requests that nothing serves that the balanced threshold turns away, by the groups' weights."""
    groups = [group for group in (_of(cases, group) for group in GROUPS if not group.real) if group]
    found = sum(
        group[0].group.weight * _share_of(group, weights, weights.thresholds[Strictness.BALANCED]) for group in groups
    )
    return found / sum(group[0].group.weight for group in groups) if groups else 0.0


def _weights(least_words: int, least_nearer: int) -> Weights:
    """A rule that decides where talk speaks, and knows no weights yet."""
    return Weights(
        shared=0, likeness=0, words=0, nearer=0, least_words=least_words, least_nearer=least_nearer, thresholds={}
    )


def _values(signals: TalkSignals) -> list[int]:
    return [getattr(signals, name) for name in SIGNALS]


def document(words: Weights, hybrid: Weights) -> str:
    """The configuration file."""
    parts = [_HEAD.format(shares=", ".join(f"{100 * most:.1f} % ({one})" for one, most in FALSE_EMPTY.items()))]
    for name, weights in (("words", words), ("hybrid", hybrid)):
        thresholds = ", ".join(f"{one}: {weights.thresholds[one]}" for one in Strictness)
        factors = "".join(f"  {one}: {getattr(weights, one)}\n" for one in _WRITTEN)
        parts.append(f"{name}:\n{factors}  thresholds: {{{thresholds}}}\n")
    return "".join(parts)


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True, file_okay=False), required=True)
@click.option("--models", default="", help="Embedding models by name, separated by commas.")
@click.option("--vector-cache", type=click.Path(path_type=Path), help="Database file of vectors to keep.")
@click.option("--sample", default=300, show_default=True, help="Most requests of a group.")
@click.option("--write/--dry-run", default=True, show_default=True)
def command(data: Path, models: str, vector_cache: Path | None, sample: int, *, write: bool) -> None:
    """Fit the rule that tells requests from talk."""
    cache = None if vector_cache is None else VectorCache(f"sqlite:///{vector_cache}")
    embedder = open_embedder(tuple(filter(None, models.split(","))))
    by_words, with_vectors = talk_cases(data, sample=sample, embedder=embedder, cache=cache, begun=click.echo)
    words = calibrated("by words alone", by_words)
    hybrid = calibrated("with vectors", with_vectors) if with_vectors else Rule.from_config().hybrid
    if write:
        _FILE.write_text(document(words, hybrid), "utf-8")
        click.echo(f"\nwritten: {_FILE}")


def calibrated(title: str, cases: Sequence[Case]) -> Weights:
    """Fit on the fitted half, and show what came of it on both."""
    weights = fit([case for case in cases if case.fitted])
    click.echo(f"\n{title}: {', '.join(f'{name} {getattr(weights, name)}' for name in _WRITTEN)}")
    for half, fitted in (("fitted half", True), ("other half", False)):
        click.echo(f"\n{title}, {half}")
        for line in lines_of([case for case in cases if case.fitted is fitted], weights):
            click.echo(line)
    return weights


if __name__ == "__main__":
    command()
