"""GraphWork: the graph that a shard is building, a slice at a time, while its index moves on.

Slices keep the shard free of threads and locks: it answers searches between two of them.
"""

import numpy as np

from shards import graph
from shards.graph import GraphBuilder
from shards.part import Part
from shards.vectors import Vectors


class GraphWork:
    """At most one graph in the making. One whose segment was merged away, or lost its vectors, is given up."""

    def __init__(self) -> None:
        self._builder: GraphBuilder | None = None

    def advance(self, parts: tuple[Part, ...]) -> tuple[Part, ...] | None:
        """Go on for one slice: the parts, with a graph more where one is finished; None if no part is worth one."""
        worth = _worth_building(parts) if graph.available() else []
        begun = [one for one in worth if self._builder is not None and self._builder.values is one[1].values]
        if not worth:
            self._builder = None
            return None
        place, vectors = (begun or worth)[0]
        part = parts[place]
        if self._builder is None or not begun:
            self._builder = GraphBuilder(vectors.values, part.live_rows() & vectors.present)
        finished = self._builder.advance()
        if finished is None:
            return parts
        self._builder = None
        return (*parts[:place], part.with_vectors(vectors.with_graph(finished)), *parts[place + 1 :])


def _worth_building(parts: tuple[Part, ...]) -> list[tuple[int, Vectors]]:
    """Places and vectors of the parts that have no graph and are worth one."""
    found = []
    for place, part in enumerate(parts):
        if part.vectors is not None and part.vectors.graph is None:
            embedded = int(np.count_nonzero(part.live_rows() & part.vectors.present))
            if graph.worth_building(embedded, part.count - embedded, part.vectors.dims):
                found.append((place, part.vectors))
    return found
