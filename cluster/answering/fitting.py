"""How well each sentence of some evidence fits a question: by the terms of the index, rare ones more than common ones.

It knows no shapes and picks nothing.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cluster.answering.contract import Source
from cluster.answering.sentences import Sentence, sentences_of
from cluster.language import language_of
from shards.analyzer import analyze_query, concepts_of, terms_of

AROUND: Final = 0.6
"""What a term counts that stands in the title or section of a sentence, not in itself."""

BESIDE: Final = 0.3
"""The same of the sentences before and after it."""


FOREIGN: Final = 0.6
"""What a sentence counts in another language than the question's: who asks in it would rather read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """One sentence beside a question.

    Attributes:
        source: index of its source.
        place: index among the sentences of its source.
        percent: share of the question's weight that the sentence and what is around it hold, 0..100.
        score: the same with rare terms counting more; to order by.
        own: terms of the question in the sentence itself.
    """

    sentence: Sentence
    source: int
    place: int
    percent: float
    score: float
    own: int


def fits_of(question: str, sources: Sequence[Source]) -> list[Fit]:
    """Every sentence of every source, the best fit first; earlier sources and sentences first among equals."""
    analysed = analyze_query(question)
    weights = dict(zip(analysed.terms, analysed.weights, strict=True))
    language = language_of(question)
    told = [[(one, _marks(one.text)) for one in sentences_of(source.text)] for source in sources]
    rare = _rarity([marks for sentences in told for _, marks in sentences])
    whole = _weighed(weights, dict.fromkeys(weights, 1.0), {}) or 1
    fits = []
    for number, (source, sentences) in enumerate(zip(sources, told, strict=True)):
        known = FOREIGN if language_of(source.text) != language else 1.0
        around = _marks(" ".join((source.title, source.section, *(value for _, value in source.about[:1]))))
        for place, (sentence, marks) in enumerate(sentences):
            beside = {mark for _, others in sentences[max(0, place - 1) : place + 2] for mark in others}
            share = {mark: _share(mark, marks, around, beside) for mark in weights}
            fits.append(
                Fit(
                    sentence=sentence,
                    source=number,
                    place=place,
                    percent=100 * known * _weighed(weights, share, {}) / whole,
                    score=_weighed(weights, share, rare) * known,
                    own=len(weights.keys() & marks),
                )
            )
    return sorted(fits, key=lambda fit: (-fit.score, fit.source, fit.place))


def _share(mark: str, own: frozenset[str], around: frozenset[str], beside: set[str]) -> float:
    return 1.0 if mark in own else AROUND if mark in around else BESIDE if mark in beside else 0.0


def _weighed(weights: Mapping[str, int], share: Mapping[str, float], rare: Mapping[str, float]) -> float:
    return sum(weight * share[mark] * rare.get(mark, 1.0) for mark, weight in weights.items())


def _marks(text: str) -> frozenset[str]:
    terms = terms_of(text)
    return frozenset(terms) | frozenset(concepts_of(terms))


def _rarity(sentences: Sequence[frozenset[str]]) -> dict[str, float]:
    held = Counter(mark for marks in sentences for mark in marks)
    return {mark: 0.5 + math.log(1 + len(sentences) / (1 + count)) for mark, count in held.items()}
