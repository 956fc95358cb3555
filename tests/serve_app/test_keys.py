"""Key files, the local key and the API-key file: private, typed errors, made once."""

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as generate_ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from cluster.config import Settings
from cluster.errors import InvalidConfiguration
from cluster.scope import Policy
from cluster.settings.auth import Algorithm, AuthSettings, JwtKey, JwtSettings
from serve_app.api_keys import ApiKeys
from serve_app.auth import Authenticator
from serve_app.auth_errors import Refusal, Unauthenticated
from serve_app.keys import KeySet, read_secret
from serve_app.local_key import ensure_local_key

DIGEST = hashlib.sha256(b"k" * 40).hexdigest()


def public(key: object) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)  # type: ignore[attr-defined,no-any-return]


def written(folder: Path, content: bytes, mode: int = 0o600) -> Path:
    path = folder / "file"
    path.write_bytes(content)
    path.chmod(mode)
    return path


def key_set(path: Path, algorithm: Algorithm) -> KeySet:
    jwt = JwtSettings(keys=(JwtKey(kid="k", algorithm=algorithm, file=path),))
    return KeySet.from_settings(AuthSettings(jwt=jwt), path.parent)


def test_the_local_key_is_private_random_and_made_once(tmp_path: Path) -> None:
    home = tmp_path / "deep" / "home"
    path = ensure_local_key(home)
    assert path.stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o777 == 0o700
    secret = read_secret(path)
    assert len(bytes.fromhex(secret.decode())) == 32
    assert read_secret(ensure_local_key(home)) == secret
    assert read_secret(ensure_local_key(tmp_path / "other")) != secret
    assert [entry.name for entry in home.iterdir()] == ["local.key"]


def test_processes_that_start_together_agree_on_the_local_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        secrets = list(pool.map(lambda _: read_secret(ensure_local_key(tmp_path)), range(32)))
    assert len(set(secrets)) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["local.key"]


def test_a_home_that_cannot_be_made_is_a_typed_error(tmp_path: Path) -> None:
    written(tmp_path, b"")
    with pytest.raises(InvalidConfiguration):
        ensure_local_key(tmp_path / "file" / "home")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o610])
def test_a_secret_that_others_can_reach_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(InvalidConfiguration, match=f"{mode:04o}"):
        read_secret(written(tmp_path, b"x" * 32, mode))


def test_a_local_key_that_was_opened_to_others_stops_the_start(tmp_path: Path) -> None:
    ensure_local_key(tmp_path).chmod(0o644)
    with pytest.raises(InvalidConfiguration, match="0600"):
        Authenticator.from_settings(Settings(home=tmp_path))


@pytest.mark.parametrize("content", [b"", b"x" * 31, b"\n" * 64, b" " * 20 + b"x" * 31 + b"\n"])
def test_a_short_secret_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InvalidConfiguration, match="at least 32 bytes"):
        read_secret(written(tmp_path, content))


def test_a_public_key_as_hmac_secret_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match="PEM"):
        key_set(written(tmp_path, public(generate_private_key(65537, 2048))), "HS256")


@pytest.mark.parametrize("kind", ["folder", "pipe", "missing"])
def test_what_is_no_file_is_a_typed_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "secret"
    if kind == "folder":
        path.mkdir(mode=0o700)
    elif kind == "pipe":
        os.mkfifo(path, 0o600)
    with pytest.raises(InvalidConfiguration):
        read_secret(path)


def test_a_link_to_a_private_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(written(tmp_path, b"x" * 32))
    assert read_secret(tmp_path / "link") == b"x" * 32


def test_keys_of_another_type_size_or_side_are_refused(tmp_path: Path) -> None:
    rsa, ed25519 = generate_private_key(65537, 2048), Ed25519PrivateKey.generate()
    secret_side = rsa.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    table: list[tuple[bytes, Algorithm]] = [
        (public(ed25519), "RS256"),
        (public(rsa), "EdDSA"),
        (public(generate_ec(SECP256R1())), "RS256"),
        (public(generate_private_key(65537, 1024)), "RS256"),  # noqa: S505 -- weak on purpose
        (secret_side, "RS256"),
        (b"no key", "RS256"),
        (b"", "EdDSA"),
    ]
    for content, algorithm in table:
        with pytest.raises(InvalidConfiguration):
            key_set(written(tmp_path, content), algorithm)
    assert key_set(written(tmp_path, public(rsa), 0o644), "RS256").find("k") is not None
    assert key_set(written(tmp_path, public(ed25519), 0o644), "EdDSA").find("k") is not None


