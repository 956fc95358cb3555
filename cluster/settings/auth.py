"""Settings of who may call: keys and claims of tokens, the file of API keys. They hold paths of secrets, no secret."""

from typing import Final, Literal, Self

from pydantic import Field, model_validator

from cluster.settings.values import ConfiguredPath
from cluster.yaml_model import StrictModel

Algorithm = Literal["HS256", "RS256", "EdDSA"]
ALGORITHMS: Final[tuple[Algorithm, ...]] = ("HS256", "RS256", "EdDSA")


class JwtKey(StrictModel):
    """One key that verifies tokens. The key decides the algorithm, the token does not."""

    algorithm: Algorithm
    file: ConfiguredPath
    kid: str | None = Field(default=None, min_length=1, max_length=128)


class JwtSettings(StrictModel):
    """Which bearer tokens are accepted."""

    algorithms: tuple[Algorithm, ...] = Field(
        default=ALGORITHMS,
        min_length=1,
        description="Signature algorithms allowed; a subset of HS256, RS256 and EdDSA.",
    )
    keys: tuple[JwtKey, ...] = Field(
        default=(),
        description="Verification keys, each {algorithm, file, kid}: a PEM public key, or for HS256 a secret of at "
        "least 32 bytes with mode 0600; kid may be left out on one key.",
    )
    audience: str = Field(default="shortlist", min_length=1, description="The aud claim a token must have.")
    issuer: str = Field(default="shortlist", min_length=1, description="The iss claim a token must have.")
    leeway_s: int = Field(
        default=0, ge=0, le=300, description="Clock difference forgiven when a token's times are checked, in seconds."
    )

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        kids = [key.kid for key in self.keys]
        if len(set(kids)) != len(kids):
            raise ValueError("keys with different kids, at most one without")
        if any(key.algorithm not in self.algorithms for key in self.keys):
            raise ValueError("keys whose algorithm is listed in algorithms")
        return self


class AuthSettings(StrictModel):
    """Who may call. Without keys and without an API-key file, a key is made in ``home``: never open."""

    jwt: JwtSettings = JwtSettings()
    api_keys: ConfiguredPath | None = Field(
        default=None,
        description="YAML file (mode 0600) of API keys, each {name, sha256, tenant, roles, mode}; null is none.",
    )

    @property
    def local_key(self) -> bool:
        """Whether tokens are signed by the key that Shortlist makes for itself."""
        return not self.jwt.keys and self.api_keys is None
