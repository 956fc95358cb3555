"""Characters: one normal form for all scripts, and the classes that cut a text into words and unsegmented runs.

It knows no language: stems and stop words live beside it.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Final

ZWNJ: Final = "\u200c"
"""Zero-width non-joiner: Persian writes it between the parts of one word, so it connects as a hyphen does."""

_UNSEGMENTED_RANGES: Final = (
    (0x0E00, 0x0EFF), (0x0F00, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3040, 0x30FF),
    (0x3130, 0x318F), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7FF), (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)  # fmt: skip
"""Thai, Lao, Tibetan, Burmese, Khmer, Hangul, Kana and Han: written without spaces, or with long agglutinated words."""

_FIRST_UNSEGMENTED: Final = _UNSEGMENTED_RANGES[0][0]

_DROPPED_MARK_RANGES: Final = (
    (0x0300, 0x036F), (0x0483, 0x0489), (0x0591, 0x05C7), (0x0610, 0x061A), (0x064B, 0x065F), (0x0670, 0x0670),
    (0x06D6, 0x06ED), (0x08CA, 0x08FF), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0xFE00, 0xFE2F),
    (0xE0100, 0xE01EF),
)  # fmt: skip
"""Marks that a writer may leave out (accents, niqqud, tashkeel); the vowel signs of Indic scripts stay."""

_STRIPPED_BLOCKS: Final = ((0x00C0, 0x052F), (0x1E00, 0x1FFF))
"""Latin, Greek and Cyrillic: their letters lose accents, except the Cyrillic short i, which is a letter of its own."""

_LETTERS: Final = {
    "ي": "ی", "ى": "ی", "ئ": "ی", "ې": "ی", "ك": "ک", "ڪ": "ک", "ة": "ه", "ۀ": "ه", "ە": "ه", "أ": "ا", "إ": "ا",
    "آ": "ا", "ٱ": "ا", "ؤ": "و", "ـ": "", "ء": "", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D",
    "ı": "i", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "’": "'", "ʼ": "'", "‐": "-", "‑": "-", "й": "й", "Й": "Й",
    ZWNJ: ZWNJ,
}  # fmt: skip


class _Table(dict[int, str]):
    """A translation table that works out each code point once, the first time it is met."""

    def __init__(self, work_out: Callable[[str], str]) -> None:
        super().__init__()
        self._work_out = work_out

    def __missing__(self, code: int) -> str:
        text = self[code] = self._work_out(chr(code))
        return text


def normalise(text: str) -> str:
    """NFKC, ASCII digits, one form per Arabic letter, no optional marks, no invisible characters. Case is kept.

    The case still tells where ``camelCase`` parts; the analyzer folds it afterwards. Idempotent.
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text).translate(_FOLDED)


def chunks_of(text: str) -> list[str]:
    """The normal form of any text, parted at what stands in no run: ``runs_of`` them gives the runs of the text."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return text.translate(_SPACED).split()


def runs_of(chunk: str) -> list[str]:
    """The runs of a normalised text, in order."""
    found: list[str] = (_ASCII_RUN if chunk.isascii() else _RUN).findall(chunk)
    return found


def letters_of(text: str) -> str:
    """The characters of all runs of a normalised text but ``_`` and connectors."""
    return text.translate(_LETTERS_ONLY)


def is_unsegmented(run: str) -> bool:
    """Whether a run is of a script that does not part its words by spaces."""
    code = ord(run[0])
    return code >= _FIRST_UNSEGMENTED and _within(code, _UNSEGMENTED_RANGES)


def _fold_character(character: str) -> str:
    if character in _LETTERS:
        return _LETTERS[character]
    category, code = unicodedata.category(character), ord(character)
    if category == "Nd":
        return str(unicodedata.digit(character))
    if category == "Cf" or (category in {"Mn", "Me"} and _within(code, _DROPPED_MARK_RANGES)):
        return ""
    if _within(code, _STRIPPED_BLOCKS):
        return unicodedata.normalize("NFD", character)[0]
    return character


def _fold_to_runs(character: str) -> str:
    """As ``_fold_character``, with a blank for whatever stands in no run: all of it parts runs alike."""
    return "".join(one if one in CONNECTORS or _RUN.fullmatch(one) else " " for one in _fold_character(character))


def _letter(character: str) -> str:
    return character if character != "_" and _RUN.fullmatch(character) else ""


def _within(code: int, ranges: Iterable[tuple[int, int]]) -> bool:
    return any(first <= code <= last for first, last in ranges)


def _character_class(codes: Iterable[int]) -> str:
    """The inside of a regular expression's ``[...]`` for ascending code points."""
    spans: list[list[int]] = []
    for code in codes:
        if spans and spans[-1][1] == code - 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in spans)


def _is_word_character(code: int) -> bool:
    return unicodedata.category(chr(code))[0] in "LNM"


_FOLDED: Final = _Table(_fold_character)
_SPACED: Final = _Table(_fold_to_runs)
_LETTERS_ONLY: Final = _Table(_letter)
_LAST_WORD_CODE: Final = 0x1FFFF
"""Beyond it lie only Han extensions, which are unsegmented, and tags."""

_UNSEGMENTED: Final = "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in _UNSEGMENTED_RANGES)
_WORD: Final = "_" + _character_class(
    code for code in range(0x30, _LAST_WORD_CODE) if _is_word_character(code) and not _within(code, _UNSEGMENTED_RANGES)
)

CONNECTORS: Final = f"-.:'{ZWNJ}"
"""They join words to one run."""

_RUN: Final = re.compile(f"[{_UNSEGMENTED}]+|[{_WORD}]+(?:[{CONNECTORS}][{_WORD}]+)*")
"""One run of a normalised text: unsegmented characters, or a word with its inner connectors (``get_user.by-id``)."""

_ASCII_RUN: Final = re.compile(r"[A-Za-z0-9_]+(?:[-.:'][A-Za-z0-9_]+)*")
"""``_RUN`` for text that is ASCII: the same runs, found faster."""
