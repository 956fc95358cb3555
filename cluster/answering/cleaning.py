"""Text of strangers without what nobody sees: no control, bidi, tag or other invisible characters reach a reader.

What can be seen stays as it is; whether a text tries to give orders is not judged here.
"""

import re
import unicodedata
from typing import Final

_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})

_FILLERS: Final = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
    | set(range(0x180B, 0x1810)) | set(range(0xFE00, 0xFE10)) | set(range(0xE0100, 0xE01F0))
)  # fmt: skip
"""Variation selectors and blank letters: invisible, though their category says otherwise."""

_ARABIC: Final = "\u0620-\u064a\u066e-\u06d3\u06fa-\u06ff"
_STRAY_JOINER: Final = re.compile(f"(?<![{_ARABIC}])\u200c|\u200c(?![{_ARABIC}])")
"""Between two Arabic letters the zero-width non-joiner is spelling; anywhere else it is invisible."""


class _Kept(dict[int, int | str | None]):
    """A table for ``str.translate`` that decides about each character when it first comes."""

    def __missing__(self, code: int) -> int | str | None:
        kept: int | str | None = code
        category = unicodedata.category(chr(code))
        if category in {"Zl", "Zp"}:
            kept = "\n"
        elif category in _INVISIBLE or code in _FILLERS:
            kept = None
        self[code] = kept
        return kept


_KEPT: Final = _Kept({ord("\n"): "\n", ord("\t"): " ", ord("\r"): "\n", 0x85: "\n", 0x200C: "\u200c"})


def clean(text: str) -> str:
    """``text`` without invisible characters, every end of a line the same; a clean text stays as it is."""
    if text.isascii() and text.isprintable():
        return text
    return _STRAY_JOINER.sub("", text.replace("\r\n", "\n").translate(_KEPT))
