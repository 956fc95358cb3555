"""A question answered in this process: the registry's records in local shards, without Ray and without HTTP.

The caller is whoever the command says: who can read the registry's file needs no token.
"""

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from http import HTTPStatus

import click
from rich.console import Console

from cluster.config import Settings
from cluster.discovery import discovery_of
from cluster.embedders import open_embedder
from cluster.errors import ClusterError, EmbeddingFailed, InvalidConfiguration, RegistryUnavailable
from cluster.local import LocalCluster
from cluster.local_embedding import Progress
from cluster.ranker import AdditiveRanker
from cluster.registry import FILE_NAME, Registry
from cluster.scope import Policy, Principal
from cluster.tokenizer import counter_of
from cluster.vector_cache import VectorCache
from serve_app.asking import Call
from serve_app.auth import Authenticator
from serve_app.keys import KeySet
from serve_app.metrics import Metrics
from serve_app.problems import Refused, problem_of
from serve_app.services import Services
from serve_app.token_claims import ClaimRules
from shards.errors import ShardError

Show = Callable[[str], None]

Ask = Callable[[Services, Call], Coroutine[object, None, bytes]]


def run_in_process(settings: Settings, principal: Principal, ask: Ask, *, quiet: bool) -> tuple[int, bytes]:
    """Status and body, as the endpoint would answer ``ask``; the time budget starts when the records are loaded.

    The index is built first, which takes seconds: a spinner on standard error, or a line there unless ``quiet``.

    Raises:
        click.ClickException: if the settings, the policy, the ranker or the registry cannot be used.
    """
    request_id = secrets.token_hex(8)
    try:
        registry = _registry(settings)
        records = _records(registry)
        with _shown(f"Building the index of {records:,} records …", quiet=quiet) as show:
            services = _services(settings, registry, _counting(records, show))
    except (InvalidConfiguration, RegistryUnavailable, EmbeddingFailed) as error:
        raise click.ClickException(str(error)) from error
    call = Call(principal=principal, request_id=request_id, arrived_s=services.clock())
    try:
        return HTTPStatus.OK, asyncio.run(ask(services, call))
    except (Refused, ClusterError, ShardError) as error:
        problem = problem_of(error)
        return problem.status, problem.to_json(request_id)


@contextmanager
def _shown(doing: str, *, quiet: bool) -> Iterator[Show]:
    console = Console(stderr=True, highlight=False)
    if console.is_terminal:
        with console.status(doing) as status:
            yield status.update
        return
    if not quiet:
        console.print(doing)
    yield lambda _: None


def _counting(records: int, show: Show) -> Progress:
    """Tells how many records have been seen to by the models."""
    done = 0

    def more(count: int) -> None:
        nonlocal done
        done += count
        show(f"Embedding records: {done:,} of {records:,} …")

    return more


def _records(registry: Registry) -> int:
    counts = registry.counts()
    return counts.enabled + counts.disabled + counts.deprecated


def _services(settings: Settings, registry: Registry, progress: Progress) -> Services:
    policy = Policy.load(settings.policy)
    wanted = settings.vectors.candidate_retrieval
    embedder = open_embedder(settings.vectors) if wanted else None
    cluster = LocalCluster(
        registry,
        ranker=AdditiveRanker.from_config(settings.ranker),
        embedder=embedder,
        cache=VectorCache(settings.registry_url) if wanted else None,
        discovery=discovery_of(settings, embedder),
        counter=counter_of(settings.tokens),
        progress=progress,
        exports=settings.exports.limits(),
    )
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
