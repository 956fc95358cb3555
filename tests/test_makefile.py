"""The Makefile hands its variables on, and says what takes long before it does it."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def dry_run(*arguments: str) -> str:
    """What make would run in a fresh clone."""
    return subprocess.run(  # noqa: S603 -- our own Makefile
        ("make", "--dry-run", "VENV=.none", *arguments),  # noqa: S607 -- whichever make there is
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin"},
    ).stdout


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((), ""),
        (("PORT=8901",), "--port 8901"),
        (("PORT=8901", "HOME_DIR=my home"), "--port 8901 --home 'my home'"),
    ],
)
def test_serve_takes_port_and_home(arguments: tuple[str, ...], options: str) -> None:
    last = dry_run("serve", *arguments).splitlines()[-1]
    assert last.strip() == f".none/bin/shortlist serve {options}".strip()


@pytest.mark.parametrize("target", ["serve", "test", "loadtest"])
def test_an_installation_is_announced_before_pip_runs(target: str) -> None:
    ran = dry_run(target)
    assert ran.index("Installing into .none (about 1 GB") < ran.index("pip install")


def test_loadtest_asks_the_endpoint_named_with_a_token_of_its_home() -> None:
    ran = dry_run("loadtest", "PORT=8901", "HOME_DIR=here")
    assert "shortlist token --tenant demo --role reader --mode autonomous --home 'here'" in ran
    assert "--host http://127.0.0.1:8901 " in ran
    assert "--users 10 --spawn-rate 10 --run-time 30s --headless" in ran.replace("\\\n\t\t", "").replace("  ", " ")
