"""``python -m loadtest.kernel``: CPU per query by size of the catalogue and by how much of it a caller sees.

    python -m loadtest.kernel --catalogue tools.parquet --queries queries.jsonl --sizes 10000,149005,1000000

One process, one thread, ``time.process_time``: what else runs on the machine hardly shows. Results and plot go to
loadtest/results/.
"""

import sys
from dataclasses import asdict
from pathlib import Path

import click

from loadtest.circumstances import circumstances
from loadtest.kernel.contender import HITS, Contender, Question
from loadtest.kernel.contenders import PEERS, missing_peers, opened
from loadtest.kernel.measured import Point, measure
from loadtest.kernel.plot import draw
from loadtest.kernel.texts import analysed, questions
from loadtest.options import Ground, ground_options, out_option, rounds_option, sizes_of, sizes_option, tell
from loadtest.results import write_results
from loadtest.store import Store
from loadtest.summary import write_summary
from shards.analyzer import ANALYZER_ID


@click.command()
@ground_options
@out_option
@sizes_option("10000,149005,1000000")
@click.option("--count", type=click.IntRange(30, 100_000), default=600, show_default=True, help="Different queries.")
@rounds_option(3)
@click.option("--peer", "peers", type=click.Choice(list(PEERS)), multiple=True, help="Only these peers.")
def main(*, ground: Ground, out: Path, sizes: str, count: int, rounds: int, peers: tuple[str, ...]) -> None:
    """Measure the CPU time of a query beside tantivy, bm25s and SQLite FTS5."""
    head = circumstances("loadtest.kernel", sys.argv[1:])
    catalogue, folder = ground.catalogue, ground.folder
    store = Store(catalogue=catalogue, folder=folder, tell=tell)
    asked = questions(ground.queries(), count)
    for name in (absent := missing_peers()):
        tell(f"{name} is not installed and left out: pip install 'shortlist[bench]'")
    points: list[Point] = []
    for size in sizes_of(sizes):
        lines = analysed(catalogue, size, folder)
        place = folder / "peers" / f"{catalogue.digest}-{ANALYZER_ID}-{size}"
        for contender in opened(store.places(size)[0], lines, place, peers or tuple(PEERS)):
            points += _measured(contender, size, asked, rounds)
    report = {
        **head,
        "catalogue": catalogue.name,
        "real_records": len(catalogue.records),
        "queries": len(asked),
        "hits": HITS,
        "rounds": rounds,
        "missing": absent,
        "points": [{**asdict(point), "cpu_ms": point.cpu_ms} for point in points],
    }
    write_results("kernel", report, out)
    draw(report, out)
    click.echo(write_summary(out).read_text())


def _measured(contender: Contender, size: int, asked: tuple[Question, ...], rounds: int) -> list[Point]:
    points = []
    for point in measure(contender, size, asked, rounds):
        tell(f"{size:>9,} records  {point.contender:<26} {point.share:>11}  {point.cpu_ms:9.3f} ms")
        points.append(point)
    return points


if __name__ == "__main__":
    main()
