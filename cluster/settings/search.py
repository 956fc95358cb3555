"""Settings of an answer: how much of it is shown, its ceilings, how its tokens are counted. Flags are not here."""

from dataclasses import fields
from typing import Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from cluster.budget import DEFAULT_BUDGETS, MOST_EVIDENCE_BYTES, MOST_K, Budget
from cluster.settings.values import ConfiguredPath
from cluster.yaml_model import StrictModel
from shards.record import Kind


class DiscoverySettings(StrictModel):
    """How much of what was found is shown."""

    abstention: Literal["off", "cautious", "balanced", "strict"] = Field(
        default="balanced",
        description="Whether greetings, small talk and everyday requests that no record serves get a no_match. Of real "
        "requests cautious turns away about 1 in 500, balanced 1 in 200 and strict 1 in 50; off turns nobody away.",
    )


class BudgetSettings(StrictModel):
    """Ceilings of one kind of record: a request may lower each, and name a k within its mode's and ``most_k``."""

    candidate_k: int = Field(ge=1, le=10_000, description="Records that survive the index cut, 1 to 10,000.")
    rerank_k: int = Field(ge=1, le=10_000, description="Records handed to the ranker, at most candidate_k.")
    evidence_k: int = Field(
        ge=1,
        le=1000,
        description="Records in the answer where the request names no k, at most rerank_k and 1,000.",
    )
    most_k: int | None = Field(
        ge=1,
        le=1000,
        description="The most records that a request may name as its k, at most 1,000, within the K ceiling of the "
        "caller's mode in the policy; a k above rerank_k or candidate_k raises both to itself. Null, and where you set "
        "one of them and not this, is rerank_k.",
    )
    evidence_tokens: int = Field(
        ge=1, le=1_000_000, description="Tokens of all evidence together, 1 to 1,000,000; see tokens."
    )
    evidence_bytes: int = Field(
        ge=1,
        le=MOST_EVIDENCE_BYTES,
        description="JSON of all evidence together, as native answers have it, in bytes; 1 to 16,777,216.",
    )
    timeout_ms: int = Field(ge=10, le=60_000, description="Time from arrival to answer, in milliseconds; 10 to 60,000.")

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if not self.evidence_k <= self.rerank_k <= self.candidate_k:
            raise ValueError("evidence_k <= rerank_k <= candidate_k")
        if self.most_k is not None and self.most_k < self.evidence_k:
            raise ValueError("evidence_k <= most_k")
        return self

    @classmethod
    def shipped(cls, kind: Kind) -> Self:
        """The defaults of ``cluster.budget``."""
        ceilings = {spec.name: getattr(DEFAULT_BUDGETS[kind], spec.name) for spec in fields(Budget)}
        return cls(most_k=MOST_K[kind], **ceilings)


class BudgetsSettings(StrictModel):
    """Budgets by kind of record."""

    tool: BudgetSettings = BudgetSettings.shipped(Kind.TOOL)
    passage: BudgetSettings = BudgetSettings.shipped(Kind.PASSAGE)

    @field_validator("tool", "passage", mode="before")
    @classmethod
    def _keep_defaults(cls, given: object, info: ValidationInfo) -> object:
        """A budget that names some ceilings keeps the shipped others of its own kind."""
        if not isinstance(given, dict):
            return given
        # Who lowers a stage is not surprised by requests that raise it.
        own_stages = {"most_k": None} if given.keys() & {"candidate_k", "rerank_k"} else {}
        return BudgetSettings.shipped(Kind(str(info.field_name))).model_dump() | own_stages | given

    def of(self, kind: Kind) -> Budget:
        """The budget of a kind."""
        values: BudgetSettings = getattr(self, kind.value)
        return Budget(**values.model_dump(exclude={"most_k"}))

    def most_k(self, kind: Kind) -> int:
        """The most records of a kind that a request may name as its k, whatever its mode."""
        values: BudgetSettings = getattr(self, kind.value)
        return values.rerank_k if values.most_k is None else values.most_k

    @property
    def longest_ms(self) -> int:
        """The longest time that any budget allows."""
        return max(self.of(kind).timeout_ms for kind in Kind)


class TokenSettings(StrictModel):
    """How the tokens of evidence are counted."""

    tokenizer_file: ConfiguredPath | None = Field(
        default=None,
        description="A tokenizer.json of the model that reads the evidence, with the extra shortlist[tokens]; nothing "
        "is downloaded. Null counts by the estimate of cluster/tokens.py.",
    )
