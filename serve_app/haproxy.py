"""The program that Ray Serve starts in HAProxy's place: it closes the generated configuration and becomes HAProxy.

Standard library only, run by path before each (re)start of HAProxy. It writes no configuration of its own: what it
does not know passes through unchanged, and a line that it must change but cannot find is an error, never ignored.
"""

import os
import re
import sys
from pathlib import Path
from typing import Final

BINARY_VARIABLE: Final = "SHORTLIST_HAPROXY_BINARY"
"""Environment variable with the path of the real HAProxy."""

HOST_VARIABLE: Final = "SHORTLIST_HAPROXY_HOST"
"""Environment variable with the address that the endpoint listens on."""

STATISTICS_HOST: Final = "127.0.0.1"
"""Where statistics and metrics of HAProxy listen; Serve's template binds them to every interface."""

STRIPPED_HEADERS: Final = (
    "x-request-timeout-seconds",
    "x-request-disconnect-disabled",
    "x-session-id",
    "serve_multiplexed_model_id",
    "serve-multiplexed-model-id",
)
"""Headers with which a caller could lengthen or switch off Serve's own limits, or choose a replica."""

_STRIPPED_PREFIX: Final = "x-serve-"

_OPEN_BIND: Final = re.compile(r"^(?P<indent>\s*)bind (?:\*|):(?P<port>\d+)\s*$")
_FRONTEND: Final = re.compile(r"^frontend http_frontend\s*$")
_FRONTEND_BIND: Final = re.compile(r"^\s*bind \S+:\d+\s*$")
_SOCKET: Final = re.compile(r"^(?P<head>\s*stats socket \S+) mode 666 ")
_SYSLOG: Final = re.compile(r"^\s*log (?!global\b|-)\S+ local\d ")


class UnknownTemplateError(Exception):
    """Serve's template does not have the lines that must be closed."""

    def __init__(self, missing: str) -> None:
        super().__init__(missing)
        self.missing = missing

    def __str__(self) -> str:
        return f"the generated HAProxy configuration has no line for: {self.missing}"


def close(configuration: str, frontend_host: str) -> str:
    """A generated configuration without open doors.

    Statistics and metrics bind to loopback, the administration socket is for its owner only, requests are not sent
    to syslog (paths may carry ids), and headers that steer Serve are taken off every request.

    Args:
        configuration: as Ray Serve 2.60 renders it.
        frontend_host: the address the endpoint listens on, ``*`` for all.

    Raises:
        UnknownTemplateError: if a line to close is missing, as after an upgrade of Ray.
    """
    closed: list[str] = []
    seen: set[str] = set()
    inside_frontend = False
    for line in configuration.splitlines():
        if line and not line[0].isspace():
            inside_frontend = _FRONTEND.match(line) is not None
        if inside_frontend and _FRONTEND_BIND.match(line):
            port = line.rsplit(":", 1)[1]
            closed += [f"    bind {frontend_host}:{port}", *_strip_rules()]
            seen.add("frontend")
        elif match := _OPEN_BIND.match(line):
            closed.append(f"{match['indent']}bind {STATISTICS_HOST}:{match['port']}")
            seen.add("statistics")
        elif match := _SOCKET.match(line):
            closed.append(f"{match['head']} mode 600 {line[match.end() :]}")
            seen.add("socket")
        elif not _SYSLOG.match(line):
            closed.append(line)
    for needed in ("frontend", "statistics", "socket"):
        if needed not in seen:
            raise UnknownTemplateError(needed)
    return "\n".join(closed) + "\n"


def _strip_rules() -> list[str]:
    names = [f"    http-request del-header {name}" for name in STRIPPED_HEADERS]
    return [*names, f"    http-request del-header {_STRIPPED_PREFIX} -m beg"]


def main(arguments: list[str]) -> None:
    """Close the file after ``-f`` in place, then become HAProxy under the same process id.

    In place, because Serve finds its own HAProxy processes by this path; it renders the file anew before each start.
    """
    path = Path(arguments[arguments.index("-f") + 1])
    closed = close(path.read_text(), os.environ[HOST_VARIABLE])
    partial = path.with_suffix(".closed")
    partial.write_text(closed)
    partial.replace(path)
    binary = os.environ[BINARY_VARIABLE]
    os.execv(binary, [binary, *arguments])  # noqa: S606 -- becoming HAProxy is the purpose


if __name__ == "__main__":
    main(sys.argv[1:])
