"""What people talk about, by topic: read from a file, known by terms, concepts and vectors."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from cluster.embedder import EmbeddedQuery
from cluster.errors import EmbeddingFailed, InvalidConfiguration
from cluster.smalltalk import EVERYDAY, SmallTalk, TalkVectors
from cluster.vector_cache import VectorCache
from shards.messages import LIKENESS_SHIFT, VectorQuery

FILE = """\
greeting:
  social: true
  words: {en: hello hi, fa: سلام}
  phrases: {en: Hello! | Good day, fa: سلام!}
  says: {en: how are you}
weather:
  words: {en: weather rain}
  concepts: weather
  names: forecaster
  phrases: {en: "Will it rain?"}
work:
  phrases: {en: Write an invoice.}
"""

DIMS = 64


def written(tmp_path: Path, text: str = FILE) -> SmallTalk:
    path = tmp_path / "talk.yaml"
    path.write_text(text, "utf-8")
    return SmallTalk.from_config(path)


class Words:
    """An embedder in which a text is the set of its words, each in a place of its own. It counts what it is asked."""

    id = "words"
    dims = DIMS

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_records(self, texts: Sequence[str]) -> npt.NDArray[np.int8]:
        self.asked += texts
        rows = np.zeros((len(texts), DIMS), np.int8)
        for row, text in enumerate(texts):
            for word in text.lower().strip("!.?").split():
                rows[row, _place(word)] = 32
        return rows

    def embed_query(self, text: str) -> EmbeddedQuery:
        values = self.embed_records([text])[0].astype(np.int16)
        return EmbeddedQuery(vector=VectorQuery(embedder=self.id, values=values, floor=0), models=("words",))


def _place(word: str) -> int:
    return hashlib.blake2b(word.encode()).digest()[0] % DIMS


def test_a_topic_is_known_by_its_words_in_every_language_and_its_concepts(tmp_path: Path) -> None:
    talk = written(tmp_path)
    assert talk.topics_of["hello"] == talk.topics_of["سلام"] == {0}
    assert talk.topics_of["rain"] == talk.topics_of["≈weather"] == {1}
    assert "forecast" not in talk.topics_of
    assert talk.topics[1].names[0].startswith("forecast")
    assert talk.concepts == ("≈weather",)
    assert talk.topics[0].phrases == ("Hello!", "Good day", "سلام!")
    assert talk.work == ("Write an invoice.",)


def test_a_topic_is_served_by_what_a_record_is_about_or_named_by(tmp_path: Path) -> None:
    talk = written(tmp_path)
    assert talk.served_by({}, {}, 100) == set()
    assert talk.served_by({"≈weather": 1}, {}, 100_000) == {1}
    assert talk.served_by({"≈weather": 0}, {1: 0}, 100) == set()
    assert talk.served_by({}, {0: 1}, 100) == {0}


def test_a_text_of_nothing_but_things_to_say_is_talk_from_pause_to_pause(tmp_path: Path) -> None:
    talk = written(tmp_path)
    assert talk.said_in("Hello! How are you?") == {0}
    assert talk.said_in("سلام،") == {0}
    assert talk.said_in("hello, create an invoice") == set()
    assert talk.said_in("?!") == set()


def test_one_tool_named_hello_among_many_serves_no_greeting(tmp_path: Path) -> None:
    talk = written(tmp_path)
    assert talk.served_by({}, {0: 1}, 500) == {0}
    assert talk.served_by({}, {0: 1}, 501) == set()


def test_a_catalogue_of_everyday_life_serves_all_of_it_and_talks_if_it_greets() -> None:
    talk = SmallTalk.from_config()
    greeting = next(place for place, topic in enumerate(talk.topics) if topic.name == "greeting")
    social = {place for place, topic in enumerate(talk.topics) if topic.social}
    everyday = [topic for topic in talk.topics if topic.concepts and not topic.social]
    about = {topic.concepts[0]: 1 for topic in everyday[: EVERYDAY - 1]}
    assert len(talk.served_by(about, {}, 100)) == EVERYDAY - 1
    about[everyday[EVERYDAY - 1].concepts[0]] = 1
    assert talk.served_by(about, {}, 100) == set(range(len(talk.topics))) - social
    assert talk.served_by(about, {greeting: 1}, 100) == set(range(len(talk.topics)))


def test_every_shipped_topic_has_words_and_phrases_and_the_version_follows_them(tmp_path: Path) -> None:
    shipped = SmallTalk.from_config()
    assert all(topic.terms and topic.names and topic.phrases for topic in shipped.topics)
    assert {"greeting", "weather", "fun"} <= {topic.name for topic in shipped.topics}
    other = written(tmp_path, FILE.replace("Will it rain?", "Will it snow?"))
    assert other.version != written(tmp_path).version


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("concepts: weather", "concepts: no_such_thing", "no_such_thing"),
        ("social: true", "social: perhaps", "true or false"),
        ("words: {en: weather rain}", "words: weather", "texts by language"),
        ("names: forecaster", "named: forecaster", "the keys words and phrases"),
        ("work:\n", "toil:\n", "work"),
        ("phrases: {en: Write an invoice.}", "words: {en: invoice}", "the key phrases"),
    ],
)
def test_a_file_with_a_fault_is_refused_with_its_place(tmp_path: Path, old: str, new: str, match: str) -> None:
    with pytest.raises(InvalidConfiguration, match=match):
        written(tmp_path, FILE.replace(old, new))


def test_a_query_is_as_near_to_talk_as_its_nearest_phrase(tmp_path: Path) -> None:
    embedder = Words()
    nearest = TalkVectors(written(tmp_path), embedder).nearest(embedder.embed_query("will it rain").vector)
    # Three words in common, 32 * 32 each.
    assert (nearest.topic, nearest.talk) == (1, 3 * 32 * 32 >> LIKENESS_SHIFT)
    assert nearest.work == 0


def test_phrases_are_embedded_once_where_there_is_a_cache(tmp_path: Path) -> None:
    talk, cache = written(tmp_path), VectorCache(f"sqlite:///{tmp_path / 'kept.db'}")
    first, second = Words(), Words()
    question = first.embed_query("hello").vector
    assert TalkVectors(talk, first, cache).nearest(question) == TalkVectors(talk, second, cache).nearest(question)
    assert len(first.asked) == 1 + 5
    assert second.asked == []
    cache.close()


def test_an_embedder_that_fails_is_a_typed_error(tmp_path: Path) -> None:
    class Broken(Words):
        def embed_records(self, texts: Sequence[str]) -> npt.NDArray[np.int8]:
            raise RuntimeError(len(texts))

    with pytest.raises(EmbeddingFailed):
        TalkVectors(written(tmp_path), Broken())