def test_a_key_without_a_file_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration):
        key_set(tmp_path / "missing.pem", "RS256")


def test_the_version_of_a_key_set_is_its_content(tmp_path: Path) -> None:
    one, other = public(generate_private_key(65537, 2048)), public(generate_private_key(65537, 2048))
    version = key_set(written(tmp_path, one), "RS256").version
    assert key_set(written(tmp_path, one + b"\n"), "RS256").version == version
    assert key_set(written(tmp_path, other), "RS256").version != version


def test_a_secret_shows_in_no_repr(tmp_path: Path) -> None:
    key = key_set(written(tmp_path, b"hunter2-" * 4), "HS256").find("k")
    assert "hunter2" not in repr(key)


def test_with_only_api_keys_no_token_is_accepted_and_no_key_is_made(tmp_path: Path) -> None:
    entry = f"keys: [{{name: ci, sha256: '{DIGEST}', tenant: acme, roles: [reader], mode: autonomous}}]"
    settings = Settings(home=tmp_path / "home", auth=AuthSettings(api_keys=written(tmp_path, entry.encode())))
    authenticator = Authenticator.from_settings(settings)
    assert authenticator.authenticate("Bearer " + "k" * 40).mode == "autonomous"
    assert not settings.home.exists()
    with pytest.raises(Unauthenticated) as caught:
        authenticator.authenticate("Bearer eyJhbGciOiJIUzI1NiJ9.e30.AAAA")
    assert caught.value.refusal is Refusal.UNKNOWN_KEY


def test_a_short_api_key_is_refused_even_if_its_hash_is_listed(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"k" * 31).hexdigest()
    entry = f"keys: [{{name: ci, sha256: '{digest}', tenant: acme, roles: [reader]}}]"
    keys = ApiKeys.read(written(tmp_path, entry.encode()), Policy.load())
    assert keys.find("k" * 31) is None


@pytest.mark.parametrize(
    ("entries", "field"),
    [
        ("", "keys"),
        ("{name: a, tenant: acme, roles: [reader]}", "keys.0.sha256"),
        (f"{{name: a, sha256: '{DIGEST.upper()}', tenant: acme, roles: [reader]}}", "keys.0.sha256"),
        (f"{{name: a, sha256: '{DIGEST}', roles: [reader]}}", "keys.0.tenant"),
        (f"{{name: a, sha256: '{DIGEST}', tenant: '*', roles: [reader]}}", "keys.0.tenant"),
        (f"{{name: a, sha256: '{DIGEST}', tenant: acme}}", "keys.0.roles"),
        (f"{{name: a, sha256: '{DIGEST}', tenant: acme, roles: []}}", "keys.0.roles"),
        (f"{{name: a, sha256: '{DIGEST}', tenant: acme, roles: [raeder]}}", "a.roles"),
        (f"{{name: a, sha256: '{DIGEST}', tenant: acme, roles: [reader], mode: x}}", "a.mode"),
        (f"{{name: a, sha256: '{DIGEST}', tenant: acme, roles: [reader], key: x}}", "keys.0.key"),
        (
            ", ".join(f"{{name: {name}, sha256: '{DIGEST}', tenant: x, roles: [reader]}}" for name in "ab"),
            "top level",
        ),
    ],
)
def test_a_wrong_api_key_file_is_one_typed_error(tmp_path: Path, entries: str, field: str) -> None:
    path = written(tmp_path, f"keys: [{entries}]".encode())
    with pytest.raises(InvalidConfiguration) as caught:
        ApiKeys.read(path, Policy.load())
    assert caught.value.field == f"{path}: {field}"


def test_an_api_key_file_open_to_others_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match="0600"):
        ApiKeys.read(written(tmp_path, b"keys: []", 0o644), Policy.load())
