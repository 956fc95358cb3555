from pathlib import Path

import jwt

from cluster.scope import Policy
from loadtest.service.callers import Callers, caller


def test_a_thousand_callers_have_a_thousand_scopes() -> None:
    policy = Policy.load(None)
    scopes = [policy.compile(caller(number)) for number in range(1_000)]
    assert len({scope.fingerprint for scope in scopes}) == 1_000
    assert all(scope.grants for scope in scopes)


def test_roles_take_turns_and_every_caller_sees_tools_that_declare_no_side_effect() -> None:
    assert len({caller(number).roles for number in range(3)}) == 3
    assert {caller(number).mode for number in range(6)} == {"autonomous"}


def test_no_caller_is_handed_out_twice(tmp_path: Path) -> None:
    callers = Callers(tmp_path)
    tokens = callers.fresh(3) + callers.fresh(2)
    tenants = [jwt.decode(token, options={"verify_signature": False})["tenant"] for token in tokens]
    assert len(set(tenants)) == 5
    assert Policy.load(None).may_operate(caller(0)) is False
