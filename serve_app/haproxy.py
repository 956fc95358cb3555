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

HEADERS_TIMEOUT_S: Final = 10
"""Time a caller has to send its headers."""

_PROBLEM: Final = (
    b'{"type":"urn:shortlist:problem:unavailable","title":"The service cannot do this now","status":503,'
    b'"code":"unavailable","detail":"No replica answered. Try again in a moment."}'
)

NO_REPLICA: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\n"
    b"content-type: application/problem+json\r\n"
    b"cache-control: no-store\r\n"
    b"retry-after: 1\r\n"
    b"content-length: " + str(len(_PROBLEM)).encode() + b"\r\n\r\n" + _PROBLEM
)
"""The answer where no replica gave one; it has no request id because nobody took the request."""

_RULES: Final = (
    *(f"    http-request del-header {name}" for name in STRIPPED_HEADERS),
    "    http-request del-header x-serve- -m beg",
    # Serve adds the request id once more, as the caller sent it; the first one is ours.
    "    http-response set-header x-request-id %[res.hdr(x-request-id,1)] if { res.hdr_cnt(x-request-id) gt 1 }",
    "    http-response del-header server",
)

_OPEN_BIND: Final = re.compile(r"^(?P<indent>\s*)bind (?:\*|):(?P<port>\d+)\s*$")
_FRONTEND: Final = re.compile(r"^frontend http_frontend\s*$")
_FRONTEND_BIND: Final = re.compile(r"^\s*bind \S+:\d+\s*$")
_SOCKET: Final = re.compile(r"^(?P<head>\s*stats socket \S+) mode 666 ")
_ERROR_FILE: Final = re.compile(r"^(?P<head>\s*errorfile 50[234]) ")
_SYSLOG: Final = re.compile(r"^\s*log (?!global\b|-)\S+ local\d ")


class UnknownTemplateError(Exception):
    """Serve's template does not have the lines that must be closed."""

    def __init__(self, missing: str) -> None:
        super().__init__(missing)
        self.missing = missing

    def __str__(self) -> str:
        return f"the generated HAProxy configuration has no line for: {self.missing}"


def close(configuration: str, frontend_host: str, error_file: str) -> str:
    """A generated configuration without open doors.

    Statistics and metrics bind to loopback, the administration socket is for its owner only, requests are not sent
    to syslog (paths may carry ids), headers that steer Serve are taken off every request, and what HAProxy says where
    no replica answers is a problem of our shape.

    Args:
        configuration: as Ray Serve 2.60 renders it.
        frontend_host: the address the endpoint listens on.
        error_file: the whole HTTP response for a request that reached no replica.

    Raises:
        UnknownTemplateError: if a line to close is missing, as after an upgrade of Ray.
    """
    closed: list[str] = []
    missing = {"frontend", "statistics", "socket", "error file", "defaults"}
    inside_frontend = False
    for line in configuration.splitlines():
        if line and not line[0].isspace():
            inside_frontend = _FRONTEND.match(line) is not None
        if inside_frontend and _FRONTEND_BIND.match(line):
            host = f"[{frontend_host}]" if ":" in frontend_host else frontend_host
            closed += [f"    bind {host}:{line.rsplit(':', 1)[1]}", *_RULES]
            missing.discard("frontend")
        elif match := _OPEN_BIND.match(line):
            closed.append(f"{match['indent']}bind {STATISTICS_HOST}:{match['port']}")
            missing.discard("statistics")
        elif match := _SOCKET.match(line):
            closed.append(f"{match['head']} mode 600 {line[match.end() :]}")
            missing.discard("socket")
        elif match := _ERROR_FILE.match(line):
            closed.append(f"{match['head']} {error_file}")
            missing.discard("error file")
        elif line == "defaults":
            closed += [line, f"    timeout http-request {HEADERS_TIMEOUT_S}s"]
            missing.discard("defaults")
        elif not _SYSLOG.match(line):
            closed.append(line)
    if missing:
        raise UnknownTemplateError(", ".join(sorted(missing)))
    return "\n".join(closed) + "\n"


def main(arguments: list[str]) -> None:
    """Close the file after ``-f`` in place, then become HAProxy under the same process id.

    In place, because Serve finds its own HAProxy processes by this path; it renders the file anew before each start.
    """
    path = Path(arguments[arguments.index("-f") + 1])
    error_file = path.with_name("no_replica.http")
    error_file.write_bytes(NO_REPLICA)
    partial = path.with_suffix(".closed")
    partial.write_text(close(path.read_text(), os.environ[HOST_VARIABLE], str(error_file)))
    partial.replace(path)
    binary = os.environ[BINARY_VARIABLE]
    os.execv(binary, [binary, *arguments])  # noqa: S606 -- becoming HAProxy is the purpose


if __name__ == "__main__":
    main(sys.argv[1:])
