"""The program that Ray Serve starts in HAProxy's place: it closes the generated configuration and becomes HAProxy.

Standard library only, run by path before each (re)start of HAProxy. It also has HAProxy stamp each request and turn
away those that would wait too long. What it does not know passes through unchanged, and a line that it must change but
cannot find is an error, never ignored.
"""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BINARY_VARIABLE: Final = "SHORTLIST_HAPROXY_BINARY"
"""Environment variable with the path of the real HAProxy."""

HOST_VARIABLE: Final = "SHORTLIST_HAPROXY_HOST"
"""Environment variable with the address that the endpoint listens on."""

AT_WORK_VARIABLE: Final = "SHORTLIST_HAPROXY_AT_WORK"
"""Environment variable with the most requests that one replica works on."""

WAITING_VARIABLE: Final = "SHORTLIST_HAPROXY_WAITING"
"""Environment variable with the most requests that wait for one replica."""

PATIENCE_VARIABLE: Final = "SHORTLIST_HAPROXY_PATIENCE_MS"
"""Environment variable with the longest time that a request waits for a replica, in milliseconds."""

ARRIVAL_HEADER: Final = "x-shortlist-arrived-us"
"""Set on every request, whatever its caller sent: when its headers were complete, in microseconds of the Unix epoch."""

ROOM_HEADER: Final = "x-shortlist-room"
"""With which a busy replica says how many requests may be near it; taken off before the caller sees it."""

ROOM_MS: Final = 1_000
"""How long that holds: HAProxy then lets in as many as before. A replica says it with every answer while it is busy."""

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

CLIENT_TIMEOUT_S: Final = 30
"""For the next piece of a body, and for taking the next piece of an answer; Serve's own is an hour. Whole bodies have
shorter times of their own, in the replica."""

KEEP_ALIVE_S: Final = 30
"""How long a connection without a request stays open: HAProxy has a place for so many and no more."""

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
"""The answer where no replica gave one, or took the request in time; it has no request id because nobody took it."""

TOO_MANY: Final = (
    b'{"type":"urn:shortlist:problem:overloaded","title":"Too many questions are waiting","status":429,'
    b'"code":"overloaded","detail":"An answer would take longer than the budget of the request; try again later."}'
)
"""The body of the answer where as many wait for a replica as may; without a request id, as above."""

_RULES: Final = (
    *(f"    http-request del-header {name}" for name in (*STRIPPED_HEADERS, ARRIVAL_HEADER)),
    "    http-request del-header x-serve- -m beg",
    f"    http-request set-header {ARRIVAL_HEADER} %[date(0,us)]",
    # Serve adds the request id once more, as the caller sent it; the first one is ours.
    "    http-response set-header x-request-id %[res.hdr(x-request-id,1)] if { res.hdr_cnt(x-request-id) gt 1 }",
    "    http-response del-header server",
)

_TOLD_ROOM: Final = f"if {{ res.hdr({ROOM_HEADER}) -m found }}"

_TURNING_AWAY: Final = (
    "    http-request set-var(txn.replicas) nbsrv",
    "    acl shortlist_queue_full avg_queue ge <waiting>",
    # A refusal by a replica takes a part of the time of an answer, and one by HAProxy next to none.
    "    acl shortlist_room_told date(0,ms),sub(proc.shortlist_until_<application>) lt 0",
    # Of a clock that was set back, what was told before says nothing: it would hold until that time comes again.
    f"    acl shortlist_room_fresh date(0,ms),sub(proc.shortlist_until_<application>) ge -{ROOM_MS}",
    # Whoever asks whether this instance lives must not take one that sheds load for one that is dead.
    "    acl shortlist_probe path /healthz /readyz",
    "    acl shortlist_room_full be_conn,div(txn.replicas),sub(proc.shortlist_room_<application>) gt 0",
    *(
        "    http-request return status 429 content-type application/problem+json file <file>"
        f" hdr retry-after 1 hdr cache-control no-store if {condition}"
        for condition in (
            "shortlist_queue_full",
            "!shortlist_probe shortlist_room_told shortlist_room_fresh shortlist_room_full",
        )
    ),
    f"    http-response set-var(proc.shortlist_room_<application>) res.hdr({ROOM_HEADER}) {_TOLD_ROOM}",
    f"    http-response set-var(proc.shortlist_until_<application>) date({ROOM_MS},ms) {_TOLD_ROOM}",
    f"    http-response del-header {ROOM_HEADER}",
)
"""In each application, before its servers. What a replica told is remembered for its application alone. What was told
last holds for each of its replicas: the faster one of them answers more, and so tells more often."""

