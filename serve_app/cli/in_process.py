"""A question answered in this process: the registry's records in local shards, without Ray and without HTTP.

The caller is whoever the command says: who can read the registry's file needs no token.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from http import HTTPStatus

import click
from rich.console import Console

from cluster.config import Settings
from cluster.errors import ClusterError, InvalidConfiguration, RegistryUnavailable
from cluster.local import LocalCluster
from cluster.registry import FILE_NAME, Registry
from cluster.scope import Policy, Principal
from serve_app.asking import Call
from serve_app.auth import Authenticator
from serve_app.keys import KeySet
from serve_app.metrics import Metrics
from serve_app.problems import Refused, problem_of
from serve_app.services import Services
from serve_app.token_claims import ClaimRules
from shards.errors import ShardError

Ask = Callable[[Services, Call], Awaitable[bytes]]


def run_in_process(settings: Settings, principal: Principal, ask: Ask) -> tuple[int, bytes]:
    """Status and body, as the endpoint would answer ``ask``; the time budget starts when the records are loaded.

    Raises:
        click.ClickException: if the settings, the policy or the registry cannot be used.
    """
    request_id = secrets.token_hex(8)
    try:
        with Console(stderr=True).status("Loading the registry …"):
            services = _services(settings)
    except (InvalidConfiguration, RegistryUnavailable) as error:
        raise click.ClickException(str(error)) from error
    call = Call(principal=principal, request_id=request_id, arrived_s=services.clock())
    try:
        return HTTPStatus.OK, asyncio.run(_answered(ask, services, call))
    except (Refused, ClusterError, ShardError) as error:
        problem = problem_of(error)
        return problem.status, problem.to_json(request_id)


async def _answered(ask: Ask, services: Services, call: Call) -> bytes:
    return await ask(services, call)


def _services(settings: Settings) -> Services:
    policy = Policy.load(settings.policy)
    cluster = LocalCluster(_registry(settings))
    return Services(
        # Without a key there is no credential that could be right: nobody comes in by HTTP here.
        authenticator=Authenticator(
            keys=KeySet(()),
            api_keys=None,
            rules=ClaimRules(audience="", issuer="", leeway_s=0, modes=policy.modes),
            policy_version=policy.version,
        ),
        policy=policy,
        router=cluster.router,
        control=cluster,
        settings=settings,
        metrics=Metrics(),
    )


def _registry(settings: Settings) -> Registry:
    """The registry, which a question does not make where there is none."""
    if settings.registry.url is None and not (settings.home / FILE_NAME).exists():
        raise InvalidConfiguration("home", str(settings.home), f"a folder with {FILE_NAME}; shortlist import makes one")
    return Registry(settings.registry_url)
