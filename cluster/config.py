"""Settings: every setting of Shortlist with its name, default, range, unit and one sentence, in this one place.

It reads no environment variable and holds no secret, only the paths of files that do. ``configs/shortlist.yaml`` is
written from this module by ``cluster.settings_document``.
"""

from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from cluster.batcher import MAX_BATCH
from cluster.budget import DEFAULT_BUDGETS, MOST_EVIDENCE_BYTES, Budget
from cluster.export_limits import ExportLimits
from cluster.flags import DEFAULT_ROLLOUT, FULL_HITS, Flag, FlagPlan
from cluster.strict_yaml import parse_yaml
from cluster.yaml_model import StrictModel, read_model, validated
from shards.record import BUCKETS, Kind

if TYPE_CHECKING:
    from sqlalchemy import URL

Algorithm = Literal["HS256", "RS256", "EdDSA"]
ALGORITHMS: Final[tuple[Algorithm, ...]] = ("HS256", "RS256", "EdDSA")

MODELS: Final = ("use", "minilm", "e5")
"""Names of ``cluster.models``, said here so that whoever reads settings imports no model."""


def _absolute(path: Path, info: ValidationInfo) -> Path:
    """Anchor a relative path at the folder that ``load_settings`` passes, so that every process reads the same file."""
    return path if info.context is None else info.context["folder"] / path


ConfiguredPath = Annotated[Path, AfterValidator(_absolute)]
Port = Annotated[int, Field(ge=1, le=65_535)]
Percent = Annotated[int, Field(ge=0, le=100)]


class RegistrySettings(StrictModel):
    """The database that is the source of truth."""

    url: str | None = Field(
        default=None,
        min_length=1,
        repr=False,
        description="SQLAlchemy URL of the registry; null is a SQLite file in home.",
    )


class ClusterSettings(StrictModel):
    """How many shards there are and how they are kept."""

    shards: int | None = Field(
        default=None, ge=1, le=BUCKETS, description="Number of shards; null is one for each core."
    )
    copies: int = Field(default=1, ge=1, le=8, description="Copies of each shard.")
    max_batch: int = Field(default=MAX_BATCH, ge=1, le=1024, description="Most queries in one call to a shard.")
    apply_timeout_ms: int = Field(
        default=2000,
        ge=50,
        le=60_000,
        description="Time a copy has to apply a change before it is replaced, in milliseconds.",
    )
    health_period_ms: int = Field(
        default=500, ge=50, le=60_000, description="Time between two health checks of a copy, in milliseconds."
    )
    poll_ms: int = Field(
        default=1000,
        ge=50,
        le=60_000,
        description="Time between two looks for changes another process wrote, in milliseconds.",
    )


class VectorSettings(StrictModel):
    """Vectors beside words: records and queries in every language a model knows."""

    candidate_retrieval: bool = Field(
        default=False,
        description="Whether there are vectors: models are loaded and records embedded, so that vectors find and rank "
        "records beside words, as far as flags let them. Needs a restart.",
    )
    models: tuple[str, ...] = Field(
        default=(),
        description=f"Models that make the vectors, of {', '.join(MODELS)}; each comes with an extra of its own.",
    )
    threads: int = Field(
        default=1, ge=1, le=64, description="Threads that embed records in the background, of the machine's cores."
    )

    @field_validator("models")
    @classmethod
    def _check_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not set(names) <= set(MODELS) or len(set(names)) != len(names):
            raise ValueError(f"different names among {', '.join(MODELS)}")
        return names

    @model_validator(mode="after")
    def _check_wanted(self) -> Self:
        if self.candidate_retrieval and not self.models:
            raise ValueError(f"at least one of models ({', '.join(MODELS)}) where candidate_retrieval is true")
        return self


class DiscoverySettings(StrictModel):
    """How much of what was found is shown."""

    abstention: Literal["off", "cautious", "balanced", "strict"] = Field(
        default="balanced",
        description="Whether greetings, small talk and everyday requests that no record serves get a no_match. Of real "
        "requests cautious turns away about 1 in 500, balanced 1 in 200 and strict 1 in 50; off turns nobody away.",
    )


