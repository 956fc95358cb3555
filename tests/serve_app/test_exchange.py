"""The wait for a body: it ends in time, and a stall of this process is not counted against the caller."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from serve_app.exchange import LAST_LOOK_S, Exchange, Message, Receive
from serve_app.problems import Code, Refused
from tests.quick_time import run_quickly

TIMEOUT_S = 0.05


async def _unused(message: Message) -> None:
    raise AssertionError(message)


def _exchange(receive: Receive) -> Exchange:
    return Exchange({"headers": []}, receive, _unused, arrived_s=0.0)


@asynccontextmanager
async def _connection(pieces: int) -> AsyncIterator[tuple[socket.socket, Receive]]:
    """The caller's end of a socket, and a ``receive`` that reads ``pieces`` pieces of 4 bytes from the other one."""
    caller, ours = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    left = iter(range(pieces - 1, -1, -1))

    async def receive() -> Message:
        return {"type": "http.request", "body": await reader.readexactly(4), "more_body": next(left) > 0}

    yield caller, receive
    caller.close()
    writer.close()


@pytest.mark.parametrize("pieces", [1, 3])
def test_a_body_that_came_during_a_stall_of_the_event_loop_is_read(pieces: int) -> None:
    async def stalled() -> bytes:
        async with _connection(pieces) as (caller, receive):
            body = asyncio.create_task(_exchange(receive).body(100, TIMEOUT_S))
            await asyncio.sleep(0)
            caller.sendall(b"body" * pieces)
            time.sleep(4 * TIMEOUT_S)  # noqa: ASYNC251 -- the stall
            return await body

    assert asyncio.run(stalled()) == b"body" * pieces


@pytest.mark.parametrize("sent", [0, 1])
def test_a_body_that_does_not_come_is_refused_soon_after_its_time(sent: int) -> None:
    async def slow() -> float:
        async with _connection(2) as (caller, receive):
            caller.sendall(b"body" * sent)
            began_s = asyncio.get_running_loop().time()
            with pytest.raises(Refused) as refused:
                await _exchange(receive).body(100, TIMEOUT_S)
            assert refused.value.problem.code is Code.REQUEST_TIMEOUT
            return asyncio.get_running_loop().time() - began_s

    assert run_quickly(slow()) == pytest.approx(TIMEOUT_S + LAST_LOOK_S)
