"""Pretrained models that come inside packages: the settings' names, and how each is loaded.

Everything else works without those packages: they are imported only when a model of theirs is asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from cluster.embedder import CompositeEmbedder, TextModel
from cluster.errors import InvalidConfiguration, ModelNotInstalled
from cluster.models.projected import Projected, read_directions


def load_model(name: str, *, threads: int = 1) -> TextModel:
    """The model of this name, ready to use; it takes about a second.

    Args:
        name: one of ``MODEL_NAMES``.
        threads: most texts that ``encode_records`` works on at once, each on one core.

    Raises:
        InvalidConfiguration: if no model has this name.
        ModelNotInstalled: if a package of the model is missing.
        ModelMismatch: if a file of the model is not the one that Shortlist was tested with.
    """
    if name not in _LOADERS:
        raise InvalidConfiguration("vectors.models", name, f"one of {', '.join(_LOADERS)}")
    try:
        return _LOADERS[name](threads)
    except ImportError as exc:
        raise ModelNotInstalled(name, exc.name or str(exc)) from exc


def load_embedder(names: Sequence[str], *, threads: int = 1) -> CompositeEmbedder:
    """The models of these names behind one vector, in this order; arguments and errors as ``load_model``."""
    return CompositeEmbedder([load_model(name, threads=threads) for name in names])


def _use(threads: int) -> TextModel:
    from cluster.models.use import UniversalSentenceEncoder  # noqa: PLC0415 -- needs the extra

    return Projected(UniversalSentenceEncoder(threads=threads), read_directions("use"))


def _minilm(threads: int) -> TextModel:
    from cluster.models.minilm import MiniLM  # noqa: PLC0415 -- needs the extra

    return Projected(MiniLM(threads=threads), read_directions("minilm"))


def _e5(threads: int) -> TextModel:
    from cluster.models.e5 import MultilingualE5  # noqa: PLC0415 -- needs the extra

    return MultilingualE5(threads=threads)


_LOADERS: Final[Mapping[str, Callable[[int], TextModel]]] = {"use": _use, "minilm": _minilm, "e5": _e5}
MODEL_NAMES: Final = tuple(_LOADERS)
