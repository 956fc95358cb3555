"""The growth benchmark: latency over the size of the catalogue, the number of shards and the number of clients."""
