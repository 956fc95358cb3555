"""ExportLimits: how much one caller may export, and for how long. A value only; ``cluster.exports`` obeys it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportLimits:
    """See ``cluster.settings.exports.ExportSettings`` for what each means to an operator.

    Attributes:
        page_size: most records of a page.
        max_records: most records of an export.
        pages_per_minute: of one caller, first pages included.
        open_per_caller: exports begun and not finished.
        lifetime_s: time from the first page in which cursors can be used.
        audit_s: time that the entry of an export stays.
    """

    page_size: int = 500
    max_records: int = 1_000_000
    pages_per_minute: int = 120
    open_per_caller: int = 16
    lifetime_s: int = 24 * 3600
    audit_s: int = 365 * 86_400
