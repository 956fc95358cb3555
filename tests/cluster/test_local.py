"""The in-process cluster: the same answers for any number of shards, writes visible when acknowledged."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from cluster.budget import DEFAULT_BUDGETS, Deadline
from cluster.contract import Answer, SearchRequest, VectorState
from cluster.control import EmbeddingState, WriteOutcome
from cluster.errors import EmbeddingFailed
from cluster.health import Health
from cluster.local import LocalCluster, LocalIndex
from cluster.registry import Registry
from cluster.registry_values import grant_list_key
from cluster.vector_cache import VectorCache
from shards.record import Access, Kind, Record, SideEffect, Status
from shards.scope import Grant, Scope
from tests.embedders import WordEmbedder

ACME = Scope(
    grants=(
        Grant(
            reason="test",
            tenants=frozenset({"acme"}),
            permissions=frozenset(),
            mode="analyzer",
            side_effects=frozenset(SideEffect),
        ),
    )
)


def record(number: int, text: str = "", tenant: str = "acme") -> Record:
    return Record(
        id=f"r{number}",
        kind=Kind.TOOL,
        name=f"tool {number}",
        namespace="n",
        description=text or ("create a bucket" if number % 3 else "list the queues of a region"),
        access=Access(tenant=tenant),
    )


def ask(index: LocalIndex, query: str = "create bucket", *, min_seq: int = 0, scope: Scope = ACME) -> Answer:
    request = SearchRequest(
        query=query,
        scope=scope,
        budget=DEFAULT_BUDGETS[Kind.TOOL],
        deadline=Deadline.after(5000),
        request_id="r",
        min_seq=min_seq,
    )
    return asyncio.run(index.router.search(request))


def ranking(answer: Answer) -> list[tuple[str, int]]:
    return [(hit.record.id, hit.score) for hit in answer.hits]


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    registry = Registry(f"sqlite:///{tmp_path / 'registry.sqlite3'}")
    registry.upsert_many([record(number) for number in range(90)])
    return registry


@pytest.mark.parametrize("shards", [1, 2, 5])
def test_records_registry_and_any_number_of_shards_rank_alike(registry: Registry, shards: int) -> None:
    expected = ranking(ask(LocalIndex.from_records(record(number) for number in range(90))))
    assert len(expected) == 10
    assert ranking(ask(LocalCluster(registry, shards=shards))) == expected
    assert ranking(ask(LocalIndex.from_records([record(number) for number in range(90)], shards=shards))) == expected


def test_an_acknowledged_write_is_seen_by_the_next_search(registry: Registry) -> None:
    cluster = LocalCluster(registry, shards=2)
    (receipt,) = asyncio.run(cluster.upsert([record(7, "calibrate telescope")]))
    assert (receipt.outcome, receipt.version, receipt.seq) == (WriteOutcome.APPLIED, 2, 91)
    assert ranking(ask(cluster, "calibrate telescope", min_seq=receipt.seq))[0][0] == "r7"
    disabled = asyncio.run(cluster.set_status("r7", Status.DISABLED))
    assert ask(cluster, "calibrate telescope", min_seq=disabled.seq).hits == ()
    asyncio.run(cluster.set_status("r7", Status.ENABLED))
    assert ranking(ask(cluster, "calibrate telescope"))[0][0] == "r7"
    assert asyncio.run(cluster.remove("r7")).outcome is WriteOutcome.APPLIED
    assert ask(cluster, "calibrate telescope").hits == ()
    assert asyncio.run(cluster.record("r7")) is None
    assert asyncio.run(cluster.remove("r7")).outcome is WriteOutcome.UNKNOWN


def test_an_older_version_is_stale_and_tells_the_stored_one(registry: Registry) -> None:
    cluster = LocalCluster(registry)
    asyncio.run(cluster.upsert([record(1, "second")]))
    stored = asyncio.run(cluster.record("r1"))
    assert stored is not None
    older = Record(id="r1", kind=Kind.TOOL, name="old", namespace="n", description="", access=stored.access, version=1)
    (receipt,) = asyncio.run(cluster.upsert([older]))
    assert (receipt.outcome, receipt.version) == (WriteOutcome.STALE, 2)


def test_a_record_of_another_tenant_cannot_be_replaced_or_removed(registry: Registry) -> None:
    cluster = LocalCluster(registry)
    globex = frozenset({"globex"})
    (receipt,) = asyncio.run(cluster.upsert([record(1, "taken", "globex")], globex))
    assert receipt.outcome is WriteOutcome.FOREIGN
    assert asyncio.run(cluster.remove("r1", globex)).outcome is WriteOutcome.UNKNOWN
    assert asyncio.run(cluster.set_status("r1", Status.DISABLED, globex)).outcome is WriteOutcome.UNKNOWN
    assert asyncio.run(cluster.record("r1")) == registry.get("r1")


def test_the_id_of_a_removed_record_stays_with_its_tenant(registry: Registry) -> None:
    # A takeover would also tell the stranger the version that the removed record had.
    cluster = LocalCluster(registry)
    globex = frozenset({"globex"})
    asyncio.run(cluster.remove("r1"))
    (receipt,) = asyncio.run(cluster.upsert([record(1, "taken", "globex")], globex))
    assert (receipt.outcome, receipt.version) == (WriteOutcome.FOREIGN, 0)
    (older,) = asyncio.run(cluster.upsert([replace(record(1, "taken", "globex"), version=1)], globex))
    assert (older.outcome, older.version) == (WriteOutcome.FOREIGN, 0)
    for tenants in (globex, frozenset({"acme"}), None):
        assert asyncio.run(cluster.remove("r1", tenants)).outcome is WriteOutcome.UNKNOWN
        assert asyncio.run(cluster.set_status("r1", Status.ENABLED, tenants)).outcome is WriteOutcome.UNKNOWN
    assert ask(cluster, "taken").hits == ()
    (back,) = asyncio.run(cluster.upsert([record(1, "back again")], frozenset({"acme"})))
    assert (back.outcome, back.version) == (WriteOutcome.APPLIED, 3)


def test_a_grant_list_admits_from_its_acknowledgement_to_its_end(registry: Registry) -> None:
    cluster = LocalCluster(registry, shards=2)
    (grant,) = ACME.grants
    listed = Scope(
        grants=(
            Grant(
                reason="list",
                tenants=grant.tenants,
                permissions=grant.permissions,
                mode=grant.mode,
                side_effects=grant.side_effects,
                grant_list=grant_list_key("acme", "few"),
            ),
        )
    )
    assert ask(cluster, scope=listed).hits == ()
    asyncio.run(cluster.put_grant_list("acme", "few", ["r1", "r2"]))
    assert {hit.record.id for hit in ask(cluster, scope=listed).hits} == {"r1", "r2"}
    assert asyncio.run(cluster.grant_list("acme", "few")) == ("r1", "r2")
    asyncio.run(cluster.delete_grant_list("acme", "few"))
    assert ask(cluster, scope=listed).hits == ()
    assert asyncio.run(cluster.grant_list("acme", "few")) is None


def test_what_another_process_wrote_is_taken_up_on_demand(registry: Registry) -> None:
    cluster = LocalCluster(registry, shards=3)
    registry.upsert_many([record(200, "observe a comet")])
    assert ask(cluster, "observe comet").hits == ()
    assert cluster.catch_up() == 91
    assert ranking(ask(cluster, "observe comet"))[0][0] == "r200"


def test_the_status_counts_what_the_registry_holds(registry: Registry) -> None:
    status = asyncio.run(LocalCluster(registry, shards=2).status())
    assert (status.health, status.seq, status.records, len(status.copies)) == (Health.READY, 90, 90, 2)


@dataclass(kw_only=True)
class CountingEmbedder(WordEmbedder):
    """Remembers every text of a record that it embedded; routers have it embed examples of small talk, too."""

    given: list[str] = field(default_factory=list)
    fault: BaseException | None = None

    def embed_records(self, texts: Sequence[str]) -> npt.NDArray[np.int8]:
        if self.fault is not None:
            raise self.fault
        self.given.extend(text for text in texts if text.startswith("tool "))
        return super().embed_records(texts)


def embedding_of(cluster: LocalCluster) -> tuple[EmbeddingState, int, int]:
    status = asyncio.run(cluster.status()).embedding
    return status.state, status.embedded, status.records


def test_an_index_from_records_embeds_each_text_once_and_tells_its_progress(tmp_path: Path) -> None:
    embedder = CountingEmbedder()
    seen: list[int] = []
    cache = VectorCache(f"sqlite:///{tmp_path / 'vectors.sqlite3'}")
    records = [record(number, f"text {number}") for number in range(150)]
    for _ in range(2):
        index = LocalIndex.from_records(iter(records), shards=3, embedder=embedder, cache=cache, progress=seen.append)
        assert sum(shard.status().unembedded for shard in index.shards) == 0
        assert sum(seen) == 150
        seen.clear()
    assert len(embedder.given) == 150
    answer = ask(index, "text 7")
    assert (answer.vectors.state, answer.vectors.missing) == (VectorState.USED, 0)
    cache.close()


def test_an_index_without_an_embedder_searches_by_words(registry: Registry) -> None:
    assert ask(LocalIndex.from_records([record(1)])).vectors.state is VectorState.OFF
    assert embedding_of(LocalCluster(registry)) == (EmbeddingState.OFF, 0, 0)


def test_what_changes_in_a_registry_is_embedded_with_the_change(registry: Registry) -> None:
    embedder = CountingEmbedder()
    seen: list[int] = []
    cluster = LocalCluster(registry, shards=2, embedder=embedder, progress=seen.append)
    assert (embedding_of(cluster), sum(seen)) == ((EmbeddingState.DONE, 90, 90), 90)
    asyncio.run(cluster.upsert([record(7, "calibrate telescope"), record(100, "polish telescope")]))
    asyncio.run(cluster.set_status("r8", Status.DISABLED))
    asyncio.run(cluster.remove("r9"))
    registry.upsert_many([record(200, "observe a comet")])
    cluster.catch_up()
    assert embedding_of(cluster) == (EmbeddingState.DONE, 91, 91)
    assert embedder.given[90:] == [f"tool {number}. {text}" for number, text in (
        (7, "calibrate telescope"), (100, "polish telescope"), (200, "observe a comet")
    )]  # fmt: skip


def test_a_write_is_acknowledged_and_found_by_words_though_the_model_fails(registry: Registry) -> None:
    embedder = CountingEmbedder()
    cluster = LocalCluster(registry, embedder=embedder)
    embedder.fault = RuntimeError("out of memory")
    (receipt,) = asyncio.run(cluster.upsert([record(7, "calibrate telescope")]))
    assert receipt.outcome is WriteOutcome.APPLIED
    assert ranking(ask(cluster, "calibrate telescope"))[0][0] == "r7"
    assert embedding_of(cluster) == (EmbeddingState.FAILING, 89, 90)
    with pytest.raises(EmbeddingFailed, match="RuntimeError"):
        LocalCluster(registry, embedder=embedder)


def test_a_cluster_takes_its_vectors_from_the_cache_of_its_registry(registry: Registry, tmp_path: Path) -> None:
    cache = VectorCache(f"sqlite:///{tmp_path / 'registry.sqlite3'}")
    embedder = CountingEmbedder()
    LocalCluster(registry, embedder=embedder, cache=cache)
    cluster = LocalCluster(registry, shards=4, embedder=embedder, cache=cache)
    assert embedding_of(cluster) == (EmbeddingState.DONE, 90, 90)
    assert len(embedder.given) == 90
    cache.close()
