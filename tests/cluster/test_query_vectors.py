"""A query's vector comes in time or not at all, whatever the model does."""

import asyncio
import gc
import logging
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from cluster import query_vectors
from cluster.budget import Deadline
from cluster.contract import VectorState, VectorUse
from cluster.embedder import EmbeddedQuery
from cluster.query_vectors import MOST_WAITING, PATIENCE_SHARE, QueryVector, QueryVectors
from tests.embedders import WordEmbedder
from tests.quick_time import deadline_after, run_quickly

LONG_MS = 60_000
SOON_MS = 400
PATIENCE_MS = SOON_MS / PATIENCE_SHARE


@pytest.fixture
def hold() -> Iterator[threading.Event]:
    """An event that a model waits for; set at the end, so that no thread stays behind."""
    event = threading.Event()
    yield event
    event.set()


def ask(vectors: QueryVectors, *texts: str) -> list[QueryVector]:
    """The vectors of these texts, asked for one after the other."""

    async def story() -> list[QueryVector]:
        return [await vectors.of(text, Deadline.after(LONG_MS)) for text in texts]

    return asyncio.run(story())


def ask_a_hung_model(vectors: QueryVectors, *texts: str) -> tuple[list[QueryVector], float]:
    """The same on a quick clock, all at once, and after how many milliseconds."""

    async def story() -> tuple[list[QueryVector], float]:
        began_s = asyncio.get_running_loop().time()
        found = await asyncio.gather(*(vectors.of(text, deadline_after(SOON_MS)) for text in texts))
        return found, (asyncio.get_running_loop().time() - began_s) * 1000

    return run_quickly(story())


def states(found: list[QueryVector]) -> list[VectorState]:
    return [one.use.state for one in found]


def threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "query-vectors"}


def test_without_an_embedder_every_query_is_off_and_no_thread_starts() -> None:
    before = threads()
    (found,) = ask(QueryVectors(None), "send mail")
    assert found.use == VectorUse(state=VectorState.OFF)
    assert found.embedded is None
    assert threads() <= before


def test_a_query_gets_the_vector_that_its_embedder_makes() -> None:
    embedder = WordEmbedder()
    (found,) = ask(QueryVectors(embedder), "send mail")
    expected = embedder.embed_query("send mail")
    assert found.use == VectorUse(state=VectorState.USED, embedder="words-1")
    assert found.embedded is not None
    assert expected is not None
    assert found.embedded.models == ("words",)
    assert found.embedded.vector.values.tolist() == expected.vector.values.tolist()
    assert (found.embedded.vector.embedder, found.embedded.vector.floor) == ("words-1", expected.vector.floor)


def test_a_text_is_embedded_once_and_exactly_that_text() -> None:
    embedder = WordEmbedder()
    vectors = QueryVectors(embedder)
    one, other, again = ask(vectors, "send mail", "Send mail", "send mail")
    assert again is one
    assert other is not one
    assert ask(vectors, "send mail")[0] is one  # another event loop, the same memory
    assert embedder.asked == ["send mail", "Send mail"]


def test_the_least_recently_asked_vector_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_vectors, "REMEMBERED", 2)
    embedder = WordEmbedder()
    ask(QueryVectors(embedder), "a", "b", "a", "c", "a", "b")
    assert embedder.asked == ["a", "b", "c", "b"]


def test_a_language_that_no_model_knows_is_told_and_remembered() -> None:
    embedder = WordEmbedder()
    found = ask(QueryVectors(embedder), "ثبت", "ثبت")
    assert states(found) == [VectorState.LANGUAGE] * 2
    assert found[0].embedded is None
    assert embedder.asked == ["ثبت"]


