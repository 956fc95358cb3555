"""Which TCP ports a process and its descendants listen on, from Linux's /proc. It opens and closes nothing."""

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_LISTEN: Final = "0A"
_SOCKET: Final = "socket:["


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Listener:
    """One listening TCP socket.

    Attributes:
        host: the address bound, ``0.0.0.0`` or ``::`` for every interface.
        process: what the process calls itself, at most 15 characters.
        pid: its process id.
    """

    port: int
    host: str
    process: str
    pid: int

    @property
    def loopback(self) -> bool:
        """Whether only this machine can connect."""
        return self.host.startswith("127.") or self.host in {"::1", "::ffff:127.0.0.1"}


def listeners_of(root: int) -> tuple[Listener, ...]:
    """Listening sockets of process ``root`` and all below it, by port; empty where there is no /proc.

    Processes that end meanwhile, or belong to another user, are left out.
    """
    sockets = _listening_sockets()
    found = set()
    for pid in descendants_of(root):
        for inode in _socket_inodes(pid):
            if inode in sockets:
                host, port = sockets[inode]
                found.add(Listener(port=port, host=host, process=_name(pid), pid=pid))
    return tuple(sorted(found))


def parse_address(text: str) -> tuple[str, int]:
    """An address of /proc/net/tcp or tcp6, as ``0100007F:1F90``: hex of 32-bit words in this machine's byte order."""
    address, port = text.split(":")
    words = [bytes.fromhex(address[start : start + 8])[::-1] for start in range(0, len(address), 8)]
    family = socket.AF_INET if len(words) == 1 else socket.AF_INET6
    return socket.inet_ntop(family, b"".join(words)), int(port, 16)


def _listening_sockets() -> dict[str, tuple[str, int]]:
    """Address and port by inode."""
    found = {}
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        if table.exists():
            for line in table.read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTEN:
                    found[fields[9]] = parse_address(fields[1])
    return found


def descendants_of(root: int) -> list[int]:
    """Process ``root`` and all below it, parents first."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name in parentheses may hold spaces and parentheses: the fields that count follow the last one.
            parent = int(status.read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(status.parent.name))
    found = [root]
    for pid in found:
        found.extend(children.get(pid, []))
    return found


def _socket_inodes(pid: int) -> list[str]:
    try:
        links = [str(entry.readlink()) for entry in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return []
    return [link[len(_SOCKET) : -1] for link in links if link.startswith(_SOCKET)]


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return "?"
