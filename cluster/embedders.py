"""The embedder that the settings name: the one place from which the service loads models."""

import logging

from cluster.contract import VectorState
from cluster.embedder import Embedder
from cluster.errors import ClusterError, EmbeddingFailed
from cluster.settings.index import VectorSettings

_log = logging.getLogger(__name__)


def open_embedder(settings: VectorSettings) -> Embedder:
    """Load the models of the settings: some seconds, and up to a few hundred megabytes.

    Raises:
        EmbeddingFailed: if one of them cannot be loaded.
    """
    from cluster.models import load_embedder  # noqa: PLC0415 -- who searches by words alone has no use for it

    names = "+".join(settings.models)
    try:
        return load_embedder(settings.models, threads=settings.threads)
    except ClusterError as exc:
        raise EmbeddingFailed(names, str(exc)) from exc
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as exc:
        # Foreign code, and a panic of its Rust is no Exception. It was given no text, so its words can be repeated.
        raise EmbeddingFailed(names, f"{type(exc).__name__}: {exc}") from exc


def query_embedder(settings: VectorSettings) -> Embedder | None:
    """The embedder of queries; None where vectors are off, and where it cannot be loaded: searches go by words then."""
    if not settings.candidate_retrieval:
        return None
    try:
        return open_embedder(settings)
    except EmbeddingFailed:
        _log.exception("queries_not_embedded")
        return None


def absence_of(settings: VectorSettings) -> VectorState:
    """What it means that ``query_embedder`` gave None: ``off``, or ``failed`` where an embedder was asked for."""
    return VectorState.FAILED if settings.candidate_retrieval else VectorState.OFF
