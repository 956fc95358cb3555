"""A question answered in this process: the registry's records in local shards, without Ray and without HTTP.

The caller is whoever the command says: who can read the registry's file needs no token.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable

from rich.console import Console

from cluster.config import Settings
from cluster.errors import ClusterError, InvalidConfiguration
from cluster.local import LocalCluster
from cluster.ranker import AdditiveRanker
from cluster.registry import Registry
from cluster.scope import Policy, Principal
from serve_app.asking import Call
from serve_app.auth import Authenticator
from serve_app.metrics import Metrics
from serve_app.problems import Refused, problem_of
from serve_app.services import Services
from shards.errors import ShardError

Ask = Callable[[Services, Call], Awaitable[bytes]]


def run_in_process(settings: Settings, principal: Principal, ask: Ask) -> tuple[int, bytes]:
    """Status and body, as the endpoint would answer ``ask``; the time budget starts when the records are loaded."""
    request_id = secrets.token_hex(8)
    try:
        with Console(stderr=True).status("Loading the registry …"):
            services = _services(settings)
        call = Call(principal=principal, request_id=request_id, arrived_s=services.clock())
        return 200, asyncio.run(_answered(ask, services, call))
    except (Refused, ClusterError, ShardError) as error:
        problem = problem_of(error)
        return problem.status, problem.to_json(request_id)


async def _answered(ask: Ask, services: Services, call: Call) -> bytes:
    return await ask(services, call)
