"""Sampling: a few of many, the same ones every time. It reads nothing."""

from collections.abc import Sequence
from random import Random
from typing import Final, TypeVar

SEED: Final = 7

Item = TypeVar("Item")


def drawn(items: Sequence[Item], most: int, seed: int = SEED) -> list[Item]:
    """At most ``most`` of these, in their order."""
    if len(items) <= most:
        return list(items)
    places = Random(seed).sample(range(len(items)), most)  # noqa: S311 -- to be drawn again
    return [items[place] for place in sorted(places)]
