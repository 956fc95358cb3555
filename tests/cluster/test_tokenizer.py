"""Tokens counted by a tokenizer of the operator's: what an answer says of it, and what is refused."""

import asyncio
import builtins
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from cluster.budget import Budget
from cluster.config import Settings, load_settings
from cluster.cutting import cut_of
from cluster.dispatcher import RuleDispatcher
from cluster.errors import InvalidConfiguration
from cluster.evidence import assemble, piece_of
from cluster.router import Router
from cluster.settings.search import TokenSettings
from cluster.shard_client import LocalShardClient
from cluster.tokenizer import FileTokenizer, counter_of
from cluster.tokens import ESTIMATE
from tests.cluster.rig import RANKER, map_of, request, router_of, shards_of, tool

WORDS = {"[UNK]": 0, "send": 1, "an": 2, "email": 3}


def written(path: Path, vocabulary: Mapping[str, int] = WORDS, unknown: str | None = "[UNK]") -> Path:
    """A tokenizer.json that parts words and marks, one token each; it would cut texts to two, if it were let."""
    tokenizer = Tokenizer(models.WordLevel(dict(vocabulary), unk_token=unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.enable_truncation(max_length=2)
    tokenizer.enable_padding(length=16)
    tokenizer.save(str(path))
    return path


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory) -> FileTokenizer:
    return FileTokenizer.from_file(written(tmp_path_factory.mktemp("toy") / "tokenizer.json"))


def test_whole_texts_are_counted_without_padding_and_marks_of_models(counter: FileTokenizer) -> None:
    assert [counter.count(text) for text in ("", "send", "send an email", "send, an email!", "查询余额 x")] == [
        0, 1, 3, 5, 2,
    ]  # fmt: skip


def test_any_text_is_counted_lone_surrogates_included(counter: FileTokenizer) -> None:
    assert counter.count("send \ud800") == 2


def test_the_name_says_which_file_counted(tmp_path: Path) -> None:
    (tmp_path / "gpt").mkdir()
    first, second = written(tmp_path / "gpt" / "tokenizer.json"), written(tmp_path / "own.json", {"[UNK]": 0})
    names = [FileTokenizer.from_file(path).name for path in (first, first, second)]
    assert names[0] == names[1]
    assert names[0].startswith("gpt-")
    assert names[2].startswith("own-")


def test_an_answer_counts_by_it_and_says_so(counter: FileTokenizer) -> None:
    records = [tool("t", "send", "send an email")]
    clients = [LocalShardClient(shard) for shard in shards_of(records, 1)]
    router = Router(map_of(clients), ranker=RANKER, dispatcher=RuleDispatcher(), counter=counter)
    answer = asyncio.run(router.search(request("send")))
    # id t, name send, namespace srv, description of three words: 6 tokens, and 2 for each field.
    assert (answer.tokens_by, answer.spent.evidence_tokens) == (counter.name, 6 + 4 * 2)
    estimated = asyncio.run(router_of(records).search(request("send")))
    assert estimated.tokens_by == ESTIMATE.name == "estimate"


def test_settings_name_the_file_and_its_folder_counts(tmp_path: Path) -> None:
    written(tmp_path / "toy.json")
    config = tmp_path / "shortlist.yaml"
    config.write_text("tokens:\n  tokenizer_file: toy.json\n")
    assert counter_of(load_settings(config).tokens).name.startswith("toy-")
    assert counter_of(Settings().tokens) is ESTIMATE


@pytest.mark.parametrize(
    "content", [None, "", "{}", "[1]", '{"model": {"type": "BPE", "vocab": {}, "merges": [["a"]]}}']
)
def test_a_file_that_is_no_tokenizer_is_refused_by_name(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InvalidConfiguration, match=r"tokens\.tokenizer_file"):
        counter_of(TokenSettings(tokenizer_file=path))


def test_a_tokenizer_that_knows_no_foreign_word_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match="tokenizer_file"):
        FileTokenizer.from_file(written(tmp_path / "narrow.json", unknown=None))


def test_without_the_package_the_setting_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name == "tokenizers":
            raise ImportError(name)
        return real(name, *rest)  # type: ignore[arg-type]

    path = written(tmp_path / "toy.json")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InvalidConfiguration, match=r"shortlist\[tokens\]"):
        FileTokenizer.from_file(path)


@given(
    words=st.lists(st.sampled_from(["send", "an, email.", "查询", "{}", "x\n\n"]), max_size=60),
    tokens=st.integers(1, 200),
    properties=st.lists(st.sampled_from(["a", "bb", "c_d"]), unique=True),
)
def test_ceilings_hold_by_its_count(words: Sequence[str], tokens: int, properties: Sequence[str]) -> None:
    toy = _TOY
    schema = ",".join(f'"{name}":{{"type":"string","description":"{"send " * 30}"}}' for name in sorted(properties))
    record = tool("t", "send", " ".join(words), parameters=f'{{"properties":{{{schema}}},"type":"object"}}')
    piece = piece_of(record.to_json(), toy)
    budget = Budget(candidate_k=5, rerank_k=5, evidence_k=5, evidence_tokens=tokens, timeout_ms=1)
    evidence = assemble({0: piece, 1: piece}, (), budget, counter=toy)
    assert evidence.tokens <= tokens
    cut = cut_of(piece, tokens, 10**6, toy)
    assert cut is None or cut.form.tokens <= tokens


def _toy() -> FileTokenizer:
    tokenizer = Tokenizer(models.WordLevel(dict(WORDS), unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return FileTokenizer(tokenizer, "toy")


_TOY = _toy()
