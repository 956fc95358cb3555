from pathlib import Path

import jwt

from cluster.scope import Policy
from loadtest.service.callers import Callers, caller


def test_a_thousand_callers_have_a_thousand_scopes() -> None:
    policy = Policy.load(None)
    scopes = [policy.compile(caller(number)) for number in range(1_000)]
    assert len({scope.fingerprint for scope in scopes}) == 1_000
    assert all(scope.grants for scope in scopes)


def test_roles_and_modes_take_turns() -> None:
    mixes = {(*caller(number).roles, caller(number).mode) for number in range(6)}
    assert len(mixes) == 6


def test_no_caller_is_handed_out_twice(tmp_path: Path) -> None:
    callers = Callers(tmp_path)
    tokens = callers.fresh(3) + callers.fresh(2)
    tenants = [jwt.decode(token, options={"verify_signature": False})["tenant"] for token in tokens]
    assert len(set(tenants)) == 5
    assert Policy.load(None).may_operate(caller(0)) is False
