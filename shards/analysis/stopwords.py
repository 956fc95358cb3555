"""Words that say next to nothing about what a tool does, per language, in normal form; ``stopwords.yaml`` lists them.

Stop words are indexed, so that a query of nothing else still finds something, but a query with other words drops them.
Fillers are the words of asking itself ("please", «لطفا»); they stay in a query with a small weight.
"""

from typing import Final

from shards.analysis.lexicons import UNSAID

STOPWORDS: Final = frozenset(UNSAID["stop"])
FILLERS: Final = frozenset(UNSAID["filler"])
