"""Words that say next to nothing about what a tool does, per language, in normal form.

Stop words are indexed, so that a query of nothing else still finds something, but a query with other words drops them.
Fillers are the words of asking itself ("please", «لطفا»); they stay in a query with a small weight.
"""

from typing import Final

_ENGLISH = """
a an the and or but if of at by for with about into through during to from in on then once here there when where why how
both each few other some such no nor not only own same so than too very can will just should now i me my myself we our
ours ourselves you your yours yourself he him his she her hers it its itself they them their theirs what which who whom
this that these those am is are was were be been being have has had having do does did doing would could ought as until
while because also any may might must shall s t d ll m re ve don doesn didn isn aren wasn weren won
wouldn couldn shouldn
"""
_RUSSIAN = """
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет
о из ему теперь когда даже ну вдруг ли если уже или ни быть был него до вас нибудь опять уж вам ведь там потом себя
ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе под будет ж
тогда кто этот того потому этого какой совсем ним здесь этом один почти мой тем чтобы нее были куда зачем всех можно
при об это
"""
_PERSIAN = """
و در به از که این ان را با است برای تا یک هم بر یا هر اگر نیز باید شود شده بود شد کرد کرده کند کنند خود ما من تو او شما
انها ایشان چه چی ها های می نمی ام ات اش اند ای هست هستند باشد باشند دارد دارند داشته بی پس دیگر همه هایی ترین تر رو
کن کنم کنید کنی بکن بکنم کردن شدن بشه بشود میشه میشود
"""
_ARABIC = """
من الی علی عن فی مع هذا هذه ذلک التی الذی ان او ثم لا ما لم لن قد کان کانت هو هی هم انا نحن انت کل بعد قبل بین حتی اذا
کما لکن منذ عند
"""
_CHINESE = """
的 了 和 是 在 我 你 您 他 她 它 们 这 那 与 及 或 请 吗 呢 吧 把 被 对 为 并 以
我的 我们 我想 我要 一个 一下 这个 那个 以及
"""

_ENGLISH_FILLERS = """
please want wants wanted need needs help like know let tell give looking trying try able using use could hello hi hey
thanks thank im ive provide additionally furthermore wondering curious interested planning working going getting think
thinking providing together today tomorrow tonight weekend friend friends favorite right sure really way thing things
someone something anything lot many much got assist kindly good great best up down off out over under again more most
further after before between above below against us
"""
_OTHER_FILLERS = """
لطفا لطفاً میخواهم میخوام خواهم میخواستم بده بدهید بگو سلام
пожалуйста хочу нужно помоги покажи
帮我 需要 想要 希望 可以 能否 如何 怎么 什么 有没有 告诉
"""

STOPWORDS: Final = frozenset(f"{_ENGLISH} {_RUSSIAN} {_PERSIAN} {_ARABIC} {_CHINESE}".split())
FILLERS: Final = frozenset(f"{_ENGLISH_FILLERS} {_OTHER_FILLERS}".split())
