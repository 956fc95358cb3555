"""Text of records on a terminal: nothing in it may steer the terminal or be taken for markup."""

from typing import Final

from rich.text import Text

_ELLIPSIS: Final = "…"


def shown(text: str, limit: int = 400) -> Text:
    """``text`` on one line, cut, with every character that cannot be seen replaced."""
    line = " ".join(text.split())
    cut = line if len(line) <= limit else line[: limit - 1] + _ELLIPSIS
    return Text("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in cut))
