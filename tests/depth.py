"""How many examples the equalities try; ``SHORTLIST_EQUALITIES=deep`` compares more than 10,000 pairs of worlds."""

import os
from typing import Final

from hypothesis import HealthCheck, settings

_FACTOR: Final = {"moderate": 1, "deep": 60}[os.environ.get("SHORTLIST_EQUALITIES", "moderate")]


def examples(moderate: int) -> settings:
    """Settings for a test that builds whole indexes: slow data is expected, and a slow machine is no failure."""
    return settings(
        max_examples=moderate * _FACTOR,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
