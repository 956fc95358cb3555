"""Started: an instance of ``loadtest.service.instance`` from the outside: start, wait, look at, end."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from loadtest.service.instance import TUNED
from loadtest.service.processes import ProcessMemory, memory_below
from loadtest.service.systems import System
from loadtest.service.target import Target

_HOST: Final = "127.0.0.1"
_STOP_TIMEOUT_S: Final = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A ready instance.

    Attributes:
        ready_s: from the start of Ray to loaded shards and an open door.
        first_answer_s: the first search of all.
    """

    pid: int
    port: int
    records: int
    shards: int
    ready_s: float
    first_answer_s: float

    def target(self, system: System, k: int) -> Target:
        """One of its systems."""
        return Target(host=_HOST, port=self.port, system=system, k=k)

    def memory(self) -> tuple[ProcessMemory, ...]:
        """Of all its processes, now."""
        return memory_below(self.pid)


@contextmanager
def running(
    home: Path, body: bytes, *, shards: int, mode: str = TUNED, baselines: bool = False, twins: bool = False
) -> Iterator[Running]:
    """Inside this block an instance serves from ``home`` on a free port; ``body`` is a search that finds something.

    Raises:
        click.ClickException: if it does not start; it has said why on standard error.
    """
    port = _free_port()
    command = [
        sys.executable, "-m", "loadtest.service.instance", "--home", str(home), "--port", str(port),
        "--shards", str(shards), "--mode", mode, "--body", body.decode(),
    ]  # fmt: skip
    process = subprocess.Popen(  # noqa: S603 -- our own program
        [*command, *(["--baselines"] if baselines else []), *(["--twins"] if twins else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=_without_serve(os.environ),
    )
    try:
        said = process.stdout.readline() if process.stdout else b""
        if not said:
            raise click.ClickException(f"the instance did not start: it ended with {process.wait()}")
        ready = json.loads(said)
        yield Running(
            pid=process.pid,
            port=port,
            records=ready["records"],
            shards=ready["shards"],
            ready_s=round(ready["ready_s"], 2),
            first_answer_s=round(ready["first_answer_s"], 4),
        )
    finally:
        # Closing its input asks it to end in order.
        process.communicate(timeout=_STOP_TIMEOUT_S)


def _without_serve(environment: Mapping[str, str]) -> dict[str, str]:
    """What the user set for Serve would change what is compared."""
    return {name: value for name, value in environment.items() if not name.startswith("RAY_SERVE_")}


def _free_port() -> int:
    with socket.create_server((_HOST, 0)) as server:
        port: int = server.getsockname()[1]
    return port
