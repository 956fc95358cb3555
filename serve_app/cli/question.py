"""The options of a question, the same for every command that asks one, and the body that they make."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from serve_app.cli.target import JsonObject

_NARROWING: Final = {
    "--kind": "kinds",
    "--namespace": "namespaces",
    "--product": "products",
    "--locale": "locales",
    "--release": "releases",
    "--domain": "domains",
    "--capability": "capabilities",
    "--only": "ids",
}
"""Options that may be given several times, and the field of ``narrow`` that each fills."""

_HELP: Final = {"--namespace": "Exact, or a prefix that ends in *.", "--only": "Id of a record that may be found."}

_BUDGET: Final = ("candidate_k", "rerank_k", "evidence_k", "evidence_tokens", "evidence_bytes", "timeout_ms")


def question_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds a query and its options to a command, which gets the body of the request as ``question``."""

    @wraps(command)
    def run(*, query: str, k: int | None, min_seq: int | None, grant_list: str | None, **others: object) -> None:
        narrow = _narrow(grant_list, others)
        budget = {field: value for field in _BUDGET if (value := others.pop(field)) is not None}
        asked = {"query": query, "k": k, "min_seq": min_seq, "narrow": narrow or None, "budget": budget or None}
        command(question={field: value for field, value in asked.items() if value is not None}, **others)

    for option in reversed(_options()):
        run = option(run)
    return run


def narrowing_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options of a narrowing alone, which the command gets as ``narrow``, empty for none."""

    @wraps(command)
    def run(*, grant_list: str | None, **others: object) -> None:
        narrow = _narrow(grant_list, others)
        command(narrow=narrow, **others)

    for option in reversed(_narrowing()):
        run = option(run)
    return run


def _narrow(grant_list: str | None, options: dict[str, object]) -> "JsonObject":
    """The field ``narrow`` of a body, from options that are taken out of ``options``."""
    given = {field: options.pop(field) for field in _NARROWING.values()}
    narrow: JsonObject = {field: values for field, values in given.items() if values}
    if grant_list is not None:
        narrow["grant_list"] = grant_list
    return narrow


def _narrowing() -> list[Callable[[Callable[..., None]], Callable[..., None]]]:
    named = [
        click.option(
            name, field, multiple=True, help=_HELP.get(name, "Narrow to this one; may be given several times.")
        )
        for name, field in _NARROWING.items()
    ]
    return [*named, click.option("--grant-list", metavar="NAME", help="Narrow to a registered grant list.")]


def _options() -> list[Callable[[Callable[..., None]], Callable[..., None]]]:
    budget = [click.option(f"--{field.replace('_', '-')}", type=int, help="Lower this ceiling.") for field in _BUDGET]
    return [
        click.argument("query"),
        click.option("--k", type=int, help="Hits wanted."),
        *_narrowing(),
        *budget,
        click.option("--min-seq", type=int, help="The answer must see this change of the registry."),
    ]
