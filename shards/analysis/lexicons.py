"""The word lists of ``configs/lexicons`` as they are written: word by word, in normal form, Persian verbs in all forms.

It turns no word into a term: which term a word gives is the analyzer's business, and the analyzer needs these lists.
"""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

import yaml

from shards.analysis.persian import conjugated
from shards.analysis.scripts import normalise

Entries = Mapping[str, tuple[str, ...]]
"""What is said -> the distinct words that say it, in all languages; ``_`` joins the words of a phrase."""

_FOLDER: Final = files("configs").joinpath("lexicons")
_ACTIONS: Final = _FOLDER.joinpath("actions.yaml")
_TOOLS: Final = _FOLDER.joinpath("tools.yaml")
_STOPWORDS: Final = _FOLDER.joinpath("stopwords.yaml")
_STEMS: Final = _FOLDER.joinpath("stems.yaml")
_CONCEPTS: Final = tuple(
    _FOLDER.joinpath("concepts", f"{part}.yaml") for part in ("business", "general", "life", "office", "software")
)
LEXICONS: Final = (_ACTIONS, _TOOLS, _STOPWORDS, _STEMS, *_CONCEPTS)
"""Every file whose change changes terms."""

_LOADER: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""All scalars are strings, since ``on`` and ``no`` are words here; in C, where that is built, it is much faster."""


def _read(*sources: Traversable) -> dict[str, dict[str, str]]:
    """What is said -> language -> the words that say it."""
    said: dict[str, dict[str, str]] = {}
    for source in sources:
        said |= yaml.load(source.read_text("utf-8"), Loader=_LOADER)  # noqa: S506 -- only strings
    return said


def _entries(said: Mapping[str, Mapping[str, str]]) -> Entries:
    return {name: tuple(dict.fromkeys(_words(languages))) for name, languages in said.items()}


def _words(languages: Mapping[str, str]) -> Iterator[str]:
    for words in languages.values():
        for word in normalise(words).split():
            past, slash, present = word.partition("/")
            if slash:
                yield from conjugated(past, present)
            else:
                yield word


_DONE: Final = _read(_ACTIONS)
_MEANT: Final = _read(*_CONCEPTS)
ACTIONS: Final = _entries(_DONE)
CONCEPTS: Final = _entries(_MEANT)
TOOL_WORDS: Final = _entries(_read(_TOOLS))

KEPT: Final = _entries(_read(_STEMS))["kept"]
"""Words that are their own stems."""

UNSAID: Final = _entries(_read(_STOPWORDS))
"""Words that say nothing, under ``stop`` and ``filler``."""

ENGLISH: Final = frozenset(
    word for said in (_DONE, _MEANT) for languages in said.values() for word in languages.get("en", "").split()
)
"""The English words of actions and concepts."""