_FRONTEND: Final = re.compile(r"^frontend http_frontend\s*$")
_FRONTEND_BIND: Final = re.compile(r"^\s*bind \S+:\d+\s*$")
_SYSLOG: Final = re.compile(r"^\s*log (?!global\b|-)\S+ local\d ")

_LINES: Final = {
    "statistics": (re.compile(r"^(\s*bind )(?:\*|):(\d+)\s*$"), rf"\g<1>{STATISTICS_HOST}:\g<2>"),
    "socket": (re.compile(r"^(\s*stats socket \S+) mode 666 "), r"\g<1> mode 600 "),
    "connect timeout": (re.compile(r"^(\s*timeout connect )\S+\s*$"), rf"\g<1>{CONNECT_TIMEOUT_MS}ms"),
    "client timeout": (re.compile(r"^(\s*timeout client )\S+\s*$"), rf"\g<1>{CLIENT_TIMEOUT_S}s"),
    "keep-alive": (re.compile(r"^(\s*timeout http-keep-alive )\S+\s*$"), rf"\g<1>{KEEP_ALIVE_S}s"),
    # With it HAProxy 2.8 does not see that a caller leaves whose body came after its headers, as most clients send it:
    # nobody would tell the replica, and what it asks of a model for that caller would go on to its end.
    "splicing": (re.compile(r"^(\s*)(option splice-request)\s*$"), r"\g<1>no \g<2>"),
    # Before Serve has named a replica to a fresh HAProxy, every path is unknown to it.
    "unknown path": (re.compile(r"^(\s*http-request )return status 404 .*$"), r"\g<1>deny deny_status 503"),
    # Serve's own proxy: without a replica it keeps a request until there is one, longer than any search may take.
    "fallback": (re.compile(r"^(\s*server \S+ \S+ check backup)\s*$"), r"\g<1> disabled"),
}
"""Lines of the template that are changed wherever they stand, by what they are about."""

_ERROR_FILE: Final = ("error file", re.compile(r"^(\s*errorfile 50[234]) \S+$"))

_DEFAULTS: Final = ("defaults", re.compile(r"^defaults$"))
_SERVERS: Final = ("servers", re.compile(r"^\s*default-server .*$"))
_SERVER: Final = re.compile(r"^\s*server ")

_OPTIONAL: Final = frozenset({"fallback", "servers"})
"""Only there once Serve knows its fallback, and an application."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How many requests are let near the replicas, and for how long.

    Attributes:
        at_work: in one replica; HAProxy keeps the others in its own queue, where their callers can still go away.
        waiting: in that queue, for each replica, before who comes next is told so at once.
        patience_ms: what one waits there at most.
    """

    at_work: int
    waiting: int
    patience_ms: int

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Limits":
        """As ``variables`` has written them."""
        return cls(
            at_work=int(environment[AT_WORK_VARIABLE]),
            waiting=int(environment[WAITING_VARIABLE]),
            patience_ms=int(environment[PATIENCE_VARIABLE]),
        )

    def variables(self) -> dict[str, str]:
        """For the environment of this program."""
        return {
            AT_WORK_VARIABLE: str(self.at_work),
            WAITING_VARIABLE: str(self.waiting),
            PATIENCE_VARIABLE: str(self.patience_ms),
        }


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Files with the answers that HAProxy gives by itself.

    Attributes:
        no_replica: a whole HTTP response, for a request that reached no replica.
        too_many: the body for one that is turned away.
    """

    no_replica: Path
    too_many: Path

    @classmethod
    def written_to(cls, folder: Path) -> "Answers":
        """Both, in ``folder``."""
        answers = cls(no_replica=folder / "no_replica.http", too_many=folder / "too_many.json")
        answers.no_replica.write_bytes(NO_REPLICA)
        answers.too_many.write_bytes(TOO_MANY)
        return answers


class UnknownTemplateError(Exception):
    """Serve's template does not have the lines that must be closed."""

    def __init__(self, missing: str) -> None:
        super().__init__(missing)
        self.missing = missing

    def __str__(self) -> str:
        return f"the generated HAProxy configuration has no line for: {self.missing}"


