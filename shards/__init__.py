"""One partition of the index: it knows nothing of HTTP, callers' credentials or other shards."""
