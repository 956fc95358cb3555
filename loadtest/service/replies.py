"""Replies: an HTTP response read piece by piece, and what it says of the request. It opens no connection."""

import re
from typing import Final

from loadtest.service.schedule import Outcome

_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.IGNORECASE)
_RETRY: Final = re.compile(rb"\r\nretry-after:", re.IGNORECASE)
_PROBLEM: Final = re.compile(rb"\r\ncontent-type:[ \t]*application/problem\+json", re.IGNORECASE)
_CLOSE: Final = re.compile(rb"\r\nconnection:[ \t]*close", re.IGNORECASE)
_END: Final = b"\r\n\r\n"

_OK: Final = 200
_REFUSALS: Final = {408: Outcome.TIMED_OUT, 429: Outcome.REFUSED_429, 503: Outcome.REFUSED_503}


class Response:
    """One response, whole when ``feed`` says so. Bodies have a length here: Shortlist and HAProxy send no chunks."""

    __slots__ = ("_body_at", "_content", "_length")

    def __init__(self) -> None:
        self._content = bytearray()
        self._body_at = 0
        self._length = 0

    @property
    def begun(self) -> bool:
        """Whether anything has come."""
        return bool(self._content)

    def feed(self, piece: bytes) -> bool:
        """Take what came; True once the response is whole.

        Raises:
            ValueError: if it is no HTTP response with a length.
        """
        self._content += piece
        if not self._body_at:
            end = self._content.find(_END)
            if end < 0:
                return False
            found = _LENGTH.search(self._content, 0, end)
            if found is None:
                raise ValueError(f"no content-length in {bytes(self._content[:end])!r}")
            self._body_at, self._length = end + len(_END), int(found[1])
        return len(self._content) >= self._body_at + self._length

    @property
    def status(self) -> int:
        """The HTTP status."""
        return int(self._content[9:12])

    @property
    def retry_after(self) -> bool:
        """Whether it says when to come back."""
        return _RETRY.search(self._content, 0, self._body_at) is not None

    @property
    def closes(self) -> bool:
        """Whether the connection ends with it."""
        return _CLOSE.search(self._content, 0, self._body_at) is not None

    @property
    def typed(self) -> bool:
        """Whether it is a problem with a code; any other refusal is none of ours."""
        return _PROBLEM.search(self._content, 0, self._body_at) is not None

    def outcome(self) -> Outcome:
        """What it means for the caller; a body that is no answer to a search counts as hits, as those of no-ops."""
        if self.status == _OK:
            return self._answered()
        return _REFUSALS.get(self.status, Outcome.ERROR) if self.typed else Outcome.ERROR

    def _answered(self) -> Outcome:
        body = self._content
        if body.find(b'"kind":"miss"', self._body_at, self._body_at + 200) >= 0:
            timed_out = body.find(b'"reason":"timeout"', self._body_at) >= 0
            lost = body.find(b'"reason":"unavailable"', self._body_at) >= 0
            return Outcome.TIMED_OUT if timed_out else Outcome.REFUSED_503 if lost else Outcome.MISS
        return Outcome.PARTIAL if body.find(b'"coverage":{"full":false', self._body_at) >= 0 else Outcome.HITS
