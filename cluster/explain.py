"""Why a record scored: the share of each term and of its vector, as the caller may see it.

It recomputes from the values that were ranked; it never asks a shard, and knows only terms of the query and what its
unknown words were taken for.
"""

from cluster.contract import SimilarityPart, TermPart
from cluster.merge import Pool
from cluster.query import AnalyzedRequest
from shards.messages import ScoreMix
from shards.scoring import static_values


def term_parts(row: int, pool: Pool, question: AnalyzedRequest, mix: ScoreMix) -> tuple[TermPart, ...]:
    """The parts of one row, for the terms it holds, in the order of the query, those of its unknown words last.

    With the mention bonus and the vector's part they add up to the score.
    """
    static = static_values(pool.values[row : row + 1], mix)[0].tolist()
    weights = pool.weights.tolist()
    channels = pool.values[row].tolist()
    instead_of = {meant.term: meant.word for meant in question.meant}
    return tuple(
        TermPart(
            term=term,
            weight=weight,
            impact=impact,
            name=name,
            score=weight * value,
            instead_of=instead_of.get(term, ""),
        )
        for term, weight, value, (impact, name) in zip(question.terms, weights, static, channels, strict=True)
        if impact
    )


def similarity_part(row: int, pool: Pool, mix: ScoreMix) -> SimilarityPart:
    """What the vector of one row gave; 0 where it has none, or nothing in common with the query's."""
    likeness = int(pool.likenesses[row])
    return SimilarityPart(likeness=likeness, weight=mix.similarity, score=mix.similarity * likeness)
