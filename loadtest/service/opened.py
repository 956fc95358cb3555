"""Open loops against an instance: rates below and above what it can do, and far above it."""

import resource
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Final

from loadtest.service.open_loop import MOST_CONNECTIONS, OpenLoop
from loadtest.service.plan import BUDGET_MS, GRACE_MS, Plan
from loadtest.service.schedule import account, arrivals
from loadtest.service.started import Running
from loadtest.service.systems import System
from loadtest.spread import medians

_OTHER_FILES: Final = 256


@dataclass(slots=True, kw_only=True)
class OpenLoops:
    """Open loops with the callers of ``tokens``; ``tell`` hears each run."""

    running: Running
    plan: Plan
    tokens: tuple[str, ...]
    tell: Callable[[str], None]
    _seed: int = 1_000

    def at(self, system: System, rate: float) -> dict[str, Any]:
        """What became of the requests at ``rate`` a second: medians over rounds of what ``account`` says of each."""
        rounds = [self._run(system, rate) for _ in range(self.plan.rounds)]
        median = sorted(rounds, key=lambda one: one["accepted"]["p95_ms"])[len(rounds) // 2]
        return {
            "rate": round(rate, 1),
            **median,
            "accepted": medians([one["accepted"] for one in rounds], worst=("max_ms",), total=("count",)),
            "errors": sum(one["errors"] for one in rounds),
            "rounds": len(rounds),
        }

    def _run(self, system: System, rate: float) -> dict[str, Any]:
        _allow_files(MOST_CONNECTIONS + _OTHER_FILES)
        self._seed += 1
        target = self.running.target(system, self.plan.k)
        due_s = arrivals(rate, self.plan.seconds, self._seed)
        asked = zip(due_s, cycle(self.plan.questions(self._seed)), cycle(self.tokens), strict=False)
        requests = [target.request(query, token) for _, query, token in asked]
        replies = OpenLoop((target.host, target.port), requests, due_s).run()
        found = account(replies, self.plan.seconds, BUDGET_MS + GRACE_MS)
        self.tell(
            f"{system.name:<12} {rate:8,.0f}/s sent  {found['accepted_rps']:8,.0f}/s answered"
            f"  p95 {found['accepted']['p95_ms']:8.2f} ms  {found['shares']}"
        )
        return found


def _allow_files(number: int) -> None:
    """Let this process have as many connections, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < number:
        wanted = number if hard == resource.RLIM_INFINITY else min(number, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
