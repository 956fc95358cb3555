"""Which terms an unknown word may mean, said a second time: slow, in plain Python, straight from the documentation.

It takes the published constants (costs, endings, limits, pairs of letters that are alike) and what is near known words.
Words and terms are of Latin letters, so that nothing is said in another script.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from shards.near import dictionary_kernel, edit_kernel, written_kernel
from shards.near.known_words import MARGIN, is_known, known_near
from shards.near.search import MOST_WORDS, NEAREST
from shards.near.search_kernel import LIKENESS_LOST, SAME_WORD
from shards.near.words import looks_like_a_word, word_of


def likeness(word: str, term: str) -> int:
    """1..256, or 0 where the term is not near the word."""
    cost = min(edited(word, term), continued(word, term))
    return max(1, SAME_WORD - LIKENESS_LOST * cost // len(word)) if cost < edit_kernel.FAR else 0


def continued(word: str, term: str) -> int:
    """Cost of a term that goes on where the word breaks off."""
    more = len(term) - len(word)
    near = term.startswith(word) and 0 < more <= written_kernel.MOST_COMPLETED
    return written_kernel.COMPLETED + more if near and comparable(term) else edit_kernel.FAR


def edited(word: str, term: str) -> int:
    """Least cost of making a term of the word, or of what stands before one of its endings."""
    known = word_of(word)
    pairs = zip(known.endings.tolist(), known.limits.tolist(), strict=True)
    costs = [
        (edits(word[:cut], term) + ending, limit)
        for cut, (ending, limit) in enumerate(pairs)
        if cut >= dictionary_kernel.SHORTEST and ending <= limit and comparable(term)
    ]
    return min((cost for cost, limit in costs if cost <= limit), default=edit_kernel.FAR)


def comparable(term: str) -> bool:
    return dictionary_kernel.SHORTEST <= len(term) <= edit_kernel.LONGEST and term.isalpha()


def edits(word: str, term: str) -> int:
    """Optimal string alignment, and what another first letter costs besides."""
    same_start = word[0] == term[0] or (word[:2] == term[1::-1])
    return _edits(word, term) + (0 if same_start else edit_kernel.FIRST_LETTER)


@cache
def _edits(word: str, term: str) -> int:
    if not word and not term:
        return 0
    costs = []
    if word:
        costs.append(_edits(word[:-1], term) + _one_more(word))
    if term:
        costs.append(_edits(word, term[:-1]) + _one_more(term))
    if word and term:
        costs.append(_edits(word[:-1], term[:-1]) + _another(word[-1], term[-1]))
    if len(word) > 1 and word[-2:] == term[:-3:-1] and word[-1] != word[-2]:
        costs.append(_edits(word[:-2], term[:-2]) + edit_kernel.SWAPPED)
    return min(costs)


def _one_more(letters: str) -> int:
    return edit_kernel.DOUBLED if letters[-1:] == letters[-2:-1] else edit_kernel.INSERTED


def _another(letter: str, other: str) -> int:
    if letter == other:
        return 0
    alike = word_of(letter * 4).alike[ord(letter) & 255, ord(other) & 255]
    return edit_kernel.ALIKE if alike else edit_kernel.SUBSTITUTED


def meant(terms: Sequence[str], weights: Sequence[int], frequencies: Mapping[str, int]) -> dict[str, int]:
    """Terms that join a question, each with its weight of 1..256.

    Args:
        terms: of the question, with their ``weights``.
        frequencies: of all terms that an authorized record holds.
    """
    words = [place for place, term in enumerate(terms) if looks_like_a_word(term)][:MOST_WORDS]
    added: dict[str, int] = {}
    for place in words:
        word = terms[place]
        if frequencies.get(word, 0) or is_known(word):
            continue
        silent = known_near(word)[0].silent
        near = {term: likeness(word, term) for term in frequencies}
        best = sorted((term for term in near if near[term] > silent), key=lambda term: (-near[term], term))[:NEAREST]
        for term in best[:3]:
            if term not in terms and near[term] >= near[best[0]] - MARGIN:
                weight = max(1, weights[place] * near[term] // SAME_WORD)
                added[term] = max(weight, added.get(term, 0))
    return added
