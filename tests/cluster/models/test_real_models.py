"""The models themselves, where their packages are installed (``pip install 'shortlist[vectors]'``)."""

import threading
import time

import numpy as np
import numpy.typing as npt
import pytest

from cluster.embedder import CompositeEmbedder, TextModel, scale_of
from cluster.errors import ModelNotInstalled
from cluster.models import MODEL_NAMES, load_embedder
from cluster.models.pins import PackageMissing

SAME_AND_OTHER = {
    "minilm": [
        ("send a message to my boss", "Email. Sends an email to a person", "Weather. Temperature of a city"),
        ("create a bucket", "S3 create bucket. Makes a new storage container", "Translate text"),
        ("how warm will it be", "Weather forecast by city", "Delete user account"),
    ],
    "use": [
        ("send a message to my boss", "Email. Sends an email to a person", "Weather. Temperature of a city"),
        ("Wie wird das Wetter morgen?", "Weather forecast by city", "Delete user account"),
        ("borra la cuenta del usuario", "Delete user account", "Weather forecast by city"),
        ("发送电子邮件", "Send an email", "Weather forecast by city"),
        ("какая погода завтра", "Weather forecast by city", "Delete user account"),
        ("أرسل رسالة بريد إلكتروني", "Send an email", "Delete file"),
    ],
    "e5": [
        ("یک فاکتور فروش جدید بساز", "Create invoice. Creates a sales invoice", "Weather forecast by city"),
        ("هوا فردا چطوره", "Weather forecast by city", "Create invoice. Creates a sales invoice"),
        ("لیست مشتریان را نشان بده", "فهرست اشخاص و مشتریان", "گزارش موجودی انبار"),
        ("send a message to my boss", "Email. Sends an email to a person", "Weather. Temperature of a city"),
        ("надішли листа керівнику", "Send an email", "Weather forecast by city"),
    ],
}
"""By model: a request, a record that serves it, one that does not."""

TEXTS = [
    "S3 create bucket. Creates a new bucket in a region, with an owner.",
    "Weather",
    "查询云服务器实例列表",
    "صدور فاکتور فروش برای مشتری",
    "Delete user account. " * 12,
    "",
    "Convert an amount of money from one currency to another",
]

FIRST_PARTS = {
    "use": [0.0963, -0.0577, -0.0473, 0.0284],
    "minilm": [-0.1017, 0.0778, -0.0714, -0.0499],
    "e5": [0.0247, -0.043, -0.0418, -0.1272],
}
"""First four components of "create an invoice" as a query."""


CLASSES = {"use": "UniversalSentenceEncoder", "minilm": "MiniLM", "e5": "MultilingualE5"}


def load(name: str) -> TextModel:
    module = pytest.importorskip(
        f"cluster.models.{name}", reason="needs pip install 'shortlist[vectors]'", exc_type=ImportError
    )
    try:
        return getattr(module, CLASSES[name])(threads=2)
    except PackageMissing as exc:
        pytest.skip(f"needs pip install 'shortlist[vectors]': {exc}")


@pytest.fixture(scope="module", params=MODEL_NAMES)
def model(request: pytest.FixtureRequest) -> TextModel:
    return load(request.param)


def cosine(one: npt.NDArray[np.float32], other: npt.NDArray[np.float32]) -> float:
    return float((one.astype(np.float64) * other).sum())


def test_a_request_is_nearer_to_the_record_that_serves_it(model: TextModel) -> None:
    for request, serving, other in SAME_AND_OTHER[model.name]:
        asked = model.encode_query(request)
        near, far = (cosine(asked, row) for row in model.encode_records([serving, other]))
        assert near > far, request
        assert near > model.low, request


