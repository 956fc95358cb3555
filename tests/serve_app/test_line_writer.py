"""Lines reach their file whole, nobody waits for it, and what is lost is counted."""

import os
import stat
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from cluster.errors import InvalidConfiguration
from serve_app.line_writer import LineWriter, Loss
from serve_app.log_file import LogFile


class Stuck:
    """A sink that takes nothing until it is let go."""

    def __init__(self) -> None:
        self.go, self.taken = threading.Event(), b""

    def append(self, lines: bytes) -> None:
        self.go.wait(60)
        self.taken += lines


class Failing:
    """A sink that fails ``failures`` times."""

    def __init__(self, failures: int) -> None:
        self.failures, self.taken = failures, b""

    def append(self, lines: bytes) -> None:
        self.failures -= 1
        if self.failures >= 0:
            raise OSError(28, "No space left on device")
        self.taken += lines


class Losses(Counter[Loss]):
    def told(self, cause: Loss, lines: int) -> None:
        self[cause] += lines


def test_what_does_not_fit_is_lost_and_counted_and_nobody_waits() -> None:
    sink, losses = Stuck(), Losses()
    writer = LineWriter(sink, losses.told, capacity=10, period_s=60)
    before_s = time.monotonic()
    for number in range(1000):
        writer.put(b"%d\n" % number)
    # A sink that was waited for would have held them for a minute.
    assert time.monotonic() - before_s < 30
    sink.go.set()
    writer.close()
    written = sink.taken.split()
    assert losses == {Loss.OVERFLOW: 1000 - len(written)}
    assert written[:10] == [b"%d" % number for number in range(10)]


def test_closing_writes_what_waits_and_later_lines_are_counted_as_lost(tmp_path: Path) -> None:
    losses = Losses()
    writer = LineWriter(LogFile(tmp_path / "log"), losses.told, period_s=60)
    for number in range(1200):
        writer.put(b"%d\n" % number)
    writer.close()
    assert (tmp_path / "log").read_bytes() == b"".join(b"%d\n" % number for number in range(1200))
    writer.put(b"late\n")
    assert losses == {Loss.OVERFLOW: 1}


def test_a_line_waits_a_period_at_most(tmp_path: Path) -> None:
    writer = LineWriter(LogFile(tmp_path / "log"), Losses().told, period_s=0.02)
    writer.put(b"one\n")
    ends_s = time.monotonic() + 60
    while not (tmp_path / "log").read_bytes():
        assert time.monotonic() < ends_s
        time.sleep(0.01)
    writer.close()


def test_lines_of_a_full_disk_are_counted_and_the_next_ones_begin_on_a_line_of_their_own() -> None:
    sink, losses = Failing(1), Losses()
    writer = LineWriter(sink, losses.told, period_s=0.01)
    writer.put(b"lost\n")
    while sink.failures > 0:
        time.sleep(0.01)
    while not losses:
        time.sleep(0.01)
    writer.put(b"kept\n")
    writer.close()
    assert losses == {Loss.UNWRITABLE: 1}
    assert sink.taken == b"\nkept\n"


def test_closing_does_not_wait_for_a_sink_that_hangs() -> None:
    sink = Stuck()
    writer = LineWriter(sink, Losses().told, period_s=0.01)
    writer.put(b"one\n")
    before_s = time.monotonic()
    writer.close(0.1)
    assert time.monotonic() - before_s < 30
    sink.go.set()


def test_a_log_file_is_private_and_its_folder_is_made(tmp_path: Path) -> None:
    LogFile(tmp_path / "deep" / "log").append(b"one\n")
    assert stat.S_IMODE((tmp_path / "deep" / "log").stat().st_mode) == 0o600


def test_a_file_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    with pytest.raises(InvalidConfiguration):
        LogFile(tmp_path / "log")


def test_a_full_file_is_renamed_in_place_of_the_one_before(tmp_path: Path) -> None:
    file = LogFile(tmp_path / "log", most_bytes=8)
    for number in range(5):
        file.append(b"line %d\n" % number)
    assert (tmp_path / "log.1").read_bytes() == b"line 2\nline 3\n"
    assert (tmp_path / "log").read_bytes() == b"line 4\n"


def test_a_file_moved_away_is_made_anew(tmp_path: Path) -> None:
    file = LogFile(tmp_path / "log")
    file.append(b"one\n")
    (tmp_path / "log").rename(tmp_path / "kept")
    file.append(b"two\n")
    assert ((tmp_path / "kept").read_bytes(), (tmp_path / "log").read_bytes()) == (b"one\n", b"two\n")


def test_two_processes_that_share_a_file_lose_no_line_while_it_is_renamed(tmp_path: Path) -> None:
    child = os.fork()
    file = LogFile(tmp_path / "log", most_bytes=6000)
    for number in range(500):
        file.append(b"%s %03d\n" % (b"child" if child == 0 else b"mother", number))
    if child == 0:
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    lines = [line for name in ("log.1", "log") for line in (tmp_path / name).read_bytes().splitlines()]
    assert len(lines) == len(set(lines)) == 1000
