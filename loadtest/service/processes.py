"""What the processes of a running instance use, from Linux's /proc. It starts and ends none."""

import os
from dataclasses import dataclass
from pathlib import Path

from serve_app.listening import descendants_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessMemory:
    """One process.

    Attributes:
        name: its title: the command line's first word, or what Ray calls the worker.
        pss_mb: proportional set size: shared pages count by share, so that sums over processes are true.
    """

    pid: int
    name: str
    rss_mb: float
    pss_mb: float


def memory_below(root: int) -> tuple[ProcessMemory, ...]:
    """Memory of process ``root`` and all below it, largest first; processes that end meanwhile are left out."""
    found = []
    for pid in descendants_of(root):
        try:
            found.append(memory_of(pid))
        except OSError:
            continue
    return tuple(sorted(found, key=lambda process: -process.pss_mb))


def memory_of(pid: int | None = None) -> ProcessMemory:
    """Memory of one process, this one if None.

    Raises:
        OSError: if it is gone, or another user's.
    """
    pid = os.getpid() if pid is None else pid
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    title = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    sizes = {line.split(":")[0]: int(line.split()[1]) for line in rollup.splitlines()[1:] if "kB" in line}
    name = title[0].decode(errors="replace").rsplit("/", 1)[-1] or "?"
    return ProcessMemory(pid=pid, name=name, rss_mb=sizes.get("Rss", 0) / 1024, pss_mb=sizes.get("Pss", 0) / 1024)
