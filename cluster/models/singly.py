"""Texts one by one: a model never sees two texts in one run, so that no text can change another one's vector.

Sums of floats depend on the shape of a batch in the last bits, and so, now and then, do the integers made of them.
``use`` would be almost twice as fast together, the others gain little or nothing. Several cores work on several texts.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Vector: TypeAlias = npt.NDArray[np.float32]


def encode_singly(encode: Callable[[str], Vector], texts: Sequence[str], *, dims: int, threads: int) -> Vector:
    """``encode`` of each text, float32[n, dims] in the order of the texts; at most ``threads`` texts at once."""
    vectors = np.empty((len(texts), dims), np.float32)
    workers = min(threads, len(texts))
    if workers <= 1:
        for row, text in enumerate(texts):
            vectors[row] = encode(text)
        return vectors
    # The longest first, so that the threads end together.
    order = sorted(range(len(texts)), key=lambda row: len(texts[row]), reverse=True)
    with ThreadPoolExecutor(workers, "encode") as pool:
        for row, vector in zip(order, pool.map(lambda row: encode(texts[row]), order), strict=True):
            vectors[row] = vector
    return vectors


def well_formed(text: str) -> str:
    """A text without lone surrogates: no tokenizer takes what has no UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "ignore").decode("utf-8")


def unit(vector: Vector) -> Vector:
    """The vector at length 1. No BLAS: its sums may depend on the machine's load."""
    length = np.sqrt(np.square(vector).sum())
    scaled: Vector = vector / max(length, np.float32(1e-12))
    return scaled
