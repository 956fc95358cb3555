"""``shortlist token``: what it mints is accepted, and what would be refused is refused while it can be mended."""

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cluster.config import Settings
from cluster.scope import Principal
from serve_app.auth import Authenticator
from serve_app.cli.token import command


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_the_bare_token_is_accepted_by_an_endpoint_with_the_same_home(tmp_path: Path) -> None:
    result = run("--tenant", "acme", "--role", "reader", "--role", "writer", "--home", str(tmp_path))
    assert result.exit_code == 0
    principal = Authenticator.from_settings(Settings(home=tmp_path)).authenticate(f"Bearer {result.stdout.strip()}")
    assert principal == Principal(
        subject="local", tenant="acme", roles=frozenset({"reader", "writer"}), mode="analyzer"
    )


def test_every_option_reaches_the_token(tmp_path: Path) -> None:
    options = ("--mode", "autonomous", "--subject", "ann", "--ttl", "60", "--grant-list", "mine", "--json")
    result = run("--tenant", "acme", "--role", "admin", "--home", str(tmp_path), *options)
    minted = json.loads(result.stdout)
    principal = Authenticator.from_settings(Settings(home=tmp_path)).authenticate(f"Bearer {minted['token']}")
    assert principal == Principal(
        subject="ann", tenant="acme", roles=frozenset({"admin"}), mode="autonomous", grant_list="mine"
    )
    assert minted["expires_at"] - time.time() == pytest.approx(60, abs=30)
    assert {name: minted[name] for name in ("tenant", "roles", "mode", "subject", "grant_list")} == {
        "tenant": "acme",
        "roles": ["admin"],
        "mode": "autonomous",
        "subject": "ann",
        "grant_list": "mine",
    }


def test_home_audience_and_issuer_come_from_the_settings_file(tmp_path: Path) -> None:
    config = tmp_path / "s.yaml"
    config.write_text("home: h\nauth: {jwt: {audience: a, issuer: i}}\n")
    result = run("--tenant", "acme", "--role", "reader", "--config", str(config), "--json")
    assert result.exit_code == 0
    assert (tmp_path / "h" / "local.key").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--role", "reader"), "--tenant"),
        (("--tenant", "acme"), "--role"),
        (("--tenant", "*", "--role", "reader"), "--tenant"),
        (("--tenant", "acme", "--role", "raeder"), "admin, reader"),
        (("--tenant", "acme", "--role", "reader", "--mode", "root"), "analyzer, autonomous"),
        (("--tenant", "acme", "--role", "reader", "--ttl", "0"), "--ttl"),
        (("--tenant", "acme", "--role", "reader", "--subject", ""), "--subject"),
        (("--tenant", "acme", "--role", "reader", "--grant-list", "a/b"), "--grant-list"),
    ],
)
def test_a_token_that_would_be_useless_is_not_minted(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    result = run(*arguments, "--home", str(tmp_path / "home"))
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""
    assert not (tmp_path / "home").exists()


def test_settings_with_their_own_keys_get_no_local_token(tmp_path: Path) -> None:
    config = tmp_path / "s.yaml"
    config.write_text("auth: {api_keys: keys.yaml}\n")
    result = run("--tenant", "acme", "--role", "reader", "--config", str(config))
    assert result.exit_code == 2
    assert "own keys" in result.stderr


def test_a_wrong_settings_file_is_one_sentence(tmp_path: Path) -> None:
    result = run("--tenant", "acme", "--role", "reader", "--config", str(tmp_path / "none.yaml"))
    assert result.exit_code == 1
    assert "none.yaml" in result.stderr
    assert "Traceback" not in result.stderr


def test_help_shows_an_example() -> None:
    assert "shortlist token --tenant acme" in run("--help").stdout
