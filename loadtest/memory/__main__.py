"""``python -m loadtest.memory``: bytes a record by structure, and the time until records can be searched.

    python -m loadtest.memory --catalogue tools.parquet --queries queries.jsonl

Results and plot go to loadtest/results/.
"""

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import orjson

from loadtest.circumstances import circumstances
from loadtest.memory.plot import draw
from loadtest.memory.starting import FIRST_START, IMPORT, SEARCHABLE, SECOND_START, started
from loadtest.memory.structures import structures
from loadtest.options import Ground, ground_options, out_option, rounds_option, shards_option, tell
from loadtest.results import write_results
from loadtest.spread import medians
from loadtest.store import Store
from loadtest.summary import write_summary


@click.command()
@ground_options
@out_option
@rounds_option(3)
@shards_option
def main(*, ground: Ground, out: Path, rounds: int, shards: int) -> None:
    """Measure memory by structure, import, start and the opening of snapshots."""
    head = circumstances("loadtest.memory", sys.argv[1:])
    catalogue, folder = ground.catalogue, ground.folder
    store = Store(catalogue=catalogue, folder=folder, tell=tell)
    size, query = len(catalogue.records), ground.queries()[0]
    places = store.places(size, shards)
    report = {
        **head,
        "catalogue": catalogue.name,
        "shards": shards,
        "rounds": rounds,
        "structures": structures(places),
        "one_shard": _repeated(rounds, lambda: _opened(places[:1], query)),
        "all_shards": _repeated(rounds, lambda: _opened(places, query)),
        "start": _started(rounds, lambda: started(catalogue, query, shards, folder, tell)),
    }
    write_results("memory", report, out)
    draw(report, out)
    click.echo(write_summary(out).read_text())


def _opened(places: Sequence[Path], query: str) -> dict[str, float]:
    """What ``loadtest.memory.opening`` says of these snapshots."""
    command = (sys.executable, "-m", "loadtest.memory.opening", "--query", query, *map(str, places))
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE)  # noqa: S603 -- our own program
    found: dict[str, float] = orjson.loads(ended.stdout)
    tell(f"{len(places)} snapshot(s) opened in {found['open_s']:.2f} s, first search {found['first_search_ms']:.1f} ms")
    return found


def _repeated(rounds: int, measure: Callable[[], dict[str, float]]) -> dict[str, float]:
    return medians([measure() for _ in range(rounds)])


def _started(rounds: int, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    found = [measure() for _ in range(rounds)]
    steps = (IMPORT, FIRST_START, SEARCHABLE, SECOND_START, "first_answer_s")
    seconds = medians([{step: one[step] for step in steps} for one in found])
    return {**seconds, "rounds": [{step: one[step] for step in steps} for one in found], "memory": found[-1]["memory"]}


if __name__ == "__main__":
    main()
