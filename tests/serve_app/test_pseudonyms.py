"""Pseudonyms: the same within a day and an instance, of no use without its key, others the day after."""

import hashlib
import hmac
import stat
from pathlib import Path

import pytest

from cluster.errors import InvalidConfiguration
from serve_app.pseudonyms import FILE_NAME, Of, Pseudonyms

DAY_S = 86_400.0


def test_a_pseudonym_is_the_hash_that_its_docstring_says() -> None:
    # 1970-01-02
    day_key = hmac.new(b"k" * 32, b"1970-01-02", hashlib.sha256).digest()
    expected = hmac.new(day_key, b"record:mail:send", hashlib.sha256).hexdigest()[:16]
    assert Pseudonyms(b"k" * 32, clock=lambda: DAY_S + 5).of(Of.RECORD, "mail:send") == expected


def test_pseudonyms_change_at_midnight_and_with_the_key_and_with_what_they_stand_for() -> None:
    now_s = DAY_S - 1
    one = Pseudonyms(b"k" * 32, clock=lambda: now_s)
    seen = {one.of(Of.RECORD, "a"), one.of(Of.TENANT, "a"), Pseudonyms(b"l" * 32, lambda: now_s).of(Of.RECORD, "a")}
    now_s = DAY_S
    seen |= {one.of(Of.RECORD, "a"), *one.of_records(["a", "b"])}
    assert len(seen) == 5


def test_every_process_of_a_home_has_the_same_key_in_a_private_file(tmp_path: Path) -> None:
    first, second = (Pseudonyms.in_home(tmp_path) for _ in range(2))
    assert first.of(Of.TENANT, "acme") == second.of(Of.TENANT, "acme")
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"no hex", b"abcd"])
def test_a_key_file_with_something_else_in_it_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    (tmp_path / FILE_NAME).chmod(0o600)
    with pytest.raises(InvalidConfiguration):
        Pseudonyms.in_home(tmp_path)


def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    Pseudonyms.in_home(tmp_path)
    (tmp_path / FILE_NAME).chmod(0o644)
    with pytest.raises(InvalidConfiguration):
        Pseudonyms.in_home(tmp_path)
