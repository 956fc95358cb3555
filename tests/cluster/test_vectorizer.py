"""Texts become vectors once; what a model does wrong stays with the text it did it on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from cluster.embedding_pace import CALL_S, FIRST_CALL, MOST_IN_CALL, EmbeddingPace
from cluster.errors import EmbeddingFailed
from cluster.registry_schema import sqlite_url
from cluster.vector_cache import VectorCache
from cluster.vectorizer import Vectorizer
from tests.embedders import WordEmbedder


class RustPanic(BaseException):
    """What a tokenizer in Rust raises: no Exception."""


@dataclass(kw_only=True)
class Broken(WordEmbedder):
    """Fails as ``fail`` does; returns what ``spoil`` makes of its vectors."""

    fail: Callable[[Sequence[str]], None] = lambda _: None
    spoil: Callable[[npt.NDArray[np.int8]], npt.NDArray[np.generic]] = lambda values: values

    def embed_records(self, texts: Sequence[str]) -> npt.NDArray[np.int8]:
        self.fail(texts)
        return self.spoil(super().embed_records(texts))  # type: ignore[return-value]


def test_vectors_are_the_bytes_of_the_models_rows() -> None:
    made = Vectorizer(WordEmbedder()).embed({"a": "create a bucket", "b": "list queues"})
    rows = WordEmbedder().embed_records(["create a bucket", "list queues"])
    assert made.vectors == {"a": rows[0].tobytes(), "b": rows[1].tobytes()}
    assert made.refused == frozenset()


@pytest.mark.parametrize("error", [ValueError("SENTINEL"), RustPanic("SENTINEL")])
def test_only_the_texts_that_a_model_cannot_read_are_refused(error: BaseException) -> None:
    def fail(texts: Sequence[str]) -> None:
        if any("bad" in text for text in texts):
            raise error

    vectorizer = Vectorizer(Broken(fail=fail))
    made = vectorizer.embed({"a": "good", "b": "bad", "c": "better", "d": "too bad"})
    assert set(made.vectors) == {"a", "c"}
    assert made.refused == {"b", "d"}
    alone = vectorizer.embed({"b": "bad"})
    assert alone.vectors == {}
    assert alone.refused == {"b"}


def test_a_model_that_reads_nothing_is_one_typed_error_without_the_text() -> None:
    def fail(texts: Sequence[str]) -> None:
        raise RuntimeError(texts[0])

    with pytest.raises(EmbeddingFailed) as caught:
        Vectorizer(Broken(fail=fail)).embed({"a": "SENTINEL", "b": "SENTINEL"})
    assert str(caught.value) == "embedder words-1: RuntimeError"


def test_the_users_interrupt_is_no_failure_of_a_model() -> None:
    def fail(texts: Sequence[str]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Vectorizer(Broken(fail=fail)).embed({"a": "text"})


@pytest.mark.parametrize(
    ("spoil", "made"),
    [
        (lambda values: values[:, :-1], r"int8\(1, 23\)"),
        (lambda values: values.astype(np.float32), r"float32\(1, 24\)"),
        (lambda values: values[:0], r"int8\(0, 24\)"),
    ],
)
def test_vectors_of_another_form_never_leave(
    spoil: Callable[[npt.NDArray[np.int8]], npt.NDArray[np.generic]], made: str
) -> None:
    with pytest.raises(EmbeddingFailed, match=made):
        Vectorizer(Broken(spoil=spoil)).embed({"a": "text"})


def test_what_is_kept_is_known_unless_it_has_another_length(tmp_path: Path) -> None:
    cache = VectorCache(sqlite_url(tmp_path / "vectors.sqlite3"))
    vectorizer = Vectorizer(WordEmbedder(), cache)
    vectorizer.keep({"a": bytes(24), "b": bytes(24)})
    cache.put("words-1", {"b": bytes(23)})
    assert vectorizer.known(["a", "b", "c"]) == {"a": bytes(24)}
    assert Vectorizer(WordEmbedder(id="words-2"), cache).known(["a"]) == {}
    assert Vectorizer(WordEmbedder()).known(["a"]) == {}
    cache.close()


def test_a_call_takes_about_as_long_as_it_shall_whatever_the_model() -> None:
    for text_s in (0.000_01, 0.001, 0.037, 3.0):
        pace = EmbeddingPace()
        assert pace.call == FIRST_CALL
        for _ in range(30):
            pace.called(pace.call, pace.call * text_s)
        assert pace.call == max(1, min(MOST_IN_CALL, int(CALL_S / text_s))) or pace.call * text_s <= CALL_S * 1.2


def test_the_speed_is_that_of_the_last_calls() -> None:
    pace = EmbeddingPace()
    assert pace.records_per_s == 0
    pace.finished(50, 0.5)
    assert pace.records_per_s == 100
    for _ in range(40):
        pace.finished(10, 1.0)
    assert round(pace.records_per_s) == 10
