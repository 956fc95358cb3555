"""Flags at the door: an answer says which held, the settings file changes them while it runs, and parity is shown."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from cluster.config import Settings, load_settings
from cluster.flags import Flag
from serve_app.cli.main import cli
from tests.endpoint import PATIENTLY, Endpoint, served, services_over, tool

SCHEMA = {
    "type": "object",
    "properties": {f"field_{n}": {"type": "string", "description": "What it is"} for n in range(8)},
}
CATALOGUE = [tool(f"mail:send_{n}", f"Send mail number {n}", parameters=SCHEMA) for n in range(8)]


def settings_with(folder: Path, flags: str) -> Settings:
    path = folder / "settings.yaml"
    path.write_text(f"home: home\nflags: {flags}\n{PATIENTLY}")
    return load_settings(path)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Endpoint]:
    shadow = "{" + ", ".join(f"{flag.value}: 100" for flag in Flag) + "}"
    settings = settings_with(tmp_path, f"{{shadow_percent: {shadow}}}")
    with served(services_over(settings.home, CATALOGUE, settings=settings)) as endpoint:
        yield endpoint


def wait_for(condition: Callable[[], bool]) -> None:
    ends_s = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < ends_s
        time.sleep(0.01)


def status_of(endpoint: Endpoint) -> dict[str, dict[str, dict[str, int]]]:
    answer: dict[str, dict[str, dict[str, int]]] = endpoint.client.get(
        "/v1/status", headers=endpoint.headers("admin")
    ).json()
    return answer


def test_an_answer_says_which_flags_held(running: Endpoint) -> None:
    assert running.search("send mail").json()["flags"] == {
        "progressive_schema_loading": False,
        "adaptive_discovery_k": False,
        "hybrid_tool_discovery": True,
        "vector_candidate_retrieval": True,
        "indexed_candidate_retrieval": True,
    }


def test_a_changed_file_changes_the_next_answer_and_a_bad_one_is_told_to_the_operator(
    running: Endpoint, tmp_path: Path
) -> None:
    flags = running.services.flags
    forms = [hit["form"] for hit in running.search("send mail").json()["hits"]]
    assert forms == ["full"] * 8
    settings_with(tmp_path, "{rollout_percent: {progressive_schema_loading: 100}}")
    flags.look()
    flags.look()
    progressive = running.search("send mail").json()
    assert [hit["form"] for hit in progressive["hits"]] == ["full"] * 3 + ["summary"] * 5
    assert progressive["flags"]["progressive_schema_loading"]
    left_out = progressive["hits"][-1]["id"]
    whole = running.client.get(f"/v1/records/{left_out}", headers=running.headers("reader")).json()
    assert "field_7" in str(whole["parameters"])

    (tmp_path / "settings.yaml").write_text("flags: {rollout_percent: {progressive_schema_loading: 900}}")
    flags.look()
    flags.look()
    assert running.search("send mail").json()["flags"]["progressive_schema_loading"]
    told = status_of(running)["flags"]
    assert "progressive_schema_loading" in str(told["fault"])
    assert (told["taken"], told["refused"]) == (1, 1)
    assert told["flags"]["progressive_schema_loading"]["rollout_percent"] == 100
    figures = running.client.get("/metrics", headers=running.headers("admin")).text
    assert "shortlist_flags_usable 0.0" in figures
    assert 'shortlist_flag_rollout_percent{flag="progressive_schema_loading"} 100.0' in figures
    assert 'shortlist_flag_reloads_total{outcome="refused"} 1.0' in figures


def test_parity_of_every_flag_stands_in_the_status_and_in_the_metrics(running: Endpoint) -> None:
    assert running.search("send mail").status_code == 200
    wait_for(lambda: all(flag["compared"] for flag in status_of(running)["flags"]["flags"].values()))
    flags = status_of(running)["flags"]["flags"]
    assert flags["indexed_candidate_retrieval"] == {
        "rollout_percent": 100,
        "shadow_percent": 100,
        "compared": 1,
        "equal": 1,
        "incomparable": 0,
        "skipped": 0,
    }
    figures = running.client.get("/metrics", headers=running.headers("admin")).text
    assert 'shortlist_shadow_total{flag="indexed_candidate_retrieval",outcome="equal"} 1.0' in figures
    assert 'shortlist_shadow_total{flag="indexed_candidate_retrieval",outcome="different"} 0.0' in figures


def test_the_metrics_count_the_searches_that_each_flag_held_for(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, "{rollout_percent: {progressive_schema_loading: 40}}")
    with served(services_over(settings.home, CATALOGUE, settings=settings)) as endpoint:
        answers = [endpoint.search(f"send mail {number}").json()["flags"] for number in range(20)]
        figures = endpoint.client.get("/metrics", headers=endpoint.headers("admin")).text
    assert 0 < sum(flags["progressive_schema_loading"] for flags in answers) < 20
    for flag in Flag:
        held = sum(flags[flag.value] for flags in answers)
        assert f'shortlist_flags_held_total{{flag="{flag.value}"}} {float(held)}' in figures


def test_a_refused_search_has_no_shadow(running: Endpoint) -> None:
    assert running.search("send mail", k=10_000).status_code == 422
    assert not any(flag["compared"] + flag["skipped"] for flag in status_of(running)["flags"]["flags"].values())


def test_the_command_shows_the_flags(running: Endpoint) -> None:
    running.search("send mail")
    wait_for(lambda: status_of(running)["flags"]["flags"]["indexed_candidate_retrieval"]["compared"] == 1)
    where = ("--url", str(running.client.base_url), "--token", running.token("admin"))
    shown = CliRunner().invoke(cli, ("status", *where), env={"COLUMNS": "140"}, catch_exceptions=False)
    assert shown.exit_code == 0, shown.output
    assert "flag indexed_candidate_retrieval: 100 % of queries; shadow 100 %: 1 of 1 equal" in " ".join(
        shown.output.split()
    )
