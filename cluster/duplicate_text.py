"""What two texts are compared by: their words in normal form, and the facts that no rewording changes.

It compares nothing and knows no thresholds; ``cluster.duplicates`` decides.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from shards.analysis.scripts import normalise
from shards.analyzer import spoken_in
from shards.record import Record

RESOLUTION: Final = "resolution:"
"""A tag that begins so says how a fault stands, as in ``resolution:fixed``."""

NEGATIONS: Final = frozenset({
    "no", "not", "never", "none", "nor", "neither", "nothing", "without", "cannot",
    "не", "нет", "ни", "без", "нельзя", "никогда", "ничего",
    "نه", "نیست", "نیستند", "نشد", "بدون", "هیچ", "هرگز", "نباید",
})  # fmt: skip

_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:[.,:/]\d+)*(?!\w)")
_CODE: Final = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[^\W\d_])\w+(?:-\w+)*")
_ACRONYM: Final = re.compile(r"(?<![\w.-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*(?![\w-])")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019]t)?")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SEPARATORS: Final = str.maketrans({"\u066b": ".", "\u066c": ",", "\u2011": "-"})
_LITERAL: Final = re.compile(
    # Bounded runs: a text of slashes and dots would otherwise be read again from each of them.
    r"(?<![\w/-])(?:--?[^\W\d_][\w-]*|/[\w./-]{0,255}\w|[^\W\d_][\w-]{0,63}(?:\.[^\W\d_][\w-]{0,63}){1,15})(?![\w/])"
)
_QUOTED: Final = re.compile(r"«([^»]{1,80})»|“([^”]{1,80})”|\"([^\"]{1,80})\"")
_CLAUSE: Final = re.compile(r"[.!?;:,،؛؟](?=\s|$)|\s[–—]\s")

NUMBER_WORDS: Final = {
    word: str(number)
    for number, words in enumerate(
        (
            "two два две двух двумя دو", "three три трёх трех тремя سه", "four четыре четырёх четырех چهار",
            "five пять пяти پنج", "six шесть шести شش", "seven семь семи هفت", "eight восемь восьми هشت",
            "nine девять девяти", "ten десять десяти ده", "eleven одиннадцать یازده", "twelve двенадцать دوازده",
        ),
        start=2,
    )
    for word in words.split()
}  # fmt: skip
"""Not one, which is an article, too; nor the Persian nine, which is a no."""

_CONTRASTS: Final = (
    (
        "second seconds секунда секунды секунд секунду ثانیه", "minute minutes минута минуты минут минуту دقیقه",
        "hour hours hourly час часа часов часы ساعت", "day days daily день дня дней дни ежедневно روز روزه روزانه",
        "week weeks weekly неделя недели недель неделю еженедельно هفته هفتگی",
        "month months monthly месяц месяца месяцев ежемесячно ماه ماهه ماهی ماهانه",
        "year years yearly annual год года лет ежегодно سال ساله سالی سالانه",
    ),
    (
        "windows ویندوز", "linux ubuntu debian fedora لینوکس", "macos mac macbook مک", "android андроид اندروید",
        "ios iphone ipad آیفون",
    ),
    ("before до перед پیش قبل", "after после پس بعد"),
    ("more больше более بیش بیشتر", "less fewer меньше менее کم کمتر"),
    ("always всегда همیشه", "never никогда هرگز", "sometimes иногда گاهی"),
    ("increase raise увеличьте увеличить بیفزایید افزایش", "decrease lower reduce уменьшите уменьшить بکاهید کاهش"),
    ("enable enabled включите включить", "disable disabled выключите выключить отключите отключить"),
    ("upload uploads uploading", "download downloads downloading"),
    ("import imports importing импорт", "export exports exporting экспорт"),
    ("owner owners владелец владельца", "member members участник участники", "guest guests гость гости",
     "administrator administrators администратор администраторы"),
    ("minimum least минимум حداقل", "maximum most максимум حداکثر"),
    ("encrypt encrypted encryption", "decrypt decrypted decryption"),
)  # fmt: skip
"""Groups of words that no rewording exchanges for each other: all forms of one of them in one text."""

_MEANING: Final = {
    form: (group, member)
    for group, members in enumerate(_CONTRASTS)
    for member, forms in enumerate(members)
    for form in forms.split()
}

_ALIKE: Final = (
    "choose select pick click press tap выберите выбрать нажмите нажать щелкните انتخاب بزنید کلیک",
    "enter type write fill give введите ввести укажите указать впишите напишите وارد بنویسید",
    "open go откройте перейдите зайдите باز بروید",
    "repair fix solve cure исправлено исправить устранено устранить درست رفع تعمیر",
    "stop hang freeze stay remain останавливается зависает остановилась می‌ماند می‌مانند متوقف گیر",
    "show display appear see показывает отображает появляется نشان نمایش",
    "help work помогает помогите کمک",
    "need require want нужен нужно требует требуется لازم نیاز باید",
    "keep store save hold хранит сохраняет نگه ذخیره",
    "picture photo image фото фотография снимок عکس تصویر",
    "computer machine pc компьютер رایانه کامپیوتر",
    "file document файл документ پرونده فایل سند",
    "later after afterwards then потом затем после بعد سپس پس",
    "restart relaunch rerun перезапустите перезапуск اجرا راه‌اندازی",
)
"""Words of instructions that one says for the other."""

LIGHT: Final = frozenset(spoken_in("کنید کند کنند شود شوند شد می‌شود می‌شوند است هست را از یک одна один одно").words)
"""Words that say nothing of their own."""

ALIKE: Final = {word: group for group, words in enumerate(_ALIKE) for word in spoken_in(words).words}

_PERSIAN_NO: Final = ("نمی", "نخواه")
"""How negated Persian verbs begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gist:
    """A record made ready for comparison.

    Attributes:
        words: stems of its text, without words that say nothing.
        spoken: these in order, repeats kept.
        pairs: of neighbouring words.
        codes: words that hold letters and digits, as error codes do.
        capitals: words all in capitals: products, formats, protocols.
        numbers: those that are no part of a code, in one notation; not its own release, which is compared by itself.
        counts: these and the numbers that are written as words, in digits.
        literals: options, paths, names with dots in them: what has to be typed as it stands.
        quoted: what stands in quotation marks, as buttons do.
        negations: how often its text says no; a title may say it or not.
        contrasts: which member of which group of words that mean opposites, other units or other systems.
        denied: codes, capitals, numbers and literals in clauses that say no.
        resolution: how the fault that it tells of stands, empty where it does not say.
    """

    words: frozenset[str]
    spoken: tuple[str, ...]
    pairs: frozenset[tuple[str, str]]
    codes: frozenset[str]
    capitals: frozenset[str]
    numbers: frozenset[str]
    counts: frozenset[str]
    literals: frozenset[str]
    quoted: frozenset[str]
    negations: int
    contrasts: frozenset[tuple[int, int]]
    denied: frozenset[str]
    resolution: str


