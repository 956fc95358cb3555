"""Embedders of an evaluation, by the names of the settings. It is the one place of ``evals`` that opens models."""

import os
from collections.abc import Sequence
from typing import Final

from cluster.embedder import Embedder, TextModel
from cluster.errors import ModelNotInstalled
from cluster.models import load_embedder, load_model
from evals.errors import NotInstalled

RECOMMENDED: Final = ("minilm", "use", "e5")
"""The models of a system with vectors that is asked for without any."""


def open_embedder(models: Sequence[str]) -> Embedder | None:
    """The embedder of these models, None for none; it embeds records on every core.

    Raises:
        NotInstalled: if a package of a model is missing.
        InvalidConfiguration: if no model has one of the names.
        ModelMismatch: if a model's file is not the one that it was tested with.
    """
    if not models:
        return None
    try:
        return load_embedder(models, threads=_cores())
    except ModelNotInstalled as exc:
        raise NotInstalled(exc.model, exc.package, "vectors") from exc


def open_model(name: str) -> TextModel:
    """One model alone; errors as ``open_embedder``."""
    try:
        return load_model(name, threads=_cores())
    except ModelNotInstalled as exc:
        raise NotInstalled(exc.model, exc.package, "vectors") from exc


def _cores() -> int:
    return len(os.sched_getaffinity(0))
