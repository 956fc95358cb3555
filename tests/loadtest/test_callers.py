"""Callers of the service benchmark: how many, how different, and that their tokens are what they say."""

import asyncio
import time
from collections import Counter
from pathlib import Path

import jwt
import pytest

from cluster.budget import Deadline
from cluster.config import Settings
from cluster.contract import Answer, SearchRequest
from cluster.registry import Registry
from cluster.scope import Policy
from loadtest.service.callers import Callers
from loadtest.service.homes import import_records
from loadtest.service.mix import OPERATOR, Mix
from loadtest.tiers import Share
from serve_app.record_wire import parse_record
from shards.record import Kind, Status
from tests.endpoint import services_over, tool

# A few large servers and many small ones, some 100,000 tools in all.
SIZES = {f"vendor{number}.com": 20_000 // (number + 10) for number in range(2_000)}
TOTAL = sum(SIZES.values())


@pytest.fixture(scope="module")
def mix() -> Mix:
    return Mix(SIZES)


@pytest.fixture
def policy(mix: Mix, tmp_path: Path) -> Policy:
    file = tmp_path / "policy.yaml"
    file.write_bytes(mix.policy())
    return Policy.load(file)


def test_a_thousand_callers_have_a_thousand_scopes(mix: Mix, policy: Policy, tmp_path: Path) -> None:
    callers = Callers(tmp_path)
    callers.mix = mix
    scopes = [policy.compile(callers.caller(number)) for number in range(1_000)]
    assert len({scope.fingerprint for scope in scopes}) == 1_000
    assert all(scope.grants for scope in scopes)


def test_a_third_sees_all_a_third_a_part_a_third_little_and_some_hardly_anything(mix: Mix) -> None:
    told = mix.told(1_000)
    assert {share: of["callers"] for share, of in told.items()} == {
        "100 %": 300, "30 %": 300, "1 %": 300, "100 records": 100,
    }  # fmt: skip
    assert told["100 %"]["records_min"] == TOTAL
    for share, wanted in (("30 %", 0.3 * TOTAL), ("1 %", 0.01 * TOTAL), ("100 records", 100)):
        assert 0.9 * wanted <= told[share]["records_min"] <= told[share]["records_max"] <= 1.1 * wanted


def test_a_part_is_as_large_as_the_namespaces_that_its_role_is_granted(
    mix: Mix, policy: Policy, tmp_path: Path
) -> None:
    callers = Callers(tmp_path)
    callers.mix = mix
    for number in range(100):
        part = mix.of(number)
        (grant,) = policy.compile(callers.caller(number)).grants
        assert grant.namespaces == (None if part.namespaces is None else frozenset(part.namespaces))
        assert sum(SIZES[name] for name in grant.namespaces or SIZES) == part.records


def test_equal_catalogues_have_equal_mixes_and_neighbours_see_different_parts(mix: Mix) -> None:
    again = Mix(dict(SIZES))
    assert [again.of(number) for number in range(300)] == [mix.of(number) for number in range(300)]
    assert again.policy() == mix.policy()
    seen = Counter(mix.of(number) for number in range(1_000))
    for share in (Share.THIRD, Share.HUNDREDTH, Share.FEW):
        assert len([part for part in seen if part.share is share]) >= 8


@pytest.mark.parametrize("sizes", [{}, {"one": 7}, {f"n{number}": 1 for number in range(180)}])
def test_of_a_small_catalogue_nobody_sees_nothing(sizes: dict[str, int], tmp_path: Path) -> None:
    mix = Mix(sizes)
    file = tmp_path / "policy.yaml"
    file.write_bytes(mix.policy())
    assert Policy.load(file).modes == Policy.load(None).modes
    assert all(bool(mix.of(number).records) is bool(sizes) for number in range(50))


def test_the_mix_is_of_the_shared_and_enabled_records_of_a_home(tmp_path: Path) -> None:
    rows = [tool(f"{name}:list_{name}_{number}", f"list the buckets of {name}", tenant="*")
            for name in ("red", "green") for number in range(3)]  # fmt: skip
    rows.append(tool("blue:secret", "list what is secret", tenant="acme"))
    import_records(tmp_path, map(parse_record, rows))
    registry = Registry(Settings(home=tmp_path).registry_url)
    registry.set_status("red:list_red_0", Status.DISABLED)
    registry.close()
    assert Mix.in_home(tmp_path).sizes == {"green": 3, "red": 2}


def test_every_caller_finds_something(tmp_path: Path) -> None:
    rows = [tool(f"vendor{number % 25}:list_{number}", "list a bucket of a cloud", tenant="*") for number in range(250)]
    services = services_over(tmp_path, rows)
    callers = Callers(tmp_path)
    file = tmp_path / "policy.yaml"
    file.write_bytes(callers.mix.policy())
    policy = Policy.load(file)
    requests = [
        SearchRequest(
            query="list a bucket",
            scope=policy.compile(callers.caller(number)),
            budget=services.budgets[Kind.TOOL],
            deadline=Deadline(time.monotonic() + 60),
            request_id=str(number),
        )
        for number in range(40)
    ]

    async def search() -> list[Answer]:
        return [await services.router.search(request) for request in requests]

    for number, answer in enumerate(asyncio.run(search())):
        assert answer.hits
        assert answer.coverage.authorized == callers.mix.of(number).records


def test_no_caller_is_handed_out_twice_and_only_the_operator_operates(tmp_path: Path) -> None:
    callers = Callers(tmp_path)
    tokens = callers.fresh(3) + callers.fresh(2)
    tenants = [jwt.decode(token, options={"verify_signature": False})["tenant"] for token in tokens]
    assert len(set(tenants)) == 5
    file = tmp_path / "policy.yaml"
    file.write_bytes(callers.mix.policy())
    policy = Policy.load(file)
    assert policy.may_operate(callers.caller(0)) is False
    assert jwt.decode(callers.operator(), options={"verify_signature": False})["roles"] == [OPERATOR]
