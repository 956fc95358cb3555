"""Settings of the index: the registry it is made from, its shards, its vectors. They place and load nothing."""

from typing import Final, Self

from pydantic import Field, field_validator, model_validator

from cluster.batcher import MAX_BATCH
from cluster.yaml_model import StrictModel
from shards.record import BUCKETS

MODELS: Final = ("use", "minilm", "e5")
"""Names of ``cluster.models``, said here so that whoever reads settings imports no model."""


class RegistrySettings(StrictModel):
    """The database that is the source of truth."""

    url: str | None = Field(
        default=None,
        min_length=1,
        repr=False,
        description="SQLAlchemy URL of the registry; null is a SQLite file in home.",
    )


class ClusterSettings(StrictModel):
    """How many shards there are and how they are kept."""

    shards: int | None = Field(
        default=None, ge=1, le=BUCKETS, description="Number of shards; null is one for each core."
    )
    copies: int = Field(default=1, ge=1, le=8, description="Copies of each shard.")
    max_batch: int = Field(default=MAX_BATCH, ge=1, le=1024, description="Most queries in one call to a shard.")
    apply_timeout_ms: int = Field(
        default=2000,
        ge=50,
        le=60_000,
        description="Time a copy has to apply a change before it is replaced, in milliseconds.",
    )
    health_period_ms: int = Field(
        default=500, ge=50, le=60_000, description="Time between two health checks of a copy, in milliseconds."
    )
    poll_ms: int = Field(
        default=1000,
        ge=50,
        le=60_000,
        description="Time between two looks for changes another process wrote, in milliseconds.",
    )


class VectorSettings(StrictModel):
    """Vectors beside words: records and queries in every language a model knows."""

    candidate_retrieval: bool = Field(
        default=False,
        description="Whether there are vectors: models are loaded and records embedded, so that vectors find and rank "
        "records beside words, as far as flags let them. Needs a restart.",
    )
    models: tuple[str, ...] = Field(
        default=(),
        description=f"Models that make the vectors, of {', '.join(MODELS)}; each comes with an extra of its own.",
    )
    threads: int = Field(
        default=1, ge=1, le=64, description="Threads that embed records in the background, of the machine's cores."
    )

    @field_validator("models")
    @classmethod
    def _check_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not set(names) <= set(MODELS) or len(set(names)) != len(names):
            raise ValueError(f"different names among {', '.join(MODELS)}")
        return names

    @model_validator(mode="after")
    def _check_wanted(self) -> Self:
        if self.candidate_retrieval and not self.models:
            raise ValueError(f"at least one of models ({', '.join(MODELS)}) where candidate_retrieval is true")
        return self
