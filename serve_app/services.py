"""Services: the frozen bundle of what the handlers of one replica need, built by the composition root.

It starts and stops nothing.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from cluster.budget import Budget, Clock
from cluster.config import Settings
from cluster.control import ControlPlane
from cluster.router import Router
from cluster.scope import Policy
from serve_app.audit import Inquiries
from serve_app.auth import Authenticator
from serve_app.metrics import Metrics
from shards.record import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What ``serve_app.ingress.build_asgi`` takes.

    Attributes:
        clock: monotonic, in seconds; tests inject their own.
        budgets: the settings' ceilings by kind of record, made once.
        inquiries: into records that were not shown.
    """

    authenticator: Authenticator
    policy: Policy
    router: Router
    control: ControlPlane
    settings: Settings
    metrics: Metrics
    clock: Clock = time.monotonic
    budgets: Mapping[Kind, Budget] = field(init=False)
    inquiries: Inquiries = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "budgets", {kind: self.settings.budgets.of(kind) for kind in Kind})
        object.__setattr__(self, "inquiries", Inquiries(self.control))
