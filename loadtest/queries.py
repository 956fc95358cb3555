"""The queries a load test asks: a labelled set of the user's, or our own small gold set. It knows no endpoint."""

import gzip
from collections.abc import Iterator
from importlib.resources import files
from itertools import count
from pathlib import Path
from random import Random

import orjson

from serve_app.wire import QUERY_LIMIT

GOLD = Path(str(files("evals"))) / "gold" / "queries.jsonl"


def read_queries(path: Path | None = None) -> tuple[str, ...]:
    """The distinct query texts of a ``.jsonl`` or ``.jsonl.gz`` file of ``{"query": …}`` lines, in file order.

    Texts that the endpoint would refuse for their length are left out.

    Raises:
        ValueError: if the file holds no query.
    """
    source = path or GOLD
    raw = source.read_bytes()
    if source.suffix == ".gz":
        raw = gzip.decompress(raw)
    texts = (orjson.loads(line)["query"] for line in raw.splitlines() if line.strip())
    queries = tuple(dict.fromkeys(text for text in texts if 0 < len(text) <= QUERY_LIMIT))
    if not queries:
        raise ValueError(f"{source}: holds no query; expected JSON lines with a 'query' field")
    return queries


def non_repeating(queries: tuple[str, ...], seed: int) -> Iterator[str]:
    """Endless queries in which hardly a text comes twice: a shuffled round of them, then rounds with words added.

    What round n adds are n words of another query: real words, because a made-up one would send every search looking
    for what it may have meant, which few real queries do.
    """
    random = Random(seed)  # noqa: S311 -- a reproducible order, not a secret
    yield from random.sample(queries, len(queries))
    for round_number in count(1):
        for query in random.sample(queries, len(queries)):
            words = random.choice(queries).split()
            added = " ".join(random.sample(words, min(round_number, len(words))))
            yield f"{query} {added}"[:QUERY_LIMIT]
