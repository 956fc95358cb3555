"""SmallTalk: what people say to an assistant that most catalogues have no tool for, by topic, as terms and as vectors.

It knows no record and decides nothing: that a request sounds like talk is one signal of ``cluster.abstention``.
"""

import hashlib
import logging
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final, Self

import numpy as np

from cluster.embedder import Embedder
from cluster.errors import InvalidConfiguration, RegistryUnavailable
from cluster.strict_yaml import Json, read_yaml
from cluster.vector_cache import VectorCache
from cluster.vectorizer import Vectorizer, Vectors
from shards.analysis.lexicons import CONCEPTS
from shards.analysis.marks import CONCEPT
from shards.analyzer import name_key, terms_of
from shards.messages import LIKENESS_SHIFT, MAX_TERMS, MOST_LIKENESS, VectorQuery

_log = logging.getLogger(__name__)

EVERYDAY: Final = 4
"""Topics that a catalogue serves where everyday life is what it is for: an assistant's, or one of everything."""

SOCIAL_SHARE: Final = 500
"""A catalogue is for social talk where one record in this many is: one tool named "hello" among 100,000 is not."""

WORK: Final = "work"
"""Key of the phrases that are no talk."""

_MORE: Final = "social, concepts, names, says"
_KEYS: Final = frozenset({"words", "phrases", "social", "concepts", "names", "says"})

_PAUSE: Final = re.compile(r"[.,!?;…\n،؛؟。，！？；、]+")

PHRASE_BAR: Final = "|"
"""Stands between the phrases of one language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One thing that people talk about.

    Attributes:
        terms: index terms of its words in all languages, and its concepts.
        names: at most ``MAX_TERMS`` terms that stand in the name of a tool that serves the topic.
        concepts: what a record that serves it is about.
        phrases: whole sentences.
        says: ``name_key`` of whole things to say.
        social: it is about the talk itself, so that no catalogue of everyday things is for it.
    """

    name: str
    social: bool
    terms: frozenset[str]
    names: tuple[str, ...]
    concepts: tuple[str, ...]
    phrases: tuple[str, ...]
    says: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallTalk:
    """All topics, and which of them a term belongs to.

    Attributes:
        version: a digest of the topics.
        topics_of: positions of the topics that a term says; terms of none are left out.
        saying: positions of the topics that each of ``Topic.says`` is of.
        concepts: of all topics, at most ``MAX_TERMS``.
        work: phrases of requests that are no talk.
    """

    version: str
    topics: tuple[Topic, ...]
    topics_of: dict[str, frozenset[int]] = field(repr=False)
    saying: dict[str, frozenset[int]] = field(repr=False)
    concepts: tuple[str, ...]
    work: tuple[str, ...]

    @classmethod
    def from_config(cls, path: Path | None = None) -> Self:
        """The topics of the file at ``path``, or of the shipped ``configs/lexicons/smalltalk.yaml``.

        Raises:
            InvalidConfiguration: if it cannot be read, or is not topics with words and phrases by language.
        """
        if path is not None:
            return cls.of(*_read(path))
        with as_file(files("configs") / "lexicons" / "smalltalk.yaml") as shipped:
            return cls.of(*_read(shipped))

    @classmethod
    def of(cls, topics: Sequence[Topic], work: Sequence[str]) -> Self:
        """These topics and phrases."""
        concepts = (concept for topic in topics for concept in topic.concepts)
        told = [
            (topic.name, topic.social, sorted(topic.terms), topic.names, topic.phrases, sorted(topic.says))
            for topic in topics
        ]
        return cls(
            version=hashlib.blake2b(repr((told, work)).encode(), digest_size=4).hexdigest(),
            topics=tuple(topics),
            topics_of=_places([topic.terms for topic in topics]),
            saying=_places([topic.says for topic in topics]),
            concepts=tuple(dict.fromkeys(concepts))[:MAX_TERMS],
            work=tuple(work),
        )

    def said_in(self, text: str) -> frozenset[int]:
        """Positions of the topics of a text of which every part, from pause to pause, is a whole thing to say."""
        topics: frozenset[int] = frozenset()
        for part in _PAUSE.split(text):
            if key := name_key(part):
                if key not in self.saying:
                    return frozenset()
                topics |= self.saying[key]
        return topics

    def speaks(self, term: str, frequency: int, authorized: int) -> frozenset[int]:
        """Positions of the topics that a query's term speaks for, where so many of the authorized records hold it."""
        topics = self.topics_of.get(term)
        if topics is None:
            return frozenset()
        if not frequency:
            return topics
        return frozenset(place for place in topics if self.topics[place].social and _few(frequency, authorized))

    def served_by(self, about: Mapping[str, int], named: Mapping[int, int], authorized: int) -> frozenset[int]:
        """Positions of the topics that a catalogue serves.

        Where enough topics of everyday life are served, that is what the catalogue is for, and it serves all of them;
        if it serves a social one too, it is there to talk.

        Args:
            about: records about each of ``concepts``.
            named: records named by the words of topics, by position; of topics that are not asked for, none.
            authorized: all records.
        """
        served = {
            place
            for place, topic in enumerate(self.topics)
            if (count := max([named.get(place, 0), *(about.get(one, 0) for one in topic.concepts)]))
            and not (topic.social and _few(count, authorized))
        }
        everyday = {place for place, topic in enumerate(self.topics) if not topic.social}
        if len(served & everyday) < EVERYDAY:
            return frozenset(served)
        return frozenset(everyday) if served <= everyday else frozenset(range(len(self.topics)))


