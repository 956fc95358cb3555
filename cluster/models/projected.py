"""A model seen through the directions in which tools differ: fewer dimensions, and no worse at finding tools.

The directions are fitted by ``evals.fit_projections`` and shipped in ``configs/projections``.
"""

import hashlib
from collections.abc import Sequence
from importlib.resources import files
from io import BytesIO

import numpy as np
import numpy.typing as npt

from cluster.embedder import TextModel
from cluster.models.singly import Vector, unit


class Projected:
    """See ``TextModel``; a text's vector is the model's, projected and brought back to length 1.

    Args:
        model: whose vectors are projected.
        directions: float32[model.dims, dims], orthonormal columns.
    """

    def __init__(self, model: TextModel, directions: npt.NDArray[np.float32]) -> None:
        self._model = model
        self._directions = directions
        self.name = model.name
        self.dims = directions.shape[1]
        self.languages = model.languages
        self.low = model.low
        self.high = model.high
        digest = hashlib.blake2b(directions.tobytes(), digest_size=8).hexdigest()
        self.fingerprint = f"{model.fingerprint}-{digest}"

    def encode_records(self, texts: Sequence[str]) -> Vector:
        """See ``TextModel``."""
        vectors = np.empty((len(texts), self.dims), np.float32)
        for row, vector in enumerate(self._model.encode_records(texts)):
            # One by one, as in ``singly``: a product of a whole batch may differ in the last bits.
            vectors[row] = self._seen(vector)
        return vectors

    def encode_query(self, text: str) -> Vector:
        """See ``TextModel``."""
        return self._seen(self._model.encode_query(text))

    def _seen(self, vector: Vector) -> Vector:
        # Not BLAS, whose threads may change the order of a sum.
        return unit(np.einsum("i,ij->j", vector, self._directions))


def read_directions(name: str) -> npt.NDArray[np.float32]:
    """The shipped directions of a model, float32[model dims, dims]."""
    content = (files("configs") / "projections" / f"{name}.npy").read_bytes()
    directions: npt.NDArray[np.float16] = np.load(BytesIO(content), allow_pickle=False)
    return np.ascontiguousarray(directions, np.float32)
