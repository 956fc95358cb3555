"""Actions: the few things that tools do, each said by several verbs and in several languages.

The words stand in ``configs/lexicons``; which text of a record or query is asked is the caller's business.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from typing import Final

import yaml

_ACTIONS_FILE: Final = files("configs").joinpath("lexicons", "actions.yaml")
_TOOLS_FILE: Final = files("configs").joinpath("lexicons", "tools.yaml")
LEXICONS: Final = (_ACTIONS_FILE, _TOOLS_FILE)
"""Every file whose change changes terms."""

_MARK: Final = "→"
"""No analysed text gives a term with this character, so an action never meets a word by chance."""

Analyse = Callable[[str], Iterable[str]]
"""Text -> terms; handed in, so that the words of a lexicon meet those of any text."""


def read_actions(terms_of: Analyse) -> Mapping[str, tuple[str, ...]]:
    """Term -> action terms, sorted; a verb may name several actions."""
    actions: dict[str, set[str]] = {}
    for action, languages in yaml.safe_load(_ACTIONS_FILE.read_text("utf-8")).items():
        for words in languages.values():
            for word in words.split():
                *_, term = terms_of(word)
                actions.setdefault(term, set()).add(_MARK + action)
    return {term: tuple(sorted(found)) for term, found in actions.items()}


def read_tool_words(terms_of: Analyse) -> frozenset[str]:
    """Terms of the words for "tool" itself."""
    languages = yaml.safe_load(_TOOLS_FILE.read_text("utf-8"))
    return frozenset(term for words in languages.values() for term in terms_of(words))


def is_action(term: str) -> bool:
    """Whether a term is an action, not a word of a text."""
    return term.startswith(_MARK)