class RolloutSettings(StrictModel):
    """For which queries a flag holds."""

    progressive_schema_loading: Percent = Field(
        default=DEFAULT_ROLLOUT[Flag.PROGRESSIVE_SCHEMA_LOADING],
        description=f"Full schemas for the first {FULL_HITS} hits, summaries after them, the rest by GET "
        "/v1/records/{id} (PROGRESSIVE_SCHEMA_LOADING). This and the next four: percent of queries, by a hash of their "
        "text; 0 is off, 100 is on.",
    )
    adaptive_discovery_k: Percent = Field(
        default=DEFAULT_ROLLOUT[Flag.ADAPTIVE_DISCOVERY_K],
        description="An answer ends where its scores fall away, before the request's k (ADAPTIVE_DISCOVERY_K with "
        "ADAPTIVE_K_ROLLOUT_PERCENT).",
    )
    hybrid_tool_discovery: Percent = Field(
        default=DEFAULT_ROLLOUT[Flag.HYBRID_TOOL_DISCOVERY],
        description="Vectors, where there are any, have a part in the ranking; else a search goes by words alone "
        "(HYBRID_TOOL_DISCOVERY).",
    )
    vector_candidate_retrieval: Percent = Field(
        default=DEFAULT_ROLLOUT[Flag.VECTOR_CANDIDATE_RETRIEVAL],
        description="Vectors, where there are any, find records that share no word with the query; else they only "
        "order what words have found (VECTOR_CANDIDATE_RETRIEVAL).",
    )
    indexed_candidate_retrieval: Percent = Field(
        default=DEFAULT_ROLLOUT[Flag.INDEXED_CANDIDATE_RETRIEVAL],
        description="The index cuts before the ranker ranks; else everything authorized that matches is ranked, which "
        "is slow and gives the same answer (INDEXED_CANDIDATE_RETRIEVAL).",
    )


class ShadowSettings(StrictModel):
    """For which requests the other way is tried after the answer was sent."""

    progressive_schema_loading: Percent = Field(
        default=0,
        description="This and the next four: percent of searches after which, where the replica has nothing else to "
        "do, the same search runs once more with this flag the other way round; parity is in /metrics and shortlist "
        "status.",
    )
    adaptive_discovery_k: Percent = Field(default=0, description="As above.")
    hybrid_tool_discovery: Percent = Field(default=0, description="As above.")
    vector_candidate_retrieval: Percent = Field(default=0, description="As above.")
    indexed_candidate_retrieval: Percent = Field(default=0, description="As above.")


class FlagSettings(StrictModel):
    """Ways of answering that can be changed while an instance runs: replicas follow the settings file."""

    rollout_percent: RolloutSettings = RolloutSettings()
    shadow_percent: ShadowSettings = ShadowSettings()

    def plan(self) -> FlagPlan:
        """As the cluster takes them."""
        rollout, shadow = self.rollout_percent.model_dump(), self.shadow_percent.model_dump()
        return FlagPlan(
            rollout_percent={flag: rollout[flag.value] for flag in Flag},
            shadow_percent={flag: shadow[flag.value] for flag in Flag},
        )


class ExportSettings(StrictModel):
    """Exports: everything authorized that matches, page by page. None of these limits touches searches."""

    page_size: int = Field(default=500, ge=1, le=5000, description="Most records in one page of an export.")
    max_records: int = Field(default=1_000_000, ge=1, le=10_000_000, description="Most records in one export.")
    pages_per_minute: int = Field(
        default=120, ge=1, le=100_000, description="Pages that one caller may read in a minute, first pages included."
    )
    open_per_caller: int = Field(
        default=16, ge=1, le=1000, description="Exports that one caller may have begun and not finished."
    )
    cursor_hours: int = Field(
        default=24, ge=1, le=720, description="Time from the first page in which an export can be finished, in hours."
    )
    audit_days: int = Field(
        default=365, ge=1, le=3650, description="Time that who exported how much stays on record, in days."
    )

    def limits(self) -> ExportLimits:
        """As the cluster takes them."""
        return ExportLimits(
            page_size=self.page_size,
            max_records=self.max_records,
            pages_per_minute=self.pages_per_minute,
            open_per_caller=self.open_per_caller,
            lifetime_s=self.cursor_hours * 3600,
            audit_s=self.audit_days * 86_400,
        )


