"""``python -m loadtest.scale``: what an index of many records takes: memory, build, reopening, changes, CPU a search.

Everything happens in this process, with neither Ray nor a registry; times are CPU seconds of it. Of more records than
the catalogue has, the others are synthetic (``loadtest.synthetic``).
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

import click
import orjson

from cluster.partition import shard_of
from evals.data import read_tools
from evals.provenance import provenance
from loadtest.in_process import InProcess
from loadtest.queries import read_queries
from loadtest.synthetic import grown
from shards.messages import Change
from shards.record import SHARED_TENANT, Record, SideEffect, bucket_of
from shards.scope import Grant, Scope
from shards.shard import Shard

_BATCH: Final = 2_000
"""Bodies handed to a shard at once."""

_CHANGES: Final = 256
"""Changes of one batch, as the cluster feeds them."""

_CHANGE_BATCHES: Final = 40
_REMOVED: Final = 0.6
"""Share of a shard's records that one change removes, so that every segment is mostly dead and has to be rewritten."""

_EVERYBODY: Final = Scope(
    grants=(
        Grant(
            reason="benchmark",
            tenants=frozenset({SHARED_TENANT}),
            permissions=frozenset(),
            mode="autonomous",
            side_effects=frozenset(SideEffect),
        ),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What was measured at one size; ``_s`` are CPU seconds, bytes are per record.

    Attributes:
        index_bytes: all that a search touches: postings, terms, names, columns, ids, versions, near words.
        build_s: from ready bodies to searchable shards, all shards one after the other.
        open_s: the slowest shard's reopening from its snapshot, checksums and first search of it included.
        search_ms: median of a search in all shards together, without the router.
        request_ms: median of a whole search, router and evidence included.
        change_s: the slowest of 40 batches of 256 changes to one shard.
        purge_s: the slowest change of a shard of which one change removed 60 %, until no part is mostly dead.
    """

    records: int
    synthetic: int
    segments: int
    index_bytes: float
    document_bytes: float
    build_s: float
    open_s: float
    search_ms: float
    request_ms: float
    change_s: float
    purge_s: float


@click.command()
@click.option("--catalogue", type=click.Path(path_type=Path, exists=True, dir_okay=False), required=True)
@click.option(
    "--queries", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Our gold set if not given."
)
@click.option("--size", "sizes", type=click.IntRange(1), multiple=True, default=(149_005, 1_000_000), show_default=True)
@click.option("--shards", type=click.IntRange(1), default=2, show_default=True)
@click.option("--searches", type=click.IntRange(1), default=500, show_default=True, help="Queries that are measured.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    *, catalogue: Path, queries: Path | None, sizes: tuple[int, ...], shards: int, searches: int, as_json: bool
) -> None:
    """Build indexes of several sizes in this process and tell what each takes. A million records: some ten minutes."""
    records, _ = read_tools((catalogue,))
    asked = read_queries(queries)[:searches]
    found = []
    for size in sizes:
        found.append(measured(records, size, shards, asked))
        if not as_json:
            click.echo(_line(found[-1]))
    if as_json:
        source = provenance()
        results = [asdict(one) for one in found]
        click.echo(orjson.dumps({**source, "shards": shards, "searches": len(asked), "sizes": results}))


def measured(records: Sequence[Record], size: int, count: int, queries: Sequence[str]) -> Scale:
    """Build an index of ``size`` records in ``count`` shards, search it, reopen it, and then change it."""
    shards = [Shard(number) for number in range(count)]
    build_s = _build(shards, grown(records, size))
    states = [shard.status() for shard in shards]
    whole_s, search_s = _search(shards, queries)
    return Scale(
        records=sum(state.records for state in states),
        synthetic=max(0, size - len(records)),
        segments=sum(state.segments for state in states),
        index_bytes=round(sum(state.index_bytes for state in states) / size, 1),
        document_bytes=round(sum(state.document_bytes for state in states) / size, 1),
        build_s=round(build_s, 2),
        open_s=round(max(_reopen(shard, queries[0]) for shard in shards), 3),
        search_ms=round(1000 * search_s, 3),
        request_ms=round(1000 * whole_s, 3),
        change_s=round(_change(shards[0], _owned(records, shards)), 3),
        purge_s=round(_purge(shards[0], _owned(grown(records, size), shards)), 3),
    )


def _build(shards: Sequence[Shard], records: Iterable[Record]) -> float:
    for shard in shards:
        shard.begin_load()
    spent_s = 0.0
    for some in _batched(records, _BATCH):
        bodies: list[list[bytes]] = [[] for _ in shards]
        for record in some:
            bodies[_owner(record, shards)].append(record.to_json())
        spent_s += sum(_cpu(partial(shard.load_batch, own)) for shard, own in zip(shards, bodies, strict=True))
    return spent_s + sum(_cpu(partial(shard.finish_load, 1, {})) for shard in shards)


def _search(shards: Sequence[Shard], queries: Sequence[str]) -> tuple[float, float]:
    """Medians of the whole search and of the shards' part; each query was asked before, so that caches are warm."""
    index = InProcess(shards)
    for query in queries:
        index.search(query, _EVERYBODY)
    costs = [index.search(query, _EVERYBODY)[1] for query in queries]
    return statistics.median(cost.whole_s for cost in costs), statistics.median(sum(cost.shards_s) for cost in costs)


def _reopen(shard: Shard, query: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        shard.save(Path(folder))

        def reopen() -> None:
            opened = Shard.open(shard.status().shard, Path(folder))
            InProcess([opened]).search(query, _EVERYBODY)

        return _cpu(reopen)


def _change(shard: Shard, records: Iterable[Record]) -> float:
    """Replace records by batches; the slowest one."""
    changed = (replace(record, description=f"{record.description} changed") for record in records)
    batches = islice(_batched(changed, _CHANGES), _CHANGE_BATCHES)
    return max(_apply(shard, [(record.id, record.to_json()) for record in batch]) for batch in batches)


def _purge(shard: Shard, records: Iterable[Record]) -> float:
    """Remove most of the records at once, then go on with small changes until nothing is left to be rewritten."""
    ids = [record.id for record in records]
    gone = ids[: int(_REMOVED * len(ids))]
    kept = ids[len(gone) :]
    slowest_s = _apply(shard, [(record_id, None) for record_id in gone])
    for record_id in kept[: 2 * shard.status().segments]:
        slowest_s = max(slowest_s, _apply(shard, [(record_id, None)]))
    return slowest_s


def _apply(shard: Shard, bodies: Sequence[tuple[str, bytes | None]]) -> float:
    seq = shard.status().seq
    changes = [
        Change(seq=seq + 1 + place, record_id=record_id, body=body) for place, (record_id, body) in enumerate(bodies)
    ]
    return _cpu(lambda: shard.apply(seq, seq + len(changes), changes))


def _owned(records: Iterable[Record], shards: Sequence[Shard]) -> Iterable[Record]:
    return (record for record in records if _owner(record, shards) == 0)


def _owner(record: Record, shards: Sequence[Shard]) -> int:
    return shard_of(bucket_of(record.id), len(shards))


def _batched(records: Iterable[Record], size: int) -> Iterator[list[Record]]:
    rest = iter(records)
    while batch := list(islice(rest, size)):
        yield batch


def _cpu(work: Callable[[], object]) -> float:
    started_s = time.process_time()
    work()
    return time.process_time() - started_s


def _line(scale: Scale) -> str:
    return ", ".join(f"{name} {value:,}" for name, value in asdict(scale).items())


if __name__ == "__main__":
    command()
