"""Run: a whole service benchmark, instance after instance; what it finds is plain JSON."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import orjson

from loadtest.service.callers import Callers
from loadtest.service.closed import ClosedLoops
from loadtest.service.instance import DEFAULTS as DEFAULTS_MODE
from loadtest.service.opened import OpenLoops
from loadtest.service.plan import OVERLOAD, SHARES, Plan
from loadtest.service.started import Running, running
from loadtest.service.systems import BARE, BASELINES, BY_NAME, DEFAULTS, DRESSED, EMPTY, NAIVE, SHORTLIST, TWINS, System

Tell = Callable[[str], None]

_OPEN: Final = (SHORTLIST, DRESSED, BARE, NAIVE)


def measured(home: Path, plan: Plan, shards: int, tell: Tell) -> dict[str, Any]:
    """Everything about the instance in ``home``: all systems, closed and open loops, cold callers, overload."""
    body = orjson.dumps({"query": plan.queries[0], "k": plan.k})
    tell("Starting the instance and its baselines …")
    with running(home, body, shards=shards, baselines=True) as instance:
        found = _tuned(instance, home, plan, tell)
    tell("Starting an instance with Serve's own defaults …")
    with running(home, body, shards=shards, mode=DEFAULTS_MODE) as instance:
        defaults = _levels(instance, home, plan, (DEFAULTS,), tell)
        found["systems"] |= defaults
    return {
        **found,
        "meanings": {name: BY_NAME[name].meaning for name in found["systems"]},
        "queries": len(plan.queries),
        "seconds": plan.seconds,
        "rounds": plan.rounds,
        "scopes": plan.scopes,
        "k": plan.k,
        "load_average_after": os.getloadavg(),
    }


def compared(home: Path, plan: Plan, shards: int, systems: Sequence[System], tell: Tell) -> dict[str, Any]:
    """Only the closed loops of some systems of one tuned instance."""
    body = orjson.dumps({"query": plan.queries[0], "k": plan.k})
    baselines, twins = (any(one in kind for one in systems) for kind in (BASELINES, TWINS))
    with running(home, body, shards=shards, baselines=baselines, twins=twins) as instance:
        return {
            "records": instance.records,
            "shards": instance.shards,
            "ready_s": instance.ready_s,
            "callers": Callers(home).mix.told(plan.scopes),
            "systems": _levels(instance, home, plan, systems, tell),
        }


def _tuned(instance: Running, home: Path, plan: Plan, tell: Tell) -> dict[str, Any]:
    callers = Callers(home)
    tokens = callers.fresh(plan.scopes)
    closed = ClosedLoops(running=instance, plan=plan, callers=callers, tokens=tokens, tell=tell)
    most = max(plan.levels)
    tell("Cold: the first requests of all, then callers that are new each time …")
    first = closed.cold(SHORTLIST, most, 1_000, rounds=1)
    systems = (SHORTLIST, DRESSED, BARE, EMPTY, NAIVE)
    closed.warm_up(systems)
    levels = closed.side_by_side(systems)
    capacity = {system.name: levels[system.name][str(most)]["rps"] for system in _OPEN}
    cold = closed.cold(SHORTLIST, most, capacity[SHORTLIST.name])
    opened = OpenLoops(running=instance, plan=plan, tokens=tokens, tell=tell)
    rates = {
        system.name: {f"{share:.0%}": opened.at(system, share * capacity[system.name]) for share in SHARES}
        for system in _OPEN
    }
    tell(f"Overload: {OVERLOAD:g} times of what it can do …")
    overload = opened.at(SHORTLIST, OVERLOAD * capacity[SHORTLIST.name])
    return {
        "records": instance.records,
        "shards": instance.shards,
        "ready_s": instance.ready_s,
        "callers": callers.mix.told(plan.scopes),
        "systems": levels,
        "cold": {"clients": most, "first": first, "new_callers": cold},
        "open": rates,
        "overload": {"times": OVERLOAD, **overload},
        "memory": [asdict(process) for process in instance.memory()],
    }


def _levels(
    instance: Running, home: Path, plan: Plan, systems: Sequence[System], tell: Tell
) -> dict[str, dict[str, Any]]:
    callers = Callers(home)
    loops = ClosedLoops(running=instance, plan=plan, callers=callers, tokens=callers.fresh(plan.scopes), tell=tell)
    loops.warm_up(systems)
    return loops.side_by_side(systems)


def errors_in(report: Mapping[str, Any]) -> int:
    """Failed requests of everything that must not fail: closed loops, and open loops below capacity.

    Serve's defaults may fail, and so may what is sent beyond capacity: that is what they are there to show. One call
    per shard per query may be too slow for as many clients, and then some of them are refused.
    """
    closed = [
        level["errors"]
        for name, levels in report["systems"].items()
        if name not in {DEFAULTS.name, NAIVE.name}
        for level in levels.values()
    ]
    cold = [report["cold"][part]["errors"] for part in ("first", "new_callers")]
    within = [f"{share:.0%}" for share in SHARES if share < 1]
    opened = [rates[share]["errors"] for rates in report["open"].values() for share in within]
    return int(sum((*closed, *cold, *opened)))
