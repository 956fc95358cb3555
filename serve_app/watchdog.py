"""The last one out: ends what is left of an instance whose main process was killed before it could.

Ray's processes notice such a death, HAProxy and two agents of Ray do not, and HAProxy would hold the port. Standard
library only, run by path in a session of its own; after an orderly end it does nothing.
"""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Final

RUN_VARIABLE: Final = "SHORTLIST_RUN"
"""Environment variable that every process of an instance inherits: the folder of its run, never used twice."""

ORDERLY: Final = b"orderly"
"""What the main process writes before it ends; its death says nothing and closes the pipe."""

GRACE_S: Final = 3.0
"""Time for processes that notice the death by themselves."""

_GIVE_UP_S: Final = 20.0


def processes_of(run: str) -> list[int]:
    """Processes of this user that were started in the instance of ``run``, but not this one."""
    mark = f"{RUN_VARIABLE}={run}".encode()
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            variables = environment.read_bytes().split(b"\0")
        except OSError:
            continue
        if mark in variables and (pid := int(environment.parent.name)) != os.getpid():
            found.append(pid)
    return found


def clean_up(run: str) -> None:
    """End every process of the instance; its folder stays, because the logs in it may say what happened."""
    time.sleep(GRACE_S)
    ends_s = time.monotonic() + _GIVE_UP_S
    while (left := processes_of(run)) and time.monotonic() < ends_s:
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.1)


if __name__ == "__main__":
    if sys.stdin.buffer.read() != ORDERLY:
        clean_up(sys.argv[1])
