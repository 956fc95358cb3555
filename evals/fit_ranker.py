"""The weights of the built-in ranker, fitted on public development sets, each set judged by weights fitted without it.

``python -m evals.fit_ranker --data DIR --vector-cache FILE`` prints the table; ``--write`` puts the weights into
``configs/ranker.yaml``. Every mix of a grid is tried on every question once; choosing among them is then a sum. The
value of a mix is the mean of recall@1, @5 and @10, a set counting as much as any other. No seed but the sample's.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product
from pathlib import Path
from typing import Final

import click
import numpy as np
import numpy.typing as npt
import yaml

from cluster.embedder import Embedder
from cluster.ranker import Crowding
from cluster.vector_cache import VectorCache
from evals.data import read_questions, read_tools
from evals.embedders import open_embedder
from evals.sampling import drawn
from evals.score_parts import Catalogue, Parts
from shards.messages import ScoreMix

MOST_QUESTIONS: Final = 1_000
"""Of one set."""

MOST_AMONG_ALL: Final = 150
"""Of one set that is asked of everything at once."""

KS: Final = (1, 5, 10)

LENGTHS: Final = (4, 16, None)
"""Rows of a mix, by ``AnalyzedRequest.length``."""

WORDS: Final = tuple(
    ScoreMix(impact=4, name=name, presence=presence)
    for name, presence in product((1, 2, 3, 4), (0, 50, 100, 150, 200, 300))
)
HYBRID: Final = tuple(
    ScoreMix(impact=4, name=name, presence=presence, similarity=similarity)
    for name, presence, similarity in product((2, 3), (150, 225), (250, 500, 750, 1000, 1250, 1500, 2000, 2500, 3000))
)
CROWDINGS: Final = tuple(
    Crowding(percent=percent, doublings=doublings) for percent, doublings in product((80, 85, 90, 95), (5, 6, 8, 10))
)
ALONE: Final = Crowding(percent=100, doublings=0)
"""No crowding: a search by words alone has none."""


RANKER_FILE: Final = Path(__file__).parent.parent / "configs" / "ranker.yaml"

SLACK: Final = 0.001
"""Mixes this close to the best count as equal; of them the one nearest to the middle of the grid is taken."""

_ENGLISH: Final = ("minilm", "use")
_EVERY: Final = ("minilm", "use", "e5")


@dataclass(frozen=True, slots=True, kw_only=True)
class DevSet:
    """A folder of development data, one of its query files, and the models that its languages would ask anyway.

    Attributes:
        tools: file of the catalogue, from the folder of all sets; empty for the set's own.
        most: questions that are drawn.
    """

    folder: str
    queries: str = "queries.dev.jsonl.gz"
    models: tuple[str, ...] = _ENGLISH
    tools: str = ""
    most: int = MOST_QUESTIONS

    @property
    def catalogue(self) -> str:
        """The file of the catalogue, from the folder of all sets."""
        return self.tools or f"{self.folder}/tools.jsonl.gz"


_ALONE: Final[Mapping[str, DevSet]] = {
    "aws": DevSet(folder="aws"),
    "azure-cli": DevSet(folder="azure-cli"),
    "tencent": DevSet(folder="tencent", models=("use",)),
    "metatool": DevSet(folder="metatool"),
    "bfcl": DevSet(folder="bfcl"),
    "stabletoolbench": DevSet(folder="stabletoolbench"),
    "ultratool-en": DevSet(folder="ultratool-en"),
    "ultratool-zh": DevSet(folder="ultratool-zh", models=("use",)),
    "toolalpaca": DevSet(folder="toolalpaca"),
    "mcptoolbench-pp": DevSet(folder="mcptoolbench-pp"),
    "massive-fa-en": DevSet(folder="massive-fa-en", models=_EVERY),
    "hesabix": DevSet(folder="hesabix", models=_EVERY),
    "hesabix-colloquial": DevSet(folder="hesabix", queries="queries.colloquial.dev.jsonl.gz", models=_EVERY),
}

_AMONG_ALL: Final[Mapping[str, DevSet]] = {
    f"{name} of all": replace(_ALONE[name], models=_ENGLISH, tools="catalog-100k.parquet", most=MOST_AMONG_ALL)
    for name in ("aws", "azure-cli", "tencent", "metatool", "bfcl", "stabletoolbench")
}
"""The same questions asked of 149,005 tools: without them, nothing tells how similarity fares among so many."""

DEV_SETS: Final = {**_ALONE, **_AMONG_ALL}

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tried:
    """One set with every mix of a grid.

    Attributes:
        rows: int64[n], the row of ``LENGTHS`` of each question.
        recalls: float64[n, mixes, len(KS)].
    """

    rows: npt.NDArray[np.int64]
    recalls: npt.NDArray[np.float64]

    def value(self, chosen: Sequence[int]) -> Values:
        """float64[len(KS)], mean recalls under one mix per row."""
        found = self.recalls[np.arange(len(self.rows)), np.asarray(chosen)[self.rows]]
        return np.asarray(found.mean(axis=0), np.float64)


def tried(parts: Sequence[Parts], grid: Sequence[ScoreMix], crowding: Crowding = ALONE) -> Tried:
    """Every question with a relevant id, under every mix of the grid, its similarity crowded."""
    asked = [one for one in parts if one.wanted]
    rows = [next(row for row, most in enumerate(LENGTHS) if most is None or one.length <= most) for one in asked]
    recalls = np.array([[_recalls(one, mix) for mix in _crowded(grid, one.records, crowding)] for one in asked])
    return Tried(rows=np.array(rows, np.int64), recalls=recalls)


def _crowded(grid: Sequence[ScoreMix], records: int, crowding: Crowding) -> list[ScoreMix]:
    return [replace(mix, similarity=crowding.of(mix.similarity, records)) for mix in grid]


def chosen_mixes(sets: Sequence[Tried], grid: Sequence[ScoreMix]) -> list[int]:
    """For each row of ``LENGTHS``, the position of the mix with the best mean over the sets that have such queries."""
    return [_best(_means(sets, row), grid) for row in range(len(LENGTHS))]


def _means(sets: Sequence[Tried], row: int) -> Values:
    """float64[mixes]: mean over all sets of what the queries of one row add to each."""
    added = [one.recalls[one.rows == row].mean(axis=2).sum(axis=0) / len(one.rows) for one in sets]
    return np.asarray(np.mean(added, axis=0), np.float64)


def _best(means: Values, grid: Sequence[ScoreMix]) -> int:
    near: list[int] = np.flatnonzero(means >= means.max() - SLACK / len(LENGTHS)).tolist()
    middle = [float(np.mean([_vector(grid[place])[axis] for place in near])) for axis in range(3)]
    return min(near, key=lambda place: (math.dist(_vector(grid[place]), middle), -means[place]))


def _vector(mix: ScoreMix) -> tuple[float, float, float]:
    """A mix as a point whose axes are about equally long."""
    return mix.name / 3, mix.presence / 225, mix.similarity / 1500


def _recalls(parts: Parts, mix: ScoreMix) -> list[float]:
    scores = parts.scores(mix)
    order = np.argsort(-scores, kind="stable")[: max(KS)]
    found = parts.relevant[order] & (scores[order] > 0)
    return [int(found[:k].sum()) / parts.wanted for k in KS]


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True), required=True, help="Folder of the sets.")
@click.option("--vector-cache", type=click.Path(path_type=Path), required=True, help="SQLite file of vectors.")
@click.option("--set", "names", multiple=True, type=click.Choice(list(DEV_SETS)), help="Only these sets.")
@click.option("--write", is_flag=True, help="Write configs/ranker.yaml.")
def main(data: Path, vector_cache: Path, names: tuple[str, ...], *, write: bool) -> None:
    """Fit the mixes of the built-in ranker and show what they are worth on sets that they were not fitted on."""
    if write and names:
        raise click.UsageError("--write: the shipped weights are those of all sets; leave --set out")
    cache = VectorCache(f"sqlite:///{vector_cache.absolute()}")
    embedders = {models: open_embedder(models) for models in {DEV_SETS[name].models for name in names or DEV_SETS}}
    parts: dict[str, list[Parts]] = {}
    for _, same in groupby(names or DEV_SETS, lambda name: (DEV_SETS[name].catalogue, DEV_SETS[name].models)):
        sets = {name: DEV_SETS[name] for name in same}
        parts |= _parts(sets, data, embedders[next(iter(sets.values())).models], cache)
    cache.close()
    by_words = {name: tried(found, WORDS) for name, found in parts.items()}
    click.echo("\nmixes, by words alone")
    words = _fitted({ALONE: by_words}, WORDS)
    click.echo("\nhybrid")
    hybrid = _fitted(
        {crowd: {name: tried(found, HYBRID, crowd) for name, found in parts.items()} for crowd in CROWDINGS},
        HYBRID,
    )
    if write:
        _write(RANKER_FILE, words, hybrid)


def _parts(
    sets: Mapping[str, DevSet], data: Path, embedder: Embedder | None, cache: VectorCache
) -> dict[str, list[Parts]]:
    """Those of sets that share a catalogue."""
    records, _ = read_tools([data / next(iter(sets.values())).catalogue])
    asked = {name: drawn(read_questions(data / dev.folder / dev.queries), dev.most) for name, dev in sets.items()}
    found: dict[str, list[Parts]] = {name: [] for name in sets}
    length = len(records) + sum(map(len, asked.values()))
    with click.progressbar(length=length, label=", ".join(sets)) as bar:
        catalogue = Catalogue(records, embedder, cache, bar.update)
        for name, questions in asked.items():
            for question in questions:
                found[name].append(catalogue.parts(question))
                bar.update(1)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A crowding and a mix for each row of ``LENGTHS``."""

    crowding: Crowding
    mixes: tuple[ScoreMix, ...]


