"""Actions: the few things that tools do, each said by several verbs and in several languages.

The words stand in ``configs/lexicons/actions.yaml``; which text of a record or query is asked is the caller's business.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from typing import Final

import yaml

LEXICON: Final = files("configs").joinpath("lexicons", "actions.yaml")
_MARK: Final = "→"
"""No analysed text gives a term with this character, so an action never meets a word by chance."""


def read_lexicon(terms_of: Callable[[str], Iterable[str]]) -> Mapping[str, tuple[str, ...]]:
    """Term -> action terms, sorted; a verb may name several actions.

    Args:
        terms_of: the analyzer, so that the words of the lexicon meet those of any text.
    """
    actions: dict[str, set[str]] = {}
    for action, languages in yaml.safe_load(LEXICON.read_text("utf-8")).items():
        for words in languages.values():
            for word in words.split():
                *_, term = terms_of(word)
                actions.setdefault(term, set()).add(_MARK + action)
    return {term: tuple(sorted(found)) for term, found in actions.items()}
