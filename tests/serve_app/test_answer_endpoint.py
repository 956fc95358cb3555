"""``POST /v1/answer`` over real HTTP, with a scripted model behind the real protocol, and offline."""

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from cluster.answering.prompts import SYSTEM
from cluster.errors import InvalidConfiguration
from cluster.settings.answers import AnswerSettings
from serve_app.answering.desk import Desk
from tests.endpoint import SENTINEL, Endpoint, served, services_over, settings_in, tool
from tests.scripted_model import (
    Reply,
    ScriptedModel,
    Turn,
    drips,
    fails,
    finds,
    finds_nothing,
    hangs,
    raw,
    says,
    scripted_model,
    verdict,
)

TIMEOUT_MS: Final = 60_000
SHORT_MS: Final = 2_500
"""For answers that end by their time: what comes before that has time enough, too, where the machine pauses."""

KEY: Final = "sk-scripted-0123456789"


def passage(record_id: str, title: str, text: str, *, tenant: str = "acme", **more: object) -> dict[str, object]:
    values = {"id": record_id, "kind": "passage", "title": title, "text": text, "namespace": "kb"}
    return {**values, "access": {"tenant": tenant}, "source_url": f"https://example.com/{record_id}", **more}


CATALOGUE: Final = (
    passage("kb:refund", "How long a refund takes", "A refund is paid within ten days after the return arrived."),
    passage("kb:return", "How to return an item", "Print the label and bring the parcel to a shop. A refund follows."),
    passage("kb:limits", "Refund limits", "A refund above 500 euros needs a signature of the finance team."),
    passage(f"kb:{SENTINEL}", "Refund secrets", f"A refund takes {SENTINEL} days.", tenant="globex"),
    tool("shop:refund", "Pay a refund to a customer"),
)

QUESTION: Final = "How many days does a refund take?"


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with scripted_model() as running:
        yield running


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory, model: ScriptedModel) -> Iterator[Endpoint]:
    home = tmp_path_factory.mktemp("home")
    key = home / "model.key"
    key.write_text(f"{KEY}\n")
    key.chmod(0o600)
    answers = AnswerSettings(url=model.url, model="small", key_file=key, timeout_ms=TIMEOUT_MS, max_ongoing=3)
    with served(services_over(home, CATALOGUE, settings=settings_in(home, answers=answers))) as running:
        yield running


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    home = tmp_path_factory.mktemp("home")
    with served(services_over(home, CATALOGUE)) as running:
        yield running


def ask(endpoint: Endpoint, query: str = QUESTION, **body: object) -> dict[str, Any]:
    response = endpoint.post("/v1/answer", {"query": query, **body})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def events(endpoint: Endpoint, query: str = QUESTION, **body: object) -> list[tuple[str, dict[str, Any]]]:
    """Read as a client reads a stream: line by line, as they come."""
    headers = {**endpoint.headers("reader"), "accept": "text/event-stream"}
    found, name = [], ""
    with endpoint.client.stream("POST", "/v1/answer", json={"query": query, **body}, headers=headers) as response:
        assert response.headers["content-type"] == "text/event-stream"
        assert response.headers["cache-control"] == "no-store"
        for line in response.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((name, json.loads(line.removeprefix("data: "))))
    return found


def test_sequential_reads_one_piece_at_a_time_and_stops_when_the_answer_is_complete(
    endpoint: Endpoint, model: ScriptedModel
) -> None:
    model.script(finds_nothing(), finds("ten days"))
    answer = ask(endpoint, delivery="sequential")
    assert [request.labels for request in model.requests] == [["E1"], ["E2"]]
    assert (answer["kind"], answer["delivery"], answer["stopped"]) == ("answer", "sequential", "complete")
    second = answer["evidence"][1]["id"]
    assert answer["answer"] == {
        "answer": "ten days", "answer_found": True, "complete_answer_found": True, "evidence_ids": [second],
    }  # fmt: skip
    assert [piece["read"] for piece in answer["evidence"]] == [True, True, False]
    usage = answer["usage"]
    assert (usage["calls"], usage["repairs"], usage["dropped_ids"]) == (2, 0, 0)
    assert (usage["reported_tokens_in"], usage["reported_tokens_out"]) == (200, 20)
    assert usage["tokens_saved"] == usage["batch_tokens"] - usage["tokens_in"] - usage["tokens_out"]


