"""Scripts without spaces between words: a run parts at words of asking, then into overlapping pairs of characters.

It needs no dictionary; what a pair is worth is left to its frequency.
"""

import re
from typing import Final

_SAYS_NOTHING: Final = re.compile(
    "(?<![申邀聘])请(?![求假柬])(?:问|你|您)?(?:帮我|帮忙)?|帮我|帮忙|麻烦[你您]?|给我|我们?(?:想知道|想要|想|要|需要|希望|打算)"
    "|能不能|能否|可不可以|可以吗|如何|怎么样?|怎样|什么|哪些|有没有|一下|我们|[我你您他她它]的|[这那][些个]"
    "|以及|或者|并且|然后|(?<![目标])的(?!确)|[吗呢]$"
)
"""Words of asking and joining. «请» and «的» are left alone inside 申请 (apply), 目的 (purpose) and their like."""


def clauses(run: str) -> list[str]:
    """A run without the words that ask or only join, cut where they stood; the run itself if nothing else is in it.

    >>> clauses("请帮我查询实例的列表")
    ['查询实例', '列表']
    """
    return [piece for piece in _SAYS_NOTHING.split(run) if piece] or [run]


def pairs(run: str) -> list[str]:
    """Overlapping pairs in order; a run of one character is its own only term.

    >>> pairs("查询实例")
    ['查询', '询实', '实例']
    """
    if len(run) == 1:
        return [run]
    return [run[index : index + 2] for index in range(len(run) - 1)]