def gist_of(record: Record) -> Gist:
    """The gist of a record: its title counts for facts, its text for words; of both where the text is empty."""
    title, text = _plain(record.name), _plain(record.description)
    words = spoken_in(record.description or record.name).words
    whole = f"{_without_label(title, text, record.id)} . {text}"
    # Where everything is in capitals they tell nothing.
    shouted = text.isupper()
    codes, capitals, literals = _codes(whole), frozenset[str]() if shouted else _capitals(whole), _literals(whole)
    numbers = _numbers(whole) - {record.release}
    denied = frozenset[str]().union(*(
        _codes(clause) | (frozenset() if shouted else _capitals(clause)) | _literals(clause) | _numbers(clause)
        for clause in _CLAUSE.split(text)
        if _negations(clause)
    ))  # fmt: skip
    return Gist(
        words=frozenset(words),
        spoken=tuple(words),
        pairs=frozenset(pairwise(words)),
        codes=codes,
        capitals=capitals,
        numbers=numbers,
        counts=numbers | _in_words(whole),
        literals=literals,
        quoted=frozenset(" ".join("".join(one).casefold().split()) for one in _QUOTED.findall(whole)),
        negations=_negations(text or whole),
        contrasts=frozenset(_MEANING[word] for one in _WORD.findall(text) if (word := one.casefold()) in _MEANING),
        denied=denied,
        resolution=next((tag[len(RESOLUTION) :] for tag in record.tags if tag.startswith(RESOLUTION)), ""),
    )


def _codes(text: str) -> frozenset[str]:
    return frozenset(one.casefold() for one in _CODE.findall(text))


def _capitals(text: str) -> frozenset[str]:
    return frozenset(one for one in _ACRONYM.findall(text) if len(one) > 1 and one.isalpha())


def _literals(text: str) -> frozenset[str]:
    return frozenset(one.casefold() for one in _LITERAL.findall(text))


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(_THOUSANDS.sub("", _CODE.sub(" ", text))))


def _in_words(text: str) -> frozenset[str]:
    return frozenset(NUMBER_WORDS[word] for one in _WORD.findall(text) if (word := one.casefold()) in NUMBER_WORDS)


def _negations(text: str) -> int:
    return sum(_denies(word.casefold()) for word in _WORD.findall(text))


def _plain(text: str) -> str:
    """The normal form, with one notation of digits and their separators; case stays, because it tells codes."""
    return normalise(text.translate(_SEPARATORS))


def _without_label(title: str, text: str, record_id: str) -> str:
    """The title without the record's own number, which every ticket has another one of.

    A code that heads the title and stands in the record's id is its number, unless the text speaks of it too: that of
    an error is what the text is about.
    """
    head = _CODE.match(title)
    if head is None or head[0].casefold() not in record_id.casefold() or head[0].casefold() in text.casefold():
        return title
    return title[head.end() :]


def _denies(word: str) -> bool:
    return word in NEGATIONS or word.endswith(("n't", "n\u2019t")) or word.startswith(_PERSIAN_NO)