def test_a_partial_answer_travels_on_as_its_evidence_and_not_as_words(endpoint: Endpoint, model: ScriptedModel) -> None:
    model.script(finds("some days", complete=False), finds_nothing(), finds("some days, signed", complete=False))
    answer = ask(endpoint, delivery="sequential")
    assert [request.labels for request in model.requests] == [["E1"], ["E1", "E2"], ["E1", "E3"]]
    assert answer["stopped"] == "evidence_end"
    assert answer["answer"]["answer"] == "some days, signed"
    assert not answer["answer"]["complete_answer_found"]
    assert "some days" not in json.dumps([request.body for request in model.requests])


def test_what_was_found_stands_where_later_evidence_adds_nothing(endpoint: Endpoint, model: ScriptedModel) -> None:
    model.script(finds("ten days", complete=False), finds_nothing())
    assert ask(endpoint, delivery="sequential")["answer"]["answer"] == "ten days"


def test_batch_sends_everything_once_and_saves_nothing(endpoint: Endpoint, model: ScriptedModel) -> None:
    model.script(finds("ten days", ["E1"]))
    answer = ask(endpoint, delivery="batch")
    assert [request.labels for request in model.requests] == [["E1", "E2", "E3"]]
    assert abs(answer["usage"]["tokens_saved"]) <= 3  # but for the spaces of this model's JSON
    assert all(piece["read"] for piece in answer["evidence"])


def test_the_plan_of_the_dispatcher_decides_unless_the_caller_does(endpoint: Endpoint, model: ScriptedModel) -> None:
    model.script(finds("label, parcel, signature"))
    answer = ask(endpoint, "Compare refund limits and how to return an item")
    assert answer["plan"]["delivery"] == answer["delivery"] == "batch"


def test_the_first_complete_answer_saves_what_the_rest_would_have_cost(
    endpoint: Endpoint, model: ScriptedModel
) -> None:
    model.script(finds("ten days"))
    usage = ask(endpoint, delivery="sequential")["usage"]
    assert usage["calls"] == 1
    assert usage["tokens_saved"] > 0


def test_the_model_sees_question_and_authorized_evidence_and_nothing_else(
    endpoint: Endpoint, model: ScriptedModel
) -> None:
    model.script(finds_nothing())
    ask(endpoint, delivery="batch", narrow={"kinds": ["passage", "tool"]})
    (request,) = model.requests
    system, user = request.body["messages"]
    assert system == {"role": "system", "content": SYSTEM}
    assert set(request.asked) == {"question", "shape", "evidence"}
    assert request.asked["question"] == QUESTION
    sent = json.dumps(request.body) + json.dumps(request.headers)
    for secret in (SENTINEL, "acme", "kb:", "someone", "reader", "example.com"):
        assert secret not in sent, secret
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == "small"
    assert request.body["response_format"]["json_schema"]["strict"] is True
    assert user["role"] == "user"


@pytest.mark.parametrize(
    "broken",
    [
        says("no JSON at all"),
        says("[1, 2]"),
        says('{"answer": "ten days"}'),
        says({"answer": "", "answer_found": True, "complete_answer_found": True, "evidence_ids": ["E1"]}),
        says({"answer": "x", "answer_found": "yes", "complete_answer_found": True, "evidence_ids": ["E1"]}),
        says({"answer": 7, "answer_found": True, "complete_answer_found": True, "evidence_ids": ["E1"]}),
        says({"answer": "x", "answer_found": True, "complete_answer_found": True, "evidence_ids": "E1"}),
        says({"answer": "x", "answer_found": False, "complete_answer_found": True, "evidence_ids": []}),
        says(verdict("x", ["E1"]) | {"tool_calls": []}),
        says(verdict("x", [])),
        says(verdict("x", ["E9", "kb:refund"])),
        says(""),
        says("[" * 50_000),
    ],
)
def test_a_broken_output_is_repaired_once_by_a_call_that_shows_the_error(
    endpoint: Endpoint, model: ScriptedModel, broken: Turn
) -> None:
    model.script(broken, finds("ten days"))
    answer = ask(endpoint, delivery="batch")
    assert answer["answer"]["answer"] == "ten days"
    assert (answer["usage"]["calls"], answer["usage"]["repairs"]) == (2, 1)
    first, second = (request.body["messages"] for request in model.requests)
    assert second[:2] == first
    assert [message["role"] for message in second[2:]] == ["assistant", "user"]
    assert second[3]["content"].startswith("That output cannot be used: ")

    model.script(broken)
    answer = ask(endpoint, delivery="sequential")
    assert (answer["kind"], answer["answer"], answer["stopped"]) == ("failure", None, "failed")
    assert answer["failure"]["reason"] == "malformed"
    assert (answer["usage"]["calls"], len(model.requests)) == (2, 2)
    assert len(answer["evidence"]) == 3


