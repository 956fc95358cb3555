"""The words that values are written with, in English, Persian and Russian, as alternatives of regular expressions.

Digits are ASCII and Persian letters are in their Persian form where these are looked for (``values.plain``).
"""

from typing import Final

CURRENCY_SIGNS: Final = "[$€£¥₽﷼₺₹₸₴]"

CURRENCIES: Final = (
    r"USD|EUR|GBP|CHF|RUB|IRR|IRT|dollars?|euros?|pounds?|rubles?|roubles?|francs?|tomans?|rials?|cents?"
    r"|долл\w*|евро|руб\w*|копе\w*|تومان|ریال|دلار|یورو|روبل|درهم"
)
SCALES: Final = r"thousand|million|billion|тыс\w*|миллион\w*|млн|миллиард\w*|млрд|هزار|میلیون|میلیارد"

PERCENT: Final = r"%|٪|per ?cent|percent|процент\w*|درصد"

TIMES: Final = (
    r"milliseconds?|ms|seconds?|secs?|minutes?|mins?|hours?|days?|nights?|weeks?|months?|quarters?|years?"
    r"|миллисекунд\w*|секунд\w*|минут\w*|час\w*|дн\w*|день|сут\w*|недел\w*|месяц\w*|квартал\w*|год\w*|лет"
    r"|میلی‌ثانیه|ثانیه|دقیقه|ساعت|روز|شب|هفته|ماه|سال"
)
ARTICLES: Final = r"an?|half an?|a few|several"
"""Only before a unit of time: "an hour"."""

TIME_KINDS: Final = r"working|business|calendar|full|whole|рабоч\w*|календарн\w*|полн\w*"
AFTER_TIMES: Final = r"کاری|تقویمی"

SIZES: Final = (
    r"[KMGTP]i?B|[kmgt]b|bytes?|kilobytes?|megabytes?|gigabytes?|terabytes?|[КМГТ]Б|байт\w*|килобайт\w*|мегабайт\w*"
    r"|гигабайт\w*|терабайт\w*|بایت|کیلوبایت|مگابایت|گیگابایت|ترابایت|گیگ|مگ"
)

NUMBER_WORDS: Final = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety"
    "|hundred"
    "|один|одн\\w+|два|две|двух|три|трёх|трех|четыре|четырёх|пять|пяти|шесть|шести|семь|семи|восемь|восьми"
    "|девять|девяти|десять|десяти|двенадцать|пятнадцать|двадцать|тридцать|сорок|пятьдесят|сто"
    "|یک|دو|سه|چهار|پنج|شش|هفت|هشت|نه|ده|دوازده|پانزده|بیست|سی|چهل|پنجاه|شصت|نود|صد|نیم"
)
"""Only before a unit: alone they are words like any other."""

MONTHS: Final = (
    r"January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
    r"|январ[ьяе]|феврал[ьяе]|марта?|апрел[ьяе]|ма[йя]|июн[ьяе]|июл[ьяе]|августа?|сентябр[ьяе]|октябр[ьяе]|ноябр[ьяе]"
    r"|декабр[ьяе]"
    r"|فروردین|اردیبهشت|خرداد|تیر|مرداد|شهریور|مهر|آبان|آذر|دی|بهمن|اسفند"
    r"|ژانویه|فوریه|مارس|آوریل|مه|ژوئن|ژوئیه|جولای|اوت|آگوست|سپتامبر|اکتبر|نوامبر|دسامبر"
)

WEEKDAYS: Final = (
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
    r"|понедельник\w*|вторник\w*|сред[аыу]|четверг\w*|пятниц\w*|суббот\w*|воскресень\w*"
    r"|شنبه|یکشنبه|دوشنبه|سه‌شنبه|چهارشنبه|پنجشنبه|جمعه"
)

NEGATIONS: Final = (
    r"\b(?:not|no|never|none|cannot|can't|won't|isn't|aren't|doesn't|don't|didn't|without|unsupported|unavailable|neither"
    r"|impossible|only in|refused|forbidden|nothing|stay where)\b"
    r"|\b(?:не|нет|нельзя|никогда|невозможно|запрещ\w*|без|ни)\b"
    r"|(?<!\w)(?:نمی\w*|نیست\w*|نشده|ندار\w+|نخواه\w+|نباید|نشود|ندهد|هرگز|هیچ|بدون|ممنوع|غیرفعال|نکنید|نکرد\w*)"
)

YES_NO: Final = {"en": ("Yes", "No"), "fa": ("بله", "خیر"), "ru": ("Да", "Нет")}

ASKS_TIME: Final = (
    r"how long|how soon|how (?:quickly|fast)|until when|by when|сколько времени|как долго|через сколько|как скоро"
    r"|چه مدت|چقدر طول|چند وقت"
)
ASKS_MONEY: Final = (
    r"cost|price|fee|pay|charge|стоит|цен[аыу]|стоимост\w*|плат\w*|قیمت|هزینه|چند تومان|چند یورو|چند دلار|مبلغ|پول"
)
ASKS_SIZE: Final = (
    r"how (?:large|big)|size|storage|space|memory|размер\w*|объ[её]м\w*|мест[ао]|памят\w*|حجم|فضا|حافظه|اندازه"
)
ASKS_PERCENT: Final = r"percent|rate|процент\w*|درصد|نرخ"