def test_vectors_are_unit_vectors_of_the_stated_length(model: TextModel) -> None:
    vectors = model.encode_records(TEXTS)
    assert vectors.shape == (len(TEXTS), model.dims)
    assert vectors.dtype == np.float32
    assert np.square(vectors, dtype=np.float64).sum(axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    assert model.encode_records([]).shape == (0, model.dims)
    assert model.encode_query("x").shape == (model.dims,)


def test_hardly_a_component_is_cut_off_by_eight_bits(model: TextModel) -> None:
    assert (np.abs(model.encode_records(TEXTS[:5])) * scale_of(model) > 127).mean() < 0.005


def test_no_bit_of_a_vector_depends_on_the_other_texts_or_on_threads(model: TextModel) -> None:
    alone = [model.encode_records([text])[0].tobytes() for text in TEXTS]
    assert [row.tobytes() for row in model.encode_records(TEXTS)] == alone
    assert [row.tobytes() for row in model.encode_records(TEXTS[::-1])][::-1] == alone
    assert [row.tobytes() for row in model.encode_records(TEXTS[2:5])] == alone[2:5]


def test_queries_and_records_at_the_same_time_do_not_disturb_each_other(model: TextModel) -> None:
    records, query = model.encode_records(TEXTS[:4]), model.encode_query("create an invoice")
    found: list[bool] = []

    def ask() -> None:
        found.extend((model.encode_query("create an invoice") == query).all() for _ in range(5))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    again = model.encode_records(TEXTS[:4])
    for thread in threads:
        thread.join()
    assert found == [True] * 10
    assert (again == records).all()


def test_odd_texts_give_vectors_and_end_no_process(model: TextModel) -> None:
    # One sign that normal forms turn into eighteen; what no UTF-8 has; a zero; one endless word; signs alone.
    for text in ("\ufdfa" * 60, "a\ud800b", "a\0b", "x" * 500, "😀👨‍👩‍👧", "\u200c", "\n\t"):
        assert np.isfinite(model.encode_query(text)).all()
        assert np.isfinite(model.encode_records([text])).all()


def test_vectors_are_those_that_were_seen_when_the_recipe_was_written(model: TextModel) -> None:
    # Other numbers? Then stored vectors are of no use any more: raise the number in the model's recipe.
    assert model.encode_query("create an invoice")[:4].tolist() == pytest.approx(FIRST_PARTS[model.name], abs=2e-3)


def test_the_time_of_one_short_query_is_told(model: TextModel) -> None:
    started_s, used_s = time.perf_counter(), time.process_time()
    for number in range(10):
        model.encode_query(f"create invoice {number} for a customer")
    taken_ms, used_ms = (time.perf_counter() - started_s) * 100, (time.process_time() - used_s) * 100
    print(f"{model.name}: {taken_ms:.1f} ms a query, {used_ms:.1f} ms of CPU")  # noqa: T201 -- shown by pytest -s


def test_models_are_asked_in_their_languages_only() -> None:
    try:
        embedder = load_embedder(("use", "minilm", "e5"))
    except ModelNotInstalled as exc:
        pytest.skip(str(exc))
    asked = {
        "create a bucket": ("use", "minilm"),
        "Rechnung für den Kunden erstellen": ("use",),
        "创建存储桶": ("use",),
        "یک فاکتور بساز": ("e5",),
        "створи рахунок для клієнта": ("e5",),
    }
    for text, models in asked.items():
        embedded = embedder.embed_query(text)
        assert embedded is not None
        assert embedded.models == models, text
    shipped = embedder.embed_records(TEXTS[:5]).astype(np.int64)
    assert (np.abs(shipped) == 127).mean() < 0.005
    assert likeness(embedder, "create a bucket", "S3 create bucket. Creates a new bucket") > 700
    assert likeness(embedder, "create a bucket", "Weather. Temperature of a city") < 300


def likeness(embedder: CompositeEmbedder, query: str, record: str) -> int:
    embedded = embedder.embed_query(query)
    assert embedded is not None
    dot = int(embedder.embed_records([record])[0].astype(np.int64) @ embedded.vector.values)
    return (dot - embedded.vector.floor) >> 10


def test_the_encoder_leaves_blas_with_one_thread() -> None:
    controller = pytest.importorskip("threadpoolctl", reason="pip install 'shortlist[vectors]'")
    load("use").encode_records(TEXTS[:3])
    blas = [pool for pool in controller.threadpool_info() if pool["user_api"] == "blas"]
    assert blas
    assert {pool["num_threads"] for pool in blas} == {1}
