"""The memory and start-up benchmark: bytes a record by structure, and how long it takes to become searchable."""
