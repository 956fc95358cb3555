"""Health is a function of the copies' states alone."""

import pytest

from cluster.health import CopyHealth, CopyState, Health, health_of

LOADING, READY, LOST = CopyState.LOADING, CopyState.READY, CopyState.LOST


def _copies(*states: tuple[int, CopyState]) -> list[CopyHealth]:
    return [CopyHealth(shard=shard, state=state, first=state is not LOST) for shard, state in states]


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([(0, READY), (1, READY)], Health.READY),
        ([(0, READY), (1, LOADING)], Health.STARTING),
        ([(0, LOADING), (1, LOADING)], Health.STARTING),
        ([(0, READY), (1, LOST)], Health.PARTIAL),
        ([(0, LOST), (1, LOST)], Health.DOWN),
        ([(0, LOST), (1, LOADING)], Health.DOWN),
        ([(0, READY), (0, LOST), (1, READY), (1, READY)], Health.DEGRADED),
        ([(0, READY), (0, LOADING), (1, READY), (1, READY)], Health.DEGRADED),
        ([(0, LOST), (0, LOST), (1, READY), (1, READY)], Health.PARTIAL),
        ([(0, READY)], Health.PARTIAL),
        ([], Health.DOWN),
    ],
)
def test_what_two_shards_promise_together(states: list[tuple[int, CopyState]], expected: Health) -> None:
    assert health_of(2, _copies(*states)) is expected


def test_a_replacement_that_loads_is_not_a_first_start() -> None:
    replacing = CopyHealth(shard=1, state=LOADING, first=False)
    assert health_of(2, [*_copies((0, READY)), replacing]) is Health.PARTIAL
