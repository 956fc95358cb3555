"""Why a record scored: its share of each term, as the caller may see it.

It recomputes from the values that were ranked; it never asks a shard, and knows only terms of the query.
"""

from cluster.contract import TermPart
from cluster.merge import Pool
from shards.messages import ScoreMix
from shards.scoring import static_values


def term_parts(row: int, pool: Pool, terms: tuple[str, ...], mix: ScoreMix) -> tuple[TermPart, ...]:
    """The parts of one row, for the terms it holds, in the order of the query; they add up to score minus bonus."""
    static = static_values(pool.values[row : row + 1], mix)[0].tolist()
    weights = pool.weights.tolist()
    channels = pool.values[row].tolist()
    return tuple(
        TermPart(term=term, weight=weight, impact=impact, name=name, score=weight * value)
        for term, weight, value, (impact, name) in zip(terms, weights, static, channels, strict=True)
        if impact
    )
