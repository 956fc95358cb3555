"""``shortlist search``, ``explain`` and ``status``: over HTTP and in process, for people and for programs."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click import ClickException
from click.testing import CliRunner, Result

from serve_app.cli.main import cli
from serve_app.cli.target import answer_of
from serve_app.haproxy import NO_REPLICA
from serve_app.local_key import ensure_local_key
from tests.endpoint import PATIENTLY, Endpoint, endpoint_over, services_over, tool
from tests.serve_app.catalogue import SEEN

RECORDS = [*SEEN, tool("mail:evil", "\x1b[31mEvil [bold]email[/bold]\x07 " + "long " * 200, tenant="acme")]
AS_ACME = ("--tenant", "acme", "--mode", "analyzer")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    with endpoint_over(tmp_path_factory.mktemp("home"), RECORDS) as endpoint:
        yield endpoint


def run(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(
        cli, arguments, env={"COLUMNS": "140", "SHORTLIST_URL": "", "SHORTLIST_TOKEN": "", **environment}
    )


def over_http(endpoint: Endpoint, *arguments: str) -> Result:
    return run(*arguments, "--url", str(endpoint.client.base_url), "--home", str(endpoint.home))


def steady(answer: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in answer.items() if name not in {"request_id", "timings_ms", "index_position"}}


def test_the_endpoint_and_the_process_give_the_same_answer_and_explanation(running: Endpoint) -> None:
    for arguments in (
        ("search", "send an email", "--k", "3", "--pin", "kb:refunds", "--parts"),
        (
            "search",
            "send an email",
            "--kind",
            "tool",
            "--namespace",
            "ma*",
            "--only",
            "mail:send_email",
            "--evidence-k",
            "1",
        ),
        ("explain", "send an email", "mail:read_inbox", "--k", "1"),
    ):
        remote = over_http(running, *arguments, *AS_ACME, "--json")
        local = run(*arguments, *AS_ACME, "--json", "--local", "--config", running.config())
        assert (remote.exit_code, local.exit_code) == (0, 0), remote.output + local.output
        assert steady(json.loads(remote.stdout)) == steady(json.loads(local.stdout))


def test_a_ranker_file_of_the_settings_ranks_a_local_search(running: Endpoint, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(
        "name: own\n"
        "mixes: [{max_terms: null, impact: 0, name: 0, presence: 7}]\n"
        "hybrid: [{max_terms: null, impact: 0, name: 0, presence: 7, similarity: 1}]\n"
        "crowding: {percent: 100, doublings: 0}\n",
        encoding="utf-8",
    )
    config = tmp_path / "settings.yaml"
    config.write_text(f"home: {running.home}\nranker: own.yaml\n{PATIENTLY}", encoding="utf-8")
    arguments = ("search", "inbox", *AS_ACME, "--json", "--parts", "--local", "--config", str(config))
    answer = json.loads(run(*arguments).stdout)
    assert answer["ranker"].startswith("own-")
    part = answer["hits"][0]["parts"][0]
    assert part["score"] == 7 * part["weight"]
    (tmp_path / "own.yaml").write_text("name: own\n", encoding="utf-8")
    refused = run(*arguments)
    assert refused.exit_code == 1
    assert "own.yaml" in refused.stderr


def test_a_person_sees_a_table_with_ids_plan_and_what_was_spent(running: Endpoint) -> None:
    result = over_http(running, "search", "send an email", *AS_ACME)
    assert result.exit_code == 0
    for shown in ("mail:send_email", "Send an email to a person", "Plan: ", "of 2,400 tokens", "exact"):
        assert shown in result.stdout


def test_text_of_records_cannot_steer_the_terminal(running: Endpoint) -> None:
    result = over_http(running, "search", "evil email", *AS_ACME)
    assert "Evil [bold]email[/bold]" in result.stdout
    assert "\x1b[31m" not in result.stdout
    assert "\x07" not in result.stdout


def test_a_miss_is_shown_with_its_reason_and_is_no_failure(running: Endpoint) -> None:
    result = over_http(running, "search", "hello", *AS_ACME)
    assert result.exit_code == 0
    assert "No hit: no_match." in result.stdout


def test_an_explanation_is_a_sentence_and_a_table_of_terms(running: Endpoint) -> None:
    result = over_http(running, "explain", "send an email", "mail:read_inbox", "--k", "1", *AS_ACME)
    assert "outranked, rank " in result.stdout
    assert "It matches, but others score higher." in result.stdout
    assert "email" in result.stdout


def test_a_hidden_record_is_explained_like_an_unknown_one(running: Endpoint) -> None:
    for record_id in ("mail:delete_email", "nothing"):
        result = over_http(running, "explain", "delete an email", record_id, *AS_ACME)
        assert result.exit_code == 1
        assert "Not found: There is nothing here that the caller may see." in result.stderr


def test_status_shows_every_shard(running: Endpoint) -> None:
    result = over_http(running, "status")
    assert (result.exit_code, "ready: 7 records" in result.stdout) == (0, True), result.output
    assert "vectors: off; searches go by words" in result.stdout
    status = json.loads(over_http(running, "status", "--json").stdout)
    assert [copy["shard"] for copy in status["copies"]] == [0, 1]
    refused = over_http(running, "status", "--role", "reader")
    assert (refused.exit_code, "may not do this" in refused.stderr) == (1, True)


def test_url_and_token_come_from_the_environment(running: Endpoint) -> None:
    environment = {"SHORTLIST_URL": str(running.client.base_url), "SHORTLIST_TOKEN": running.token("reader")}
    result = run("search", "send an email", "--json", **environment)
    assert json.loads(result.stdout)["hits"][0]["id"] == "mail:send_email"


def test_a_problem_is_one_line_with_the_field_and_the_request_id(running: Endpoint) -> None:
    result = over_http(running, "search", "email", "--k", "4000", *AS_ACME)
    assert result.exit_code == 1
    assert "k: expected an integer from 1 to 48 (request " in result.stderr


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://no.such.host.invalid", "not a url", "ftp://x"])
def test_an_endpoint_that_is_not_there_is_said_to_be(tmp_path: Path, url: str) -> None:
    services_over(tmp_path, [])
    result = run("search", "email", "--url", url, "--home", str(tmp_path), "--token", "x")
    assert (result.exit_code, "Traceback" in result.output) == (1, False)
    assert "is it running?" in result.stderr


def test_without_a_token_or_a_key_the_command_says_what_to_give(tmp_path: Path) -> None:
    result = run("search", "email", "--home", str(tmp_path))
    assert result.exit_code == 2
    assert "--token" in result.stderr
    assert "--home" in result.stderr


@pytest.mark.parametrize("command", [("search", "email"), ("explain", "email", "x:y"), ("status",)])
@pytest.mark.parametrize(("option", "known"), [("--role", "raeder"), ("--mode", "analyser")])
def test_a_role_or_mode_that_the_policy_does_not_have_is_refused_with_those_it_has(
    running: Endpoint, command: tuple[str, ...], option: str, known: str
) -> None:
    ways: tuple[tuple[str, ...], ...] = ((), ("--local",)) if command != ("status",) else ((),)
    for way in ways:
        result = over_http(running, *command, option, known, *way)
        assert result.exit_code == 2
        assert f"Invalid value for {option}: {known}: not in the policy, which has a" in result.stderr


def test_a_local_index_is_announced_but_not_to_a_program(running: Endpoint) -> None:
    asked = ("search", "email", *AS_ACME, "--local", "--home", str(running.home))
    assert "Building the index of 7 records …" in run(*asked).stderr
    assert run(*asked, "--json").stderr == ""


@pytest.mark.parametrize("columns", [120, 60, 40])
def test_an_id_is_never_shortened_in_the_table(tmp_path: Path, columns: int) -> None:
    long_id = "aws:resource-groups-tagging:" + "VeryLongOperation" * 3
    with endpoint_over(tmp_path, [tool(long_id, "Send an email to " + "somebody " * 30)]) as endpoint:
        result = CliRunner().invoke(
            cli,
            ("search", "email", *AS_ACME, "--url", str(endpoint.client.base_url), "--home", str(endpoint.home)),
            env={"COLUMNS": str(columns)},
        )
    cells = "".join(line.split("│")[2].strip() for line in result.stdout.splitlines() if line.startswith("│"))
    assert cells == long_id


def test_a_local_search_in_a_folder_without_a_registry_makes_none(tmp_path: Path) -> None:
    result = run("search", "email", "--local", "--home", str(tmp_path))
    assert (result.exit_code, list(tmp_path.iterdir())) == (1, [])
    assert "shortlist import makes one" in result.stderr


@pytest.mark.parametrize("where", [("--token", "t", "--url", "http://127.0.0.1:1"), ("--local",)])
def test_a_query_that_is_no_text_is_refused_in_one_line(running: Endpoint, where: tuple[str, ...]) -> None:
    result = run("search", "\udcff\udcfe", *where, "--home", str(running.home))
    assert result.exit_code == 1
    assert "UTF-8" in result.stderr
    assert isinstance(result.exception, SystemExit)


def test_a_key_that_others_can_read_signs_nothing_and_is_named(tmp_path: Path) -> None:
    key = ensure_local_key(tmp_path)
    key.chmod(0o644)
    result = run("search", "x", "--home", str(tmp_path))
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert str(key) in result.stderr


def test_an_answer_that_no_replica_gave_is_shown_without_a_request_id() -> None:
    _, body = NO_REPLICA.split(b"\r\n\r\n")
    with pytest.raises(ClickException, match=r"Try again in a moment\.$"):
        answer_of(503, body)


def test_a_local_problem_reads_like_a_remote_one(running: Endpoint) -> None:
    result = run("search", "email", "--kind", "tools", "--local", "--home", str(running.home))
    assert (result.exit_code, "narrow.kinds[0]: expected one of 'tool' or 'passage'" in result.stderr) == (1, True)


@pytest.mark.parametrize("name", ["search", "explain", "status"])
def test_the_help_of_each_command_has_an_example(name: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"Example: shortlist {name} " in result.stdout
    assert "--json" in result.stdout