def _places(said: Sequence[Collection[str]]) -> dict[str, frozenset[int]]:
    """The places in ``said`` at which each text stands."""
    places: dict[str, set[int]] = {}
    for place, texts in enumerate(said):
        for text in texts:
            places.setdefault(text, set()).add(place)
    return {text: frozenset(found) for text, found in places.items()}


def _few(count: int, authorized: int) -> bool:
    """Whether so few records are about talk that in a large catalogue they are there by chance."""
    return count * SOCIAL_SHARE < authorized


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """What a query is most like, as likenesses of ``VectorQuery``.

    Attributes:
        topic: position of the topic that has the nearest phrase of talk.
        talk: likeness of that phrase.
        work: likeness of the nearest phrase of work.
    """

    topic: int
    talk: int
    work: int


class TalkVectors:
    """The phrases as vectors of one embedder, made when this is.

    Args:
        talk: the phrases.
        embedder: asked for what the cache does not hold; some seconds for a slow one.
        cache: None embeds anew.

    Raises:
        EmbeddingFailed: if the embedder fails on every phrase; one that it fails on alone is like nothing.
    """

    def __init__(self, talk: SmallTalk, embedder: Embedder, cache: VectorCache | None = None) -> None:
        self._work = len(talk.work)
        self._topics = np.repeat(np.arange(len(talk.topics)), [len(topic.phrases) for topic in talk.topics])
        phrases = [*talk.work, *(phrase for topic in talk.topics for phrase in topic.phrases)]
        made = _embedded({_key(phrase): phrase for phrase in phrases}, Vectorizer(embedder, cache))
        nothing = bytes(embedder.dims)
        rows = b"".join(made.get(_key(phrase), nothing) for phrase in phrases)
        self._values = np.frombuffer(rows, np.int8).reshape(len(phrases), embedder.dims).astype(np.int32)

    def nearest(self, vector: VectorQuery) -> Nearest:
        """What a query of the same embedder is most like; of equal topics the first."""
        dots = self._values @ vector.values.astype(np.int32)
        likenesses = np.clip((dots - vector.floor) >> LIKENESS_SHIFT, 0, MOST_LIKENESS)
        work, talk = likenesses[: self._work], likenesses[self._work :]
        best = int(talk.argmax())
        return Nearest(topic=int(self._topics[best]), talk=int(talk[best]), work=int(work.max(initial=0)))


