"""What vectors cost: CPU of each model's query, and of a search with a vector beyond one by words.

    python -m evals.vector_costs --models minilm,use --size 10000 --size 149005 \
        --tools ../shared/data/catalog-100k.parquet --queries ../shared/data/aws/queries.dev.jsonl.gz \
        --vector-cache vectors.sqlite3

It judges no answer. All in one process and one thread, in CPU time, so that a busy machine changes little.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Final

import click
import orjson

from cluster.budget import Budget, Deadline
from cluster.contract import Doubt, SearchRequest
from cluster.discovery import Discovery
from cluster.embedder import Embedder
from cluster.local import LocalIndex
from cluster.vector_cache import VectorCache
from evals.data import read_questions, read_tools
from evals.embedders import open_embedder, open_model
from evals.sampling import drawn
from evals.suites import GOLD, suite_of
from evals.systems.setup import EVERYTHING, UNLIMITED_TOKENS
from shards.record import Record

_SAMPLE: Final = 200
_PATIENCE_MS: Final = 600_000
_GOLD: Final = suite_of(GOLD, Path())


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCost:
    """CPU ms of one query: the median, and the value that one in twenty exceeds."""

    model: str
    query_ms: float
    query_p95_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCost:
    """CPU ms of one search over all shards, medians; the query's vector is known before it is timed.

    Attributes:
        beyond_ms: median over queries of the difference of the two.
        by_graph: share of the answers that a graph had a part in.
    """

    records: int
    words_ms: float
    vectors_ms: float
    beyond_ms: float
    by_graph: float


def model_cost(name: str, texts: Sequence[str]) -> ModelCost:
    """The cost of one model's queries; a first one warms it."""
    model = open_model(name)
    model.encode_query(texts[0])
    times = sorted(_cpu_ms(lambda text=text: model.encode_query(text)) for text in texts)  # type: ignore[misc]
    return ModelCost(model=name, query_ms=median(times), query_p95_ms=times[len(times) * 95 // 100])


def search_cost(
    records: Sequence[Record], texts: Sequence[str], embedder: Embedder, cache: VectorCache | None, shards: int
) -> SearchCost:
    """The cost of the same searches with and without vectors, in turn."""
    by_words = LocalIndex.from_records(records, shards=shards, discovery=Discovery())
    hybrid = LocalIndex.from_records(records, shards=shards, embedder=embedder, cache=cache, discovery=Discovery())
    words: list[float] = []
    vectors: list[float] = []
    graphs = 0
    with asyncio.Runner() as runner:
        for text in texts:
            for index, times in ((by_words, words), (hybrid, vectors)):
                # The first answer embeds the query, fetches the documents, and tells the router the scope's size.
                answer = runner.run(index.router.search(_request(text)))
                times.append(
                    _cpu_ms(lambda index=index, text=text: runner.run(index.router.search(_request(text))))  # type: ignore[misc]
                )
            graphs += answer.doubt is Doubt.GRAPH
    by_words.router.close()
    hybrid.router.close()
    return SearchCost(
        records=len(records),
        words_ms=median(words),
        vectors_ms=median(vectors),
        beyond_ms=median(with_vector - without for without, with_vector in zip(words, vectors, strict=True)),
        by_graph=graphs / len(texts),
    )


def _request(text: str) -> SearchRequest:
    return SearchRequest(
        query=text,
        scope=EVERYTHING,
        budget=Budget(
            candidate_k=100, rerank_k=100, evidence_k=10, evidence_tokens=UNLIMITED_TOKENS, timeout_ms=_PATIENCE_MS
        ),
        deadline=Deadline.after(_PATIENCE_MS),
        request_id="costs",
    )


def _cpu_ms(work: Callable[[], object]) -> float:
    started_s = time.process_time()
    work()
    return (time.process_time() - started_s) * 1000


@click.command()
@click.option(
    "--tools", type=click.Path(path_type=Path, exists=True), multiple=True, help="Catalogue; else the gold set."
)
@click.option("--queries", type=click.Path(path_type=Path, exists=True), help="Questions; else those of the gold set.")
@click.option("--models", default="minilm,use", show_default=True, help="Embedding models, separated by commas.")
@click.option("--vector-cache", type=click.Path(path_type=Path), help="Database file of vectors to keep.")
@click.option("--size", "sizes", type=click.IntRange(1), multiple=True, help="Records of an index; else all.")
@click.option("--shards", type=click.IntRange(1, 64), default=2, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout instead of text.")
def command(
    *,
    tools: tuple[Path, ...],
    queries: Path | None,
    models: str,
    vector_cache: Path | None,
    sizes: tuple[int, ...],
    shards: int,
    as_json: bool,
) -> None:
    """Measure what each model costs a query, and what vectors cost a search beyond that."""
    names = tuple(filter(None, models.split(",")))
    embedder = open_embedder(names)
    if embedder is None:
        raise click.BadParameter("at least one model", param_hint="--models")
    records, _ = read_tools(tools or (_GOLD.tools,))
    texts = [one.text for one in drawn(read_questions(queries or _GOLD.queries), _SAMPLE)]
    cache = None if vector_cache is None else VectorCache(f"sqlite:///{vector_cache}")
    by_model = [model_cost(name, texts) for name in names]
    by_size = [search_cost(drawn(records, size), texts, embedder, cache, shards) for size in sizes or (len(records),)]
    if as_json:
        click.echo(orjson.dumps({"models": by_model, "searches": by_size}, option=orjson.OPT_INDENT_2))
        return
    for cost in (*map(asdict, by_model), *map(asdict, by_size)):
        click.echo(
            "  ".join(
                f"{name} {value:,.2f}" if isinstance(value, float) else f"{name} {value}"
                for name, value in cost.items()
            )
        )


if __name__ == "__main__":
    command()
