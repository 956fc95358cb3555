"""Texts encoded one by one in a few threads."""

import threading
import time

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.models.singly import encode_singly, unit


def lengths(text: str) -> npt.NDArray[np.float32]:
    return np.array([len(text), text.count("a")], np.float32)


@given(st.lists(st.text(alphabet="ab", max_size=5), max_size=12), st.integers(1, 4))
def test_vectors_stand_in_the_order_of_their_texts_whatever_the_threads(texts: list[str], threads: int) -> None:
    vectors = encode_singly(lengths, texts, dims=2, threads=threads)
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [lengths(text).tolist() for text in texts]
    assert vectors.shape == (len(texts), 2)


def test_no_more_texts_are_worked_on_at_once_than_threads_were_given() -> None:
    lock, now, most = threading.Lock(), 0, 0

    def encode(text: str) -> npt.NDArray[np.float32]:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.002)
        with lock:
            now -= 1
        return lengths(text)

    encode_singly(encode, ["a"] * 20, dims=2, threads=3)
    assert most <= 3


def test_what_fails_on_one_text_fails() -> None:
    def encode(text: str) -> npt.NDArray[np.float32]:
        if text == "bad":
            raise ValueError(text)
        return lengths(text)

    with pytest.raises(ValueError, match="bad"):
        encode_singly(encode, ["a", "bad", "b"], dims=2, threads=2)


def test_a_unit_vector_has_length_one_and_nothing_stays_nothing() -> None:
    assert unit(np.array([3, 4], np.float32)).tolist() == pytest.approx([0.6, 0.8])
    assert unit(np.zeros(2, np.float32)).tolist() == [0, 0]
