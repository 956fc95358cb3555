"""The formats over the endpoint: of an answer, and of the one record that a deferred tool's ``fetch`` leads to."""

import pytest

from tests.endpoint import Endpoint
from tests.serve_app.formats.provider_rules import FORMATS, check_view


@pytest.mark.parametrize("form", FORMATS)
def test_an_answer_comes_in_the_format_that_was_asked_for(endpoint: Endpoint, form: str) -> None:
    native = endpoint.search("send an email").json()
    answer = endpoint.search("send an email", format=form).json()
    check_view(answer["formatted"])
    assert "formatted" not in native
    assert [hit["id"] for hit in answer["hits"]] == [hit["id"] for hit in native["hits"]]
    assert set(answer["formatted"]["names"].values()) <= {hit["id"] for hit in answer["hits"]}


@pytest.mark.parametrize("form", FORMATS)
def test_a_record_comes_in_the_same_shape_as_in_an_answer(endpoint: Endpoint, form: str) -> None:
    view = endpoint.client.get(
        "/v1/records/mail:send_email", params={"format": form}, headers=endpoint.headers("reader")
    ).json()
    check_view(view)
    assert list(view["names"].values()) == ["mail:send_email"]


def test_a_provider_takes_no_more_tools_than_its_limit(endpoint: Endpoint) -> None:
    refused = endpoint.search("send an email", format="openai_chat", k=129)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")


def test_an_unknown_format_is_refused_by_name(endpoint: Endpoint) -> None:
    refused = endpoint.search("send an email", format="soap")
    assert refused.status_code == 422
    assert "format" in refused.text


@pytest.mark.parametrize("form", ["soap", "", "native&format=soap"])
def test_an_unknown_format_of_a_record_is_refused_by_name_too(endpoint: Endpoint, form: str) -> None:
    refused = endpoint.client.get(
        f"/v1/records/mail:send_email?format={form}", headers=endpoint.headers("reader") | {"x-request-id": "asked"}
    )
    assert refused.status_code == 422
    problem = refused.json()
    assert (problem["code"], problem["request_id"]) == ("invalid_request", "asked")
    assert [error["field"] for error in problem["errors"]] == ["format"]
    assert "'openai_chat'" in problem["errors"][0]["allowed"]
    assert "soap" not in refused.text
