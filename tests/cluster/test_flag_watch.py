"""A replica's flags follow a real settings file: whole or not at all, and what is wrong with it is said."""

import asyncio
import os
from pathlib import Path

import pytest

from cluster.config import load_settings
from cluster.flag_watch import FlagWatch
from cluster.flags import Flag, FlagPlan

TENTH = "flags: {rollout_percent: {adaptive_discovery_k: 10}}\n"
HALF = "flags: {rollout_percent: {adaptive_discovery_k: 50, progressive_schema_loading: 20}}\n"


def watched(path: Path, text: str = TENTH) -> FlagWatch:
    path.write_text(text)
    return FlagWatch(load_settings(path))


def share(watch: FlagWatch) -> int:
    return watch.now.rollout_percent[Flag.ADAPTIVE_DISCOVERY_K]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.yaml"


def test_a_change_is_taken_whole_at_the_second_look_that_finds_it(path: Path) -> None:
    watch = watched(path)
    path.write_text(HALF)
    watch.look()
    assert share(watch) == 10
    watch.look()
    assert (share(watch), watch.now.rollout_percent[Flag.PROGRESSIVE_SCHEMA_LOADING]) == (50, 20)
    assert (watch.taken, watch.refused, watch.fault) == (1, 0, "")


def test_a_request_keeps_the_flags_that_it_began_with(path: Path) -> None:
    watch = watched(path, "flags: {rollout_percent: {adaptive_discovery_k: 100}}\n")
    held = watch.now.of("a question")
    path.write_text("flags: {rollout_percent: {adaptive_discovery_k: 0}}\n")
    watch.look()
    watch.look()
    assert held.adaptive_discovery_k
    assert not watch.now.of("a question").adaptive_discovery_k


@pytest.mark.parametrize(
    "bad",
    [
        "flags: {rollout_percent: {adaptive_discovery_k: 50, progressive_schema_loading: 101}}\n",
        "flags: {rollout_percent: {adaptive_discovery_k: 50, no_such_flag: 1}}\n",
        "flags: {rollout_percent: {adaptive_discovery_k: '50'}}\n",
        "flags: {rollout_percent: {adaptive_discovery_k: 50}}\nhttp: {port: hunter2}\n",
        "flags: {rollout_percent: {adaptive_discovery_k: 50\n",
        "flags: &a {rollout_percent: {adaptive_discovery_k: 50}}\n",
        "# " + "x" * 1_100_000,
        None,
    ],
)
def test_a_file_that_cannot_be_used_changes_nothing_and_is_said_until_it_can(
    path: Path, bad: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    watch = watched(path)
    path.unlink()
    if bad is not None:
        path.write_text(bad)
    for _ in range(4):
        watch.look()
    assert share(watch) == 10
    assert str(path) in watch.fault
    assert "hunter2" not in watch.fault + caplog.text
    assert watch.refused == 1
    assert [record.message for record in caplog.records] == ["flags_kept"]
    path.write_text(HALF)
    watch.look()
    watch.look()
    assert (share(watch), watch.fault) == (50, "")


def test_a_folder_in_its_place_is_no_file(path: Path) -> None:
    watch = watched(path)
    path.unlink()
    path.mkdir()
    watch.look()
    assert (share(watch), "a regular file" in watch.fault) == (10, True)


def test_a_file_that_is_written_slowly_is_never_half_applied(path: Path) -> None:
    # Each start of this text that ends at a line is valid, and the first of them would switch everything off.
    lines = ["# slow\n", "flags:\n", "  rollout_percent:\n", "    adaptive_discovery_k: 50\n"]
    watch = watched(path)
    for count in range(1, len(lines) + 1):
        path.write_text("".join(lines[:count]))
        watch.look()
        assert share(watch) == 10
    watch.look()
    assert share(watch) == 50


def test_other_settings_of_a_changed_file_change_nothing(path: Path) -> None:
    watch = watched(path)
    path.write_text(TENTH + "http: {port: 9999}\n")
    before = watch.now
    watch.look()
    watch.look()
    assert watch.now is before
    assert (watch.taken, watch.fault) == (0, "")


def test_an_untouched_file_is_not_read_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = watched(path)
    watch.look()
    watch.look()
    monkeypatch.setattr(Path, "open", None)
    watch.look()
    assert (share(watch), watch.fault) == (10, "")


def test_the_same_size_and_another_time_is_read(path: Path) -> None:
    watch = watched(path)
    watch.look()
    watch.look()
    before = path.stat()
    path.write_text(TENTH.replace("10", "20"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    watch.look()
    watch.look()
    assert share(watch) == 20


def test_a_replica_follows_by_itself(path: Path) -> None:
    watch = watched(path)
    path.write_text(HALF)

    async def story() -> None:
        running = asyncio.create_task(watch.run(period_s=0.005))
        async with asyncio.timeout(60):
            while share(watch) != 50:  # noqa: ASYNC110 -- the watch tells nobody
                await asyncio.sleep(0.005)
        running.cancel()

    asyncio.run(story())


def test_the_shipped_settings_are_not_followed() -> None:
    watch = FlagWatch(load_settings())
    watch.look()
    assert watch.now == FlagPlan()
    assert not watch.fault
