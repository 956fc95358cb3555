"""Masking: the start of a text, with what may identify somebody or open something replaced. It finds no names.

It errs on the side of taking too much. What it leaves is a sample for operators who asked for one, not a promise.
"""

import re
from typing import Final

SNIPPET_CHARS: Final = 160
"""Longest snippet; cut after masking, so that no secret loses the part by which it is known."""

_LONG: Final = 32
"""Characters from which a run counts as a token even without a digit."""

_URL: Final = re.compile(
    r"(?P<scheme>\b[a-z][a-z0-9+.-]{0,15}://)(?P<user>[^\s/@]*@)?(?P<place>[^\s?#]*)(?P<rest>[?#]\S*)?", re.IGNORECASE
)
# Each begins where its kind of run begins, so that a long text costs no more than its length.
_EMAIL: Final = re.compile(r"(?<![^\s@<>(),;:\"'])[^\s@<>(),;:\"']+@[^\s<>(),;:\"']+")
_NAMED: Final = re.compile(
    r"(?P<name>\b(?:bearer|basic|api[ _-]?key|access[ _-]?key|token|secret|password|passwd|pwd)\b\s*[:=]?\s*)\S+",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(r"(?<![\w+/=.~-])[\w+/=.~-]{16,}")
_NUMBER: Final = re.compile(r"\d(?:[\s.()/-]{0,2}\d){5,}")


def snippet(text: str) -> str:
    """The start of ``text``, masked.

    Gone are e-mail addresses, user names and queries of URLs, what follows a word such as "password", long runs that
    look like tokens, and numbers of 6 digits or more in any script, grouped or not.
    """
    text = _URL.sub(_url, text)
    text = _EMAIL.sub("<email>", text)
    text = _NAMED.sub(lambda found: found["name"] + "<secret>", text)
    text = _TOKEN.sub(_token, text)
    text = _NUMBER.sub("<number>", text)
    return text[:SNIPPET_CHARS]


def _url(found: re.Match[str]) -> str:
    user = "" if found["user"] is None else "<user>@"
    rest = "" if found["rest"] is None else found["rest"][0] + "<query>"
    return found["scheme"] + user + found["place"] + rest


def _token(found: re.Match[str]) -> str:
    run = found[0]
    return "<token>" if len(run) >= _LONG or any(map(str.isdigit, run)) else run
