"""Near-duplicates: do two records say the same, and if so, which of them stands for both?

A pure decision on two records; it looks nothing up and changes neither. Wording may differ, what is said may not:
numbers, codes, locale, release and the state of a fault outweigh any likeness.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Final

from cluster.duplicate_text import ALIKE, LIGHT, Gist, gist_of
from shards.analyzer import actions_of, concepts_of
from shards.record import Record

SHARE: Final = 1024
"""Shares of words are counted of this many."""

SAME_WORDS: Final = 655
"""Words that two duplicates have in common, of all words of both: 64 %."""

SAME_PART: Final = 800
"""Words of the shorter one that a duplicate holds: 78 %."""

RELATED_PART: Final = 700
"""Words of the shorter one from which on a person should look: 68 %."""

COPIED: Final = 0.9
"""Words that stand in the same order, of all words of both, from which on one text is a copy of the other."""

PHRASE: Final = 3
"""Words that can stand in the place of others; with more of them, the sentence is another one, or one that moved."""

LONGEST: Final = 400
"""Words up to which texts are laid side by side, in at most 7 ms; a person should look at longer ones."""

SURE_LIKENESS: Final = 1024
"""Likeness of vectors from which on a person should look, whatever the words: what its makers call a sure likeness."""


class Verdict(StrEnum):
    """``duplicate``: one can stand for both. ``review``: a person should look. ``distinct``: neither."""

    DUPLICATE = "duplicate"
    REVIEW = "review"
    DISTINCT = "distinct"


class Reason(StrEnum):
    """What decided. The first group keeps records apart, the second one leaves it to a person, the last is likeness."""

    OTHER_TENANT = "other_tenant"
    OTHER_KIND = "other_kind"
    OTHER_PRODUCT = "other_product"
    OTHER_LOCALE = "other_locale"
    OTHER_CODES = "other_codes"
    OTHER_RELEASE = "other_release"
    OTHER_RESOLUTION = "other_resolution"
    OTHER_STATUS = "other_status"
    OTHER_ACCESS = "other_access"
    OTHER_PARAMETERS = "other_parameters"
    OTHER_NUMBERS = "other_numbers"
    OTHER_LITERALS = "other_literals"
    OTHER_QUOTES = "other_quotes"
    CONTRARY = "contrary"
    EXCHANGED = "exchanged"
    MORE_CODES = "more_codes"
    NEGATED = "negated"
    SAME_WORDS = "same_words"
    SHARED_WORDS = "shared_words"
    SAME_MEANING = "same_meaning"
    FEW_SHARED_WORDS = "few_shared_words"


_APART: Final = frozenset(
    {Reason.OTHER_TENANT, Reason.OTHER_KIND, Reason.OTHER_PRODUCT, Reason.OTHER_LOCALE, Reason.OTHER_CODES}
)
_VERSIONED: Final = frozenset({Reason.OTHER_RELEASE, Reason.OTHER_STATUS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """How alike two records are; shares are of ``SHARE``.

    Attributes:
        words: words of both, of all words of either.
        part: words of both, of those of the shorter one.
        pairs: pairs of neighbouring words of both, of all pairs of either.
        vectors: likeness of their vectors, 1024 for a sure one; None where there are none.
    """

    words: int
    part: int
    pairs: int
    vectors: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What is to be thought of two records; at least one reason."""

    verdict: Verdict
    reasons: tuple[Reason, ...]
    likeness: Likeness


def judge(one: Record, other: Record, vectors: int | None = None) -> Judgement:
    """Compare two records; which comes first makes no difference.

    ``vectors`` is the likeness of their vectors, None where there is none to tell.
    """
    left, right = gist_of(one), gist_of(other)
    likeness = Likeness(
        words=_share(len(left.words & right.words), len(left.words | right.words)),
        part=_share(len(left.words & right.words), min(len(left.words), len(right.words))),
        pairs=_share(len(left.pairs & right.pairs), len(left.pairs | right.pairs)),
        vectors=vectors,
    )
    differences = tuple(_differences(one, other, left, right))
    same = likeness.words >= SAME_WORDS and likeness.part >= SAME_PART
    if same and not differences and _exchanged(*sorted((left.spoken, right.spoken))):
        differences = (Reason.EXCHANGED,)
    if _APART.intersection(differences):
        return Judgement(verdict=Verdict.DISTINCT, reasons=differences, likeness=likeness)
    if same:
        verdict = Verdict.REVIEW if differences else Verdict.DUPLICATE
        return Judgement(verdict=verdict, reasons=(*differences, Reason.SAME_WORDS), likeness=likeness)
    if Reason.OTHER_NUMBERS in differences and not _VERSIONED.intersection(differences):
        # Alike in form, about something else: two plans, two limits.
        return Judgement(verdict=Verdict.DISTINCT, reasons=differences, likeness=likeness)
    if likeness.part >= RELATED_PART:
        return Judgement(verdict=Verdict.REVIEW, reasons=(*differences, Reason.SHARED_WORDS), likeness=likeness)
    if vectors is not None and vectors >= SURE_LIKENESS:
        return Judgement(verdict=Verdict.REVIEW, reasons=(*differences, Reason.SAME_MEANING), likeness=likeness)
    return Judgement(verdict=Verdict.DISTINCT, reasons=(*differences, Reason.FEW_SHARED_WORDS), likeness=likeness)