def _key(phrase: str) -> str:
    return hashlib.blake2b(phrase.encode(), digest_size=16, person=b"talk").hexdigest()


def _embedded(phrases: Mapping[str, str], vectorizer: Vectorizer) -> Vectors:
    """The vectors of phrases by key, from the cache where it has them."""
    try:
        known = vectorizer.known(list(phrases))
        missing = {key: phrase for key, phrase in phrases.items() if key not in known}
        made = vectorizer.embed(missing).vectors if missing else {}
        vectorizer.keep(made)
    except RegistryUnavailable:
        _log.warning("talk_vectors_not_kept", exc_info=True)
        return vectorizer.embed(phrases).vectors
    return known | made


def _read(path: Path) -> tuple[tuple[Topic, ...], tuple[str, ...]]:
    config = read_yaml(path)
    if not isinstance(config, dict) or len(config) <= 1 or not isinstance(work := config.pop(WORK, None), dict):
        raise InvalidConfiguration(str(path), str(config)[:80], f"topics by name, and {WORK}")
    if set(work) != {"phrases"}:
        raise InvalidConfiguration(f"{path}: {WORK}", str(work)[:80], "the key phrases")
    topics = tuple(_topic(f"{path}: {name}", name, raw) for name, raw in config.items())
    return topics, _phrases(f"{path}: {WORK}: phrases", work["phrases"])


def _topic(place: str, name: str, raw: Json) -> Topic:
    if not isinstance(raw, dict) or not {"words", "phrases"} <= set(raw) <= _KEYS:
        raise InvalidConfiguration(place, str(raw)[:80], f"the keys words and phrases, and perhaps {_MORE}")
    words = dict.fromkeys(term for text in _texts(f"{place}: words", raw["words"]) for term in terms_of(text))
    concepts = tuple(_concepts(f"{place}: concepts", raw.get("concepts", "")))
    names = terms_of(_text(f"{place}: names", raw.get("names", "")))
    return Topic(
        name=name,
        social=_flag(f"{place}: social", raw.get("social", False)),
        terms=frozenset([*words, *concepts]),
        names=tuple(dict.fromkeys((*names, *words)))[:MAX_TERMS],
        concepts=concepts,
        phrases=_phrases(f"{place}: phrases", raw["phrases"]),
        says=_says(place, raw),
    )


def _says(place: str, raw: Mapping[str, Json]) -> frozenset[str]:
    """Its sayings, and each of its words for itself."""
    words = (word for text in _texts(f"{place}: words", raw["words"]) for word in text.split())
    sayings = _phrases(f"{place}: says", raw["says"]) if "says" in raw else ()
    return frozenset(map(name_key, (*words, *sayings)))


def _phrases(place: str, raw: Json) -> tuple[str, ...]:
    parts = [part.strip() for text in _texts(place, raw) for part in text.split(PHRASE_BAR)]
    return tuple(filter(None, parts))


def _concepts(place: str, raw: Json) -> Iterator[str]:
    """The index terms of named concepts."""
    for name in _text(place, raw).split():
        if name not in CONCEPTS:
            raise InvalidConfiguration(place, name, "names of entries of configs/lexicons/concepts")
        yield CONCEPT + name


def _texts(place: str, raw: Json) -> list[str]:
    """The texts of all languages."""
    if not isinstance(raw, dict) or not raw:
        raise InvalidConfiguration(place, str(raw)[:80], "texts by language")
    return [_text(f"{place}: {language}", text) for language, text in raw.items()]


def _flag(place: str, raw: Json) -> bool:
    if not isinstance(raw, bool):
        raise InvalidConfiguration(place, str(raw)[:80], "true or false")
    return raw


def _text(place: str, raw: Json) -> str:
    if not isinstance(raw, str):
        raise InvalidConfiguration(place, str(raw)[:80], "a text")
    return raw
