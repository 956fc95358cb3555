"""The answer to a look for near-duplicates as callers see it. Shapes only; ``serve_app.duplicates`` fills them."""

from typing_extensions import TypedDict


class LikenessView(TypedDict):
    """Shares from 0 to 1; ``vectors`` is 1 for what its models call a sure likeness, and null without them."""

    words: float
    part: float
    pairs: float
    vectors: float | None


class ComparedView(TypedDict):
    """One candidate. ``confirmed`` is the id that somebody said stands for both, null where nobody did."""

    id: str
    title: str
    version: int
    verdict: str
    reasons: list[str]
    likeness: LikenessView
    confirmed: str | None


class DuplicatesView(TypedDict):
    """Duplicates first, then those for review, then the others.

    ``canonical`` stands for the record and its duplicates: one with a source, else the longer text, else the smaller
    id; the record's own id where it has no duplicate. ``complete`` says whether all of the caller's records were
    looked through.
    """

    request_id: str
    id: str
    canonical: str
    complete: bool
    vectors: str
    compared: list[ComparedView]


class ConfirmedView(TypedDict):
    """What was confirmed, or taken back: then ``canonical`` is null."""

    request_id: str
    id: str
    canonical: str | None
