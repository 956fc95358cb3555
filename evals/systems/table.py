"""The table of systems: names, and how each is opened. An optional package is imported only when it is asked for."""

# ruff: noqa: PLC0415 -- that is what the openers are for

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Final

from evals.bm25 import Bm25Index
from evals.embedders import RECOMMENDED, open_model
from evals.errors import NotInstalled
from evals.run import Progress, System
from evals.systems.listing import ListingSystem, Searcher
from evals.systems.setup import Setup
from evals.systems.shortlist import FullRankSystem, HybridSystem, LexicalSystem
from shards.analyzer import ANALYZER_ID
from shards.record import Record

_Opener = Callable[[Sequence[Record], Setup, Progress], System]


def open_system(name: str, records: Sequence[Record], setup: Setup, progress: Progress = lambda _: None) -> System:
    """A system of the table over these records, which have distinct ids; ``progress`` counts them as they are indexed.

    Raises:
        NotInstalled: if it needs an optional package that is not there.
        ClusterError: if a model or the database of its vectors cannot be used.
    """
    try:
        return _OPENERS[name](records, setup, progress)
    except ModuleNotFoundError as exc:
        raise NotInstalled(name, exc.name or "") from exc


def _bm25(records: Sequence[Record], setup: Setup, progress: Progress) -> System:
    return _listing("bm25", Bm25Index(records, progress), {"analyzer": ANALYZER_ID}, setup)


def _bm25s(records: Sequence[Record], setup: Setup, progress: Progress) -> System:
    from evals.peers.bm25s_index import Bm25sIndex

    searcher = Bm25sIndex(records)
    progress(len(records))
    return _peer("bm25s", "bm25s", searcher, setup)


def _rank_bm25(records: Sequence[Record], setup: Setup, progress: Progress) -> System:
    from evals.peers.rank_bm25_index import RankBm25Index

    searcher = RankBm25Index(records)
    progress(len(records))
    return _peer("rank_bm25", "rank-bm25", searcher, setup)


def _callbus(records: Sequence[Record], setup: Setup, progress: Progress) -> System:
    from evals.peers.callbus_lexical import CallbusLexical

    searcher = CallbusLexical(records)
    progress(len(records))
    return _peer("callbus", "callbus", searcher, setup)


def _fastmcp(records: Sequence[Record], setup: Setup, progress: Progress) -> System:
    from evals.peers.fastmcp_search import FastMcpSearch

    searcher = FastMcpSearch(records, setup.n)
    progress(len(records))
    return _peer("fastmcp", "fastmcp", searcher, setup)


def _bigtool(records: Sequence[Record], setup: Setup, progress: Progress) -> System:
    from evals.peers.bigtool_store import BigtoolStore

    model = open_model(setup.models[0] if setup.models else RECOMMENDED[0])
    searcher = BigtoolStore(records, model, setup.n, progress)
    embedder = f"{model.name} {model.fingerprint}"
    return _peer("langgraph-bigtool", "langgraph-bigtool", searcher, setup, embedder=embedder)


def _peer(name: str, package: str, searcher: Searcher, setup: Setup, **identity: str) -> System:
    return _listing(name, searcher, {"package": f"{package} {version(package)}", **identity}, setup)


def _listing(name: str, searcher: Searcher, identity: Mapping[str, str], setup: Setup) -> System:
    return ListingSystem(name, searcher, identity, k=setup.k, n=setup.n)


_OPENERS: Final[Mapping[str, _Opener]] = {
    "lexical": LexicalSystem,
    "hybrid": HybridSystem,
    "full-rank": FullRankSystem,
    "bm25": _bm25,
    "fastmcp": _fastmcp,
    "bm25s": _bm25s,
    "rank_bm25": _rank_bm25,
    "callbus": _callbus,
    "langgraph-bigtool": _bigtool,
}
