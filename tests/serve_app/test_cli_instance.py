"""Which instance a command means: the options win over the settings file, and the address is one that answers."""

from pathlib import Path

import pytest

from cluster.config import Settings
from cluster.settings.http import HttpSettings
from serve_app.cli.instance import instance_settings, url_of


def test_a_home_option_wins_over_the_file_and_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "shortlist.yaml"
    config.write_text("home: own\nhttp:\n  port: 9000\n")
    assert instance_settings(config, None).home == tmp_path / "own"
    monkeypatch.chdir(tmp_path)
    settings = instance_settings(config, Path("other"))
    assert (settings.home, settings.http.port) == (tmp_path / "other", 9000)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8900"),
        ("0.0.0.0", "http://127.0.0.1:8900"),  # noqa: S104 -- compared, not bound
        ("::", "http://127.0.0.1:8900"),
        ("::1", "http://[::1]:8900"),
        ("shortlist.example", "http://shortlist.example:8900"),
    ],
)
def test_the_address_of_an_instance_is_one_that_a_caller_here_can_use(host: str, url: str) -> None:
    assert url_of(Settings(http=HttpSettings(host=host))) == url
