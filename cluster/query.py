"""One analysis per query: its terms, and the spans that may name a tool, a capability or a domain exactly.

It knows nothing of what the index holds; a mention that no authorized record answers to costs and reveals nothing.
"""

import re
from dataclasses import dataclass
from typing import Final

from shards.analyzer import analyze_query, name_key
from shards.messages import Mention, MentionField

NAME_BONUS: Final = 400_000_000
"""Above every term score that the built-in ranker gives, so that an exactly named tool comes first."""

_IDENTIFIER = re.compile(r"[^\W_]+(?:[_.\-/:]+[^\W_]+)+|[^\W\d_]*[a-z0-9][A-Z]\w*")
_QUOTED = re.compile(r"[`\"'«“]([^`\"'»”]{2,80})[`\"'»”]")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyzedRequest:
    """A query as the cluster sees it.

    Attributes:
        terms: distinct index terms in order of first appearance.
        term_weights: 1..256 per term, 256 = full.
        mentions: look-ups beside the terms, in order of the query.
        length: number of distinct terms; picks the ranker's mix.
    """

    terms: tuple[str, ...]
    term_weights: tuple[int, ...]
    mentions: tuple[Mention, ...]
    length: int


def plan_query(text: str) -> AnalyzedRequest:
    """Analyse a query. Text without letters or digits has no terms and no mentions."""
    analyzed = analyze_query(text)
    spans = [text, *_QUOTED.findall(text), *_IDENTIFIER.findall(text)]
    keys = dict.fromkeys(key for key in map(name_key, spans) if key)
    return AnalyzedRequest(
        terms=analyzed.terms,
        term_weights=analyzed.weights,
        mentions=tuple(Mention(field=MentionField.NAME, key=key, bonus=NAME_BONUS) for key in keys),
        length=len(analyzed.terms),
    )
