"""``shortlist answer``: over HTTP, streamed and in process, with a scripted model and with none."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cluster.settings.answers import AnswerSettings
from serve_app.cli.main import cli
from tests.endpoint import SENTINEL, Endpoint, served, services_over, settings_in
from tests.scripted_model import ScriptedModel, fails, finds, finds_nothing, raw, scripted_model

QUESTION = "How many days does a refund take?"
AS_ACME = ("--tenant", "acme", "--mode", "analyzer")


def passage(record_id: str, title: str, text: str, *, tenant: str = "acme", **more: object) -> dict[str, object]:
    values = {"id": record_id, "kind": "passage", "title": title, "text": text, "namespace": "kb"}
    return {**values, "access": {"tenant": tenant}, "source_url": f"https://example.com/{record_id}", **more}


RECORDS = [
    passage("kb:refund", "How long a refund takes", "A refund is paid within ten days after the return arrived."),
    passage("kb:return", "How to return an item", "Print the label and bring the parcel to a shop. A refund follows."),
    passage("kb:limits", "Refund limits", "A refund above 500 euros needs a signature of the finance team."),
    passage(f"kb:{SENTINEL}", "Refund secrets", f"A refund takes {SENTINEL} days.", tenant="globex"),
]


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    home = tmp_path_factory.mktemp("home")
    with served(services_over(home, RECORDS)) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with scripted_model() as running:
        yield running


@pytest.fixture(scope="module")
def modelled(tmp_path_factory: pytest.TempPathFactory, model: ScriptedModel) -> Iterator[Endpoint]:
    home = tmp_path_factory.mktemp("home")
    settings = settings_in(home, answers=AnswerSettings(url=model.url, model="small"))
    with served(services_over(home, RECORDS, settings=settings)) as endpoint:
        yield endpoint


def run(*arguments: str) -> Result:
    environment = {"COLUMNS": "160", "SHORTLIST_URL": "", "SHORTLIST_TOKEN": ""}
    return CliRunner().invoke(cli, ("answer", *arguments, *AS_ACME), env=environment)


def ask(endpoint: Endpoint, *arguments: str) -> Result:
    return run(*arguments, "--url", str(endpoint.client.base_url), "--home", str(endpoint.home))


def test_a_person_sees_the_answer_its_records_and_its_tokens(offline: Endpoint) -> None:
    result = ask(offline, QUESTION, "--delivery", "sequential")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("ten days\n")
    for shown in (
        "kb:refund",
        "How long a refund takes",
        "https://example.com/kb:refund",
        "read 1 of 3 pieces in 1 call",
    ):
        assert shown in result.stdout
    assert "saved against batch (" in result.stdout
    assert "kb:limits" not in result.stdout
    assert SENTINEL not in result.output


def test_a_program_gets_the_answer_of_the_endpoint_and_of_this_process_alike(offline: Endpoint) -> None:
    remote = json.loads(ask(offline, QUESTION, "--json").stdout)
    local = json.loads(run(QUESTION, "--json", "--local", "--config", offline.config()).stdout)
    unsteady = {"request_id", "timings_ms", "index_position"}
    assert {name: value for name, value in remote.items() if name not in unsteady} == {
        name: value for name, value in local.items() if name not in unsteady
    }
    assert remote["kind"] == "answer"


def test_every_reading_is_shown_as_it_comes(modelled: Endpoint, model: ScriptedModel) -> None:
    model.script(finds_nothing(), finds("ten days", complete=False), finds("ten \x1b[31mdays"))
    result = ask(modelled, QUESTION, "--delivery", "sequential", "--stream")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("3 pieces of evidence; plan: ")
    assert [line.partition(": ")[2] for line in lines[1:3]] == ["nothing", "a part: ten days"]
    assert lines[3].startswith("3. ")
    assert "\x1b" not in result.stdout
    assert "read 3 of 3 pieces in 3 calls" in result.stdout
    assert "more than batch" in result.stdout
    model.script(finds("ten days"))
    assert "1. all 3: ten days" in ask(modelled, QUESTION, "--delivery", "batch", "--stream").stdout


@pytest.mark.parametrize("how", ["--stream", "--no-stream"])
def test_a_reader_that_gives_out_is_a_failure_with_its_reason(
    modelled: Endpoint, model: ScriptedModel, how: str
) -> None:
    model.script(fails(500))
    result = ask(modelled, QUESTION, how)
    assert result.exit_code == 1
    assert "The reader gave out: unavailable." in result.stdout
    model.script(finds("ten", complete=False), fails(500))
    result = ask(modelled, QUESTION, "--delivery", "sequential", how)
    assert result.exit_code == 0
    assert "This is a part of what was asked." in result.stdout
    assert "The reader gave out: unavailable." in result.stdout


def test_what_the_evidence_does_not_say_is_said(modelled: Endpoint, model: ScriptedModel) -> None:
    model.script(finds_nothing())
    result = ask(modelled, QUESTION)
    assert (result.exit_code, "The evidence does not answer it." in result.stdout) == (0, True)


@pytest.mark.parametrize("how", ["--stream", "--no-stream"])
def test_a_miss_is_shown_with_its_reason_and_is_no_failure(offline: Endpoint, how: str) -> None:
    result = ask(offline, "qqxyzzy zzyx", how)
    assert (result.exit_code, "No evidence: no_match." in result.stdout) == (0, True), result.output


@pytest.mark.parametrize("how", ["--stream", "--no-stream"])
def test_a_problem_is_one_line_with_the_field_and_the_request_id(offline: Endpoint, how: str) -> None:
    result = ask(offline, QUESTION, "--k", "4000", how)
    assert result.exit_code == 1
    assert "k: expected an integer from 1 to 12 (request " in result.stderr


def test_an_endpoint_that_is_not_there_is_said_to_be(tmp_path: Path) -> None:
    result = run(QUESTION, "--stream", "--url", "http://127.0.0.1:9", "--home", str(tmp_path), "--token", "x")
    assert (result.exit_code, "is it running?" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b": still here\n\n", "The stream ended before the answer"),
        (
            b'event: problem\ndata: {"status":500,"title":"Internal error","detail":"Ask.","request_id":"r1"}\n\n',
            "Internal error: Ask. (request r1)",
        ),
        (b"event: answer\ndata: <html>\n\n", "is it running?"),
    ],
)
def test_a_stream_without_an_answer_is_an_error_in_one_line(
    model: ScriptedModel, tmp_path: Path, sent: bytes, said: str
) -> None:
    model.script(raw(sent))
    where = ("--url", model.url.removesuffix("/v1"), "--token", "t", "--home", str(tmp_path))
    result = run(QUESTION, "--stream", *where)
    assert (result.exit_code, said in result.stderr) == (1, True), result.output
    assert isinstance(result.exception, SystemExit)


def test_the_help_has_an_example() -> None:
    assert "Example: shortlist answer " in run("--help").stdout
