"""How many examples the equalities try; ``SHORTLIST_DEEP=1`` compares more than 10,000 pairs of worlds."""

import os
from typing import Final

from hypothesis import HealthCheck, settings

DEEP: Final = os.environ.get("SHORTLIST_DEEP", "") == "1"


def examples(moderate: int, *, deep: int | None = None) -> settings:
    """Settings for a test that builds whole indexes, for which slow data is expected.

    Args:
        moderate: examples in the test suite.
        deep: examples of a deep run; ten times as many where nothing else is said.
    """
    return settings(
        max_examples=(deep or 10 * moderate) if DEEP else moderate,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
