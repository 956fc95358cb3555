"""A shard's door lets in who shows its key, answers in order, and ends whoever does not keep to the protocol."""

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from shards import door
from shards.door import MOST_STRANGERS, Door
from shards.door_protocol import HEADER, KEY_BYTES, MOST_REQUEST_BYTES, Kind, Status
from shards.errors import MalformedMessage, ShardNotReady

SENTINEL = "zqsentinelzq"


def _search(question: bytes) -> bytes:
    """Answers with the question backwards, but for questions that name what shall go wrong."""
    if question == b"not ready":
        raise ShardNotReady(3)
    if question == b"malformed":
        raise MalformedMessage("frame", "too short")
    if question == b"defect":
        raise KeyError(SENTINEL)
    return question[::-1]


@pytest.fixture
def opened() -> Iterator[Door]:
    before = set(threading.enumerate())
    one = Door("127.0.0.1", {Kind.SEARCH: _search, Kind.DOCUMENTS: bytes.upper})
    yield one
    one.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(10)


def _knock(opened: Door, shown: bytes = b"") -> socket.socket:
    peer = socket.create_connection((opened.address.host, opened.address.port), timeout=10)
    peer.sendall(shown)
    return peer


def _enter(opened: Door) -> socket.socket:
    peer = _knock(opened, opened.address.key)
    assert _read(peer, KEY_BYTES) == opened.address.proof
    return peer


def _read(peer: socket.socket, length: int) -> bytes:
    read = b""
    while len(read) < length and (piece := peer.recv(length - len(read))):
        read += piece
    return read


def _frame(kind: int, question: bytes) -> bytes:
    return HEADER.pack(len(question), kind) + question


def _reply(peer: socket.socket) -> tuple[int, bytes]:
    length, status = HEADER.unpack(_read(peer, HEADER.size))
    return status, _read(peer, length)


def _ended(peer: socket.socket) -> bool:
    try:
        return peer.recv(1) == b""
    except ConnectionResetError:
        return True


def test_who_shows_the_key_sees_the_proof_and_gets_answers(opened: Door) -> None:
    with _enter(opened) as peer:
        peer.sendall(_frame(Kind.SEARCH, b"abc"))
        assert _reply(peer) == (Status.DONE, b"cba")
        peer.sendall(_frame(Kind.DOCUMENTS, b"abc"))
        assert _reply(peer) == (Status.DONE, b"ABC")
        peer.sendall(_frame(Kind.SEARCH, b""))
        assert _reply(peer) == (Status.DONE, b"")


def test_it_listens_on_one_address_only(opened: Door) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", opened.address.port), timeout=10)


def test_no_text_of_an_address_shows_its_keys(opened: Door) -> None:
    address = opened.address
    for secret in (address.key, address.proof):
        assert len(secret) == KEY_BYTES
        for text in (repr(address), str(address), f"{address}"):
            assert repr(secret)[2:-1] not in text
    assert address.key != address.proof


