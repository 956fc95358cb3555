"""Endpoints over the small catalogue; ``endpoint`` is shared and only read, ``fresh`` may be written."""

from collections.abc import Iterator

import pytest

from tests.endpoint import Endpoint, endpoint_over
from tests.serve_app.catalogue import CATALOGUE


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    with endpoint_over(tmp_path_factory.mktemp("home"), CATALOGUE) as running:
        yield running


@pytest.fixture
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    with endpoint_over(tmp_path_factory.mktemp("home"), CATALOGUE) as running:
        yield running
