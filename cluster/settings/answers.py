"""Settings of answers made of evidence: the endpoint of a model and its limits. They hold the path of a key, no key."""

from typing import Literal, Self

from pydantic import Field, model_validator

from cluster.settings.values import ConfiguredPath
from cluster.yaml_model import StrictModel


class AnswerSettings(StrictModel):
    """Answers made of evidence, by a model or, without one, by a reader of our own."""

    url: str | None = Field(
        default=None,
        max_length=2048,
        pattern=r"^https?://[^\s/@?#]+(/[^\s@?#]*)?$",
        description="Base URL of an OpenAI-compatible endpoint with its version, such as http://127.0.0.1:8000/v1 "
        "(extra answers); null answers offline, by an extractive reader.",
    )
    model: str | None = Field(
        default=None, min_length=1, max_length=256, description="Name of the model at that endpoint."
    )
    key_file: ConfiguredPath | None = Field(
        default=None, description="File (mode 0600) that holds the API key of that endpoint; null sends none."
    )
    timeout_ms: int = Field(
        default=30_000,
        ge=100,
        le=600_000,
        description="Time from arrival to the end of an answer, in milliseconds; a request may lower it.",
    )
    max_ongoing: int = Field(
        default=64, ge=1, le=10_000, description="Answers that one replica makes at the same time; more are refused."
    )
    max_tokens_out: int = Field(default=600, ge=16, le=100_000, description="Most tokens of one output of the model.")
    limit_field: Literal["max_tokens", "max_completion_tokens"] = Field(
        default="max_tokens", description="What the endpoint calls that limit: max_tokens or max_completion_tokens."
    )
    format: Literal["json_schema", "json_object", "none"] = Field(
        default="json_schema",
        description="How the model is held to JSON, of json_schema, json_object and none; endpoints differ in it.",
    )
    temperature: float | None = Field(
        default=0.0, ge=0, le=2, description="Temperature of the model; null leaves it to the endpoint."
    )

    @model_validator(mode="after")
    def _check_model(self) -> Self:
        if (self.url is None) != (self.model is None):
            raise ValueError("url and model together, or neither")
        return self