def test_a_hung_model_costs_a_share_of_the_time_and_nothing_once_its_line_is_full(hold: threading.Event) -> None:
    embedder = WordEmbedder(hold=hold)
    vectors = QueryVectors(embedder)

    async def begun() -> None:
        asking = asyncio.create_task(vectors.of("first", Deadline.after(LONG_MS)))
        assert await asyncio.to_thread(embedder.called.wait, 60)
        asking.cancel()

    asyncio.run(begun())
    found, elapsed_ms = ask_a_hung_model(vectors, "one")
    assert (states(found), elapsed_ms) == ([VectorState.TIMEOUT], pytest.approx(PATIENCE_MS))
    found, elapsed_ms = ask_a_hung_model(vectors, *(f"q{n}" for n in range(MOST_WAITING - 1)))
    assert (states(found), elapsed_ms) == ([VectorState.TIMEOUT] * (MOST_WAITING - 1), pytest.approx(PATIENCE_MS))
    found, elapsed_ms = ask_a_hung_model(vectors, *"abcdefgh")
    assert (states(found), elapsed_ms) == ([VectorState.TIMEOUT] * 8, 0)

    hold.set()
    ends_s = time.monotonic() + 60
    while not vectors._line.empty():
        assert time.monotonic() < ends_s
        time.sleep(0.002)
    assert states(ask(vectors, "first", "second")) == [VectorState.USED] * 2
    # The vector that came too late served the next asker; what nobody waited for any more was never embedded.
    assert embedder.asked == ["first", "second"]


def test_a_vector_that_comes_late_does_not_hold_the_loop_up(hold: threading.Event) -> None:
    vectors = QueryVectors(WordEmbedder(hold=hold))

    async def story() -> None:
        asking = asyncio.create_task(vectors.of("slow", Deadline.after(LONG_MS)))
        for _ in range(10):
            await asyncio.sleep(0.002)
        assert not asking.done()
        hold.set()
        assert (await asking).use.state is VectorState.USED

    asyncio.run(story())


def test_no_time_is_a_timeout_unless_the_vector_is_known(hold: threading.Event) -> None:
    vectors = QueryVectors(WordEmbedder(hold=hold))

    async def at_once(text: str) -> VectorState:
        return (await vectors.of(text, Deadline.after(0))).use.state

    assert asyncio.run(at_once("known")) is VectorState.TIMEOUT
    hold.set()
    ask(vectors, "known")
    assert asyncio.run(at_once("known")) is VectorState.USED


class Panic(BaseException):
    """As a panic of native code arrives: no ``Exception``."""


@pytest.mark.parametrize("fault", [RuntimeError("SECRET query"), Panic("SECRET query"), MemoryError()])
def test_a_model_that_fails_is_told_without_its_words_and_asked_again(
    fault: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    embedder = WordEmbedder(fault=fault)
    vectors = QueryVectors(embedder)
    with caplog.at_level(logging.ERROR):
        assert states(ask(vectors, "send")) == [VectorState.FAILED]
    assert [record.message for record in caplog.records] == ["query_not_embedded"]
    assert "SECRET" not in caplog.text
    embedder.fault = None
    assert states(ask(vectors, "send")) == [VectorState.USED]


def test_a_vector_of_the_wrong_shape_reaches_no_shard() -> None:
    class Short(WordEmbedder):
        def embed_query(self, text: str) -> EmbeddedQuery | None:
            found = super().embed_query(text)
            assert found is not None
            object.__setattr__(found.vector, "values", np.ones(3, np.int16))
            return found

    assert states(ask(QueryVectors(Short()), "send")) == [VectorState.FAILED]


def test_a_request_that_is_cancelled_is_not_embedded(hold: threading.Event) -> None:
    embedder = WordEmbedder(hold=hold)
    vectors = QueryVectors(embedder)

    async def story() -> None:
        tasks = [asyncio.create_task(vectors.of(text, Deadline.after(60_000))) for text in ("first", "second")]
        await asyncio.sleep(0)
        assert await asyncio.to_thread(embedder.called.wait, 60)
        for task in tasks:
            task.cancel()
        assert [type(one) for one in await asyncio.gather(*tasks, return_exceptions=True)] == [
            asyncio.CancelledError
        ] * 2
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(story())
    hold.set()
    ask(vectors, "third")
    assert embedder.asked == ["first", "third"]


@pytest.mark.parametrize("how", ["closed", "dropped"])
def test_its_thread_ends_with_it(how: str) -> None:
    before = threads()
    vectors = QueryVectors(WordEmbedder())
    ask(vectors, "send")
    (own,) = threads() - before
    if how == "closed":
        vectors.close()
    else:
        del vectors
        gc.collect()
    own.join(60)
    assert not own.is_alive()
