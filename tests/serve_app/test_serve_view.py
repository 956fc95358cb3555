"""What ``shortlist serve`` says when it is ready: open ports in one sentence, and commands that work as they stand."""

import sys
from pathlib import Path

import pytest

from cluster.config import Settings
from serve_app.cli.serve_view import doors, examples
from serve_app.listening import Listener


def _listener(port: int, host: str, process: str) -> Listener:
    return Listener(port=port, host=host, process=process, pid=1)


INNER = _listener(8900, "127.0.0.1", "haproxy")
REPLICA = _listener(37589, "0.0.0.0", "ray::ServeRepli")  # noqa: S104 -- not bound


@pytest.mark.parametrize(
    ("listeners", "said"),
    [
        ((INNER,), "All listeners are on loopback."),
        (
            (INNER, REPLICA),
            (
                "All listeners are on loopback but 37589 (Ray's gRPC of the replica, which answers only to the token"
                " in ray.token)."
            ),
        ),
        ((_listener(8900, "::", "haproxy"),), "All listeners are on loopback but 8900 (haproxy)."),
        (
            (_listener(41043, "192.0.2.2", "ray::ShardActor"),),
            "All listeners are on loopback but 41043 (a shard, which answers only to a secret of this run).",
        ),
        ((), "The listeners cannot be told here."),
    ],
)
def test_only_the_ports_that_others_reach_are_named(listeners: tuple[Listener, ...], said: str) -> None:
    assert doors(listeners) == said


@pytest.mark.parametrize(
    ("argv", "cwd", "said"),
    [
        ("{root}/.venv/bin/shortlist", ".", ".venv/bin/shortlist"),
        (".venv/bin/shortlist", ".", ".venv/bin/shortlist"),
        ("{root}/.venv/bin/shortlist", ".venv/bin", "./shortlist"),
        ("{root}/.venv/bin/shortlist", "elsewhere", "{root}/.venv/bin/shortlist"),
        ("{root}/pytest", "elsewhere", str(Path(sys.executable).with_name("shortlist"))),
    ],
)
def test_the_token_command_works_where_shortlist_is_not_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: str, cwd: str, said: str
) -> None:
    for folder in (".venv/bin", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sys, "argv", [argv.format(root=tmp_path), "serve"])
    monkeypatch.chdir(tmp_path / cwd)
    first = examples(Settings(home=tmp_path))[0]
    assert first.startswith(f"TOKEN=$({said.format(root=tmp_path)} token --tenant demo ")


def test_the_token_command_is_short_where_shortlist_is_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shortlist").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert examples(Settings(home=tmp_path))[0].startswith("TOKEN=$(shortlist token --tenant demo ")
