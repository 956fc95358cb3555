"""The names of the systems that can be measured; ``evals.systems.table`` opens them. It imports nothing."""

from typing import Final

OWN: Final = ("lexical", "hybrid", "full-rank")
"""Shortlist's own, which say what an answer is worth and take suggestions."""

YARDSTICK: Final = "bm25"

PEERS: Final = ("fastmcp", "bm25s", "rank_bm25", "callbus", "langgraph-bigtool")
"""Other people's packages, of the extra ``evals``."""

NAMES: Final = (*OWN, YARDSTICK, *PEERS)