def test_a_fenced_object_needs_no_repair(endpoint: Endpoint, model: ScriptedModel) -> None:
    model.script(says(f"```json\n{json.dumps(verdict('ten days', ['E1']))}\n```"))
    assert ask(endpoint, delivery="batch")["usage"]["calls"] == 1


def test_cited_ids_that_were_not_given_are_dropped_and_counted(endpoint: Endpoint, model: ScriptedModel) -> None:
    model.script(finds("ten days", ["E2", "E7", "E2", f"kb:{SENTINEL}", "e2"]))
    answer = ask(endpoint, delivery="batch")
    assert answer["answer"]["evidence_ids"] == [answer["evidence"][1]["id"]]
    assert answer["usage"]["dropped_ids"] == 3
    assert SENTINEL not in json.dumps(answer)


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (fails(500), "unavailable"),
        (fails(503, **{"retry-after": "30"}), "unavailable"),
        (fails(429, **{"retry-after": "30"}), "unavailable"),
        (fails(401), "refused"),
        (fails(400), "refused"),
        (fails(404), "refused"),
        (fails(302, location="http://127.0.0.1:1/stolen"), "refused"),
        (raw(b"<html>not JSON</html>"), "unavailable"),
        (raw(b"\xff\xfe"), "unavailable"),
        (lambda _: Reply(body=b"<html>hello</html>", headers={"content-type": "text/html"}), "unavailable"),
        (raw(b'{"choices": null}'), "unavailable"),
        (raw(b'{"choices": []}'), "unavailable"),
        (raw(b"{}"), "unavailable"),
        (raw(b"[]"), "unavailable"),
        (raw(b'{"id": "c", "choices": [{"index": 0, "mess'), "unavailable"),
    ],
)
def test_an_endpoint_that_fails_is_a_typed_failure_after_one_call(
    endpoint: Endpoint, model: ScriptedModel, turn: Turn, reason: str
) -> None:
    model.script(turn)
    answer = ask(endpoint)
    assert (answer["kind"], answer["failure"]["reason"], answer["answer"]) == ("failure", reason, None)
    assert (len(model.requests), answer["usage"]["calls"]) == (1, 1)
    assert answer["usage"]["reported_tokens_in"] is None
    assert [piece["id"] for piece in answer["evidence"]]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": None, "refusal": "no"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "x", "type": "function", "function": {}}]},
        {"role": "assistant", "content": [{"type": "text", "text": "ten"}]},
    ],
)
def test_a_message_without_text_is_repaired_like_any_broken_output(
    endpoint: Endpoint, model: ScriptedModel, message: dict[str, object]
) -> None:
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    model.script(raw(json.dumps({"id": "c", "choices": [choice]}).encode()), finds("ten days"))
    answer = ask(endpoint)
    assert (answer["kind"], answer["usage"]["calls"], answer["usage"]["repairs"]) == ("answer", 2, 1)


@pytest.mark.parametrize("count", [10**30, -1, True, "7", 1.5, 2**63])
def test_a_count_of_tokens_that_cannot_be_one_is_not_reported(
    endpoint: Endpoint, model: ScriptedModel, count: int
) -> None:
    model.script(says(verdict("ten days", ["E1"]), {"prompt_tokens": count, "completion_tokens": count}))
    usage = ask(endpoint, delivery="batch")["usage"]
    assert (usage["reported_tokens_in"], usage["reported_tokens_out"]) == (None, None)
    assert usage["tokens_in"] > 0


@pytest.mark.parametrize("turn", [hangs(100), drips(0.05)])
def test_a_hung_endpoint_ends_with_the_time_of_the_answer(endpoint: Endpoint, model: ScriptedModel, turn: Turn) -> None:
    model.script(turn)
    # The endpoint goes on for longer than the client of this test waits.
    answer = ask(endpoint, timeout_ms=SHORT_MS)
    assert (answer["kind"], answer["failure"]["reason"], answer["stopped"]) == ("failure", "timeout", "timeout")


def test_no_call_starts_after_the_deadline_and_what_was_found_stands(endpoint: Endpoint, model: ScriptedModel) -> None:
    model.script(finds("ten days", complete=False), hangs(60))
    answer = ask(endpoint, timeout_ms=SHORT_MS, delivery="sequential")
    assert (answer["kind"], answer["stopped"], answer["failure"]["reason"]) == ("answer", "timeout", "timeout")
    assert answer["answer"]["answer"] == "ten days"
    assert len(model.requests) == 2


