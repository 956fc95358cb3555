"""The keys that verify tokens. Each key fixes its algorithm; a token can only name a key, never an algorithm.

Keys come from files that the settings name, never from a token or the network.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key
from jwt.algorithms import Algorithm as Signature
from jwt.algorithms import get_default_algorithms
from jwt.exceptions import InvalidKeyError

from cluster.errors import InvalidConfiguration
from cluster.settings.auth import Algorithm, AuthSettings
from serve_app.local_key import LOCAL_KID, ensure_local_key
from serve_app.private_file import read_private_file

MIN_SECRET_BYTES: Final = 32
MIN_RSA_BITS: Final = 2048
_SIGNATURES: Final[dict[str, Signature]] = get_default_algorithms()

Material = bytes | RSAPublicKey | Ed25519PublicKey


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationKey:
    """One key and the only algorithm it is ever used with."""

    kid: str | None
    algorithm: Algorithm
    material: Material = field(repr=False)

    def verifies(self, signing_input: bytes, signature: bytes) -> bool:
        """Whether ``signature`` is this key's over ``signing_input``."""
        return _SIGNATURES[self.algorithm].verify(signing_input, self.material, signature)

    @property
    def digest(self) -> bytes:
        """SHA-256 that changes with the key, its kid or its algorithm."""
        material = self.material
        if not isinstance(material, bytes):
            material = material.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return hashlib.sha256(repr((self.kid, self.algorithm)).encode() + b"\0" + material).digest()


class KeySet:
    """Verification keys by kid. A kid is only ever looked up in this table.

    Attributes:
        version: hex digest of every key.
    """

    def __init__(self, keys: Iterable[VerificationKey]) -> None:
        self._by_kid = {key.kid: key for key in keys}
        digests = sorted(key.digest for key in self._by_kid.values())
        self.version: Final = hashlib.sha256(b"".join(digests)).hexdigest()

    @classmethod
    def from_settings(cls, settings: AuthSettings, home: Path) -> "KeySet":
        """The configured keys, or the local key where nothing is configured.

        Raises:
            InvalidConfiguration: if a key file cannot be used with its algorithm.
        """
        if settings.local_key:
            path = ensure_local_key(home)
            return cls([VerificationKey(kid=LOCAL_KID, algorithm="HS256", material=read_secret(path))])
        return cls(
            VerificationKey(kid=key.kid, algorithm=key.algorithm, material=_read_material(key.algorithm, key.file))
            for key in settings.jwt.keys
        )

    def find(self, kid: str | None) -> VerificationKey | None:
        """The key named ``kid``, or for None the key that has no kid; None where there is none."""
        return self._by_kid.get(kid)


def read_secret(path: Path) -> bytes:
    """An HS256 secret: the file without surrounding white space.

    Raises:
        InvalidConfiguration: if the file is not private, too short, or holds a PEM key.
    """
    secret = read_private_file(path).strip()
    if len(secret) < MIN_SECRET_BYTES:
        raise InvalidConfiguration(str(path), f"{len(secret)} bytes", f"a secret of at least {MIN_SECRET_BYTES} bytes")
    try:
        _SIGNATURES["HS256"].prepare_key(secret)
    except InvalidKeyError as exc:
        # A public key as an HMAC secret is the classic confusion: everybody knows that secret.
        raise InvalidConfiguration(str(path), "a PEM or SSH key", "a random secret for HS256") from exc
    return secret


def _read_material(algorithm: Algorithm, path: Path) -> Material:
    if algorithm == "HS256":
        return read_secret(path)
    try:
        key = load_pem_public_key(path.read_bytes())
    except OSError as exc:
        raise InvalidConfiguration(str(path), exc.strerror or type(exc).__name__, "a readable file") from exc
    except (ValueError, UnsupportedAlgorithm) as exc:
        raise InvalidConfiguration(str(path), "no public key", f"a PEM public key for {algorithm}") from exc
    if algorithm == "RS256" and isinstance(key, RSAPublicKey) and key.key_size >= MIN_RSA_BITS:
        return key
    if algorithm == "EdDSA" and isinstance(key, Ed25519PublicKey):
        return key
    allowed = f"an RSA key of at least {MIN_RSA_BITS} bits" if algorithm == "RS256" else "an Ed25519 key"
    raise InvalidConfiguration(str(path), type(key).__name__, allowed)
