"""The parts of every score of a gold set, once, so that any mix of them can be tried without searching again.

It builds no index and proves nothing; frequencies are those of the whole catalogue.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from cluster.embedder import EmbeddedQuery, Embedder
from cluster.embedding_text import embedding_text
from cluster.query import AnalyzedRequest, plan_query
from cluster.vector_cache import VectorCache
from evals.data import Question
from shards.impacts import postings_of
from shards.mentions import MentionField, key_hash
from shards.messages import LIKENESS_SHIFT, MOST_LIKENESS, ScoreMix
from shards.names import name_keys
from shards.record import Record
from shards.statistics import frequency_weight

POOL: Final = 150
"""Records kept per question by words, and as many by likeness: no mix that is worth trying finds others."""

_BATCH: Final = 256

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """The score parts of one question's candidates, in the order of their ids.

    Attributes:
        length: of the query (``AnalyzedRequest.length``), which picks the row of a mix.
        impact: int64[n], sum over terms of weight times impact channel; ``name`` and ``presence`` alike.
        bonus: int64[n], bonuses of names that the query mentions; those of capabilities and domains, which no public
            set has, are left out.
        likeness: int64[n], 0 where the question has no vector.
        relevant: bool[n].
        wanted: relevant ids of the question, in the catalogue or not.
        records: of the catalogue.
    """

    length: int
    impact: npt.NDArray[np.int64]
    name: npt.NDArray[np.int64]
    presence: npt.NDArray[np.int64]
    bonus: npt.NDArray[np.int64]
    likeness: npt.NDArray[np.int64]
    relevant: npt.NDArray[np.bool_]
    wanted: int
    records: int

    def scores(self, mix: ScoreMix) -> npt.NDArray[np.int64]:
        """int64[n], as ``shards.scoring`` adds them up, unknown words left out."""
        words = mix.impact * self.impact + mix.name * self.name + mix.presence * self.presence
        scores: npt.NDArray[np.int64] = words + self.bonus + mix.similarity * self.likeness
        return scores


class Catalogue:
    """Postings, names and vectors of some records.

    Args:
        embedder: None for words alone; vectors come from ``cache`` where it holds them.
    """

    def __init__(
        self,
        records: Sequence[Record],
        embedder: Embedder | None,
        cache: VectorCache | None,
        progress: Progress = lambda _: None,
    ) -> None:
        ordered = sorted(records, key=lambda record: record.id)
        self._places = {record.id: place for place, record in enumerate(ordered)}
        self._postings = _postings(ordered)
        self._names: dict[int, list[int]] = {}
        for place, record in enumerate(ordered):
            for key in name_keys(record):
                self._names.setdefault(key_hash(key), []).append(place)
        self._embedder = embedder
        self._vectors = None if embedder is None else _vectors(ordered, embedder, cache, progress)

    def parts(self, question: Question) -> Parts:
        """The parts of one question."""
        request = plan_query(question.text)
        words = self._words(request)
        likeness = self._likeness(question.text)
        kept = _kept(words @ np.array([4, 2, 150, 1]), likeness)
        relevant = [self._places[one] for one in question.relevant if one in self._places]
        return Parts(
            length=request.length,
            impact=words[kept, 0],
            name=words[kept, 1],
            presence=words[kept, 2],
            bonus=words[kept, 3],
            likeness=likeness[kept],
            relevant=np.isin(kept, relevant),
            wanted=len(question.relevant),
            records=len(self._places),
        )

    def _words(self, request: AnalyzedRequest) -> npt.NDArray[np.int64]:
        """int64[records, 4]: impact, name, presence and bonus."""
        words = np.zeros((len(self._places), 4), np.int64)
        for term, term_weight in zip(request.terms, request.term_weights, strict=True):
            if term in self._postings:
                rows, channels = self._postings[term]
                weight = frequency_weight(len(words), len(rows), term_weight)
                words[rows, :2] += weight * channels
                words[rows, 2] += weight
        for digest, bonus in request.mentions.among(MentionField.NAME).items():
            for place in self._names.get(digest, ()):
                words[place, 3] = max(words[place, 3], bonus)
        return words

    def _likeness(self, text: str) -> npt.NDArray[np.int64]:
        embedded = None if self._embedder is None else self._embedder.embed_query(text)
        if embedded is None or self._vectors is None:
            return np.zeros(len(self._places), np.int64)
        return _likeness(self._vectors, embedded)


def _likeness(vectors: npt.NDArray[np.float64], embedded: EmbeddedQuery) -> npt.NDArray[np.int64]:
    # Sums of integers below 2^31 are exact in float64, and BLAS is quicker than any product of integers.
    dots = (vectors @ embedded.vector.values.astype(np.float64)).astype(np.int64)
    return np.asarray(np.clip((dots - embedded.vector.floor) >> LIKENESS_SHIFT, 0, MOST_LIKENESS), np.int64)


def _kept(words: npt.NDArray[np.int64], likeness: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    if len(words) <= 2 * POOL:
        return np.arange(len(words))
    best = np.argpartition(-words, POOL)[:POOL]
    alike = np.argpartition(-likeness, POOL)[:POOL]
    return np.union1d(best, alike)


def _postings(records: Sequence[Record]) -> Mapping[str, tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    loose: dict[str, list[tuple[int, int, int]]] = {}
    for place, record in enumerate(records):
        for term, (impact, name) in postings_of(record).items():
            loose.setdefault(term, []).append((place, impact, name))
    columns = {term: np.array(rows, np.int64) for term, rows in loose.items()}
    return {term: (rows[:, 0], rows[:, 1:]) for term, rows in columns.items()}


def _vectors(
    records: Sequence[Record], embedder: Embedder, cache: VectorCache | None, progress: Progress
) -> npt.NDArray[np.float64]:
    texts = {record.search_text_hash: embedding_text(record) for record in records}
    known = {} if cache is None else cache.get(embedder.id, list(texts))
    progress(len(known))
    missing = [key for key in texts if key not in known]
    for start in range(0, len(missing), _BATCH):
        part = missing[start : start + _BATCH]
        made = embedder.embed_records([texts[key] for key in part])
        new = {key: row.tobytes() for key, row in zip(part, made, strict=True)}
        if cache is not None:
            cache.put(embedder.id, new)
        known |= new
        progress(len(part))
    rows = [np.frombuffer(known[record.search_text_hash], np.int8) for record in records]
    return np.stack(rows).astype(np.float64)
