"""A page of an export as callers see it. Shapes only; ``serve_app.exports`` fills them."""

from typing_extensions import TypedDict

from serve_app.record_view import StoredView


class ExportedView(StoredView):
    """A record as it stood when the export was opened; ``changed`` says that it has another version now."""

    changed: bool


class ExportView(TypedDict):
    """One page.

    ``records`` are those of ``total`` from number ``start`` up to ``end``, by id, without the ones that were removed,
    disabled or closed to the caller since the export was opened. ``cursor`` is of the next page, null on the last.
    ``index_position`` is an opaque token of the index state that all pages are of.
    """

    request_id: str
    index_position: str
    total: int
    start: int
    end: int
    expires_at: str
    records: list[ExportedView]
    cursor: str | None
