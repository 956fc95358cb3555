"""The directions in which tools differ, for the models of ``cluster.models``: from texts of tools, without any label.

``python -m evals.fit_projections --tools FILE --tools FILE ...`` writes ``configs/projections``. Which models get one
is decided here too: e5 lost by it (measured), so it keeps all its dimensions.
"""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import click
import numpy as np
import numpy.typing as npt

from cluster.embedder import TextModel
from cluster.embedding_text import embedding_text
from cluster.models.minilm import MiniLM
from cluster.models.use import UniversalSentenceEncoder
from evals.data import read_tools

DIMS: Final = 128
"""Of 128, 160, 192, 256 and all, the best on development sets, and the cheapest."""

MOST_OF_A_FILE: Final = 1_500
"""Texts taken from one file, so that no catalogue sets the directions alone."""

SEED: Final = 1

MODELS: Final[tuple[Callable[..., TextModel], ...]] = (MiniLM, UniversalSentenceEncoder)


def directions_of(vectors: npt.NDArray[np.float32], dims: int) -> npt.NDArray[np.float32]:
    """float32[width, dims]: the first eigenvectors of the vectors' second moments, not centred.

    The first direction is what all texts share; kept, cosines stay near those of the model. The sign of each is such
    that its largest component is positive.
    """
    moments = vectors.astype(np.float64).T @ vectors.astype(np.float64)
    _, columns = np.linalg.eigh(moments)
    first = columns[:, ::-1][:, :dims]
    largest = np.take_along_axis(first, np.abs(first).argmax(axis=0, keepdims=True), axis=0)
    return np.asarray(first * np.sign(largest), np.float32)


def rotated(directions: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The same directions turned by one random rotation: no cosine changes, and no component is large.

    A vector's share of the first direction is ten times that of the last; as 8-bit integers, components of one size
    lose less. The rotation is that of the QR decomposition of a seeded Gaussian matrix, its diagonal made positive.
    """
    gaussian = np.random.Generator(np.random.PCG64(SEED)).standard_normal((directions.shape[1],) * 2)
    basis, triangle = np.linalg.qr(gaussian)
    return np.asarray(directions.astype(np.float64) @ (basis * np.sign(np.diag(triangle))), np.float32)


@click.command()
@click.option("--tools", "tool_files", type=click.Path(path_type=Path), multiple=True, required=True)
@click.option("--output", type=click.Path(path_type=Path), default=Path("configs/projections"), show_default=True)
def main(tool_files: tuple[Path, ...], output: Path) -> None:
    """Fit and write the directions of each model."""
    texts = [text for file in tool_files for text in _sample(file)]
    output.mkdir(parents=True, exist_ok=True)
    for load in MODELS:
        model = load(threads=2)
        with click.progressbar(length=len(texts), label=model.name) as bar:
            vectors = np.concatenate(
                [_encoded(model, texts[at : at + 256], bar.update) for at in range(0, len(texts), 256)]
            )
        directions = rotated(directions_of(vectors, DIMS).astype(np.float16).astype(np.float32))
        np.save(output / f"{model.name}.npy", directions.astype(np.float16), allow_pickle=False)


def _encoded(model: TextModel, texts: Sequence[str], progress: Callable[[int], None]) -> npt.NDArray[np.float32]:
    vectors = model.encode_records(texts)
    progress(len(texts))
    return vectors


def _sample(file: Path) -> list[str]:
    records, _ = read_tools([file])
    texts = sorted({embedding_text(record) for record in records})
    return texts if len(texts) <= MOST_OF_A_FILE else random.Random(SEED).sample(texts, MOST_OF_A_FILE)  # noqa: S311


if __name__ == "__main__":
    main()
