"""Which instance a command means: its settings, with the options of the command in place, and its address.

It reads the settings file only; whether an instance runs is for the command to see.
"""

from pathlib import Path

from cluster.config import Settings, load_settings


def instance_settings(config: Path | None, home: Path | None) -> Settings:
    """The settings of ``--config``, or the shipped ones, with ``--home`` in place of their home.

    Raises:
        InvalidConfiguration: as ``load_settings``.
    """
    settings = load_settings(config)
    return settings if home is None else settings.model_copy(update={"home": home.absolute()})


def url_of(settings: Settings) -> str:
    """Where a caller on this machine finds the endpoint."""
    host = settings.http.host
    named = "127.0.0.1" if host in {"0.0.0.0", "::", "*"} else host  # noqa: S104 -- compared, not bound
    return f"http://[{named}]:{settings.http.port}" if ":" in named else f"http://{named}:{settings.http.port}"
