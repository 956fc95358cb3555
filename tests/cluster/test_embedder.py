"""Several models behind one vector, with models small enough to work out by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.embedder import INT16, NARROWEST, ONE, CompositeEmbedder, scale_of
from cluster.embedding_text import MOST_QUERY_CHARACTERS
from cluster.errors import EmbeddingFailed, InvalidConfiguration
from shards.messages import LIKENESS_SHIFT, MOST_DIMS

Floats = npt.NDArray[np.float32]

WORDS = ("create", "invoice", "send", "email", "weather", "city", "delete", "user")


@dataclass(kw_only=True)
class Counter:
    """Counts words of a fixed list, one dimension each; other texts point along the first one."""

    name: str = "count"
    fingerprint: str = "1"
    words: tuple[str, ...] = WORDS
    languages: frozenset[str] | None = None
    low: float = 0.0
    high: float = 1.0

    @property
    def dims(self) -> int:  # type: ignore[override]
        return len(self.words)

    def encode_records(self, texts: Sequence[str]) -> Floats:
        return np.array([self.encode_query(text) for text in texts], np.float32).reshape(len(texts), self.dims)

    def encode_query(self, text: str) -> Floats:
        counts = np.array([text.lower().split().count(word) for word in self.words], np.float64)
        if not counts.any():
            counts[0] = 1
        return (counts / np.linalg.norm(counts)).astype(np.float32)


@dataclass(kw_only=True)
class Fixed:
    """One vector for all texts."""

    vector: Floats
    name: str = "fixed"
    fingerprint: str = "1"
    languages: frozenset[str] | None = None
    low: float = 0.0
    high: float = 1.0
    seen: str = ""

    @property
    def dims(self) -> int:  # type: ignore[override]
        return len(self.vector)

    def encode_records(self, texts: Sequence[str]) -> Floats:
        return np.tile(self.vector, (len(texts), 1))

    def encode_query(self, text: str) -> Floats:
        self.seen = text
        return self.vector


ENGLISH = Counter(name="english", languages=frozenset({"en"}), low=0.2, high=0.7)
EUROPE = Counter(name="europe", fingerprint="2", languages=frozenset({"de", "en"}), low=0.5, high=0.9)
EVERY = Counter(name="every", fingerprint="3", low=0.5, high=0.9)


def likeness(embedder: CompositeEmbedder, query: str, record: str) -> int:
    embedded = embedder.embed_query(query)
    assert embedded is not None
    dot = int(embedder.embed_records([record])[0].astype(np.int64) @ embedded.vector.values.astype(np.int64))
    return (dot - embedded.vector.floor) >> LIKENESS_SHIFT


def test_a_cosine_at_low_is_likeness_0_and_one_at_high_1024() -> None:
    directions, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((384, 2)))
    base, other = directions.T
    for (along, across), expected in (((0.2, np.sqrt(0.96)), 0), ((0.6, 0.8), 1024)):
        model = Fixed(vector=base.astype(np.float32), low=0.2, high=0.6)
        query = CompositeEmbedder([model]).embed_query("x")
        assert query is not None
        record = np.rint(512 * (along * base + across * other))
        found = (int(record @ query.vector.values) - query.vector.floor) >> LIKENESS_SHIFT
        assert abs(found - expected) <= 12  # eight bits


def test_a_record_holds_every_model_and_a_query_only_those_that_know_its_language() -> None:
    embedder = CompositeEmbedder([ENGLISH, EUROPE])
    assert embedder.dims == 16
    (record,) = embedder.embed_records(["weather city"])
    assert record.tolist() == [0, 0, 0, 0, 127, 127, 0, 0] * 2
    both, one = embedder.embed_query("weather in the city"), embedder.embed_query("Wie ist das Wetter?")
    assert both is not None
    assert one is not None
    assert both.models == ("english", "europe")
    assert one.models == ("europe",)
    assert both.vector.embedder == one.vector.embedder == embedder.id
    # 4096 / sqrt(2) / (0.5 * 2), 4096 / sqrt(2) / (0.4 * 2), and alone 4096 / 0.4 on the first dimension
    assert both.vector.values.tolist() == [0, 0, 0, 0, 2896, 2896, 0, 0, 0, 0, 0, 0, 3620, 3620, 0, 0]
    assert one.vector.values.tolist() == [0] * 8 + [10240, 0, 0, 0, 0, 0, 0, 0]
    assert both.vector.floor == round(2**20 * (0.2 / (0.5 * 2) + 0.5 / (0.4 * 2)))
    assert one.vector.floor == round(2**20 * 0.5 / 0.4)


def test_a_model_of_every_language_is_asked_only_where_no_other_knows_the_language() -> None:
    embedder = CompositeEmbedder([EVERY, ENGLISH])
    for text, models in (
        ("weather in the city", ("english",)),
        ("Wie ist das Wetter?", ("every",)),
        ("42", ("every",)),
    ):
        embedded = embedder.embed_query(text)
        assert embedded is not None
        assert embedded.models == models


def test_a_query_in_a_language_that_no_model_knows_has_no_vector() -> None:
    embedder = CompositeEmbedder([ENGLISH])
    assert embedder.embed_query("какая погода завтра") is None
    assert embedder.embed_query("weather tomorrow") is not None
    assert embedder.embed_query(" \n ") is None


def test_the_more_words_are_shared_the_greater_is_the_likeness() -> None:
    embedder = CompositeEmbedder([ENGLISH, EUROPE])
    records = ["weather city", "create email", "create invoice"]
    found = [likeness(embedder, "create invoice", record) for record in records]
    assert found[0] < found[1] < found[2]


@given(st.lists(st.text(alphabet="abc ", max_size=8), min_size=1, max_size=6), st.randoms())
def test_a_vector_does_not_depend_on_the_others_in_the_call(texts: list[str], random: object) -> None:
    embedder = CompositeEmbedder([replace(ENGLISH, words=("a", "b", "c")), replace(EVERY, words=("ab", "ca", "b"))])
    together = embedder.embed_records(texts)
    assert together.dtype == np.int8
    assert together.tolist() == [embedder.embed_records([text])[0].tolist() for text in texts]
    assert embedder.embed_records([]).shape == (0, embedder.dims)


unit_vectors = st.lists(st.floats(-1, 1, width=32), min_size=4, max_size=4).filter(any)


@given(unit_vectors, unit_vectors, st.floats(-1, 1 - NARROWEST), st.integers(1, 4))
def test_no_query_leaves_16_bits_and_no_dot_product_32(
    query: list[float], record: list[float], low: float, models: int
) -> None:
    asked, stored = (np.array(parts) / np.linalg.norm(parts) for parts in (query, record))
    known = [
        Fixed(vector=asked.astype(np.float32), name=f"m{number}", low=low, high=low + NARROWEST + 1e-9)
        for number in range(models)
    ]
    embedded = CompositeEmbedder([replace(model, high=min(1.0, model.high)) for model in known]).embed_query("x")
    assert embedded is not None
    exact = np.concatenate([asked] * models) * ONE / scale_of(known[0]) / NARROWEST / models
    assert np.abs(embedded.vector.values - exact.clip(-INT16, INT16)).max() <= 1
    rows = np.clip(np.rint(scale_of(known[0]) * np.concatenate([stored] * models)), -127, 127)
    assert abs(int(rows @ embedded.vector.values.astype(np.int64)) - embedded.vector.floor) < 2**31


def test_an_id_changes_with_every_model_name_and_fingerprint_and_not_with_the_calibration() -> None:
    embedder = CompositeEmbedder([ENGLISH, EVERY])
    assert embedder.id.startswith("english+every-")
    assert CompositeEmbedder([ENGLISH, EVERY]).id == embedder.id
    assert CompositeEmbedder([replace(ENGLISH, low=0.1, high=0.9), EVERY]).id == embedder.id
    others = [
        [EVERY, ENGLISH],
        [ENGLISH],
        [ENGLISH, replace(EVERY, fingerprint="4")],
        [ENGLISH, replace(EVERY, words=WORDS[1:])],
    ]
    assert len({embedder.id, *(CompositeEmbedder(models).id for models in others)}) == 5


def test_a_long_query_is_cut_before_a_model_reads_it() -> None:
    model = Fixed(vector=np.ones(1, np.float32))
    CompositeEmbedder([model]).embed_query("create  an\tinvoice " * 1000)
    assert model.seen.startswith("create an invoice create")
    assert len(model.seen) <= MOST_QUERY_CHARACTERS


@pytest.mark.parametrize(
    "models",
    [
        [],
        [ENGLISH, replace(EVERY, name="english")],
        [replace(EVERY, low=0.5, high=0.55)],
        [replace(EVERY, low=0.9, high=0.5)],
        [replace(EVERY, high=2.5)],
        [replace(EVERY, low=float("nan"))],
        [Fixed(vector=np.zeros(MOST_DIMS + 1, np.float32))],
    ],
)
def test_models_that_cannot_share_a_vector_are_refused(models: list[Counter]) -> None:
    with pytest.raises(InvalidConfiguration):
        CompositeEmbedder(models)


def test_a_model_that_makes_something_else_is_named() -> None:
    @dataclass(kw_only=True)
    class Short(Counter):
        def encode_records(self, texts: Sequence[str]) -> Floats:
            return super().encode_records(texts)[:, 1:]

    with pytest.raises(EmbeddingFailed, match=r"every made \(2, 7\) instead of \(2, 8\)"):
        CompositeEmbedder([Short(name="every")]).embed_records(["a", "b"])
    broken = CompositeEmbedder([Fixed(vector=np.array([np.nan], np.float32))])
    for embed in (lambda: broken.embed_records(["a"]), lambda: broken.embed_query("a")):
        with pytest.raises(EmbeddingFailed, match="fixed made a vector that is not finite"):
            embed()
