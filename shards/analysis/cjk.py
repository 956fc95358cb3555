"""Scripts without spaces between words: a run becomes its overlapping pairs of characters.

It needs no dictionary; what a pair is worth is left to its frequency.
"""


def pairs(run: str) -> list[str]:
    """Overlapping pairs in order; a run of one character is its own only term.

    >>> pairs("查询实例")
    ['查询', '询实', '实例']
    """
    if len(run) == 1:
        return [run]
    return [run[index : index + 2] for index in range(len(run) - 1)]
