"""Settings of the endpoint: where it listens and how much it takes in. They do not say who may call."""

from pydantic import Field

from cluster.settings.values import Port
from cluster.yaml_model import StrictModel


class HttpSettings(StrictModel):
    """The endpoint."""

    host: str = Field(
        default="127.0.0.1", min_length=1, description="Address to listen on; loopback unless you change it."
    )
    port: Port = Field(default=8900, description="Port of the endpoint.")
    replicas: int = Field(default=1, ge=1, le=256, description="Processes that answer HTTP requests.")
    max_ongoing_requests: int = Field(
        default=128, ge=1, le=100_000, description="Requests that one replica works on at the same time."
    )
    max_queued_requests: int = Field(
        default=32,
        ge=1,
        le=1_000_000,
        description="Requests that wait for one replica before new ones are refused; with those it works on no more "
        "than it answers in a part of a budget, or refusals come late.",
    )
    max_body_bytes: int = Field(
        default=262_144, ge=1024, le=16_777_216, description="Largest body of a search request, in bytes."
    )
    dashboard: bool = Field(default=False, description="Whether Ray's dashboard is started.")
    dashboard_port: Port = Field(default=8265, description="Port of Ray's dashboard, on loopback, where it is started.")