def test_the_shape_that_the_caller_names_is_the_one_that_is_asked_for(endpoint: Endpoint, model: ScriptedModel) -> None:
    model.script(finds("a, b, c"))
    answer = ask(endpoint, shape="list")
    assert model.requests[0].asked["shape"] == "list"
    assert answer["plan"] == {"delivery": "batch", "reason": "list"}


def test_a_caller_can_lower_the_time_and_not_raise_it(endpoint: Endpoint) -> None:
    response = endpoint.post("/v1/answer", {"query": QUESTION, "timeout_ms": TIMEOUT_MS + 1})
    assert response.status_code == 422
    assert response.json()["errors"] == [{"field": "timeout_ms", "allowed": f"an integer from 100 to {TIMEOUT_MS}"}]


@pytest.mark.parametrize(
    "body", [{"query": ""}, {"query": "x", "format": "mcp"}, {"query": "x", "delivery": "slow"}, {"question": "x"}]
)
def test_a_body_that_is_not_one_is_a_problem_before_anything_is_read(
    endpoint: Endpoint, model: ScriptedModel, body: dict[str, object]
) -> None:
    model.script(finds("never"))
    assert endpoint.post("/v1/answer", body).status_code == 422
    assert model.requests == []


def test_a_search_without_hits_is_its_own_miss_and_costs_nothing(endpoint: Endpoint, model: ScriptedModel) -> None:
    model.script(finds("never"))
    answer = ask(endpoint, narrow={"ids": ["nothing"]})
    assert (answer["kind"], answer["miss"]["reason"], answer["plan"]) == ("miss", "nothing_authorized", None)
    assert (answer["usage"]["calls"], model.requests) == (0, [])


def test_a_hidden_record_and_an_unknown_one_give_the_same_answer(endpoint: Endpoint, model: ScriptedModel) -> None:
    def of(record_id: str) -> dict[str, Any]:
        model.script(finds_nothing())
        answer = ask(endpoint, narrow={"ids": [record_id]}, pinned=[record_id])
        return {key: value for key, value in answer.items() if key not in {"request_id", "timings_ms"}}

    assert of(f"kb:{SENTINEL}") == of("kb:unknown")


def test_events_tell_the_evidence_every_reading_and_the_answer(endpoint: Endpoint, model: ScriptedModel) -> None:
    model.script(finds_nothing(), finds("ten\u2028days\u0085"))
    heard = events(endpoint, delivery="sequential")
    assert [name for name, _ in heard] == ["evidence", "step", "step", "answer"]
    evidence, first, second, last = (data for _, data in heard)
    assert [piece["id"] for piece in evidence["evidence"]] == [piece["id"] for piece in last["evidence"]]
    assert (first["number"], first["answer"]["answer_found"]) == (1, False)
    assert second["answer"] == last["answer"]
    model.script(finds_nothing(), finds("ten\u2028days\u0085"))
    whole = ask(endpoint, delivery="sequential")
    unlike = {"request_id", "timings_ms"}
    assert {key: value for key, value in last.items() if key not in unlike} == {
        key: value for key, value in whole.items() if key not in unlike
    }


def test_events_come_while_the_model_still_reads(endpoint: Endpoint, model: ScriptedModel) -> None:
    model.script(finds_nothing(), hangs(60))
    headers = endpoint.headers("reader")
    body = {"query": QUESTION, "stream": True, "delivery": "sequential", "timeout_ms": SHORT_MS}
    started_s = time.monotonic()
    times_s: list[tuple[str, float]] = []
    with endpoint.client.stream("POST", "/v1/answer", json=body, headers=headers) as response:
        heard = (line for line in response.iter_lines() if line.startswith("event: "))
        times_s += [(line.removeprefix("event: "), time.monotonic() - started_s) for line in heard]
    assert [name for name, _ in times_s] == ["evidence", "step", "step", "answer"]
    assert times_s[1][1] < SHORT_MS / 1000 - 0.1 < times_s[2][1]


def test_failures_and_misses_are_the_last_event_too(endpoint: Endpoint, model: ScriptedModel) -> None:
    model.script(fails(500))
    assert [(name, data.get("kind")) for name, data in events(endpoint)] == [
        ("evidence", None), ("step", None), ("answer", "failure"),
    ]  # fmt: skip
    assert [name for name, _ in events(endpoint, narrow={"ids": ["nothing"]})] == ["answer"]


