"""Settings: all sections in one value, and the one way it is read from a file.

It reads no environment variable and holds no secret, only the paths of files that do. What a section holds stands in
``cluster.settings``; ``configs/shortlist.yaml`` is written from both by ``cluster.settings_document``.
"""

from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, PrivateAttr

from cluster.settings.answers import AnswerSettings
from cluster.settings.auth import AuthSettings
from cluster.settings.duplicates import DuplicatesSettings
from cluster.settings.exports import ExportSettings
from cluster.settings.flags import FlagSettings
from cluster.settings.http import HttpSettings
from cluster.settings.index import ClusterSettings, RegistrySettings, VectorSettings
from cluster.settings.log import LogSettings
from cluster.settings.search import BudgetsSettings, DiscoverySettings, TokenSettings
from cluster.settings.values import ConfiguredPath
from cluster.strict_yaml import parse_yaml
from cluster.yaml_model import StrictModel, read_model, validated

if TYPE_CHECKING:
    from sqlalchemy import URL


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
