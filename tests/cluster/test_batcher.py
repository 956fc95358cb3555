"""Micro-batches towards one shard: when they leave, what is in them, and what a fault costs."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from cluster.batcher import Batcher
from cluster.budget import Deadline
from cluster.errors import ShardUnavailable
from shards.errors import ShardNotReady

Numbers = tuple[int, ...]


class Gate:
    """A call that doubles its numbers, one batch at a time as the test lets it go on."""

    def __init__(self) -> None:
        self.batches: list[Numbers] = []
        self.fault: Exception | None = None
        self.missing = 0
        self._open = asyncio.Event()

    async def __call__(self, batch: Numbers) -> Numbers:
        self.batches.append(batch)
        await self._open.wait()
        if self.fault is not None:
            raise self.fault
        return tuple(2 * number for number in batch)[self.missing :]

    def open(self) -> None:
        self._open.set()


def batcher_over(call: Callable[[Numbers], Awaitable[Numbers]], max_batch: int = 64) -> Batcher[int, int]:
    return Batcher(3, call, stamp=lambda number, _: number, max_batch=max_batch)


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def others() -> set[asyncio.Task[object]]:
    return asyncio.all_tasks() - {asyncio.current_task()}  # type: ignore[arg-type]


def later() -> Deadline:
    return Deadline.after(5_000)


def test_an_idle_batcher_sends_at_once_and_collects_while_a_call_is_in_flight() -> None:
    async def story() -> None:
        gate = Gate()
        batcher = batcher_over(gate)
        first = batcher.submit(1, later())
        await turns()
        assert gate.batches == [(1,)]
        rest = [batcher.submit(number, later()) for number in (2, 3, 4)]
        await turns()
        assert gate.batches == [(1,)]
        gate.open()
        assert await asyncio.gather(first, *rest) == [2, 4, 6, 8]
        assert gate.batches == [(1,), (2, 3, 4)]
        assert not others()

    asyncio.run(story())


def test_a_batch_holds_at_most_its_ceiling_in_order_of_arrival() -> None:
    async def story() -> None:
        gate = Gate()
        batcher = batcher_over(gate, max_batch=2)
        replies = [batcher.submit(number, later()) for number in range(5)]
        gate.open()
        assert await asyncio.gather(*replies) == [0, 2, 4, 6, 8]
        assert gate.batches == [(0, 1), (2, 3), (4,)]

    asyncio.run(story())


def test_where_not_all_fit_into_one_batch_the_oldest_requests_go_first_however_little_time_others_have() -> None:
    async def story() -> None:
        gate = Gate()
        batcher = batcher_over(gate, max_batch=2)
        flying = batcher.submit(0, later())
        await turns()
        waiting = [
            batcher.submit(number, Deadline(9 - since_s, lambda: 0.0, since_s))
            for number, since_s in enumerate((4, 1, 3, 2), 1)
        ]
        gate.open()
        assert await asyncio.gather(flying, *waiting) == [0, 2, 4, 6, 8]
        assert gate.batches == [(0,), (2, 4), (1, 3)]

    asyncio.run(story())


def test_what_expired_while_it_waited_is_never_sent() -> None:
    async def story() -> None:
        now_s = 0.0
        gate = Gate()
        batcher = batcher_over(gate)
        first = batcher.submit(1, later())
        await turns()
        late = batcher.submit(2, Deadline(1.0, lambda: now_s))
        fresh = batcher.submit(3, Deadline(3.0, lambda: now_s))
        now_s = 2.0
        gate.open()
        assert await asyncio.gather(first, late, fresh, return_exceptions=True) == [2, late.exception(), 6]
        assert isinstance(late.exception(), TimeoutError)
        assert gate.batches == [(1,), (3,)]

    asyncio.run(story())


def test_a_waiter_that_gave_up_is_never_sent_and_leaves_nothing_behind() -> None:
    async def story() -> None:
        gate = Gate()
        batcher = batcher_over(gate)
        flying, waiting = batcher.submit(1, later()), batcher.submit(2, later())
        flying.cancel()
        await turns()
        gone = batcher.submit(3, later())
        waiting.cancel()
        gone.cancel()
        await turns()
        assert not batcher._waiting
        gate.open()
        await turns()
        assert gate.batches == [(2,)]
        assert not others()

    asyncio.run(story())


@pytest.mark.parametrize("fault", [ShardUnavailable(3, "dead"), ShardNotReady(3)])
def test_a_failed_call_fails_its_own_entries_and_no_others(fault: Exception) -> None:
    async def story() -> None:
        gate = Gate()
        gate.fault = fault
        batcher = batcher_over(gate, max_batch=2)
        failed = [batcher.submit(number, later()) for number in (1, 2)]
        gate.open()
        for reply in failed:
            with pytest.raises(ShardUnavailable):
                await reply
        gate.fault = None
        assert await batcher.submit(5, later()) == 10

    asyncio.run(story())


def test_too_few_replies_are_no_replies() -> None:
    async def story() -> None:
        gate = Gate()
        gate.missing = 1
        gate.open()
        batcher = batcher_over(gate)
        replies = await asyncio.gather(batcher.submit(1, later()), batcher.submit(2, later()), return_exceptions=True)
        assert [str(reply) for reply in replies] == ["shard 3: 1 replies to 2 queries"] * 2

    asyncio.run(story())


def test_a_fault_in_a_client_leaves_nobody_waiting_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        gate = Gate()
        gate.fault = RuntimeError("a fault in the client")
        batcher = batcher_over(gate)
        first = batcher.submit(1, later())
        await turns()
        second = batcher.submit(2, later())
        gate.open()
        with pytest.raises(ShardUnavailable):
            await first
        gate.fault = None
        assert await second == 4
        assert not others()

    with caplog.at_level(logging.ERROR):
        asyncio.run(story())
    assert [record.message for record in caplog.records] == ["shard_call_failed"]


def test_a_retired_batcher_breaks_off_a_call_that_nobody_waits_for() -> None:
    async def story() -> None:
        gate = Gate()
        batcher = batcher_over(gate)
        patient, hasty = batcher.submit(1, later()), batcher.submit(2, later())
        await turns()
        batcher.retire()
        hasty.cancel()
        await turns()
        assert len(others()) == 1  # one still waits
        patient.cancel()
        await turns()
        assert not others()

    asyncio.run(story())


def test_a_retired_batcher_still_answers_who_waits() -> None:
    async def story() -> None:
        gate = Gate()
        batcher = batcher_over(gate)
        reply = batcher.submit(1, later())
        batcher.retire()
        gate.open()
        assert await reply == 2
        assert await batcher.submit(2, later()) == 4

    asyncio.run(story())


def test_a_batcher_survives_the_end_of_its_event_loop() -> None:
    batcher: list[Batcher[int, int]] = []

    async def hang() -> None:
        batcher.append(batcher_over(Gate()))
        batcher[0].submit(1, later())
        await turns()

    async def again() -> int:
        async def call(batch: Numbers) -> Numbers:
            return batch

        batcher[0]._call = call
        return await batcher[0].submit(7, later())

    asyncio.run(hang())
    assert asyncio.run(again()) == 7