@pytest.mark.parametrize("shown", [bytes(KEY_BYTES), b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + bytes(KEY_BYTES)])
def test_a_wrong_key_ends_the_connection_without_a_word(
    opened: Door, shown: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with _knock(opened, shown) as peer:
        assert _ended(peer)
    assert [record.message for record in caplog.records] == ["door_key_refused"]


def test_a_key_that_lacks_one_byte_or_differs_in_it_is_wrong(opened: Door) -> None:
    key = opened.address.key
    with _knock(opened, key[:-1] + bytes([key[-1] ^ 1])) as peer:
        assert _ended(peer)
    with _knock(opened, key[:-1]) as peer:
        peer.shutdown(socket.SHUT_WR)
        assert _ended(peer)


def test_who_shows_nothing_or_shows_it_slowly_is_ended_in_time(opened: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "HANDSHAKE_S", 0.3)
    started_s = time.monotonic()
    with _knock(opened) as silent, _knock(opened) as slow:
        for byte in opened.address.key:
            try:
                slow.sendall(bytes([byte]))
            except OSError:
                break
            time.sleep(0.03)
        assert _ended(slow)
        assert _ended(silent)
    assert time.monotonic() - started_s < 5


def test_too_many_strangers_are_turned_away_and_known_routers_stay(opened: Door) -> None:
    with ExitStack() as stack:
        router = stack.enter_context(_enter(opened))
        strangers = [stack.enter_context(_knock(opened)) for _ in range(MOST_STRANGERS + 1)]
        assert _ended(strangers[-1])
        router.sendall(_frame(Kind.SEARCH, b"abc"))
        assert _reply(router) == (Status.DONE, b"cba")
        strangers[0].close()
    with _enter(opened):
        pass


@pytest.mark.parametrize(
    "sent",
    [
        HEADER.pack(MOST_REQUEST_BYTES + 1, Kind.SEARCH),
        HEADER.pack(3, 99) + b"abc",
        b"\xff" * 200,
        b"GET / HTTP/1.1\r\n\r\n",
    ],
    ids=["oversize", "unknown kind", "garbage", "http"],
)
def test_who_breaks_the_protocol_is_ended(opened: Door, sent: bytes, caplog: pytest.LogCaptureFixture) -> None:
    with _enter(opened) as peer:
        peer.sendall(sent)
        assert _ended(peer)
    assert [record.message for record in caplog.records] == ["door_frame_refused"]
    with _enter(opened):
        pass


@pytest.mark.parametrize("cut", [1, HEADER.size, HEADER.size + 2])
def test_half_a_frame_is_answered_by_nothing_and_the_others_go_on(opened: Door, cut: int) -> None:
    with _enter(opened) as peer, _enter(opened) as other:
        peer.sendall(_frame(Kind.SEARCH, b"abc")[:cut])
        peer.shutdown(socket.SHUT_WR)
        assert _ended(peer)
        other.sendall(_frame(Kind.SEARCH, b"abc"))
        assert _reply(other) == (Status.DONE, b"cba")


def test_many_questions_sent_together_are_answered_in_their_order(opened: Door) -> None:
    questions = [f"{number:04d}".encode() for number in range(500)]
    with _enter(opened) as peer:
        peer.sendall(b"".join(_frame(Kind.SEARCH, question) for question in questions))
        assert [_reply(peer) for _ in questions] == [(Status.DONE, question[::-1]) for question in questions]


def test_a_question_that_comes_byte_by_byte_is_answered(opened: Door) -> None:
    with _enter(opened) as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in _frame(Kind.SEARCH, b"abc"):
            peer.sendall(bytes([byte]))
        assert _reply(peer) == (Status.DONE, b"cba")


def test_megabytes_pass_both_ways(opened: Door) -> None:
    question = bytes(range(256)) * 40_000
    with _enter(opened) as peer:
        threading.Thread(target=peer.sendall, args=(_frame(Kind.SEARCH, question),)).start()
        assert _reply(peer) == (Status.DONE, question[::-1])


def test_errors_have_their_status_and_leave_the_connection_open(opened: Door) -> None:
    with _enter(opened) as peer:
        for question, status, told in (
            (b"not ready", Status.NOT_READY, b""),
            (b"malformed", Status.MALFORMED, b"frame\ntoo short"),
            (b"defect", Status.FAILED, b"KeyError"),
            (b"abc", Status.DONE, b"cba"),
        ):
            peer.sendall(_frame(Kind.SEARCH, question))
            assert _reply(peer) == (status, told)


def test_a_defect_is_logged_by_kind_and_place_and_without_its_words(
    opened: Door, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), _enter(opened) as peer:
        peer.sendall(_frame(Kind.SEARCH, b"defect"))
        _reply(peer)
    assert "door_call_failed fault=KeyError" in caplog.text
    assert "test_door.py" in caplog.text
    assert SENTINEL not in caplog.text


def test_a_system_without_threads_left_costs_one_peer_and_not_the_door(
    opened: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = door._start
    refused = iter([True, False])

    def start_or_fail(work: Callable[..., None], *arguments: object) -> threading.Thread:
        if next(refused):
            raise RuntimeError
        return start(work, *arguments)

    monkeypatch.setattr(door, "_start", start_or_fail)
    with _knock(opened) as peer:
        assert _ended(peer)
    with _enter(opened):
        assert opened.alive


def test_closing_ends_every_connection_and_frees_the_port(opened: Door) -> None:
    with _enter(opened) as peer:
        opened.close()
        assert _ended(peer)
    with pytest.raises(ConnectionRefusedError):
        _knock(opened)
