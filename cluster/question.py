"""Question: what a text asks for, as the shape of its answer and as parts, read by the rules of a lexicon.

Pure and versioned. It knows no record and no score, and decides no delivery.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, Self

from cluster.question_lexicon import COMMA, DIGITS, MARK, PLAIN, AnswerShape, QuestionLexicon, normal_form

MOST_PARTS: Final = 8
"""Parts that are told apart; what is asked beyond them is in the last one."""

MOST_CHARACTERS: Final = 600
"""Of a longer text only the first and the last half of it are read: people paste logs between greeting and question."""

REMEMBERED: Final = 1024
"""Texts that a parser remembers, because agents ask the same again."""

LONGEST_REMEMBERED: Final = 512
"""Characters of such a text."""

_HAN: Final = "㐀-䶿一-鿿"
_POINT: Final = "."
_ENDS: Final = frozenset("?؟？.!;؛\n。！；")
_MARKS: Final = frozenset("?؟？")
_COMMAS: Final = frozenset(",،:，：、")
_TOKEN: Final = rf"[^\W{_HAN}]+(?:[-.:'/@][^\W{_HAN}]+)*|[{re.escape(''.join(_ENDS | _COMMAS))}]"
_TOKENS: Final = re.compile(_TOKEN)
_ANY_HAN: Final = re.compile(f"[{_HAN}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What was asked.

    Attributes:
        parts: the shape of each thing that is asked for, in the order of asking; at least one.
        parser: version of the rules, ``caller`` where the caller said it.
    """

    parts: tuple[AnswerShape, ...]
    parser: str

    @property
    def shape(self) -> AnswerShape:
        """That of the first part."""
        return self.parts[0]

    @property
    def several(self) -> bool:
        """Whether more than one thing is asked for."""
        return len(self.parts) > 1


def question_of(shape: AnswerShape) -> Question:
    """A question of one part whose shape the caller knows."""
    return Question(parts=(shape,), parser="caller")


class QuestionParser:
    """Reads questions by one lexicon. Any text is one; what no rule knows asks for text."""

    def __init__(self, lexicon: QuestionLexicon) -> None:
        self.version: Final = lexicon.version
        self._words = lexicon.words
        self._phrases = lexicon.phrases
        self._endings = lexicon.endings
        self._beginnings = lexicon.beginnings
        self._any_ending = tuple(ending for ending, _ in lexicon.endings)
        self._any_beginning = tuple(beginning for beginning, _ in lexicon.beginnings)
        self._rules = lexicon.rules
        self._shapes = lexicon.shapes
        self._several = lexicon.several
        self._joints = lexicon.joints
        self._mark = lexicon.cues[MARK]
        self._comma = lexicon.cues[COMMA]
        self._digits = lexicon.cues[DIGITS]
        self._han_tokens = _han_tokens(lexicon)
        self._parsed_before = lru_cache(maxsize=REMEMBERED)(self._parsed)

    @classmethod
    def from_config(cls, path: Path | None = None) -> Self:
        """By the lexicon at ``path``, or the shipped one. Raises as ``QuestionLexicon.from_config``."""
        return cls(QuestionLexicon.from_config(path))

    def parse(self, text: str) -> Question:
        """What a text asks for, in time linear in ``MOST_CHARACTERS``."""
        return (self._parsed_before if len(text) <= LONGEST_REMEMBERED else self._parsed)(text)

    def _parsed(self, text: str) -> Question:
        parts: list[AnswerShape] = []
        for sentence in self._sentences(text):
            parts += self._asked(sentence)
        return Question(parts=tuple(parts[:MOST_PARTS]) or (AnswerShape.TEXT,), parser=self.version)

    def _asked(self, sentence: str) -> Iterator[AnswerShape]:
        """The shapes that one sentence asks for; none if it only tells something."""
        split = False
        for _ in range(MOST_PARTS):
            found = self._several.match(sentence) if self._joints.search(sentence) else None
            if found is None:
                break
            second = found.start(found.lastindex or 0)
            first = sentence[: second - 1]
            yield self._shape(first + self._mark if sentence.endswith(self._mark) else first) or AnswerShape.TEXT
            sentence, split = sentence[second:], True
        if (shape := self._shape(sentence)) is not None:
            yield shape
        elif split:
            yield AnswerShape.TEXT

    def _shape(self, sentence: str) -> AnswerShape | None:
        found = self._rules.match(sentence)
        return None if found is None else self._shapes[(found.lastindex or 1) - 1]

    def _sentences(self, text: str) -> Iterator[str]:
        if len(text) > MOST_CHARACTERS:
            text = f"{text[: MOST_CHARACTERS // 2]}\n{text[-MOST_CHARACTERS // 2 :]}"
        tokens = self._tokens(text)
        sentence = ""
        place, end = 0, len(tokens)
        while place < end:
            token = tokens[place]
            place += 1
            if token in self._phrases and (phrase := self._phrase(tokens, place)) is not None:
                words, cue = phrase
                sentence += cue
                place += words
            elif token not in _ENDS:
                sentence += self._cue(token)
            elif token != _POINT or not _abbreviated(tokens[place - 2 : place - 1]):
                if token in _MARKS:
                    sentence += self._mark
                if sentence:
                    yield sentence
                sentence = ""
        if sentence:
            yield sentence

    def _phrase(self, tokens: list[str], place: int) -> tuple[int, str] | None:
        """How many more words the longest phrase has whose first word stands before ``place``, and its cue."""
        if place == len(tokens):
            return None
        for rest, cue in self._phrases[tokens[place - 1]].get(tokens[place], ()):
            if tuple(tokens[place + 1 : place + 1 + len(rest)]) == rest:
                return 1 + len(rest), cue
        return None

    def _tokens(self, text: str) -> list[str]:
        if text.isascii():
            found: list[str] = _TOKENS.findall(text.lower())
            return found
        text = normal_form(text)
        tokens = self._han_tokens if _ANY_HAN.search(text) else _TOKENS
        return tokens.findall(text)

    def _cue(self, token: str) -> str:
        cue = self._words.get(token)
        if cue is not None:
            return cue
        if token in _COMMAS:
            return self._comma
        if token.isdecimal():
            return self._digits
        if token.endswith(self._any_ending):
            return next(cue for ending, cue in self._endings if token.endswith(ending)) or PLAIN
        if token.startswith(self._any_beginning):
            return next(cue for beginning, cue in self._beginnings if token.startswith(beginning)) or PLAIN
        return PLAIN


def _abbreviated(before: list[str]) -> bool:
    """Whether a point after this word ends no sentence: one letter, or a word with points."""
    return bool(before) and (len(before[0]) == 1 or _POINT in before[0])


@cache
def shipped_parser() -> QuestionParser:
    """The one of the shipped lexicon."""
    return QuestionParser.from_config()


def _han_tokens(lexicon: QuestionLexicon) -> re.Pattern[str]:
    """Tokens of text with Han characters, which are written without spaces: its known words first, else one by one."""
    known = sorted((word for word in lexicon.words if _ANY_HAN.search(word)), key=lambda word: (-len(word), word))
    return re.compile("|".join([*map(re.escape, known), f"[{_HAN}]", _TOKEN]))
