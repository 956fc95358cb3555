"""The program that Ray Serve starts in HAProxy's place: it closes the generated configuration and becomes HAProxy.

Standard library only, run by path before each (re)start of HAProxy. It writes no configuration of its own: what it
does not know passes through unchanged, and a line that it must change but cannot find is an error, never ignored.
"""

import os
import re
import sys
from collections.abc import Mapping
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

CONNECT_TIMEOUT_MS: Final = 150
"""For a connection to a replica, and between two attempts at one: all of them fit into the time of a search."""

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

_FRONTEND: Final = re.compile(r"^frontend http_frontend\s*$")
_FRONTEND_BIND: Final = re.compile(r"^\s*bind \S+:\d+\s*$")
_SYSLOG: Final = re.compile(r"^\s*log (?!global\b|-)\S+ local\d ")

_LINES: Final = {
    "statistics": (re.compile(r"^(\s*bind )(?:\*|):(\d+)\s*$"), rf"\g<1>{STATISTICS_HOST}:\g<2>"),
    "socket": (re.compile(r"^(\s*stats socket \S+) mode 666 "), r"\g<1> mode 600 "),
    "defaults": (re.compile(r"^defaults$"), f"defaults\n    timeout http-request {HEADERS_TIMEOUT_S}s"),
    "connect timeout": (re.compile(r"^(\s*timeout connect )\S+\s*$"), rf"\g<1>{CONNECT_TIMEOUT_MS}ms"),
    # Before Serve has named a replica to a fresh HAProxy, every path is unknown to it.
    "unknown path": (re.compile(r"^(\s*http-request )return status 404 .*$"), r"\g<1>deny deny_status 503"),
    # Serve's own proxy: without a replica it keeps a request until there is one, longer than any search may take.
    "fallback": (re.compile(r"^(\s*server \S+ \S+ check backup)\s*$"), r"\g<1> disabled"),
}
"""Lines of the template that are changed wherever they stand, by what they are about."""

_ERROR_FILE: Final = ("error file", re.compile(r"^(\s*errorfile 50[234]) \S+$"))

_OPTIONAL: Final = frozenset({"fallback"})
"""Only there once Serve knows its fallback."""


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
    to syslog (paths may carry ids), headers that steer Serve are taken off every request, and where no replica answers
    HAProxy says so at once, with a problem of our shape.

    Args:
        configuration: as Ray Serve 2.60 renders it.
        frontend_host: the address the endpoint listens on.
        error_file: the whole HTTP response for a request that reached no replica.

    Raises:
        UnknownTemplateError: if a line to close is missing, as after an upgrade of Ray.
    """
    rewrites = {**_LINES, _ERROR_FILE[0]: (_ERROR_FILE[1], rf"\g<1> {error_file}")}
    closed: list[str] = []
    missing = {"frontend", *rewrites} - _OPTIONAL
    inside_frontend = False
    for line in configuration.splitlines():
        if line and not line[0].isspace():
            inside_frontend = _FRONTEND.match(line) is not None
        if inside_frontend and _FRONTEND_BIND.match(line):
            host = f"[{frontend_host}]" if ":" in frontend_host else frontend_host
            closed += [f"    bind {host}:{line.rsplit(':', 1)[1]}", *_RULES]
            missing.discard("frontend")
        elif not _SYSLOG.match(line):
            closed.append(_rewritten(line, rewrites, missing))
    if missing:
        raise UnknownTemplateError(", ".join(sorted(missing)))
    return "\n".join(closed) + "\n"


def _rewritten(line: str, rewrites: Mapping[str, tuple[re.Pattern[str], str]], missing: set[str]) -> str:
    for name, (pattern, replacement) in rewrites.items():
        changed, found = pattern.subn(replacement, line)
        if found:
            missing.discard(name)
            return changed
    return line


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
