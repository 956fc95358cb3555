"""Extracts: from the sentences that fit a question best to an answer of the asked shape, or to none."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cluster.answering import value_words as words
from cluster.answering.fitting import Fit
from cluster.answering.values import Value, best_amount, best_date, best_duration, best_name, hours_of, plain
from cluster.language import language_of
from shards.analyzer import terms_of

LOOKED_AT: Final = 6
"""Sentences in which a typed value is looked for."""

NEAR: Final = 0.6
"""Share of the best score below which a sentence is not asked for its value, or put in a list."""

MOST_ITEMS: Final = 12

TOLD_PERCENT: Final = 70
"""Share of the question's weight from which a sentence answers it though no value of the asked type is found in it."""

_NEGATION: Final = re.compile(words.NEGATIONS, re.IGNORECASE)


_CLAUSE: Final = re.compile(r"[;؛:,،]\s|\s(?:but|while|но|اما|ولی)\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """An answer to one part: its text, the indexes of its sources, and how much of the question stands around it."""

    text: str
    sources: tuple[int, ...]
    percent: float


def extract(question: str, shape: str, fits: Sequence[Fit]) -> Extract | None:
    """The answer in these sentences, best first; None where they have none of this shape."""
    if not fits:
        return None
    return _BY_SHAPE.get(shape, _text)(question, fits)


def _amount(question: str, fits: Sequence[Fit]) -> Extract | None:
    return _typed(question, fits, best_amount) or _told(question, fits)


def _date(question: str, fits: Sequence[Fit]) -> Extract | None:
    """A date, or how long it takes: "when is it back?" has both answers. Hours and weekdays say it as a sentence."""
    dated = _typed(question, fits, best_date)
    timed = dated or _typed(question, fits, best_duration) or _typed(question, fits, hours_of)
    return timed or _told(question, fits)


def _told(question: str, fits: Sequence[Fit]) -> Extract | None:
    """The sentence that says nearly all of the question: its value is written as no pattern here knows it."""
    return _text(question, fits) if fits[0].percent >= TOLD_PERCENT else None


def _name(question: str, fits: Sequence[Fit]) -> Extract:
    return _typed(question, fits, best_name) or _sentence(fits[0])


def _typed(question: str, fits: Sequence[Fit], best: Callable[[str, str], Value | None]) -> Extract | None:
    for fit in _near(fits)[:LOOKED_AT]:
        if (value := best(question, fit.sentence.text)) is not None:
            return Extract(text=value.text, sources=(fit.source,), percent=fit.percent)
    return None


def _yes_or_no(question: str, fits: Sequence[Fit]) -> Extract:
    fit = fits[0]
    yes, no = words.YES_NO.get(language_of(question), words.YES_NO["en"])
    word = no if _NEGATION.search(plain(_clause(question, fit.sentence.text))) else yes
    return Extract(text=f"{word}. {fit.sentence.text}", sources=(fit.source,), percent=fit.percent)


def _clause(question: str, sentence: str) -> str:
    """The part of a sentence that says most of the question: another one may be denied."""
    asked = frozenset(terms_of(question))
    return max(_CLAUSE.split(sentence), key=lambda part: len(asked & frozenset(terms_of(part))))


def _text(_question: str, fits: Sequence[Fit]) -> Extract:
    """The best sentence with the one after it in its paragraph, which says what follows from it."""
    best = fits[0]
    after = [
        fit for fit in fits
        if (fit.source, fit.sentence.block, fit.place) == (best.source, best.sentence.block, best.place + 1)
    ]  # fmt: skip
    text = " ".join(fit.sentence.text for fit in (best, *after))
    return Extract(text=text, sources=(best.source,), percent=best.percent)


def _sentence(fit: Fit) -> Extract:
    return Extract(text=fit.sentence.text, sources=(fit.source,), percent=fit.percent)


def _list(_question: str, fits: Sequence[Fit]) -> Extract:
    """The items of the list that the best sentence stands in or before; without one the sentences near it in score."""
    best = fits[0]
    near = sorted(_near(fits)[:MOST_ITEMS], key=lambda fit: (fit.source, fit.place))
    items = [fit for fit in near if fit.source == best.source and fit.sentence.item] if best.sentence.item else near
    return Extract(
        text="\n".join(dict.fromkeys(fit.sentence.text for fit in items)),
        sources=tuple(sorted({fit.source for fit in items})),
        percent=best.percent,
    )


def _comparison(_question: str, fits: Sequence[Fit]) -> Extract:
    """The best sentence of each source, or the two best ones of a single one."""
    best: dict[int, Fit] = {}
    for fit in _near(fits):
        best.setdefault(fit.source, fit)
    chosen = list(best.values()) if len(best) > 1 else list(fits[:2])
    return Extract(
        text="\n".join(fit.sentence.text for fit in chosen),
        sources=tuple(sorted({fit.source for fit in chosen})),
        percent=fits[0].percent,
    )


def _near(fits: Sequence[Fit]) -> list[Fit]:
    return [fit for fit in fits if fit.score >= NEAR * fits[0].score]


_BY_SHAPE: Final[Mapping[str, Callable[[str, Sequence[Fit]], Extract | None]]] = {
    "amount": _amount,
    "date": _date,
    "name": _name,
    "boolean": _yes_or_no,
    "list": _list,
    "comparison": _comparison,
}
