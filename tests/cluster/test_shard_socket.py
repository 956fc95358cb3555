"""A router's end of the connection: order, losses, giving up and closing, against real doors and a real process."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from typing import Any

import pytest

from cluster import shard_socket
from cluster.batcher import Batcher
from cluster.budget import Deadline
from cluster.errors import ShardUnavailable
from cluster.shard_socket import ShardSocket
from shards import packing
from shards.door import Door
from shards.door_protocol import HEADER, KEY_BYTES, DoorAddress, Kind, Status
from shards.errors import MalformedMessage, ShardNotReady
from shards.messages import Document, DocumentRequest
from shards.scope import Scope

SCOPE = Scope(grants=())


class Server:
    """Answers every id with a document of it; ids name what shall go wrong. ``gate`` holds answers back."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.asked: list[tuple[str, ...]] = []
        self.door = Door("127.0.0.1", {Kind.SEARCH: self._fail, Kind.DOCUMENTS: self._documents})

    def _documents(self, batch: bytes) -> bytes:
        requests = packing.unpack_requests(batch, packing.ScopeCache())
        self.asked += [one.ids for one in requests]
        self.gate.wait(20)
        return packing.pack_documents([tuple(map(_document, one.ids)) for one in requests])

    def _fail(self, batch: bytes) -> bytes:
        packing.unpack_queries(batch, packing.ScopeCache())
        raise ShardNotReady(0)


def _document(name: str) -> Document:
    if name == "defect":
        raise KeyError(name)
    if name == "malformed":
        raise MalformedMessage("frame", "too\nshort")
    size = int(name.partition("*")[2] or 1)
    return Document(id=name, version=1, body=name[:1].encode() * size)


def request(*ids: str) -> DocumentRequest:
    return DocumentRequest(scope=SCOPE, ids=ids)


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server()
    yield one
    one.gate.set()
    one.door.close()


class Lost(list[int]):
    """Shards that were reported lost."""


def client_of(address: DoorAddress) -> tuple[ShardSocket, Lost]:
    lost = Lost()
    return ShardSocket(5, address, lost.append), lost


async def ask(client: ShardSocket, *ids: str) -> list[str]:
    (documents,) = await client.documents((request(*ids),))
    assert all(one.body == one.id[:1].encode() * len(one.body) for one in documents)
    return [one.id for one in documents]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 -- the condition is another thread's, no event tells of it
            await asyncio.sleep(0.005)


LOOPS = ["asyncio", "uvloop"]


@pytest.fixture(params=LOOPS)
def run(request: pytest.FixtureRequest) -> Callable[[Coroutine[Any, Any, None]], None]:
    """Runs a story on each of the event loops that a replica may have."""
    factory = asyncio.new_event_loop
    if request.param == "uvloop":
        factory = pytest.importorskip("uvloop").new_event_loop

    def go(story: Coroutine[Any, Any, None]) -> None:
        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(story)

    return go


Run = Callable[[Coroutine[Any, Any, None]], None]


def test_calls_share_one_connection_and_each_gets_its_own_reply(server: Server, run: Run) -> None:
    async def story() -> None:
        client, lost = client_of(server.door.address)
        names = [f"a{number}" for number in range(300)]
        assert await asyncio.gather(*(ask(client, name) for name in names)) == [[name] for name in names]
        assert len(server.door._peers) == 1
        assert lost == []

    run(story())


def test_replies_of_megabytes_arrive_whole_between_small_ones(server: Server, run: Run) -> None:
    async def story() -> None:
        client, _ = client_of(server.door.address)
        names = ["a*7000000", "b", "c*3000001", "d*65531", "e"]
        assert await asyncio.gather(*(ask(client, name) for name in names)) == [[name] for name in names]

    run(story())


def test_a_reply_that_comes_in_shreds_is_put_together(run: Run) -> None:
    address, accepted = _scripted()

    async def story() -> None:
        client, _ = client_of(address)
        asked = asyncio.create_task(ask(client, "a*9"))
        peer = await asyncio.to_thread(accepted)
        body = packing.pack_documents([(_document("a*9"),)])
        for byte in address.proof + HEADER.pack(len(body), Status.DONE) + body:
            await asyncio.to_thread(peer.sendall, bytes([byte]))
        assert await asked == ["a*9"]
        peer.close()

    run(story())


