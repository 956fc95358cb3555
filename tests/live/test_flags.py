"""A running instance follows its settings file: the next answers say so, and parity of the index is whole."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.instance import THINGS, VERBS, Instance, wait_for

pytestmark = pytest.mark.live


@pytest.fixture
def config(live: Instance) -> Iterator[Path]:
    """The settings file of the instance, which is as before in the end."""
    path = live.home / "settings.yaml"
    before = path.read_text()
    yield path
    path.write_text(before)
    wait_for(lambda: not held(live)["progressive_schema_loading"], 20, live.status)


def held(live: Instance) -> dict[str, bool]:
    flags: dict[str, bool] = live.search("create a bucket").json()["flags"]
    return flags


def test_flags_change_while_it_runs_and_a_bad_file_keeps_them(live: Instance, config: Path) -> None:
    before = config.read_text()
    assert not held(live)["progressive_schema_loading"]
    flags = "flags: {rollout_percent: {progressive_schema_loading: 100}, shadow_percent: {%s: 100}}\n"
    config.write_text(before + flags % "indexed_candidate_retrieval")
    wait_for(lambda: held(live)["progressive_schema_loading"], 20, live.status)

    for verb in VERBS:
        for thing in THINGS:
            assert live.search(f"{verb} a {thing}").status_code == 200

    def parity() -> dict[str, int]:
        shown: dict[str, int] = live.status()["flags"]["flags"]["indexed_candidate_retrieval"]
        return shown

    wait_for(lambda: parity()["compared"] > 5, 20, parity)
    assert parity()["equal"] == parity()["compared"]

    config.write_text(before + flags % "no_such_flag")
    wait_for(lambda: live.status()["flags"]["fault"] != "", 20, live.status)
    assert "no_such_flag" in live.status()["flags"]["fault"]
    assert held(live)["progressive_schema_loading"]
