"""Settings of exports: how much, how fast and for how long. None of them touches a search."""

from pydantic import Field

from cluster.export_limits import ExportLimits
from cluster.yaml_model import StrictModel


class ExportSettings(StrictModel):
    """Exports: everything authorized that matches, page by page. None of these limits touches searches."""

    page_size: int = Field(default=500, ge=1, le=5000, description="Most records in one page of an export.")
    max_records: int = Field(default=1_000_000, ge=1, le=10_000_000, description="Most records in one export.")
    pages_per_minute: int = Field(
        default=120, ge=1, le=100_000, description="Pages that one caller may read in a minute, first pages included."
    )
    open_per_caller: int = Field(
        default=16, ge=1, le=1000, description="Exports that one caller may have begun and not finished."
    )
    cursor_hours: int = Field(
        default=24, ge=1, le=720, description="Time from the first page in which an export can be finished, in hours."
    )
    audit_days: int = Field(
        default=365, ge=1, le=3650, description="Time that who exported how much stays on record, in days."
    )

    def limits(self) -> ExportLimits:
        """As the cluster takes them."""
        return ExportLimits(
            page_size=self.page_size,
            max_records=self.max_records,
            pages_per_minute=self.pages_per_minute,
            open_per_caller=self.open_per_caller,
            lifetime_s=self.cursor_hours * 3600,
            audit_s=self.audit_days * 86_400,
        )
