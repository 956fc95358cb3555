"""The hash of a stored text is the one in the body, whatever the code of today would compute."""

from cluster.embedding_text import embedding_text
from cluster.stored_text import StoredText
from shards.record import Access, Kind, Record


def test_a_text_has_the_hash_that_was_stored_with_it() -> None:
    record = Record(
        id="r1", kind=Kind.TOOL, name="create_bucket", namespace="n", description="text", access=Access(tenant="*")
    )
    stored = StoredText.of(record.to_json())
    assert (stored.record_id, stored.text_hash) == ("r1", record.search_text_hash)
    assert stored.embedding_text() == embedding_text(record)
    other = "0" * 32
    of_other_code = record.to_json().replace(record.search_text_hash.encode(), other.encode())
    assert StoredText.of(of_other_code).text_hash == other
