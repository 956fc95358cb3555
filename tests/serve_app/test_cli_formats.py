"""``shortlist search --format``: what a provider is handed, from the endpoint and in process."""

import json
from collections.abc import Iterator
from typing import get_args

import pytest
from click.testing import CliRunner, Result

from serve_app.cli.main import cli
from serve_app.cli.search import FORMATS
from serve_app.formats.formatting import Format
from tests.endpoint import Endpoint, endpoint_over
from tests.serve_app.catalogue import SEEN
from tests.serve_app.formats.provider_rules import FORMATS as PROVIDERS
from tests.serve_app.formats.provider_rules import check_view

AS_ACME = ("--tenant", "acme", "--mode", "analyzer")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    with endpoint_over(tmp_path_factory.mktemp("home"), SEEN) as endpoint:
        yield endpoint


def search(endpoint: Endpoint, *options: str, query: str = "send an email") -> Result:
    place = ("--config", endpoint.config(), "--url", str(endpoint.client.base_url))
    return CliRunner().invoke(cli, ("search", query, *AS_ACME, *place, *options), env={"SHORTLIST_TOKEN": ""})


def test_the_command_knows_every_format_of_the_endpoint() -> None:
    assert get_args(Format) == FORMATS


@pytest.mark.parametrize("form", PROVIDERS)
@pytest.mark.parametrize("way", [(), ("--local",)])
def test_what_is_printed_is_what_the_provider_takes_and_the_endpoint_answers(
    running: Endpoint, form: str, way: tuple[str, ...]
) -> None:
    expected = running.search("send an email", format=form).json()["formatted"]
    printed = search(running, "--format", form, *way)
    assert printed.exit_code == 0, printed.output
    check_view(json.loads(printed.stdout))
    assert json.loads(printed.stdout) == expected
    assert "records you may see match" in printed.stderr


@pytest.mark.parametrize("way", [(), ("--local",)])
def test_with_json_the_whole_answer_is_printed_as_before(running: Endpoint, way: tuple[str, ...]) -> None:
    answer = json.loads(search(running, "--format", "mcp", "--json", *way).stdout)
    assert (answer["kind"], answer["formatted"]["format"]) == ("hits", "mcp")
    native = json.loads(search(running, "--json", *way).stdout)
    assert "formatted" not in native
    assert [hit["id"] for hit in native["hits"]] == [hit["id"] for hit in answer["hits"]]


def test_a_miss_is_said_in_words_whatever_the_format(running: Endpoint) -> None:
    missed = search(running, "--format", "anthropic", query="hello")
    assert (missed.exit_code, "No hit: no_match." in missed.stdout) == (0, True)


def test_an_unknown_format_is_refused_with_those_there_are(running: Endpoint) -> None:
    refused = search(running, "--format", "soap")
    assert refused.exit_code == 2
    assert all(form in refused.stderr for form in FORMATS)