class AnswerSettings(StrictModel):
    """Answers made of evidence, by a model or, without one, by a reader of our own."""

    url: str | None = Field(
        default=None,
        max_length=2048,
        pattern=r"^https?://[^\s/@?#]+(/[^\s@?#]*)?$",
        description="Base URL of an OpenAI-compatible endpoint with its version, such as http://127.0.0.1:8000/v1 "
        "(extra answers); null answers offline, by an extractive reader.",
    )
    model: str | None = Field(
        default=None, min_length=1, max_length=256, description="Name of the model at that endpoint."
    )
    key_file: ConfiguredPath | None = Field(
        default=None, description="File (mode 0600) that holds the API key of that endpoint; null sends none."
    )
    timeout_ms: int = Field(
        default=30_000,
        ge=100,
        le=600_000,
        description="Time from arrival to the end of an answer, in milliseconds; a request may lower it.",
    )
    max_ongoing: int = Field(
        default=64, ge=1, le=10_000, description="Answers that one replica makes at the same time; more are refused."
    )
    max_tokens_out: int = Field(default=600, ge=16, le=100_000, description="Most tokens of one output of the model.")
    limit_field: Literal["max_tokens", "max_completion_tokens"] = Field(
        default="max_tokens", description="What the endpoint calls that limit: max_tokens or max_completion_tokens."
    )
    format: Literal["json_schema", "json_object", "none"] = Field(
        default="json_schema",
        description="How the model is held to JSON, of json_schema, json_object and none; endpoints differ in it.",
    )
    temperature: float | None = Field(
        default=0.0, ge=0, le=2, description="Temperature of the model; null leaves it to the endpoint."
    )

    @model_validator(mode="after")
    def _check_model(self) -> Self:
        if (self.url is None) != (self.model is None):
            raise ValueError("url and model together, or neither")
        return self


class LogSettings(StrictModel):
    """What is written of requests. No query, record, id, tenant or token is in a log by default."""

    requests: bool = Field(
        default=True,
        description="Whether each request gets a line of JSON: counts, limits, timings, and ids as keyed hashes.",
    )
    to: Literal["file", "stderr"] = Field(
        default="file",
        description="Where requests.log and audit.log go: file is files of mode 0600 in folder, stderr is standard "
        "error of each process, which Ray keeps among its own logs.",
    )
    folder: ConfiguredPath | None = Field(default=None, description="Folder of both files; null is home.")
    rotate_mb: int = Field(
        default=256,
        ge=1,
        le=1_048_576,
        description="Size from which requests.log is renamed to requests.log.1, in place of the one before, in MiB; "
        "audit.log is never renamed, and moving it away at any time is safe.",
    )
    snippet_percent: int = Field(
        default=0,
        ge=0,
        le=100,
        description="Share of searches whose line holds the start of the query, with e-mail addresses, numbers of 6 "
        "digits or more, tokens and the queries of URLs masked; names and all else stay readable.",
    )


class DuplicatesSettings(StrictModel):
    """The look for near-duplicates. Its budget is its own: no search waits for it or lends it time."""

    candidates: int = Field(default=40, ge=30, le=50, description="Records compared with the one that is asked about.")
    timeout_ms: int = Field(default=2000, ge=50, le=60_000, description="Time from arrival to answer, in milliseconds.")
    at_once: int = Field(default=2, ge=1, le=256, description="Looks that one replica works on at the same time.")


