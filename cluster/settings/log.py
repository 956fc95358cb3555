"""Settings of the logs: what is written of requests, and where. No level, no format: a line is JSON."""

from typing import Literal

from pydantic import Field

from cluster.settings.values import ConfiguredPath
from cluster.yaml_model import StrictModel


class LogSettings(StrictModel):
    """What is written of requests. No query, record, id, tenant or token is in a log by default."""

    requests: bool = Field(
        default=True,
        description="Whether each request gets a line of JSON: counts, limits, timings, and ids as keyed hashes.",
    )
    to: Literal["file", "stderr"] = Field(
        default="file",
        description="Where requests.log and audit.log go: file is files of mode 0600 in folder, stderr is standard "
        "error of each process, which Ray keeps among its own logs.",
    )
    folder: ConfiguredPath | None = Field(default=None, description="Folder of both files; null is home.")
    rotate_mb: int = Field(
        default=256,
        ge=1,
        le=1_048_576,
        description="Size from which requests.log is renamed to requests.log.1, in place of the one before, in MiB; "
        "audit.log is never renamed, and moving it away at any time is safe.",
    )
    snippet_percent: int = Field(
        default=0,
        ge=0,
        le=100,
        description="Share of searches whose line holds the start of the query, with e-mail addresses, numbers of 6 "
        "digits or more, tokens and the queries of URLs masked; names and all else stay readable.",
    )
