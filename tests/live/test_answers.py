"""Answers on a real cluster: imported documents, both readers, JSON and events, and a model that fails in every way."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from click.testing import CliRunner

from serve_app.cli.main import cli
from tests.endpoint import SENTINEL
from tests.live.instance import Instance, running, wait_for
from tests.pauses import Pauses
from tests.scripted_model import (
    ScriptedModel,
    Turn,
    fails,
    finds,
    finds_nothing,
    hangs,
    says,
    scripted_model,
    verdict,
)

pytestmark = pytest.mark.live

TENANT: Final = "library"
QUESTION: Final = "How many days does a refund take?"

TIMEOUT_MS: Final = 3000
"""Enough for a search on a busy machine, and little to wait for."""

PATIENCE_S: Final = 18.0
"""How long a model holds its answer whose caller leaves long before."""

LATE_MS: Final = 500
"""After its time an answer has to be there; a busy machine may keep it that long."""

ARTICLES: Final = {
    "refunds.md": "# How long a refund takes\n\nA refund is paid within ten days after the return has arrived.\n",
    "returns.md": "# How to return an item\n\nPrint the label and bring the parcel to a shop. A refund follows.\n",
    "limits.md": "# Refund limits\n\nA refund above 500 euros needs a signature of the finance team.\n",
    "secret.md": f"---\ntenant: globex\n---\n# Refund secrets\n\nA refund takes {SENTINEL} days; ask {SENTINEL}.\n",
}
DEFAULTS: Final = (
    f'namespace: help\ntenant: {TENANT}\npermissions: []\nstatus: published\nproduct: shop\nlocale: en\nrelease: "1"\n'
)


def _import(home: Path) -> None:
    """As an operator does it, into the registry of an instance that may be running."""
    folder = home / "articles"
    folder.mkdir()
    for name, text in {**ARTICLES, "shortlist.yaml": DEFAULTS}.items():
        (folder / name).write_text(text, "utf-8")
    result = CliRunner().invoke(cli, ("import", "docs", str(folder), "--home", str(home)))
    assert result.exit_code == 0, result.output


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with scripted_model() as scripted:
        yield scripted


@pytest.fixture(scope="module")
def modelled(tmp_path_factory: pytest.TempPathFactory, model: ScriptedModel) -> Iterator[Instance]:
    home = tmp_path_factory.mktemp("answers")
    config = home / "settings.yaml"
    config.write_text(
        f"home: .\nanswers: {{url: {model.url!r}, model: scripted, timeout_ms: 20000}}\n"
        "budgets: {passage: {timeout_ms: 20000}}\n",
        "utf-8",
    )
    _import(home)
    with running(home, "--config", str(config), "--shards", "2", "--no-embedded") as instance:
        yield instance


def _post(instance: Instance, **body: object) -> dict[str, Any]:
    response = instance.client.post("/v1/answer", json={"query": QUESTION, **body}, headers=_reader(instance))
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def _events(instance: Instance, **body: object) -> list[tuple[str, dict[str, Any]]]:
    headers = {**_reader(instance), "accept": "text/event-stream"}
    heard, name = [], ""
    with instance.client.stream("POST", "/v1/answer", json={"query": QUESTION, **body}, headers=headers) as response:
        assert response.headers["content-type"] == "text/event-stream"
        for line in response.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                heard.append((name, json.loads(line.removeprefix("data: "))))
    return heard


def _reader(instance: Instance) -> dict[str, str]:
    return instance.headers("reader", tenant=TENANT)


def test_the_extractive_reader_answers_from_documents_imported_beside_a_running_instance(live: Instance) -> None:
    _import(live.home)
    asked = {"query": QUESTION, "delivery": "sequential"}
    headers = _reader(live)

    def ask() -> httpx.Response:
        return live.client.post("/v1/answer", json=asked, headers=headers)

    wait_for(lambda: ask().json()["kind"] == "answer", 30, lambda: ask().text)
    answer = ask().json()
    assert (answer["reader"], answer["answer"]["answer"]) == ("extractive", "ten days")
    assert answer["answer"]["evidence_ids"] == ["help:refunds"]
    assert {piece["id"] for piece in answer["evidence"]} == {"help:refunds", "help:returns", "help:limits"}
    assert answer["usage"]["tokens_saved"] > 0
    events = _events(live, delivery="sequential")
    assert [name for name, _ in events] == ["evidence", "step", "answer"]
    assert events[-1][1]["answer"] == answer["answer"]
    assert SENTINEL not in json.dumps([answer, events])


def test_a_model_reads_piece_after_piece_and_sees_only_what_its_caller_may(
    modelled: Instance, model: ScriptedModel
) -> None:
    model.script(finds_nothing(), finds("ten days"))
    events = _events(modelled, delivery="sequential")
    assert [name for name, _ in events] == ["evidence", "step", "step", "answer"]
    final = events[-1][1]
    assert (final["reader"], final["kind"], final["stopped"]) == ("model:scripted", "answer", "complete")
    assert final["answer"]["evidence_ids"] == events[2][1]["evidence_ids"]
    assert [request.labels for request in model.requests] == [["E1"], ["E2"]]
    model.script(finds("ten days", ["E1"]))
    answer = _post(modelled, delivery="batch")
    assert answer["answer"]["evidence_ids"] == [answer["evidence"][0]["id"]]
    assert SENTINEL not in json.dumps([answer, events, [request.body for request in model.requests]])


def test_a_malformed_output_is_repaired_once_and_then_a_typed_failure(modelled: Instance, model: ScriptedModel) -> None:
    model.script(says("Ten days, I think."), finds("ten days", ["E1"]))
    answer = _post(modelled, delivery="batch")
    assert (answer["kind"], answer["answer"]["answer"]) == ("answer", "ten days")
    assert (answer["usage"]["calls"], answer["usage"]["repairs"]) == (2, 1)
    model.script(says("Ten days, I think."))
    answer = _post(modelled, delivery="batch")
    assert (answer["kind"], answer["failure"]["reason"]) == ("failure", "malformed")
    assert (answer["answer"], answer["usage"]["calls"], len(answer["evidence"])) == (None, 2, 3)


@pytest.mark.parametrize(
    ("turn", "reason"),
    [(fails(500), "unavailable"), (fails(401), "refused"), (says(verdict("x", ["E9"])), "malformed")],
)
def test_a_fault_of_the_model_is_typed_and_keeps_the_evidence(
    modelled: Instance, model: ScriptedModel, turn: Turn, reason: str
) -> None:
    model.script(turn)
    answer = _post(modelled)
    assert (answer["kind"], answer["failure"]["reason"], answer["stopped"]) == ("failure", reason, "failed")
    assert len(answer["evidence"]) == 3
    model.script(turn)
    assert _events(modelled)[-1][1]["failure"] == answer["failure"]


def test_a_model_that_hangs_is_given_up_inside_the_time_of_the_answer(modelled: Instance, model: ScriptedModel) -> None:
    for ask in (_post, lambda *_, **body: _events(modelled, **body)[-1][1]):
        model.script(hangs(TIMEOUT_MS / 1000 + 5))
        with Pauses() as pauses:
            started_s = time.monotonic()
            answer = ask(modelled, timeout_ms=TIMEOUT_MS)
            elapsed_ms = (time.monotonic() - started_s) * 1000
        assert (answer["kind"], answer["failure"]["reason"], answer["stopped"]) == ("failure", "timeout", "timeout")
        assert answer["timings_ms"]["answer"] < TIMEOUT_MS + LATE_MS + pauses.longest_ms
        assert elapsed_ms < TIMEOUT_MS + LATE_MS + pauses.longest_ms
    model.script(finds("ten days", ["E1"]))
    assert _post(modelled, delivery="batch")["kind"] == "answer"


@pytest.mark.parametrize("stream", [False, True], ids=["one object", "events"])
def test_a_model_is_given_up_with_the_caller_who_left(modelled: Instance, model: ScriptedModel, stream: bool) -> None:  # noqa: FBT001
    model.script(hangs(PATIENCE_S))

    def left() -> float:
        """Callers of answers who left so far."""
        text = modelled.client.get("/metrics", headers=modelled.headers("admin")).text
        lines = (line for line in text.splitlines() if line.startswith("shortlist_requests_total"))
        ours = [line for line in lines if 'outcome="client_gone"' in line and 'route="/v1/answer"' in line]
        return sum(float(line.rpartition(" ")[2]) for line in ours)

    before = left()
    body = {"query": QUESTION, "stream": stream}
    # A client that sends its headers before its body, as most do.
    with pytest.raises(httpx.ReadTimeout):
        modelled.client.post("/v1/answer", json=body, headers=_reader(modelled), timeout=TIMEOUT_MS / 1000)
    assert len(model.requests) == 1
    wait_for(lambda: left() > before, PATIENCE_S / 3, lambda: modelled.status()["health"])
