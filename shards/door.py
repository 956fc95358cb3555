"""Door: a shard's own TCP server for the calls of routers, which cost less CPU this way than as actor calls.

One thread per connection, which waits in the kernel. It knows neither Ray nor what the calls mean, and keeps no
order between connections: the functions that it is given do.
"""

import hmac
import logging
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from io import BufferedReader
from typing import Final

from shards.door_protocol import HEADER, KEY_BYTES, MOST_REPLY_BYTES, MOST_REQUEST_BYTES, DoorAddress, Kind, Status
from shards.errors import MalformedMessage, ShardNotReady

HANDSHAKE_S: Final = 3.0
"""In which a peer must have shown the whole key."""

MOST_STRANGERS: Final = 64
"""Peers at a time that have not shown the key yet; more are turned away."""

_BUFFER_BYTES: Final = 64 * 2**10
"""One read of the kernel brings a whole question of this size."""

_ACCEPT_PAUSE_S: Final = 0.1
"""Before the next try where the process has no file descriptors left."""

_log = logging.getLogger(__name__)

Answers = Mapping[Kind, Callable[[bytes], bytes]]
"""What answers each kind of question, called from many threads at once."""


class DoorClosed(Exception):
    """Nobody listens any more at the door of a shard that is alive otherwise."""

    def __init__(self, shard: int) -> None:
        super().__init__(shard)
        self.shard = shard

    def __str__(self) -> str:
        return f"shard {self.shard}: nobody listens at its door"


class Door:
    """Listens from its making until ``close``, on one address only.

    Args:
        host: the address to listen on; the port is any free one.
        answers: may raise ``ShardNotReady`` and ``MalformedMessage``; whatever else they raise is logged without its
            words, and costs the one call.

    Raises:
        OSError: if the address is not one of this machine.
    """

    def __init__(self, host: str, answers: Answers) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family, backlog=MOST_STRANGERS)
        self._address = DoorAddress(
            host=host,
            port=self._listener.getsockname()[1],
            key=secrets.token_bytes(KEY_BYTES),
            proof=secrets.token_bytes(KEY_BYTES),
        )
        self._answers = dict(answers)
        self._strangers = threading.BoundedSemaphore(MOST_STRANGERS)
        self._peers: set[socket.socket] = set()
        self._closed = False
        self._listening = _start(self._accept)

    @property
    def address(self) -> DoorAddress:
        """What a router needs to come in."""
        return self._address

    @property
    def alive(self) -> bool:
        """Whether somebody still opens; a shard behind a dead door is as good as dead, and must not look alive."""
        return self._listening.is_alive()

    def close(self) -> None:
        """Listen no longer and end every connection, whatever is being answered on it."""
        self._closed = True
        for one in (self._listener, *tuple(self._peers)):
            _hang_up(one)
        self._listener.close()

    def _accept(self) -> None:
        while not self._closed:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                time.sleep(_ACCEPT_PAUSE_S)
                continue
            if self._closed or not self._strangers.acquire(blocking=False):
                peer.close()
                continue
            self._peers.add(peer)
            try:
                _start(self._serve, peer)
            except RuntimeError:
                # The system has no thread left for it; that of others may end.
                self._peers.discard(peer)
                self._strangers.release()
                peer.close()

    def _serve(self, peer: socket.socket) -> None:
        try:
            with peer:
                if self._greeted(peer):
                    with BufferedReader(peer.makefile("rb", 0), _BUFFER_BYTES) as questions:
                        self._answer(peer, questions)
        except OSError:
            _log.debug("router_gone")
        finally:
            self._peers.discard(peer)

    def _greeted(self, peer: socket.socket) -> bool:
        """Whether the peer showed the key in time; if so it was shown the proof."""
        try:
            shown = _read_within(peer, KEY_BYTES, HANDSHAKE_S)
        finally:
            self._strangers.release()
        if not hmac.compare_digest(shown, self._address.key):
            _log.warning("door_key_refused")
            return False
        peer.settimeout(None)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A router whose machine is gone says nothing: the kernel asks, and ends the thread that waits for it.
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        peer.sendall(self._address.proof)
        return True

    def _answer(self, peer: socket.socket, questions: "BufferedReader[socket.SocketIO]") -> None:
        """Answer one question after the other until the peer ends, or breaks the protocol."""
        while len(header := questions.read(HEADER.size)) == HEADER.size:
            length, kind = HEADER.unpack(header)
            if length > MOST_REQUEST_BYTES or kind not in self._answers:
                _log.warning("door_frame_refused")
                return
            question = questions.read(length)
            if len(question) < length:
                return
            status, reply = self._reply(kind, question)
            # Not in the shard's turn: a router that does not read keeps nobody waiting but itself.
            peer.sendall(HEADER.pack(len(reply), status) + reply)

    def _reply(self, kind: Kind, question: bytes) -> tuple[Status, bytes]:
        try:
            reply = self._answers[kind](question)
        except ShardNotReady:
            return Status.NOT_READY, b""
        except MalformedMessage as exc:
            return Status.MALFORMED, f"{exc.message}\n{exc.reason}".encode()
        except Exception as fault:  # noqa: BLE001 -- the process edge: a defect costs this call and not the connection
            _tell(fault)
            return Status.FAILED, type(fault).__name__.encode()
        if len(reply) > MOST_REPLY_BYTES:
            _log.error("door_reply_too_large")
            return Status.FAILED, b"reply too large"
        return Status.DONE, reply


def _read_within(peer: socket.socket, length: int, limit_s: float) -> bytes:
    """The first ``length`` bytes of the peer, or fewer if it ends or the time does."""
    ends_s = time.monotonic() + limit_s
    read = b""
    while len(read) < length and (left_s := ends_s - time.monotonic()) > 0:
        peer.settimeout(left_s)
        piece = peer.recv(length - len(read))
        if not piece:
            break
        read += piece
    return read


def _tell(fault: BaseException) -> None:
    """Log a defect by its kind and place: its words may be a caller's."""
    trace = fault.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    _log.error("door_call_failed fault=%s place=%s", type(fault).__name__, place)


def _hang_up(one: socket.socket) -> None:
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        _log.debug("already_gone")


def _start(work: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, name="door", daemon=True)
    thread.start()
    return thread