def test_who_gives_up_disturbs_nobody_else(server: Server, run: Run) -> None:
    async def story() -> None:
        client, _ = client_of(server.door.address)
        assert await ask(client, "a") == ["a"]
        server.gate.clear()
        tasks = [asyncio.create_task(ask(client, f"{name}*70000")) for name in "bcdef"]
        await asyncio.sleep(0.05)
        for task in tasks[::2]:
            task.cancel()
        server.gate.set()
        assert await tasks[1] == ["c*70000"]
        assert await tasks[3] == ["e*70000"]
        assert await ask(client, "g") == ["g"]
        assert all(task.cancelled() for task in tasks[::2])

    run(story())


def test_who_gives_up_while_it_connects_leaves_the_connection_to_the_others(server: Server, run: Run) -> None:
    async def story() -> None:
        client, lost = client_of(server.door.address)
        first, second = (asyncio.create_task(ask(client, name)) for name in "ab")
        await asyncio.sleep(0)
        first.cancel()
        assert await second == ["b"]
        assert len(server.door._peers) == 1
        assert lost == []

    run(story())


def test_errors_of_the_shard_are_what_they_were_by_an_actor_call(server: Server, run: Run) -> None:
    async def story() -> None:
        client, lost = client_of(server.door.address)
        with pytest.raises(ShardUnavailable, match="shard 5: loading"):
            await client.search(())
        with pytest.raises(MalformedMessage, match="frame: too\nshort"):
            await ask(client, "malformed")
        assert lost == []
        with pytest.raises(ShardUnavailable, match="shard 5: failed"):
            await ask(client, "defect")
        assert lost == [5]
        assert await ask(client, "a") == ["a"]
        assert len(server.door._peers) == 1

    run(story())


def test_a_lost_connection_fails_who_waits_and_the_next_call_makes_a_new_one(server: Server, run: Run) -> None:
    async def story() -> None:
        client, lost = client_of(server.door.address)
        server.gate.clear()
        tasks = [asyncio.create_task(ask(client, name)) for name in "abc"]
        await until(lambda: server.asked)
        for peer in tuple(server.door._peers):
            peer.shutdown(socket.SHUT_RDWR)
        for task in tasks:
            with pytest.raises(ShardUnavailable, match="ConnectionResetError"):
                await task
        assert lost == [5, 5, 5]
        server.gate.set()
        assert await ask(client, "d") == ["d"]

    run(story())


def test_a_door_that_is_gone_is_told_at_every_call(server: Server, run: Run) -> None:
    async def story() -> None:
        client, lost = client_of(server.door.address)
        assert await ask(client, "a") == ["a"]
        server.door.close()
        for _ in range(3):
            with pytest.raises(ShardUnavailable):
                await ask(client, "b")
        assert lost == [5, 5, 5]

    run(story())


@pytest.mark.parametrize("field", ["key", "proof"])
def test_neither_side_talks_to_a_stranger(server: Server, run: Run, field: str) -> None:
    async def story() -> None:
        client, lost = client_of(replace(server.door.address, **{field: bytes(KEY_BYTES)}))
        with pytest.raises(ShardUnavailable, match="ConnectionResetError"):
            await ask(client, "a")
        assert lost == [5]
        assert server.asked == []

    run(story())


def test_a_door_that_takes_nobody_in_is_given_up_in_time(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_socket, "CONNECT_S", 0.2)

    async def story() -> None:
        # It listens, so the kernel accepts; nobody ever shows a proof, as with a stopped process.
        with socket.create_server(("127.0.0.1", 0)) as silent:
            client, lost = client_of(_address(silent))
            tasks = [asyncio.create_task(ask(client, name)) for name in "ab"]
            for task in tasks:
                with pytest.raises(ShardUnavailable, match="TimeoutError"):
                    await task
            assert lost == [5, 5]

    run(story())


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (HEADER.pack(2**30 + 1, Status.DONE), [5]),
        (HEADER.pack(0, Status.NOT_READY) * 2, []),
    ],
    ids=["too large", "one too many"],
)
def test_a_reply_that_cannot_be_ends_the_connection(run: Run, sent: bytes, told: list[int]) -> None:
    address, accepted = _scripted()

    async def story() -> None:
        client, lost = client_of(address)
        asked = asyncio.create_task(ask(client, "a"))
        peer = await asyncio.to_thread(accepted)
        await asyncio.to_thread(peer.sendall, address.proof)
        assert await asyncio.to_thread(peer.recv, 1)
        await asyncio.to_thread(peer.sendall, sent)
        with pytest.raises(ShardUnavailable):
            await asked
        assert await asyncio.to_thread(_at_end, peer)
        assert lost == told
        peer.close()

    run(story())