def _fitted(tries: Mapping[Crowding, Mapping[str, Tried]], grid: Sequence[ScoreMix]) -> Fit:
    """The best crowding with its best mixes; shows what each set gets from a fit without it. ``tries`` by crowding."""
    names = list(next(iter(tries.values())))
    click.echo("recall@1/5/10 with weights fitted without the set (with it; by the set's own best)")
    final = _best_fit(tries, names, grid)
    for name in names:
        others = [one for one in names if one != name] or names
        fits = [_best_fit(tries, among, grid) for among in (others, names, [name])]
        without, with_it, own = (_shown(tries[crowding][name].value(chosen)) for crowding, chosen in fits)
        click.echo(f"{name:20} {without}   ({with_it};  {own})")
    crowding, chosen = final
    click.echo(f"  crowding {_crowding_line(crowding)}")
    for most, place in zip(LENGTHS, chosen, strict=True):
        click.echo(f"  {_row(most, grid[place])}")
    return Fit(crowding=crowding, mixes=tuple(grid[place] for place in chosen))


def _best_fit(
    tries: Mapping[Crowding, Mapping[str, Tried]], among: Sequence[str], grid: Sequence[ScoreMix]
) -> tuple[Crowding, list[int]]:
    fits = []
    for crowding, sets in tries.items():
        kept = [sets[name] for name in among]
        chosen = chosen_mixes(kept, grid)
        fits.append((float(np.mean([one.value(chosen).mean() for one in kept])), crowding, chosen))
    _, crowding, chosen = max(fits, key=lambda fit: fit[0])
    return crowding, chosen


