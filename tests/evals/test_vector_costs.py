"""What vectors cost a search: the same searches twice, and no query embedded while it is timed."""

from evals.vector_costs import search_cost
from tests.embedders import WordEmbedder
from tests.evals.catalogues import tool

TOOLS = [
    tool("mail:send_message", "Send an email to one or more people."),
    tool("shop:refund_order", "Pay back a paid order, in full or in part."),
    tool("shop:list_orders", "List the orders of a customer."),
]


def test_each_text_is_embedded_once_before_its_search_is_timed() -> None:
    embedder = WordEmbedder(id="costs-1")
    texts = ["pay back an order", "send an email"]
    cost = search_cost(TOOLS, texts, embedder, None, shards=2)
    assert embedder.asked == texts
    assert (cost.records, cost.by_graph) == (3, 0)
    assert cost.words_ms > 0
    assert cost.vectors_ms > 0