def test_a_closed_client_finishes_what_is_under_way_tells_of_no_loss_and_makes_no_connection(
    server: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_socket, "LINGER_S", 0.1)

    async def story() -> None:
        client, lost = client_of(server.door.address)
        server.gate.clear()
        asked = asyncio.create_task(ask(client, "a"))
        await until(lambda: server.asked)
        client.close()
        await asyncio.sleep(0.3)
        second = asyncio.create_task(ask(client, "b"))
        await asyncio.sleep(0)
        server.gate.set()
        assert await asked == ["a"]
        assert await second == ["b"]
        await until(lambda: not server.door._peers)
        with pytest.raises(ShardUnavailable):
            await ask(client, "c")
        assert not server.door._peers
        assert lost == []

    run(story())


def test_a_client_that_is_closed_before_its_first_call_never_connects(server: Server, run: Run) -> None:
    async def story() -> None:
        client, lost = client_of(server.door.address)
        client.close()
        with pytest.raises(ShardUnavailable):
            await ask(client, "a")
        assert not server.door._peers
        assert lost == []

    run(story())


PROGRAM = """
import sys, time
from shards.door import Door
from shards.door_protocol import Kind
one = Door("127.0.0.1", {Kind.DOCUMENTS: lambda batch: time.sleep(60)})
print(one.address.port, one.address.key.hex(), one.address.proof.hex(), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("first", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_is_killed_stopped_or_not_fails_every_call_to_it(run: Run, first: signal.Signals) -> None:
    with subprocess.Popen(  # noqa: S603
        (sys.executable, "-c", PROGRAM), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        port, key, proof = process.stdout.readline().split()
        address = DoorAddress(host="127.0.0.1", port=int(port), key=bytes.fromhex(key), proof=bytes.fromhex(proof))

        async def story() -> None:
            client, lost = client_of(address)
            batcher = Batcher(5, client.documents, stamp=lambda one, _: one)
            asked = batcher.submit(request("a"), Deadline.after(20_000))
            await asyncio.sleep(0.2)
            later = batcher.submit(request("b"), Deadline.after(20_000))
            os.kill(process.pid, first)
            if first is signal.SIGSTOP:
                await asyncio.sleep(0.2)
                assert not asked.done()
                os.kill(process.pid, signal.SIGKILL)
            for reply in (asked, later):
                with pytest.raises(ShardUnavailable):
                    await reply
            assert set(lost) == {5}

        run(story())


def test_a_retired_lane_breaks_its_call_to_a_stopped_process_off_and_the_client_closes(
    server: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_socket, "LINGER_S", 0.05)

    async def story() -> None:
        client, lost = client_of(server.door.address)
        server.gate.clear()
        batcher = Batcher(5, client.documents, stamp=lambda one, _: one)
        asked = batcher.submit(request("a"), Deadline.after(20_000))
        await until(lambda: server.asked)
        asked.cancel()
        batcher.retire()
        client.close()
        assert client._connection is not None
        await until(lambda: client._connection is None or client._connection.lost)
        assert lost == []

    run(story())


def _address(listener: socket.socket) -> DoorAddress:
    key, proof = os.urandom(KEY_BYTES), os.urandom(KEY_BYTES)
    return DoorAddress(host="127.0.0.1", port=listener.getsockname()[1], key=key, proof=proof)


def _scripted() -> tuple[DoorAddress, Callable[[], socket.socket]]:
    """A door that the test plays itself: its address, and a call that lets the router in and returns its socket."""
    listener = socket.create_server(("127.0.0.1", 0))
    address = _address(listener)

    def accepted() -> socket.socket:
        with listener:
            peer, _ = listener.accept()
        peer.settimeout(10)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        assert peer.recv(KEY_BYTES, socket.MSG_WAITALL) == address.key
        return peer

    return address, accepted


def _at_end(peer: socket.socket) -> bool:
    try:
        while peer.recv(4096):
            pass
    except ConnectionResetError:
        pass
    return True