def _shown(values: Values) -> str:
    return " ".join(f"{value:.3f}" for value in values)


def _row(most: int | None, mix: ScoreMix) -> dict[str, int | None]:
    row: dict[str, int | None] = {"max_terms": most, "impact": mix.impact, "name": mix.name, "presence": mix.presence}
    return row | {"similarity": mix.similarity} if mix.similarity else row


def _crowding_line(crowding: Crowding) -> str:
    return f"{{percent: {crowding.percent}, doublings: {crowding.doublings}}}"


def _write(path: Path, words: Fit, hybrid: Fit) -> None:
    """Replace the weights of a ranker file; its comments stay."""
    lines, table = [], None
    fits = {"mixes:": words.mixes, "hybrid:": hybrid.mixes}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("  - ") and table is not None:
            continue
        table = line if line in fits else None
        lines.append(f"crowding: {_crowding_line(hybrid.crowding)}" if line.startswith("crowding:") else line)
        lines += _lines(fits[line]) if table else []
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _lines(mixes: Sequence[ScoreMix]) -> list[str]:
    rows = [_row(most, mix) for most, mix in zip(LENGTHS, mixes, strict=True)]
    return [f"  - {yaml.safe_dump(row, default_flow_style=True, sort_keys=False, width=200).strip()}" for row in rows]


if __name__ == "__main__":
    main()
