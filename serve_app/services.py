"""Services: the frozen bundle of what the handlers of one replica need, built by the composition root.

It starts and stops nothing.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from cluster.budget import Budget, Clock
from cluster.config import Settings
from cluster.control import ControlPlane
from cluster.flag_watch import FlagWatch
from cluster.router import Router
from cluster.scope import Policy
from cluster.shadow import Shadow
from serve_app.admission import Admission
from serve_app.answering.desk import Desk
from serve_app.audit import Inquiries
from serve_app.auth import Authenticator
from serve_app.metrics import Metrics
from serve_app.pseudonyms import Pseudonyms
from serve_app.request_log import RequestLog
from shards.record import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What ``serve_app.ingress.build_asgi`` takes.

    Attributes:
        clock: monotonic, in seconds; tests inject their own.
        request_log: takes a line for each request, None writes none.
        pseudonyms: of callers and records in the audit log.
        budgets: the settings' ceilings by kind of record, made once.
        most_k: the most hits that a request may name, by kind of record.
        longest_s: the longest of their times, in seconds.
        inquiries: into records that were not shown.
        admission: the questions at work.
        desk: where answers are made of evidence.
        flags: that hold now; whoever runs the replica lets them follow the settings file.
        shadow: compares answers that were sent with those of the other way.
    """

    authenticator: Authenticator
    policy: Policy
    router: Router
    control: ControlPlane
    settings: Settings
    metrics: Metrics
    clock: Clock = time.monotonic
    request_log: RequestLog | None = None
    pseudonyms: Pseudonyms = field(default_factory=Pseudonyms)
    budgets: Mapping[Kind, Budget] = field(init=False)
    most_k: Mapping[Kind, int] = field(init=False)
    longest_s: float = field(init=False)
    inquiries: Inquiries = field(init=False)
    admission: Admission = field(init=False)
    desk: Desk = field(init=False)
    flags: FlagWatch = field(init=False)
    shadow: Shadow = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "budgets", {kind: self.settings.budgets.of(kind) for kind in Kind})
        object.__setattr__(self, "most_k", {kind: self.settings.budgets.most_k(kind) for kind in Kind})
        object.__setattr__(self, "longest_s", self.settings.budgets.longest_ms / 1000)
        object.__setattr__(self, "inquiries", Inquiries(self.control, self.pseudonyms))
        object.__setattr__(self, "admission", Admission(self.clock, self.longest_s))
        object.__setattr__(self, "desk", Desk(self.settings.answers))
        flags, admission = FlagWatch(self.settings), self.admission
        object.__setattr__(self, "flags", flags)
        shadow = Shadow(self.router, plan=lambda: flags.now, busy=lambda: admission.at_work > 0)
        object.__setattr__(self, "shadow", shadow)
