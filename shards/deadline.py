"""The deadline inside a shard: how a search learns that its time has run out, and leaves.

It reads no clock; the shard turns remaining milliseconds into an ``Expired``.
"""

from collections.abc import Callable

Expired = Callable[[], bool]
"""Whether the time of a query has run out; asked between steps that are short."""


class OutOfTimeError(Exception):
    """The query's time ran out between two steps; it never leaves ``shards.retrieval``."""


def stop_if(expired: Expired) -> None:
    """Leave if the time has run out.

    Raises:
        OutOfTimeError: if so.
    """
    if expired():
        raise OutOfTimeError
