"""Settings of the look for near-duplicates, whose budget is its own. What a duplicate is they do not say."""

from pydantic import Field

from cluster.yaml_model import StrictModel


class DuplicatesSettings(StrictModel):
    """The look for near-duplicates. Its budget is its own: no search waits for it or lends it time."""

    candidates: int = Field(default=40, ge=30, le=50, description="Records compared with the one that is asked about.")
    timeout_ms: int = Field(default=2000, ge=50, le=60_000, description="Time from arrival to answer, in milliseconds.")
    at_once: int = Field(default=2, ge=1, le=256, description="Looks that one replica works on at the same time.")
