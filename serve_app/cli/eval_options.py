"""The options of ``shortlist eval``, in groups: what is measured, who asks, what is left behind.

It imports nothing of ``evals``: that is for the command, when it runs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from shards.scope import Scope

MAX_CUT: Final = 10_000

LATEST: Final = "evals/latest.json"
"""Where ``--save`` writes unless it names a file."""

OFF: Final = "off"
"""Of ``--abstention``."""

Decorator = Callable[[Callable[..., None]], Callable[..., None]]

_FILE: Final = click.Path(path_type=Path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """What is measured, and how; fields as in ``evals.evaluation.Plan`` and ``evals.systems.setup.Setup``."""

    systems: tuple[str, ...]
    ks: tuple[int, ...]
    cuts: tuple[int, ...]
    shards: int
    evidence_tokens: int | None
    abstention: str
    adaptive: bool
    models: tuple[str, ...]
    vector_cache: Path | None
    parity: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks the questions; without roles everybody may see everything, whatever the files say."""

    roles: tuple[str, ...]
    tenant: str
    mode: str
    config: Path | None
    namespaces: tuple[str, ...]

    def scope(self) -> "Scope":
        """What the policy lets this caller see.

        Raises:
            click.ClickException: if settings or policy cannot be read.
            click.BadParameter: if the policy knows no such role or mode.
        """
        from cluster.errors import InvalidConfiguration  # noqa: PLC0415 -- --help needs none of this
        from cluster.scope import Policy, Principal  # noqa: PLC0415
        from serve_app.cli.instance import instance_settings  # noqa: PLC0415
        from serve_app.cli.principal import check_principal  # noqa: PLC0415

        try:
            policy = Policy.load(instance_settings(self.config, None).policy)
        except InvalidConfiguration as error:
            raise click.ClickException(str(error)) from error
        principal = Principal(subject="eval", tenant=self.tenant, roles=frozenset(self.roles), mode=self.mode)
        check_principal(principal, policy)
        return policy.compile(principal)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """What is left behind; None for what was not asked for.

    Attributes:
        dilution: catalogues whose tools dilute the measured one, for the plot over its size.
    """

    as_json: bool
    misses: Path | None
    suggest: Path | None
    save: Path | None
    plots: Path | None
    dilution: tuple[Path, ...]


def cuts_of(_context: click.Context, _option: click.Parameter, value: str) -> tuple[int, ...]:
    """The numbers of ``1,5,10``, ascending, each once.

    Raises:
        BadParameter: if one is no number from 1 to ``MAX_CUT``; click names the option.
    """
    parts = value.split(",")
    if not all(part.strip().isdecimal() and 1 <= int(part) <= MAX_CUT for part in parts):
        raise click.BadParameter(f"{value!r} is not a list of numbers from 1 to {MAX_CUT:,} such as 1,5,10")
    return tuple(sorted({int(part) for part in parts}))


def names_of(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[str, ...]:
    """The names of ``minilm,use``, each once, in order; none where the option was not given."""
    return tuple(dict.fromkeys(part.strip() for part in (value or "").split(",") if part.strip()))


def measuring_options(systems: Sequence[str]) -> Decorator:
    """Adds the options that say which of ``systems`` are measured, and how; the command gets them as ``measuring``."""
    return _grouped(
        "measuring",
        Measuring,
        (
            click.option(
                "--system",
                "systems",
                type=click.Choice(systems),
                multiple=True,
                default=("lexical",),
                show_default=True,
                help="What to measure; several are shown side by side, the first compared with each other.",
            ),
            click.option(
                "--k", "ks", callback=cuts_of, default="1,5,10,15,20", show_default=True, help="Answer sizes to report."
            ),
            click.option(
                "--candidates",
                "cuts",
                callback=cuts_of,
                default="20,50,100,200",
                show_default=True,
                help="Candidate cuts to report.",
            ),
            click.option(
                "--shards", type=click.IntRange(1, 64), default=1, show_default=True, help="Shards of the index."
            ),
            click.option(
                "--evidence-tokens", type=click.IntRange(min=1), help="Token budget of each answer. [default: no limit]"
            ),
            click.option(
                "--abstention",
                type=click.Choice((OFF, "cautious", "balanced", "strict")),
                default="balanced",
                show_default=True,
                help="How strictly talk is turned away.",
            ),
            click.option("--adaptive-k", "adaptive", is_flag=True, help="End every answer where its scores fall off."),
            click.option(
                "--models",
                callback=names_of,
                metavar="NAMES",
                help="Embedding models of systems with vectors: minilm,use,e5.",
            ),
            click.option(
                "--vector-cache",
                type=click.Path(path_type=Path, dir_okay=False),
                metavar="FILE",
                help="Database of vectors, made where it is missing: a rerun embeds no record again.",
            ),
            click.option(
                "--parity",
                type=click.IntRange(min=0),
                default=200,
                show_default=True,
                help="Compare up to this many exact answers with a ranking of everything.",
            ),
        ),
    )


def caller_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options that say who asks; the command gets them as ``caller``."""
    return _grouped(
        "caller",
        Caller,
        (
            click.option(
                "--role",
                "roles",
                multiple=True,
                help="Ask as a principal of this role: the files' access counts. [default: everything is open]",
            ),
            click.option("--tenant", default="demo", show_default=True, help="Tenant of --role."),
            click.option("--mode", default="autonomous", show_default=True, help="Mode of --role."),
            click.option("--config", type=_FILE, help="Settings file that names the policy, if not the shipped one."),
            click.option(
                "--namespace", "namespaces", multiple=True, help="Narrow every question, as shortlist search."
            ),
        ),
    )(command)


def output_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options that say what is left behind; the command gets them as ``outputs``."""
    return _grouped(
        "outputs",
        Outputs,
        (
            click.option(
                "--misses", type=_FILE, metavar="FILE", help="Write every missed record and why, as JSON Lines."
            ),
            click.option(
                "--suggest",
                type=_FILE,
                metavar="FILE",
                help="Write metadata that would close the misses of the first system, as JSON Lines for review.",
            ),
            click.option(
                "--save",
                type=_FILE,
                is_flag=False,
                flag_value=LATEST,
                metavar="[FILE]",
                help=f"Write all figures with commit, versions and date. [FILE by default: {LATEST}]",
            ),
            click.option(
                "--plots",
                type=click.Path(path_type=Path, file_okay=False),
                metavar="DIR",
                help="Draw recall against K, N and catalogue size, and latencies, as PNG (extra 'evals').",
            ),
            click.option(
                "--dilute",
                "dilution",
                type=_FILE,
                multiple=True,
                metavar="FILE",
                help="More tools, which dilute the catalogue for the plot over its size.",
            ),
            click.option(
                "--json", "as_json", is_flag=True, help="Print one JSON object (the other systems under 'beside')."
            ),
        ),
    )(command)


def _grouped(name: str, group: type[Measuring | Caller | Outputs], options: Sequence[Decorator]) -> Decorator:
    """Adds options to a command, which gets them together, as ``name``."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:  # noqa: ANN401 -- what click parsed; each option says its type
            own = {field.name: given.pop(field.name) for field in fields(group)}
            command(**{name: group(**own)}, **given)

        grouped: Callable[..., None] = run
        for option in reversed(options):
            grouped = option(grouped)
        return grouped

    return decorate
