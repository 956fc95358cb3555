"""Many shards as one searchable thing, and the stages after retrieval."""
