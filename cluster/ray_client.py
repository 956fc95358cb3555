"""Calls to shard actors by the supervisor: the one place where errors of Ray become our own.

It retries nothing and waits for nothing but the reply: replacement is the supervisor's. Searches do not come this way;
see ``cluster.shard_socket``.
"""

import logging
from typing import Any

from ray.exceptions import RayError, RayTaskError

from cluster.errors import ShardUnavailable
from shards.errors import ShardError

_log = logging.getLogger(__name__)


async def shard_call(shard: int, method: Any, *arguments: object) -> Any:  # noqa: ANN401 -- Ray's handles are untyped
    """Call a method of a shard actor and wait for its result.

    Raises:
        ShardUnavailable: if the actor is dead or unreachable, or failed in a way that is no part of its contract.
        ShardError: as the shard raised it.
        OSError: as the shard raised it.
    """
    try:
        return await method.remote(*arguments)
    except RayTaskError as exc:
        if isinstance(exc.cause, ShardError | OSError):
            raise exc.cause from None
        # The shard is alive and failed on this call: a defect, told to the operator and kept to this call.
        _log.error("shard_call_failed", extra={"shard": shard, "fault": type(exc.cause).__name__})
        raise ShardUnavailable(shard, "failed") from exc
    except RayError as exc:
        raise ShardUnavailable(shard, type(exc).__name__) from exc
