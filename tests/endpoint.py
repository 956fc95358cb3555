"""A real HTTP endpoint over an in-process cluster: the app, uvicorn on a free port, tokens of its local key."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import httpx
import uvicorn

from cluster.config import Settings
from cluster.local import LocalCluster
from cluster.registry import Registry
from cluster.scope import Policy, Principal
from cluster.settings.search import BudgetsSettings
from serve_app.auth import Authenticator
from serve_app.ingress import build_asgi
from serve_app.keys import read_secret
from serve_app.local_key import ensure_local_key, mint_token
from serve_app.metrics import Metrics
from serve_app.record_wire import parse_record
from serve_app.services import Services
from shards.record import Kind

PATIENCE_MS: Final = 60_000
PATIENT: Final = BudgetsSettings.model_validate({kind.value: {"timeout_ms": PATIENCE_MS} for kind in Kind})
"""Budgets for where time is no subject: no pause of the machine turns an answer into a time-out."""

PATIENTLY: Final = f"budgets: {{tool: {{timeout_ms: {PATIENCE_MS}}}, passage: {{timeout_ms: {PATIENCE_MS}}}}}\n"
"""The same in a settings file."""

SENTINEL: Final = "SENTINEL"
"""Stands in every text of a record that the caller of a test may not see."""


def tool(record_id: str, description: str = "", *, tenant: str = "acme", **more: object) -> dict[str, object]:
    """A tool as it is written on the wire; its namespace and name come from its id."""
    namespace, _, name = record_id.partition(":")
    access = {"tenant": tenant, "side_effect": "read", **more.pop("access", {})}  # type: ignore[dict-item]
    return {"id": record_id, "name": name, "namespace": namespace, "description": description, "access": access, **more}


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A running endpoint. Requests of ``client`` carry no token."""

    services: Services
    client: httpx.Client
    home: Path
    secret: bytes = field(repr=False)

    def config(self) -> str:
        """A settings file with these budgets, for commands that need no endpoint."""
        path = self.home / "patient.yaml"
        path.write_text(f"home: .\n{PATIENTLY}", encoding="utf-8")
        return str(path)

    def token(self, *roles: str, tenant: str = "acme", mode: str = "analyzer", ttl_s: int = 600) -> str:
        """A token of the local key."""
        principal = Principal(subject="someone", tenant=tenant, roles=frozenset(roles), mode=mode)
        return mint_token(self.secret, principal, self.services.settings.auth.jwt, ttl_s).token

    def headers(self, *roles: str, tenant: str = "acme", mode: str = "analyzer", ttl_s: int = 600) -> dict[str, str]:
        """The header that carries such a token."""
        return {"authorization": f"Bearer {self.token(*roles, tenant=tenant, mode=mode, ttl_s=ttl_s)}"}

    def post(self, path: str, body: object, **caller: str) -> httpx.Response:
        """POST JSON as a reader, or as ``role`` of ``tenant`` in ``mode``."""
        role = caller.pop("role", "reader")
        return self.client.post(path, json=body, headers=self.headers(role, **caller))  # type: ignore[arg-type]

    def search(
        self, query: str, *, role: str = "reader", tenant: str = "acme", mode: str = "analyzer", **body: object
    ) -> httpx.Response:
        """Search as a reader, or as somebody else."""
        return self.post("/v1/search", {"query": query, **body}, role=role, tenant=tenant, mode=mode)


def settings_in(home: Path, **sections: object) -> Settings:
    """Settings of this home with time enough, and with these sections."""
    return Settings(home=home, budgets=PATIENT, **sections)  # type: ignore[arg-type]


def services_over(
    home: Path, records: Sequence[dict[str, object]], *, shards: int = 2, settings: Settings | None = None
) -> Services:
    """What the handlers need, over a fresh registry with these records."""
    settings = settings_in(home) if settings is None else settings
    registry = Registry.in_home(home)
    registry.upsert_many([parse_record(record) for record in records])
    return services_of(settings, LocalCluster(registry, shards=shards))


def services_of(settings: Settings, cluster: LocalCluster) -> Services:
    """What the handlers need, over a cluster in this process."""
    policy = Policy.load()
    return Services(
        authenticator=Authenticator.from_settings(settings, policy),
        policy=policy,
        router=cluster.router,
        control=cluster,
        settings=settings,
        metrics=Metrics(),
    )


@contextmanager
def served(services: Services) -> Iterator[Endpoint]:
    """The endpoint of these services on loopback."""
    config = uvicorn.Config(
        build_asgi(services), host="127.0.0.1", port=0, log_config=None, access_log=False, ws="none", lifespan="on"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.005)
        if not thread.is_alive():
            raise RuntimeError("uvicorn did not start")
    port = server.servers[0].sockets[0].getsockname()[1]
    home = services.settings.home
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
        yield Endpoint(services=services, client=client, home=home, secret=read_secret(ensure_local_key(home)))
    server.should_exit = True
    thread.join(60)


@contextmanager
def endpoint_over(
    home: Path, records: Sequence[dict[str, object]], *, shards: int = 2, **changes: object
) -> Iterator[Endpoint]:
    """A served endpoint over these records; ``changes`` replace parts of its services."""
    with served(replace(services_over(home, records, shards=shards), **changes)) as endpoint:  # type: ignore[arg-type]
        yield endpoint