def telling(room: int | None) -> tuple[tuple[str, str], ...]:
    """Headers of a response that tells HAProxy so much room; none where it is not known."""
    return () if room is None else ((ROOM_HEADER, str(room)),)


def close(configuration: str, frontend_host: str, limits: Limits, answers: Answers) -> str:
    """A generated configuration without open doors.

    Statistics and metrics bind to loopback, the administration socket is for its owner only, requests are not sent
    to syslog (paths may carry ids), headers that steer Serve are taken off every request, each request says when it
    arrived, no more of them are let in than ``limits`` say, and where no replica answers HAProxy says so at once, with
    a problem of our shape.

    Args:
        configuration: as Ray Serve 2.60 renders it.
        frontend_host: the address the endpoint listens on.
        limits: of every application.
        answers: where HAProxy finds its own.

    Raises:
        UnknownTemplateError: if a line to close is missing, as after an upgrade of Ray.
    """
    rewrites = _LINES | _filled(limits, answers)
    closed: list[str] = []
    missing = {"frontend", *rewrites} - _OPTIONAL
    section = application = ""
    limited = False
    for line in configuration.splitlines():
        if line and not line[0].isspace():
            section, limited = line, False
            application = re.sub(r"\W", "_", line.partition(" ")[2].strip())
        limited = limited or _SERVERS[1].match(line) is not None
        if _SERVER.match(line) and not limited:
            raise UnknownTemplateError(_SERVERS[0])
        if _FRONTEND.match(section) and _FRONTEND_BIND.match(line):
            host = f"[{frontend_host}]" if ":" in frontend_host else frontend_host
            closed += [f"    bind {host}:{line.rsplit(':', 1)[1]}", *_RULES]
            missing.discard("frontend")
        elif not _SYSLOG.match(line):
            closed.append(_rewritten(line, rewrites, missing).replace("<application>", application))
    if missing:
        raise UnknownTemplateError(", ".join(sorted(missing)))
    return "\n".join(closed) + "\n"


def _filled(limits: Limits, answers: Answers) -> dict[str, tuple[re.Pattern[str], str]]:
    """The lines that are changed to what this instance is set to."""
    turning_away = "\n".join(_TURNING_AWAY).replace("<file>", str(answers.too_many))
    turning_away = turning_away.replace("<waiting>", str(limits.waiting))
    timeouts = f"    timeout http-request {HEADERS_TIMEOUT_S}s\n    timeout queue {limits.patience_ms}ms"
    return {
        _ERROR_FILE[0]: (_ERROR_FILE[1], rf"\g<1> {answers.no_replica}"),
        _DEFAULTS[0]: (_DEFAULTS[1], rf"\g<0>\n{timeouts}"),
        _SERVERS[0]: (_SERVERS[1], rf"{turning_away}\n\g<0> maxconn {limits.at_work}"),
    }


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
    answers = Answers.written_to(path.parent)
    partial = path.with_suffix(".closed")
    partial.write_text(close(path.read_text(), os.environ[HOST_VARIABLE], Limits.of(os.environ), answers))
    partial.replace(path)
    binary = os.environ[BINARY_VARIABLE]
    os.execv(binary, [binary, *arguments])  # noqa: S606 -- becoming HAProxy is the purpose


if __name__ == "__main__":
    main(sys.argv[1:])