class HttpSettings(StrictModel):
    """The endpoint."""

    host: str = Field(
        default="127.0.0.1", min_length=1, description="Address to listen on; loopback unless you change it."
    )
    port: Port = Field(default=8900, description="Port of the endpoint.")
    replicas: int = Field(default=1, ge=1, le=256, description="Processes that answer HTTP requests.")
    max_ongoing_requests: int = Field(
        default=200, ge=1, le=100_000, description="Requests that one replica works on at the same time."
    )
    max_queued_requests: int = Field(
        default=50,
        ge=1,
        le=1_000_000,
        description="Requests that wait for one replica before new ones are refused; with those it works on no more "
        "than it answers in a part of a budget, or refusals come late.",
    )
    max_body_bytes: int = Field(
        default=262_144, ge=1024, le=16_777_216, description="Largest body of a search request, in bytes."
    )
    dashboard: bool = Field(default=False, description="Whether Ray's dashboard is started.")
    dashboard_port: Port = Field(default=8265, description="Port of Ray's dashboard, on loopback, where it is started.")


class JwtKey(StrictModel):
    """One key that verifies tokens. The key decides the algorithm, the token does not."""

    algorithm: Algorithm
    file: ConfiguredPath
    kid: str | None = Field(default=None, min_length=1, max_length=128)


class JwtSettings(StrictModel):
    """Which bearer tokens are accepted."""

    algorithms: tuple[Algorithm, ...] = Field(
        default=ALGORITHMS,
        min_length=1,
        description="Signature algorithms allowed; a subset of HS256, RS256 and EdDSA.",
    )
    keys: tuple[JwtKey, ...] = Field(
        default=(),
        description="Verification keys, each {algorithm, file, kid}: a PEM public key, or for HS256 a secret of at "
        "least 32 bytes with mode 0600; kid may be left out on one key.",
    )
    audience: str = Field(default="shortlist", min_length=1, description="The aud claim a token must have.")
    issuer: str = Field(default="shortlist", min_length=1, description="The iss claim a token must have.")
    leeway_s: int = Field(
        default=0, ge=0, le=300, description="Clock difference forgiven when a token's times are checked, in seconds."
    )

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        kids = [key.kid for key in self.keys]
        if len(set(kids)) != len(kids):
            raise ValueError("keys with different kids, at most one without")
        if any(key.algorithm not in self.algorithms for key in self.keys):
            raise ValueError("keys whose algorithm is listed in algorithms")
        return self


class AuthSettings(StrictModel):
    """Who may call. Without keys and without an API-key file, a key is made in ``home``: never open."""

    jwt: JwtSettings = JwtSettings()
    api_keys: ConfiguredPath | None = Field(
        default=None,
        description="YAML file (mode 0600) of API keys, each {name, sha256, tenant, roles, mode}; null is none.",
    )

    @property
    def local_key(self) -> bool:
        """Whether tokens are signed by the key that Shortlist makes for itself."""
        return not self.jwt.keys and self.api_keys is None


class BudgetSettings(StrictModel):
    """Ceilings of one kind of record: a request may lower each, and name a k up to its mode's K ceiling."""

    candidate_k: int = Field(ge=1, le=10_000, description="Records that survive the index cut.")
    rerank_k: int = Field(ge=1, le=10_000, description="Records handed to the ranker; at most candidate_k.")
    evidence_k: int = Field(
        ge=1,
        le=1000,
        description="Records in the answer where the request names no k; at most rerank_k. The most a request can name "
        "is the K ceiling of the caller's mode, in the policy.",
    )
    evidence_tokens: int = Field(ge=1, le=1_000_000, description="Tokens of all evidence together; see tokens.")
    evidence_bytes: int = Field(
        ge=1, le=MOST_EVIDENCE_BYTES, description="JSON of all evidence together, as native answers have it, in bytes."
    )
    timeout_ms: int = Field(ge=10, le=60_000, description="Time from arrival to answer, in milliseconds.")

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if not self.evidence_k <= self.rerank_k <= self.candidate_k:
            raise ValueError("evidence_k <= rerank_k <= candidate_k")
        return self

    @classmethod
    def shipped(cls, kind: Kind) -> Self:
        """The defaults of ``cluster.budget``."""
        return cls(**{name: getattr(DEFAULT_BUDGETS[kind], name) for name in cls.model_fields})


