"""The errors a shard raises; every one crosses an actor boundary unchanged.

Tree::

    ShardError
    ├── InvalidRecord        a record breaks the contract of ``shards.record``
    ├── InvalidVector        a vector does not have the form that its embedder's others have
    ├── StaleFeed            a change batch does not continue the shard's sequence
    ├── CorruptSnapshot      a snapshot file fails its checksum or its schema
    ├── MalformedMessage     bytes that crossed from another process are no message of ours
    └── ShardNotReady        a search reached a shard that has not finished loading

Ray rebuilds an exception from its positional arguments, so each passes all of them to ``super().__init__``.
"""


class ShardError(Exception):
    """Base of every error raised inside ``shards``."""


class InvalidRecord(ShardError):
    """A record field holds a value outside its contract."""

    def __init__(self, field: str, value: str, allowed: str) -> None:
        super().__init__(field, value, allowed)
        self.field = field
        self.value = value
        self.allowed = allowed

    def __str__(self) -> str:
        return f"{self.field}: {self.value!r} is not allowed; expected {self.allowed}"


class InvalidVector(ShardError):
    """A vector, of a record or of a query, holds a value outside its contract."""

    def __init__(self, field: str, value: str, allowed: str) -> None:
        super().__init__(field, value, allowed)
        self.field = field
        self.value = value
        self.allowed = allowed

    def __str__(self) -> str:
        return f"{self.field}: {self.value} is not allowed; expected {self.allowed}"


class StaleFeed(ShardError):
    """A batch of changes starts at another sequence number than the one that follows the shard's."""

    def __init__(self, applied_seq: int, after_seq: int) -> None:
        super().__init__(applied_seq, after_seq)
        self.applied_seq = applied_seq
        self.after_seq = after_seq

    def __str__(self) -> str:
        return f"changes continue after seq {self.after_seq}, but the shard has applied seq {self.applied_seq}"


class CorruptSnapshot(ShardError):
    """A snapshot file is damaged, truncated or of another format; the shard rebuilds from the registry."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class MalformedMessage(ShardError):
    """Bytes between a router and a shard are cut short, damaged or of another version."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message, reason)
        self.message = message
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.message}: {self.reason}"


class ShardNotReady(ShardError):
    """The shard is still loading and must not answer searches."""

    def __init__(self, shard: int) -> None:
        super().__init__(shard)
        self.shard = shard

    def __str__(self) -> str:
        return f"shard {self.shard} has not finished loading"