def canonical_of(records: Iterable[Record]) -> Record:
    """The one that stands for all of these duplicates: with a source, else the longer text, else the smaller id.

    Raises:
        ValueError: if there is none.
    """
    return min(records, key=lambda one: (not one.source_url, -len(one.description), one.id))


def _differences(one: Record, other: Record, left: Gist, right: Gist) -> Iterable[Reason]:
    fields = (
        (Reason.OTHER_TENANT, one.access.tenant, other.access.tenant),
        (Reason.OTHER_KIND, one.kind, other.kind),
        (Reason.OTHER_PRODUCT, one.product, other.product),
        (Reason.OTHER_LOCALE, one.locale, other.locale),
        (Reason.OTHER_RELEASE, one.release, other.release),
        (Reason.OTHER_RESOLUTION, left.resolution, right.resolution),
        (Reason.OTHER_STATUS, one.status, other.status),
        (Reason.OTHER_ACCESS, one.access, other.access),
        (Reason.OTHER_PARAMETERS, one.parameters, other.parameters),
    )
    yield from (reason for reason, mine, its in fields if mine != its)
    if _conflict(left.codes, right.codes) or _conflict(left.capitals, right.capitals):
        yield Reason.OTHER_CODES
    elif _differ(left.codes, right.codes):
        yield Reason.MORE_CODES
    if _differ(left.numbers, right.numbers) or _conflict(left.counts, right.counts):
        yield Reason.OTHER_NUMBERS
    if _conflict(left.literals, right.literals):
        yield Reason.OTHER_LITERALS
    if _conflict(left.quoted, right.quoted):
        yield Reason.OTHER_QUOTES
    if _contrary(left.contrasts, right.contrasts):
        yield Reason.CONTRARY
    if left.negations != right.negations or _conflict(left.denied, right.denied):
        yield Reason.NEGATED


def _exchanged(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether a word stands in the place of another one, so that the rest is the same and this is what differs.

    Words of one concept or action are ways to say the same. In a copy, words that changed places count, too, as does
    all that is too long to be told in time.
    """
    if one == other:
        return False
    if max(len(one), len(other)) > LONGEST:
        return True
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    more, less = Counter(one) - Counter(other), Counter(other) - Counter(one)
    copied = matcher.ratio() >= COPIED
    for change, start, end, other_start, other_end in matcher.get_opcodes():
        gone = [word for word in one[start:end] if word not in LIGHT]
        come = [word for word in other[other_start:other_end] if word not in LIGHT]
        if change != "replace" or not 0 < len(gone) <= PHRASE or not 0 < len(come) <= PHRASE:
            continue
        if not copied:
            gone, come = [word for word in gone if more[word]], [word for word in come if less[word]]
        if gone and come and not _meanings(gone) & _meanings(come):
            return True
    return False


def _meanings(words: Sequence[str]) -> frozenset[str | int]:
    alike = (ALIKE[word] for word in words if word in ALIKE)
    return frozenset((*concepts_of(words), *actions_of(words), *alike))


def _conflict(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether each says something that the other does not; one that only says less does not contradict."""
    return bool(left - right) and bool(right - left)


def _contrary(left: frozenset[tuple[int, int]], right: frozenset[tuple[int, int]]) -> bool:
    """Whether of one group each names something that the other does not."""
    return bool({group for group, _ in left - right} & {group for group, _ in right - left})


def _differ(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether both name some, and not the same ones; one that names none only says less."""
    return bool(left) and bool(right) and left != right


def _share(part: int, whole: int) -> int:
    return SHARE * part // whole if whole else 0
