"""Listening ports of a process tree are found, with the address they are bound to."""

import socket
import subprocess
import sys

import pytest

from serve_app.listening import Listener, listeners_of, parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0100007F:1F90", ("127.0.0.1", 8080)),
        ("00000000:0050", ("0.0.0.0", 80)),  # noqa: S104 -- compared only
        ("00000000000000000000000001000000:0016", ("::1", 22)),
        ("0000000000000000FFFF00000100007F:C350", ("::ffff:127.0.0.1", 50000)),
        ("00000000000000000000000000000000:01BB", ("::", 443)),
    ],
)
def test_addresses_as_the_kernel_writes_them(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_addresses_that_only_this_machine_reaches(host: str) -> None:
    assert Listener(port=1, host=host, process="p", pid=1).loopback


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "::ffff:192.0.2.1"])  # noqa: S104 -- compared only
def test_addresses_that_others_reach(host: str) -> None:
    assert not Listener(port=1, host=host, process="p", pid=1).loopback


def test_a_child_that_listens_is_found_and_a_stranger_is_not() -> None:
    program = (
        "import socket, sys\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "print(server.getsockname()[1], flush=True)\n"
        "sys.stdin.read()\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as own:
        child = subprocess.Popen(  # noqa: S603
            (sys.executable, "-c", program), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        port = int(child.stdout.readline())
        found = {listener.port: listener for listener in listeners_of(child.pid)}
        assert own.getsockname()[1] not in found
        assert (found[port].host, found[port].pid) == ("127.0.0.1", child.pid)
        child.communicate("")
    assert listeners_of(child.pid) == ()
