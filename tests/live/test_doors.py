"""What an instance opens: loopback only but for one port of Serve's, which asks for Ray's token."""

import socket
import stat

import grpc
import pytest

from serve_app.haproxy import ARRIVAL_HEADER
from serve_app.launch import TOKEN_FILE
from serve_app.listening import listeners_of
from shards.door_protocol import KEY_BYTES
from tests.live.instance import BUDGET_MS, Instance

pytestmark = pytest.mark.live

TOKEN_PROTECTED = {"ray::ServeRepli"}
"""Serve binds a replica's gRPC server to every interface, whatever the node's address is."""


def test_every_listener_is_on_loopback_or_protected_and_listed(live: Instance) -> None:
    found = listeners_of(live.process.pid)
    assert len(found) > 5
    open_ones = [one for one in found if not one.loopback]
    assert {one.process for one in open_ones} <= TOKEN_PROTECTED
    assert {one.port for one in open_ones} <= {one["port"] for one in live.ready["listeners"]}


def test_the_open_port_answers_nobody_without_the_token(live: Instance) -> None:
    for one in listeners_of(live.process.pid):
        if one.loopback:
            continue
        with grpc.insecure_channel(f"127.0.0.1:{one.port}") as channel:
            call = channel.unary_unary("/ray.serve.ASGIService/HandleRequest")
            with pytest.raises(grpc.RpcError) as refused:
                call(b"", timeout=5)
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_each_shard_has_one_door_and_hears_nobody_who_lacks_its_key(live: Instance) -> None:
    shards = [one for one in listeners_of(live.process.pid) if one.pid in live.shard_pids()]
    assert all(one.loopback for one in shards)
    silent = [one.pid for one in shards if _said_to_a_stranger(one.port) == b""]
    assert sorted(silent) == sorted(live.shard_pids())


def _said_to_a_stranger(port: int) -> bytes:
    """All that is said to a wrong key before the connection ends. Ray's own ports greet whoever comes."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as stranger:
        stranger.sendall(bytes(KEY_BYTES))
        try:
            return stranger.recv(4096)
        except ConnectionResetError:
            return b""


def test_secrets_are_for_their_owner_only(live: Instance) -> None:
    for name in (TOKEN_FILE, "local.key"):
        assert stat.S_IMODE((live.home / name).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "steering",
    [
        *({"x-request-timeout-seconds": value} for value in ("0.000001", "30", "0", "-1", "nan", "inf")),
        {"x-request-disconnect-disabled": "?1"},
        {"x-session-id": "a", "serve_multiplexed_model_id": "b"},
        {"grpc-timeout": "99S"},
        *({ARRIVAL_HEADER: stamp} for stamp in ("1", "9" * 16, "x")),
    ],
)
def test_headers_cannot_steer_serve(live: Instance, steering: dict[str, str]) -> None:
    headers = live.headers("reader")
    body = {"query": "list a bucket", "budget": {"timeout_ms": BUDGET_MS}}
    plain, steered = (
        live.client.post("/v1/search", json=body, headers=headers | more).json() for more in ({}, steering)
    )
    for field in ("hits", "budget", "spent", "coverage", "exact"):
        assert steered[field] == plain[field]


def test_statistics_of_haproxy_do_not_answer_on_the_endpoint(live: Instance) -> None:
    for path in ("/stats", "/metrics", "/v1/status"):
        assert live.client.get(path).status_code in {401, 403, 404}
