"""Settings: one documented file, strict reading, typed errors."""

from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from pydantic.fields import FieldInfo

from cluster.budget import DEFAULT_BUDGETS
from cluster.config import Settings, load_settings
from cluster.errors import InvalidConfiguration
from cluster.models import MODEL_NAMES
from cluster.registry import FILE_NAME, Registry
from cluster.registry_schema import sqlite_url
from cluster.settings.index import MODELS
from cluster.settings_document import settings_document
from cluster.yaml_model import StrictModel
from shards.record import Kind


def leaves(section: StrictModel, prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for name, spec in type(section).model_fields.items():
        value = getattr(section, name)
        if isinstance(value, StrictModel):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", spec


def write(folder: Path, text: str) -> Path:
    path = folder / "settings.yaml"
    path.write_text(text)
    return path


def test_the_shipped_file_is_written_from_the_code() -> None:
    assert (files("configs") / "shortlist.yaml").read_text() == settings_document()


def test_the_shipped_file_says_the_defaults() -> None:
    assert load_settings() == Settings().model_copy(update={"home": Path.cwd() / ".shortlist"})


def test_every_setting_has_one_sentence_and_a_unit_in_its_name_or_words() -> None:
    for name, spec in leaves(Settings()):
        assert spec.description, name
        assert spec.description[0].isupper() or spec.description[0].isdigit(), name
        assert spec.description.endswith("."), name
        for suffix, unit in (("_ms", "milliseconds"), ("_s", "seconds"), ("_bytes", "bytes")):
            if name.endswith(suffix) and name not in {"http.max_ongoing_requests", "http.max_queued_requests"}:
                assert unit in spec.description or suffix == "_s", name


def test_an_empty_file_is_every_default(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, "# nothing\n"))
    assert settings.model_dump() == Settings().model_copy(update={"home": tmp_path / ".shortlist"}).model_dump()
    assert settings.source == tmp_path / "settings.yaml"
    assert load_settings().source is None


def test_relative_paths_count_from_the_folder_of_the_file(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, "home: data\npolicy: ../p.yaml\nauth: {api_keys: /etc/keys.yaml}\n"))
    assert settings.home == tmp_path / "data"
    assert settings.policy == tmp_path / "../p.yaml"
    assert settings.auth.api_keys == Path("/etc/keys.yaml")
    assert settings.registry_url == sqlite_url(tmp_path / "data" / "registry.sqlite3")


@pytest.mark.parametrize("name", ["what?", "50%25", "a#b", "a b", "file:x?mode=memory"])
def test_the_registry_lies_in_home_whatever_its_path_is_made_of(tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    registry = Registry(Settings(home=home).registry_url)
    registry.close()
    assert {path.name for path in tmp_path.iterdir()} == {name}
    assert FILE_NAME in {path.name for path in home.iterdir()}


def test_a_given_registry_url_is_used_and_stays_out_of_reprs(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, "registry: {url: 'postgresql://u:hunter2@db/x'}\n"))
    assert settings.registry_url == "postgresql://u:hunter2@db/x"
    assert "hunter2" not in repr(settings)


def test_default_budgets_are_those_of_the_budget_module() -> None:
    for kind in Kind:
        assert Settings().budgets.of(kind) == DEFAULT_BUDGETS[kind]


def test_a_section_that_names_one_value_keeps_the_other_defaults(tmp_path: Path) -> None:
    cluster = load_settings(write(tmp_path, "cluster: {shards: 3}\n")).cluster
    assert (cluster.shards, cluster.copies, cluster.max_batch) == (3, 1, 32)
    budgets = load_settings(write(tmp_path, "budgets: {passage: {timeout_ms: 300}}\n")).budgets
    assert budgets.of(Kind.PASSAGE) == replace(DEFAULT_BUDGETS[Kind.PASSAGE], timeout_ms=300)
    assert budgets.of(Kind.TOOL) == DEFAULT_BUDGETS[Kind.TOOL]


@pytest.mark.parametrize(
    ("tool", "most_k"),
    [("{}", 128), ("{timeout_ms: 90}", 128), ("{rerank_k: 60}", 60), ("{candidate_k: 500}", 100), ("{most_k: 40}", 40),
     ("{rerank_k: 60, most_k: 90}", 90), ("{most_k: null}", 100)],
)  # fmt: skip
def test_the_most_hits_that_a_request_may_name_are_as_many_as_the_stages_unless_said(
    tmp_path: Path, tool: str, most_k: int
) -> None:
    budgets = load_settings(write(tmp_path, f"budgets: {{tool: {tool}}}\n")).budgets
    assert (budgets.most_k(Kind.TOOL), budgets.most_k(Kind.PASSAGE)) == (most_k, 12)


def test_vectors_are_off_unless_they_are_asked_for(tmp_path: Path) -> None:
    assert not Settings().vectors.candidate_retrieval
    named = load_settings(write(tmp_path, "vectors: {models: [use]}\n")).vectors
    assert (named.candidate_retrieval, named.models, named.threads) == (False, ("use",), 1)
    wanted = load_settings(write(tmp_path, "vectors: {candidate_retrieval: true, models: [minilm, e5], threads: 2}\n"))
    assert (wanted.vectors.candidate_retrieval, wanted.vectors.models) == (True, ("minilm", "e5"))