class BudgetsSettings(StrictModel):
    """Budgets by kind of record."""

    tool: BudgetSettings = BudgetSettings.shipped(Kind.TOOL)
    passage: BudgetSettings = BudgetSettings.shipped(Kind.PASSAGE)

    @field_validator("tool", "passage", mode="before")
    @classmethod
    def _keep_defaults(cls, given: object, info: ValidationInfo) -> object:
        """A budget that names some ceilings keeps the shipped others of its own kind."""
        if isinstance(given, dict):
            return BudgetSettings.shipped(Kind(str(info.field_name))).model_dump() | given
        return given

    def of(self, kind: Kind) -> Budget:
        """The budget of a kind."""
        values: BudgetSettings = getattr(self, kind.value)
        return Budget(**values.model_dump())

    @property
    def longest_ms(self) -> int:
        """The longest time that any budget allows."""
        return max(self.of(kind).timeout_ms for kind in Kind)


class TokenSettings(StrictModel):
    """How the tokens of evidence are counted."""

    tokenizer_file: ConfiguredPath | None = Field(
        default=None,
        description="A tokenizer.json of the model that reads the evidence, with the extra shortlist[tokens]; nothing "
        "is downloaded. Null counts by the estimate of cluster/tokens.py.",
    )


class Settings(StrictModel):
    """All settings. Built once by ``load_settings`` and passed down; only ``flags`` are read again, from ``source``."""

    _source: Path | None = PrivateAttr(default=None)

    def model_post_init(self, context: Mapping[str, Path] | None, /) -> None:
        """Remember the file that ``load_settings`` passes."""
        self._source = None if context is None else context.get("source")

    home: ConfiguredPath = Field(
        default=Path(".shortlist"),
        description="Folder of everything Shortlist writes: registry, snapshots, its own key.",
    )
    policy: ConfiguredPath | None = Field(
        default=None, description="The policy file; null is the shipped configs/policy.yaml."
    )
    ranker: ConfiguredPath | None = Field(
        default=None, description="The ranker file; null is the shipped configs/ranker.yaml."
    )
    registry: RegistrySettings = RegistrySettings()
    cluster: ClusterSettings = ClusterSettings()
    vectors: VectorSettings = VectorSettings()
    discovery: DiscoverySettings = DiscoverySettings()
    flags: FlagSettings = FlagSettings()
    exports: ExportSettings = ExportSettings()
    answers: AnswerSettings = AnswerSettings()
    log: LogSettings = LogSettings()
    duplicates: DuplicatesSettings = DuplicatesSettings()
    http: HttpSettings = HttpSettings()
    auth: AuthSettings = AuthSettings()
    budgets: BudgetsSettings = BudgetsSettings()
    tokens: TokenSettings = TokenSettings()

    @property
    def source(self) -> Path | None:
        """The file that they were read from, None for the shipped ones."""
        return self._source

    @property
    def registry_url(self) -> "str | URL":
        """The registry's SQLAlchemy URL, the default filled in; as text it could not hold every path of a home."""
        # Imported here, because most commands read the settings and never open the registry.
        from cluster.registry import url_in  # noqa: PLC0415

        return self.registry.url or url_in(self.home)


def load_settings(path: Path | None = None) -> Settings:
    """The settings of the file at ``path``, or the shipped ones. Keys that the file leaves out keep their defaults.

    Relative paths count from the folder of the file; in the shipped settings from the working directory.

    Raises:
        InvalidConfiguration: for the first unreadable, unknown or out-of-range thing, with what is allowed.
    """
    if path is not None:
        return _read(path, {"folder": path.absolute().parent, "source": path.absolute()})
    with as_file(files("configs") / "shortlist.yaml") as shipped:
        return _read(shipped, {"folder": Path.cwd()})


def flags_in(raw: bytes, path: Path) -> FlagSettings:
    """The flags of settings that were read from ``path``; the other settings are checked and dropped.

    Raises:
        InvalidConfiguration: as ``load_settings``.
    """
    source = str(path)
    return validated(Settings, parse_yaml(raw, source), source, {"folder": path.absolute().parent}).flags


def _read(path: Path, context: dict[str, Path]) -> Settings:
    settings = read_model(Settings, path, context)
    # Pydantic validates what a file says, not defaults: a home that the file leaves out is anchored here.
    return settings.model_copy(update={"home": context["folder"] / settings.home})
