"""One instance with two shards for all live tests; each test leaves it whole."""

from collections.abc import Iterator

import pytest

from tests.live.instance import Instance, catalogue, configure, fill, running


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    home = tmp_path_factory.mktemp("live")
    fill(home, catalogue())
    config = configure(home)
    with running(home, "--config", str(config), "--shards", "2", "--no-embedded") as instance:
        yield instance
