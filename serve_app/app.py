"""The composition root of one HTTP replica under Ray Serve: it builds what the handlers need, and nothing else does.

It holds no logic of a request; the ASGI app of ``serve_app.ingress`` has all of it.
"""

import asyncio
import gc
import logging
from typing import Any, Final

from ray import serve

from cluster.config import Settings
from cluster.discovery import discovery_of
from cluster.dispatcher import RuleDispatcher
from cluster.embedders import absence_of, query_embedder
from cluster.map_watch import MapWatch
from cluster.ranker import AdditiveRanker
from cluster.ray_control import RayControlPlane
from cluster.router import Router
from cluster.scope import Policy
from cluster.tokenizer import counter_of
from serve_app import audit
from serve_app.accepting import accept_all_at_once
from serve_app.auth import Authenticator
from serve_app.exchange import ASGIApp
from serve_app.ingress import build_asgi
from serve_app.metrics import Metrics
from serve_app.pseudonyms import Pseudonyms
from serve_app.request_log import RequestLog
from serve_app.services import Services

APP: Final = "shortlist"

_YOUNG_OBJECTS: Final = 10_000
"""New objects before the garbage collector looks at them: a search makes thousands, and hardly any in a cycle."""

_log = logging.getLogger(__name__)


class Edge:
    """One replica: a router that follows the supervisor's map, behind the ASGI app.

    Args:
        settings: of the instance.
        supervisor: handle of its ``cluster.placement.SupervisorActor``.
    """

    # Serve awaits a constructor that is a coroutine function; to mypy there is no such thing.
    async def __init__(self, settings: Settings, supervisor: Any) -> None:  # type: ignore[misc]  # noqa: ANN401
        accept_all_at_once(asyncio.get_running_loop())
        audit.write_events(audit.handler_of(settings))
        pseudonyms, metrics = Pseudonyms.in_home(settings.home), Metrics()
        control = RayControlPlane(supervisor)
        watch = MapWatch(control)
        embedder = await asyncio.to_thread(query_embedder, settings.vectors)
        router = Router(
            await watch.first(),
            ranker=AdditiveRanker.from_config(settings.ranker),
            dispatcher=RuleDispatcher(),
            embedder=embedder,
            absence=absence_of(settings.vectors),
            discovery=await asyncio.to_thread(discovery_of, settings, embedder),
            max_batch=settings.cluster.max_batch,
            counter=counter_of(settings.tokens),
        )
        policy = Policy.load(settings.policy)
        self._services = Services(
            authenticator=Authenticator.from_settings(settings, policy),
            policy=policy,
            router=router,
            control=control,
            settings=settings,
            metrics=metrics,
            request_log=RequestLog.from_settings(settings, pseudonyms, metrics.lines_lost),
            pseudonyms=pseudonyms,
        )
        self._following = asyncio.create_task(watch.run(router.replace_map))
        self._flags = asyncio.create_task(self._services.flags.run())
        # What is there now stays for good: no collection has to walk it again (a fifth of the tail at 50 clients).
        gc.collect()
        gc.freeze()
        gc.set_threshold(_YOUNG_OBJECTS)

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """The app that Serve hands every request to, after the constructor has run."""
        return build_asgi(self._services)

    def check_health(self) -> None:
        """Serve replaces a replica whose check raises: one that no longer follows map or flags would never heal."""
        if self._flags.done():
            _log.error("flags_not_followed")
            raise RuntimeError("the replica no longer follows the settings file")
        if self._following.done():
            _log.error("map_not_followed")
            raise RuntimeError("the replica no longer follows the shard map")


def deployment_of(edge: type, name: str, settings: Settings) -> serve.Deployment:
    """A deployment of ``edge`` with the limits of the endpoint; benchmarks deploy their baselines with the same."""
    return serve.deployment(
        serve.ingress()(edge),
        name=name,
        num_replicas=settings.http.replicas,
        max_ongoing_requests=settings.http.max_ongoing_requests,
        # HAProxy lets no more in than work at the same time (``serve_app.haproxy``). Every request counts as queued
        # for one pass of the loop, and what Serve refuses has no type: so its own limit must never be the first.
        max_queued_requests=settings.http.max_ongoing_requests + settings.http.max_queued_requests,
        health_check_period_s=2,
        health_check_timeout_s=5,
        graceful_shutdown_timeout_s=2,
        graceful_shutdown_wait_loop_s=0.2,
        ray_actor_options={"num_cpus": 0},
    )


def build_app(settings: Settings, supervisor: Any) -> serve.Application:  # noqa: ANN401 -- untyped handle
    """The Serve application of an instance, bound to its supervisor."""
    return deployment_of(Edge, "edge", settings).bind(settings, supervisor)
