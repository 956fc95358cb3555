"""What an instance opens: loopback only but for one port of Serve's, which asks for Ray's token."""

import stat

import grpc
import pytest

from serve_app.launch import TOKEN_FILE
from serve_app.listening import listeners_of
from tests.live.instance import Instance

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


def test_secrets_are_for_their_owner_only(live: Instance) -> None:
    for name in (TOKEN_FILE, "local.key"):
        assert stat.S_IMODE((live.home / name).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "steering",
    [
        {"x-request-timeout-seconds": "0.000001"},
        {"x-request-timeout-seconds": "nan"},
        {"x-request-disconnect-disabled": "?1"},
        {"x-session-id": "a", "serve_multiplexed_model_id": "b"},
    ],
)
def test_headers_cannot_steer_serve(live: Instance, steering: dict[str, str]) -> None:
    headers = live.headers("reader")
    plain, steered = (
        live.client.post("/v1/search", json={"query": "list a bucket"}, headers=headers | more).json()
        for more in ({}, steering)
    )
    assert steered["hits"] == plain["hits"]


def test_statistics_of_haproxy_do_not_answer_on_the_endpoint(live: Instance) -> None:
    for path in ("/stats", "/metrics", "/v1/status"):
        assert live.client.get(path).status_code in {401, 403, 404}
