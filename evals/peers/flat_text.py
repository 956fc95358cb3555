"""A record as one text, for peers that index plain texts. The plain BM25 of ``evals.bm25`` reads the same one."""

from shards.record import Record


def flat_text(record: Record) -> str:
    """Name, description, parameters' JSON text, namespace and tags, one per line."""
    return "\n".join((record.name, record.description, record.parameters, record.namespace, *record.tags))
