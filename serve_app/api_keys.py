"""API keys: a private file of hashed keys and the principal each stands for.

It keeps no key in clear. Make one with ``openssl rand -hex 32`` and put ``printf %s KEY | sha256sum`` in the file.
"""

import hashlib
import hmac
import math
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field, StringConstraints, model_validator

from cluster.errors import InvalidConfiguration
from cluster.policy_file import ListName, Name, Names
from cluster.scope import Policy, Principal
from cluster.strict_yaml import parse_yaml
from cluster.yaml_model import StrictModel, validated
from serve_app.private_file import read_private_file
from serve_app.token_claims import DEFAULT_MODE, Verified

MIN_KEY_CHARACTERS: Final = 32
"""Shorter keys are refused whatever the file says: a plain hash protects only what cannot be guessed."""


class ApiKey(StrictModel):
    """One entry of the file; ``sha256`` is of the key's characters, in lower-case hex."""

    name: Name
    sha256: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")] = Field(repr=False)
    tenant: Name
    roles: Names
    mode: Name = DEFAULT_MODE
    grant_list: ListName | None = None


class ApiKeyFile(StrictModel):
    """The whole file."""

    keys: tuple[ApiKey, ...] = Field(min_length=1, max_length=10_000)

    @model_validator(mode="after")
    def _check_unique(self) -> Self:
        if len({key.name for key in self.keys}) != len(self.keys):
            raise ValueError("a different name for each key")
        if len({key.sha256 for key in self.keys}) != len(self.keys):
            raise ValueError("a different sha256 for each key")
        return self


class ApiKeys:
    """The keys of one file, read once.

    Attributes:
        version: hex digest of the file's meaning.
    """

    def __init__(self, file: ApiKeyFile) -> None:
        self.version: Final = hashlib.sha256(file.model_dump_json().encode()).hexdigest()
        self._entries = tuple((bytes.fromhex(key.sha256), _verified(key)) for key in file.keys)

    @classmethod
    def read(cls, path: Path, policy: Policy) -> Self:
        """The keys of the file at ``path``; their modes and roles must be the policy's.

        Raises:
            InvalidConfiguration: if the file is open to others, or for the first wrong entry.
        """
        file = validated(ApiKeyFile, parse_yaml(read_private_file(path), str(path)), str(path))
        for key in file.keys:
            if key.mode not in policy.modes:
                raise InvalidConfiguration(f"{path}: {key.name}.mode", key.mode, f"one of {sorted(policy.modes)}")
            unknown = set(key.roles) - policy.roles
            if unknown:
                raise InvalidConfiguration(f"{path}: {key.name}.roles", min(unknown), f"some of {sorted(policy.roles)}")
        return cls(file)

    def find(self, presented: str) -> Verified | None:
        """What the key ``presented`` stands for; None if it is none. Takes the same time whichever entry matches."""
        digest = hashlib.sha256(presented.encode()).digest()
        found = None
        for expected, verified in self._entries:
            if hmac.compare_digest(expected, digest):
                found = verified
        return found if len(presented) >= MIN_KEY_CHARACTERS else None


def _verified(key: ApiKey) -> Verified:
    principal = Principal(
        subject=f"api-key:{key.name}",
        tenant=key.tenant,
        roles=frozenset(key.roles),
        mode=key.mode,
        grant_list=key.grant_list,
    )
    return Verified(principal=principal, not_after=math.inf)
