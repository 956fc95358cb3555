"""Counts what the equalities compared, because a property that compares nothing holds."""

from collections import Counter

import pytest

_COMPARED: Counter[str] = Counter()


@pytest.fixture(scope="session")
def compared() -> Counter[str]:
    """Comparisons made in this session, by equality."""
    return _COMPARED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for equality, count in sorted(_COMPARED.items()):
        terminalreporter.write_line(f"equalities: {equality}: {count:,} compared")
