"""Connections that come together are taken together, by the loop that Serve's replicas run on."""

import asyncio
import socket
import ssl
import time
from collections.abc import Callable, Coroutine
from typing import Final, cast

import pytest
import uvloop

from serve_app.accepting import accept_all_at_once

MANY: Final = 100


class Echo(asyncio.Protocol):
    """Sends back what it gets, and is counted."""

    made = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A transport of uvloop is one, but does not say so.
        self.transport = cast("asyncio.WriteTransport", transport)
        Echo.made += 1

    def data_received(self, data: bytes) -> None:
        self.transport.write(data)


async def made_are(number: int) -> None:
    until_s = time.monotonic() + 20
    while Echo.made < number:
        assert time.monotonic() < until_s
        await asyncio.sleep(0.001)


def listening() -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(2 * MANY)
    return listener


def faults_told(loop: asyncio.AbstractEventLoop) -> list[dict[str, object]]:
    """What the loop will tell of as a defect."""
    told: list[dict[str, object]] = []
    loop.set_exception_handler(lambda _, context: told.append(context))
    return told


def run(story: Coroutine[None, None, None], factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    Echo.made = 0
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(story)


async def passes_until_all_are_taken() -> int:
    """Passes of the loop until ``MANY`` connections that wait at its door are open; each of them answers."""
    loop = asyncio.get_running_loop()
    listener = listening()
    peers = [socket.create_connection(listener.getsockname()) for _ in range(MANY)]
    async with await loop.create_server(Echo, sock=listener):
        passes = 0
        while Echo.made < MANY:
            await asyncio.sleep(0)
            passes += 1
            assert passes < 100 * MANY
        for number, peer in enumerate(peers):
            peer.settimeout(0)
            await loop.sock_sendall(peer, b"%d" % number)
            assert await loop.sock_recv(peer, 16) == b"%d" % number
            peer.close()
    return passes


@pytest.mark.parametrize("factory", [uvloop.new_event_loop, asyncio.new_event_loop])
def test_all_that_wait_are_taken_in_a_few_passes(factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def story() -> None:
        accept_all_at_once(asyncio.get_running_loop())
        assert await passes_until_all_are_taken() < 10

    run(story(), factory)


def test_by_itself_the_loop_takes_one_in_a_pass() -> None:
    async def story() -> None:
        assert await passes_until_all_are_taken() >= MANY / 2

    run(story(), uvloop.new_event_loop)


def test_who_comes_later_and_who_has_gone_before_it_was_taken_harm_nobody() -> None:
    async def story() -> None:
        loop = asyncio.get_running_loop()
        accept_all_at_once(loop)
        told = faults_told(loop)
        listener = listening()
        address = listener.getsockname()
        for _ in range(10):
            socket.create_connection(address).close()
        async with await loop.create_server(Echo, sock=listener):
            for _ in range(3):
                made = Echo.made
                peers = [socket.create_connection(address) for _ in range(3)]
                await made_are(made + 3)
                for peer in peers:
                    peer.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, timeout=1)
        assert told == []

    run(story(), uvloop.new_event_loop)


def test_a_server_with_tls_or_without_a_socket_of_its_own_is_left_to_the_loop() -> None:
    async def story() -> None:
        loop = asyncio.get_running_loop()
        accept_all_at_once(loop)
        async with await loop.create_server(Echo, "127.0.0.1", 0) as server:
            socket.create_connection(server.sockets[0].getsockname()).close()
            await made_are(1)
        listener = listening()
        peers = [socket.create_connection(listener.getsockname()) for _ in range(MANY)]
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        async with await loop.create_server(Echo, sock=listener, ssl=tls):
            # Nobody shakes hands, so no connection is made: taken behind TLS's back they would be.
            for _ in range(20):
                await asyncio.sleep(0.001)
            assert Echo.made == 1
        for peer in peers:
            peer.close()

    run(story(), uvloop.new_event_loop)


def test_a_defect_of_what_answers_is_told_for_each_connection() -> None:
    async def story() -> None:
        loop = asyncio.get_running_loop()
        accept_all_at_once(loop)
        told = faults_told(loop)
        listener = listening()
        peers = [socket.create_connection(listener.getsockname()) for _ in range(5)]

        def defective() -> asyncio.Protocol:
            raise ZeroDivisionError

        async with await loop.create_server(defective, sock=listener):
            until_s = time.monotonic() + 20
            while len(told) < len(peers):
                assert time.monotonic() < until_s
                await asyncio.sleep(0.001)
        assert all(isinstance(one["exception"], ZeroDivisionError) for one in told)
        for peer in peers:
            peer.close()

    run(story(), uvloop.new_event_loop)
