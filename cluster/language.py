"""The language of a short request, by its script, its letters and the small words that hold a sentence together.

It translates nothing and learns nothing. A guess takes tens of microseconds; a few words are often all there is.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Final

from cluster.language_words import ARABIC, CYRILLIC, ENDINGS, LATIN, LONGEST_ENDING, SHORTEST_STEM

UNDETERMINED: Final = "und"

_SAMPLE: Final = 400
"""Characters that are looked at."""

_SURE: Final = 2
"""Points of one word that belongs to one language alone; a word of several counts half as much for each."""

_SCRIPTS: Final = {
    "latin": "a-z\u00aa-\u024f\u1e00-\u1eff", "arabic": "\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc",
    "cyrillic": "\u0400-\u052f",
    "han": "\u2e80-\u2fdf\u3005\u3006\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af",
    "kana": "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f", "ko": "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3",
    "el": "\u0370-\u03ff\u1f00-\u1fff", "he": "\u0590-\u05ff", "hi": "\u0900-\u097f", "th": "\u0e00-\u0e7f",
    "bn": "\u0980-\u09ff", "pa": "\u0a00-\u0a7f", "gu": "\u0a80-\u0aff", "or": "\u0b00-\u0b7f",
    "ta": "\u0b80-\u0bff", "te": "\u0c00-\u0c7f", "kn": "\u0c80-\u0cff", "ml": "\u0d00-\u0d7f",
    "si": "\u0d80-\u0dff", "lo": "\u0e80-\u0eff", "bo": "\u0f00-\u0fff", "my": "\u1000-\u109f",
    "ka": "\u10a0-\u10ff", "am": "\u1200-\u137f", "km": "\u1780-\u17ff", "hy": "\u0530-\u058f",
}  # fmt: skip
"""Ranges of letters; a script that is written by one language alone has that language's name."""

_RUN: Final = re.compile("|".join(f"(?P<{name}>[{letters}]+)" for name, letters in _SCRIPTS.items()))
_ACCENTED: Final = re.compile("[\u00df-\u00f6\u00f8-\u024f\u1e00-\u1eff]")
_WORD: Final = re.compile(r"[^\W\d_]+")

_LETTERS_OF_A_SIGN: Final = {"han": 3, "kana": 2, "ko": 2}
"""How many letters of an alphabet one sign stands for, roughly."""

_JAPANESE_HAN: Final = frozenset(
    "気図駅売検験険権観歓変恋対円込働畑峠匂枠塩桜渋焼楽薬歩毎浜営栄労覚戻続読択単様廃県庁価仮伝"
)
"""Characters that only Japanese writes in this form."""

_MARKS: Final[Mapping[str, str]] = {
    "ß": "de", "ä": "de", "ö": "de tr", "ü": "de tr", "ñ": "es", "¿": "es", "¡": "es", "ã": "pt", "õ": "pt",
    "ç": "fr pt tr", "ê": "fr pt", "â": "fr pt", "ô": "fr pt", "î": "fr", "û": "fr", "œ": "fr", "ë": "fr nl",
    "ï": "fr nl", "è": "fr it", "à": "fr it pt", "ù": "fr it", "ò": "it", "ì": "it", "é": "fr es pt it nl",
    "á": "es pt", "í": "es pt", "ó": "es pt pl", "ú": "es pt", "ą": "pl", "ę": "pl", "ł": "pl", "ś": "pl",
    "ź": "pl", "ż": "pl", "ć": "pl", "ń": "pl", "ğ": "tr", "ş": "tr", "ı": "tr", "\u0307": "tr",
}  # fmt: skip
"""Latin letters outside ASCII, and who writes them; a letter that is not here is of no language that is known."""

_CYRILLIC_MARKS: Final[Mapping[str, str]] = {
    "і": "uk", "ї": "uk", "є": "uk", "ґ": "uk", "ы": "ru", "э": "ru", "ъ": "ru", "ё": "ru", "ў": "be",
    "ј": "sr", "љ": "sr", "њ": "sr", "ћ": "sr", "ђ": "sr", "џ": "sr", "қ": "kk", "ғ": "kk", "ң": "kk",
    "ұ": "kk", "ү": "kk", "ә": "kk",
}  # fmt: skip

