"""The environment of Ray and Serve: closed by default, private files, ports that stay free."""

import os
import stat
from dataclasses import astuple
from pathlib import Path

import pytest
from click.testing import CliRunner

from cluster.config import Settings
from serve_app.cli.main import cli
from serve_app.launch import Ports, apply, ensure_ray_token, free_ports, prepare_environment

PORTS = Ports(statistics=20_001, metrics=20_002, fallback=20_003)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    run = tmp_path / "run"
    run.mkdir()
    return prepare_environment(Settings(home=tmp_path / "home"), run, PORTS)


def test_side_ports_are_different_and_out_of_the_kernels_own_range() -> None:
    ports = astuple(free_ports())
    assert len(set(ports)) == 3
    assert all(20_000 <= port < 30_000 for port in ports)


def test_the_token_of_ray_is_made_once_and_for_its_owner(tmp_path: Path) -> None:
    path = ensure_ray_token(tmp_path)
    first = path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(bytes.fromhex(first.decode())) == 32
    assert ensure_ray_token(tmp_path).read_bytes() == first


def test_ray_asks_for_the_token_and_haproxy_is_ours(environment: dict[str, str]) -> None:
    assert environment["RAY_AUTH_MODE"] == "token"
    launcher = Path(environment["RAY_SERVE_HAPROXY_BINARY_PATH"])
    assert stat.S_IMODE(launcher.stat().st_mode) == 0o700
    assert "haproxy.py" in launcher.read_text()
    assert os.access(environment["SHORTLIST_HAPROXY_BINARY"], os.X_OK)


def test_users_may_tune_but_not_open(environment: dict[str, str]) -> None:
    found = {
        "RAY_AUTH_MODE": "disabled",
        "RAY_SERVE_HAPROXY_BINARY_PATH": "/usr/bin/haproxy",
        "OMP_NUM_THREADS": "4",
    }
    apply(environment, found)
    assert found == environment | {"OMP_NUM_THREADS": "4"}


@pytest.mark.parametrize("setting", ["policy", "ranker"])
def test_a_file_that_a_replica_would_refuse_ends_the_command_before_anything_starts(
    tmp_path: Path, setting: str
) -> None:
    (tmp_path / "wrong.yaml").write_text("{mixes: []}\n")
    (tmp_path / "settings.yaml").write_text(f"{setting}: wrong.yaml\n")
    result = CliRunner().invoke(cli, ["serve", "--config", str(tmp_path / "settings.yaml"), "--json"])
    assert result.exit_code == 1
    assert "wrong.yaml" in result.stderr
    assert not (tmp_path / ".shortlist" / "registry.sqlite3").exists()