def test_a_caller_that_goes_away_is_not_read_for_any_more(endpoint: Endpoint, model: ScriptedModel) -> None:
    model.script(hangs(60))
    headers = endpoint.headers("reader")
    for body in ({"query": QUESTION, "stream": True}, {"query": QUESTION}, {"query": QUESTION}):
        with pytest.raises(httpx.ReadTimeout):
            endpoint.client.post("/v1/answer", json=body, headers=headers, timeout=0.2)
    # Every place at the desk is free again long before the model would have answered.
    ends_s = time.monotonic() + 30
    while endpoint.services.desk._ongoing:
        assert time.monotonic() < ends_s
        time.sleep(0.02)


def test_more_answers_than_may_be_made_are_refused_with_a_time_to_wait(endpoint: Endpoint) -> None:
    desk = endpoint.services.desk
    with desk.place(), desk.place(), desk.place():
        response = endpoint.post("/v1/answer", {"query": QUESTION})
    assert (response.status_code, response.json()["code"]) == (429, "overloaded")
    assert response.headers["retry-after"] == "1"


def test_figures_count_outcomes_calls_and_tokens(endpoint: Endpoint, model: ScriptedModel) -> None:
    model.script(finds("ten days"))
    ask(endpoint, delivery="sequential")
    text = endpoint.client.get("/metrics", headers=endpoint.headers("admin")).text
    assert 'shortlist_answers_total{delivery="sequential",outcome="complete"}' in text
    assert 'shortlist_answer_tokens_total{of="batch"}' in text
    assert "shortlist_answer_calls_total" in text


def test_without_a_model_the_extractive_reader_answers_offline(offline: Endpoint) -> None:
    answer = ask(offline)
    assert answer["reader"] == "extractive"
    assert (answer["answer"]["answer"], answer["answer"]["evidence_ids"]) == ("ten days", ["kb:refund"])
    assert answer["usage"]["reported_tokens_in"] is None
    assert [name for name, _ in events(offline)][-1] == "answer"


@pytest.mark.parametrize("question", [QUESTION, "refund secrets", "Compare refund limits and secrets", SENTINEL])
def test_an_answer_is_that_of_a_catalogue_without_what_its_caller_may_not_see(
    offline: Endpoint, tmp_path: Path, question: str
) -> None:
    seen = [record for record in CATALOGUE if record["access"] != {"tenant": "globex"}]
    with served(services_over(tmp_path, seen, shards=1)) as private:
        whole, own = ask(offline, question), ask(private, question)
    for unlike in ("request_id", "timings_ms", "index_position"):
        del whole[unlike], own[unlike]
    assert whole == own


def test_an_unanswered_question_is_not_found_and_no_failure(offline: Endpoint) -> None:
    answer = ask(offline, "On which date was the refund label introduced?")
    assert (answer["kind"], answer["failure"]) == ("answer", None)
    assert answer["answer"] == {
        "answer": "", "answer_found": False, "complete_answer_found": False, "evidence_ids": [],
    }  # fmt: skip


def test_a_key_that_others_can_read_is_an_error_at_the_start(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text(KEY)
    key.chmod(0o644)
    settings = AnswerSettings(url="http://127.0.0.1:1/v1", model="small", key_file=key)
    with pytest.raises(InvalidConfiguration, match="0600"):
        Desk(settings)
    key.chmod(0o600)
    key.write_text("two\nlines\n")
    with pytest.raises(InvalidConfiguration) as caught:
        Desk(settings)
    assert "two" not in str(caught.value)


def test_an_endpoint_that_is_not_there_is_unavailable_and_gets_no_key_where_there_is_none(
    tmp_path: Path, model: ScriptedModel
) -> None:
    services = services_over(tmp_path, CATALOGUE)
    closed = replace(
        services,
        settings=settings_in(tmp_path, answers=AnswerSettings(url="http://127.0.0.1:9/v1", model="small")),
    )
    with served(closed) as endpoint:
        assert ask(endpoint)["failure"]["reason"] == "unavailable"
    model.script(finds("ten days"))
    settings = AnswerSettings(
        url=model.url, model="m", format="none", limit_field="max_completion_tokens", temperature=None
    )
    with served(replace(services, settings=settings_in(tmp_path, answers=settings))) as endpoint:
        assert ask(endpoint)["kind"] == "answer"
    (request,) = model.requests
    assert "authorization" not in request.headers
    assert set(request.body) == {"model", "messages", "max_completion_tokens"}
