"""Endings: what may stand behind a stem that a stemmer did not cut, because it does not know it or it is misspelt.

Lists per script and the cost of leaving such an ending out; it looks no word up.
"""

from functools import lru_cache
from typing import Final

EXACT: Final = 2
"""Cost of a known ending."""

MISSPELT: Final = 9
"""Cost of one that is a letter away from a known ending of at least three letters."""

NO_ENDING: Final = 1 << 20

_LATIN: Final = """
ing ings ed er ers es est ies ied ier ly al ally able ible ably ibly ation ations ion ions tion tions ment ments ements
ity ities ility ability ilities abilities ive ives ative atively ance ances ence ences ant ants ent ents ently ness ful
fully ical ically ize izes ized izing ization izations ise ises ised ising isation ate ates ated ating ator ators or ors
ory ories ist ists ism ous ously ial ially abl iv at iz anc enc less ship ships
"""
"""English, and the remains of its endings whose last -e a stemmer cuts ("availavle" is stemmed to "availavl")."""

_ARABIC: Final = """
ها های هایی هام هات هاش هامون هاتون هاشون هایم هایت هایش هایمان هایتان هایشان هارو هاست ا ای ام ات اش امون اتون اشون
مون تون شون مان تان شان م ت ش و ی یی یم ید ین ند اند ان یان ین ون ترین تر رو را ه هم نا ک کم
"""
"""Persian as it is written and spoken, and Arabic."""

_CYRILLIC: Final = """
ами ями ого его ому ему ыми ими ать ять ить еть ешь ете ите ают яют ует уют ется ются ится аться иться ние ния нию нием
ений ого ость ости ский ская ские ского ов ев ах ях ам ям ой ей ый ий ая яя ое ее ые ие ую юю
"""
"""Russian; its stemmer cuts them where they are spelt right."""

_LONGEST: Final = 8
_KEPT: Final = 1 << 12
"""Endings of words whose costs are remembered, a quarter of a megabyte."""


def _one_missing(ending: str) -> set[str]:
    return {ending[:place] + ending[place + 1 :] for place in range(len(ending))}


class _Endings:
    """The endings of one script."""

    def __init__(self, endings: str, *, shortest_stem: int, shortest_misspelt: int) -> None:
        self.shortest_stem = shortest_stem
        self._shortest_misspelt = shortest_misspelt
        self._known = frozenset(endings.split())
        long = [ending for ending in self._known if len(ending) > 2]  # noqa: PLR2004
        self._near = frozenset(long).union(*map(_one_missing, long))

    def cost(self, ending: str) -> int:
        """``EXACT`` for a known ending, ``MISSPELT`` for a letter too few, too many, swapped or replaced in one."""
        if ending in self._known:
            return EXACT
        if len(ending) < self._shortest_misspelt:
            return NO_ENDING
        return NO_ENDING if self._near.isdisjoint({ending, *_one_missing(ending)}) else MISSPELT


_OF_LATIN: Final = _Endings(_LATIN, shortest_stem=4, shortest_misspelt=2)
_OF_ARABIC: Final = _Endings(_ARABIC, shortest_stem=3, shortest_misspelt=3)
_OF_CYRILLIC: Final = _Endings(_CYRILLIC, shortest_stem=3, shortest_misspelt=3)


def ending_costs(word: str) -> list[int]:
    """len(word) + 1 costs: that of ``word[n:]`` as an ending, 0 for nothing left, ``NO_ENDING`` where it is none."""
    costs = [NO_ENDING] * len(word) + [0]
    endings = _of_script(word)
    if endings is not None:
        for cut in range(max(endings.shortest_stem, len(word) - _LONGEST), len(word)):
            costs[cut] = _cost(endings, word[cut:])
    return costs


@lru_cache(maxsize=_KEPT)
def _cost(endings: _Endings, ending: str) -> int:
    return endings.cost(ending)


def _of_script(word: str) -> _Endings | None:
    if "a" <= word[0] <= "z":
        return _OF_LATIN
    if "\u0400" <= word[0] <= "\u04ff":
        return _OF_CYRILLIC
    if "\u0600" <= word[0] <= "\u06ff":
        return _OF_ARABIC
    return None
