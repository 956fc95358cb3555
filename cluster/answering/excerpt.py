"""Excerpt: the sentences of one piece of evidence that fit a question best, for a first look that costs little.

It answers nothing and judges nothing: whoever finds no complete answer in an excerpt reads the whole piece.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from cluster.answering.contract import Inquiry, Source
from cluster.answering.fitting import Fit, fits_of
from cluster.answering.sentences import blocks_of
from cluster.tokens import estimate_tokens

EXCERPT_TOKENS: Final = 100
"""Of an excerpt's text, unless its best sentence alone is longer."""

MOST_PERCENT: Final = 60
"""Of its piece that an excerpt may have: a longer one would save less than a second look costs."""

SURE_PERCENT: Final = 35
"""Share of the question's weight that the best sentence must hold, with what is around it: else nobody knows where."""

GAP: Final = " … "


def excerpt_of(inquiry: Inquiry, source: Source) -> Source:
    """``source`` with the sentences that fit best, those beside the best one, and a mark where others were left out.

    The source itself where that would save little, or no sentence fits.
    """
    most = estimate_tokens(source.text) * MOST_PERCENT // 100
    fits = fits_of(inquiry.text, [source])
    if not fits or fits[0].percent < SURE_PERCENT:
        return source
    text = _shown(source.text, fits, _chosen(fits))
    return replace(source, text=text) if estimate_tokens(text) <= most else source


def _chosen(fits: Sequence[Fit]) -> frozenset[int]:
    """Places of sentences: the best, the ones after and before it, then the next best, as many as there is room for."""
    by_place = {fit.place: fit for fit in fits}
    best = fits[0].place
    chosen: set[int] = set()
    room = EXCERPT_TOKENS
    for place in dict.fromkeys((best, best + 1, best - 1, *(fit.place for fit in fits))):
        if place not in by_place:
            continue
        room -= estimate_tokens(by_place[place].sentence.text)
        if room < 0 and chosen:
            break
        chosen.add(place)
    return frozenset(chosen)


def _shown(text: str, fits: Sequence[Fit], chosen: frozenset[int]) -> str:
    """The chosen sentences in their order; a block that is shown whole stands as it was written."""
    sentences: dict[int, list[Fit]] = {}
    for fit in sorted(fits, key=lambda fit: fit.place):
        sentences.setdefault(fit.sentence.block, []).append(fit)
    shown: list[str] = []
    whole = False
    for number, block in enumerate(blocks_of(text)):
        told = sentences.get(number)
        # What holds no sentence, such as the end of a listing, goes with what it follows.
        whole = whole if told is None else all(fit.place in chosen for fit in told)
        if whole:
            shown.append(block.strip("\n"))
        elif told and (part := GAP.join(_runs(told, chosen))):
            shown.append(part)
    return "\n".join(filter(None, shown))


def _runs(told: Sequence[Fit], chosen: frozenset[int]) -> Iterator[str]:
    """Chosen sentences of one block, neighbours in one text."""
    run: list[str] = []
    for fit in told:
        if fit.place in chosen:
            run.append(fit.sentence.text)
        elif run:
            yield " ".join(run)
            run = []
    if run:
        yield " ".join(run)
