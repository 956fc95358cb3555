"""Services: the frozen bundle of what the handlers of one replica need, built by the composition root.

It starts and stops nothing.
"""

import time
from dataclasses import dataclass

from cluster.budget import Clock
from cluster.config import Settings
from cluster.control import ControlPlane
from cluster.router import Router
from cluster.scope import Policy
from serve_app.auth import Authenticator
from serve_app.metrics import Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What ``serve_app.ingress.build_asgi`` takes. ``clock`` is monotonic, in seconds; tests inject their own."""

    authenticator: Authenticator
    policy: Policy
    router: Router
    control: ControlPlane
    settings: Settings
    metrics: Metrics
    clock: Clock = time.monotonic
