"""How long the edge waits for the control plane, so that every request is answered even when the plane hangs."""

import asyncio
from collections.abc import Awaitable
from typing import Final, TypeVar

from cluster.errors import RegistryUnavailable

LOOK_TIMEOUT_S: Final = 2.0
"""For a question."""

EXPORT_TIMEOUT_S: Final = 20.0
"""For a page of an export: the first one waits until every shard has listed what it has."""

WRITE_TIMEOUT_S: Final = 60.0
"""For a write, which waits for the disk and for every shard. One that was given up may have happened: repeat it."""

T = TypeVar("T")


async def within(timeout_s: float, call: Awaitable[T]) -> T:
    """The result of ``call``.

    Raises:
        RegistryUnavailable: if it does not come in time.
    """
    try:
        async with asyncio.timeout(timeout_s):
            return await call
    except TimeoutError as error:
        raise RegistryUnavailable("the control plane did not answer in time") from error