def test_the_names_of_models_are_those_that_can_be_loaded() -> None:
    assert MODELS == MODEL_NAMES


def test_the_local_key_is_used_only_while_nothing_else_is_configured(tmp_path: Path) -> None:
    assert Settings().auth.local_key
    assert not load_settings(write(tmp_path, "auth: {api_keys: k.yaml}\n")).auth.local_key
    keys = "auth: {jwt: {keys: [{algorithm: RS256, file: k.pem}]}}\n"
    assert not load_settings(write(tmp_path, keys)).auth.local_key


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().home = Path("/")


@pytest.mark.parametrize(
    ("text", "field", "value", "allowed"),
    [
        ("prot: 1", "prot", "an unknown key", "home, policy, ranker"),
        ("http: {prot: 1}", "http.prot", "an unknown key", "host, port"),
        ("auth: {jwt: {secret: hunter2}}", "auth.jwt.secret", "an unknown key", "audience"),
        ("http: {port: 0}", "http.port", "0", "greater than or equal to 1"),
        ("http: {port: 65536}", "http.port", "65536", "65535"),
        ("http: {port: '8900'}", "http.port", "'8900'", "integer"),
        ("http: {port: 8900.0}", "http.port", "8900.0", "integer"),
        ("http: {port: true}", "http.port", "True", "integer"),
        ("http: {port: null}", "http.port", "None", "integer"),
        ("http: {host: 127}", "http.host", "127", "string"),
        ("http: {dashboard: 'yes'}", "http.dashboard", "'yes'", "boolean"),
        ("cluster: {shards: 0}", "cluster.shards", "0", "1"),
        ("cluster: {shards: 1025}", "cluster.shards", "1025", "1024"),
        ("cluster: []", "cluster", "[]", "object"),
        ("cluster: {poll_ms: .nan}", "", "ValueError", "JSON"),
        ("auth: {jwt: {algorithms: [HS512]}}", "auth.jwt.algorithms.0", "'HS512'", "HS256"),
        ("auth: {jwt: {algorithms: [none]}}", "auth.jwt.algorithms.0", "'none'", "HS256"),
        ("auth: {jwt: {algorithms: []}}", "auth.jwt.algorithms", "[]", "at least 1"),
        ("auth: {jwt: {keys: [{algorithm: HS256}]}}", "auth.jwt.keys.0.file", "nothing", "required"),
        (
            "auth: {jwt: {algorithms: [RS256], keys: [{algorithm: HS256, file: k}]}}",
            "auth.jwt",
            "",
            "listed in algorithms",
        ),
        (
            "auth: {jwt: {keys: [{algorithm: HS256, file: a}, {algorithm: RS256, file: b}]}}",
            "auth.jwt",
            "",
            "at most one without",
        ),
        ("vectors: {candidate_retrieval: true}", "vectors", "", "at least one of models (use, minilm, e5)"),
        ("vectors: {models: [use, gpt]}", "vectors.models", "gpt", "different names among use, minilm, e5"),
        ("vectors: {models: [use, use]}", "vectors.models", "use", "different names among use, minilm, e5"),
        ("vectors: {threads: 0}", "vectors.threads", "0", "1"),
        ("vectors: {candidate_retrieval: 1}", "vectors.candidate_retrieval", "1", "boolean"),
        ("budgets: {tool: {candidate_k: 1}}", "budgets.tool", "", "evidence_k <= rerank_k <= candidate_k"),
        ("budgets: {tool: {most_k: 9}}", "budgets.tool", "", "evidence_k <= most_k"),
        ("budgets: {tool: {timeout: 1}}", "budgets.tool.timeout", "an unknown key", "timeout_ms"),
        ("budgets: {resource: {}}", "budgets.resource", "an unknown key", "tool, passage"),
        (
            "budgets: {tool: {candidate_k: 5, rerank_k: 6, evidence_k: 1, evidence_tokens: 9, timeout_ms: 90}}",
            "budgets.tool",
            "",
            "evidence_k <= rerank_k <= candidate_k",
        ),
        ("- 1", "top level", "[1]", "object"),
        ("home: x\nhome: y", "line 2", "'home' is given twice", "YAML"),
        ("a: &x 1\nb: *x", "line 1", "anchors", "YAML"),
        ("home: !!python/name:os.system", "line 1", "constructor", "YAML"),
        ("home: 2020-01-01", "", "TypeError", "JSON"),
        ("1: x", "line 1", "a key must be a string", "YAML"),
        ("<<: {home: x}", "line 1", "a key must be a string", "YAML"),
        ("home: [", "line 1", "", "YAML"),
        ("{" * 3000, "", "", "YAML"),
    ],
)
def test_a_wrong_file_is_one_typed_error(tmp_path: Path, text: str, field: str, value: str, allowed: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InvalidConfiguration) as caught:
        load_settings(path)
    error = caught.value
    assert error.field.startswith(str(path))
    assert error.field.endswith(field)
    assert value in error.value
    assert allowed in error.allowed
    assert "hunter2" not in str(error)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"#" * (1 << 20) + b"\n"])
def test_a_file_that_is_no_text_or_too_large_is_a_typed_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "settings.yaml"
    path.write_bytes(content)
    with pytest.raises(InvalidConfiguration):
        load_settings(path)


def test_a_missing_file_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match=r"nowhere\.yaml"):
        load_settings(tmp_path / "nowhere.yaml")
