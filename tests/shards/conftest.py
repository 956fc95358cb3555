"""Shows what was measured on the way: a figure that only has to be good enough is still worth a look."""

import pytest

_MEASURED: dict[str, float] = {}


@pytest.fixture(scope="session")
def measured() -> dict[str, float]:
    """Figures of this session, by what they are."""
    return _MEASURED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name, value in sorted(_MEASURED.items()):
        terminalreporter.write_line(f"shards: {name}: {value:.3f}")