_ARABIC_MARKS: Final[Mapping[str, str]] = {
    "پ": "fa ur", "چ": "fa ur", "گ": "fa ur", "ژ": "fa", "\u200c": "fa", "ک": "fa ur", "ی": "fa ur",
    "ة": "ar", "ى": "ar", "إ": "ar", "أ": "ar", "ٹ": "ur", "ڈ": "ur", "ڑ": "ur", "ں": "ur", "ے": "ur", "ہ": "ur",
}  # fmt: skip
"""Not the Arabic forms of y and k: Persian is typed with them, too."""

_ONE_KEYBOARD: Final = str.maketrans("يكى", "یکی")


def language_of(text: str) -> str:
    """ISO 639-1 code of the language that a text is most likely written in.

    Latin letters without any sign are ``en``, those of a language that is not known here ``und``, as is a text without
    letters. A few words of another script decide over Latin names between them: Persian with English words is ``fa``.
    """
    sample = text[:_SAMPLE].lower()
    if sample.isascii():
        return _latin(sample) if _WORD.search(sample) else UNDETERMINED
    sample = unicodedata.normalize("NFKC", sample)
    letters = _letters(sample)
    latin = letters.pop("latin", 0)
    if not letters:
        return _latin(sample) if latin else UNDETERMINED
    # A foreign word inside a sentence. Latin names and terms alone make no sentence.
    if latin >= 2 * letters.total() and max(_points(sample, LATIN).values(), default=0) > _SURE:
        return _latin(sample)
    return _of_script(letters, sample)


def _letters(sample: str) -> Counter[str]:
    """Letters per script, as letters of an alphabet."""
    found: Counter[str] = Counter()
    for run in _RUN.finditer(sample):
        script = str(run.lastgroup)
        found[script] += len(run[0]) * _LETTERS_OF_A_SIGN.get(script, 1)
    return found


def _of_script(letters: Counter[str], sample: str) -> str:
    if letters["kana"]:
        # One sign inside a Chinese name makes no Japanese.
        letters["ja" if letters["kana"] * 8 >= letters["han"] else "han"] += letters.pop("kana") + letters.pop("han", 0)
    script = letters.most_common(1)[0][0]
    match script:
        case "han":
            return "zh" if _JAPANESE_HAN.isdisjoint(sample) else "ja"
        case "cyrillic":
            return _best(_points(sample, CYRILLIC) + _marked(sample, _CYRILLIC_MARKS), "ru")
        case "arabic":
            return _arabic(sample)
        case _:
            return script


def _arabic(sample: str) -> str:
    points = _points(sample.translate(_ONE_KEYBOARD), ARABIC)
    points.update({language: _SURE * count for language, count in points.items()})
    points += _marked(sample, _ARABIC_MARKS)
    # The article; Persian words seldom begin so.
    points["ar"] += sum(word.startswith("ال") and len(word) > len("البته") for word in _WORD.findall(sample))
    return _best(points, "fa")


def _latin(sample: str) -> str:
    points = _points(sample, LATIN) + _endings(sample)
    if sample.isascii():
        return _best(points, "en")
    points += _marked(sample, _MARKS)
    points[UNDETERMINED] += _SURE * len(set(_ACCENTED.findall(sample)).difference(_MARKS))
    return _best(points, "en")


def _points(sample: str, words: Mapping[str, tuple[str, ...]]) -> Counter[str]:
    """Points per language of the words in a sample."""
    points: Counter[str] = Counter()
    for word in _WORD.findall(sample):
        for language in (languages := words.get(word, ())):
            points[language] += _SURE if len(languages) == 1 else 1
    return points


def _endings(sample: str) -> Counter[str]:
    """Points per language of how words end: one a word, for its longest ending."""
    points: Counter[str] = Counter()
    for word in _WORD.findall(sample):
        for letters in range(min(LONGEST_ENDING, len(word) - SHORTEST_STEM), 1, -1):
            if languages := ENDINGS.get(word[-letters:]):
                points.update(languages)
                break
    return points


def _marked(sample: str, marks: Mapping[str, str]) -> Counter[str]:
    """Points per language of the letters in a sample, each letter once."""
    points: Counter[str] = Counter()
    for letter in set(sample).intersection(marks):
        for language in (languages := marks[letter].split()):
            points[language] += _SURE if len(languages) == 1 else 1
    return points


def _best(points: Counter[str], otherwise: str) -> str:
    """The language with most points; of equal ones ``otherwise``, then the first by name. ``otherwise`` for none."""
    most = max(points.values(), default=0)
    if not most or points[otherwise] == most:
        return otherwise
    return min(language for language, count in points.items() if count == most)
