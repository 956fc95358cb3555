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

_BUDGET: Final = ("candidate_k", "rerank_k", "evidence_k", "evidence_tokens", "timeout_ms")


def question_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds a query and its options to a command, which gets the body of the request as ``question``."""

    @wraps(command)
    def run(*, query: str, k: int | None, min_seq: int | None, grant_list: str | None, **others: object) -> None:
        given = {field: others.pop(field) for field in _NARROWING.values()}
        narrow: JsonObject = {field: values for field, values in given.items() if values}
        if grant_list is not None:
            narrow["grant_list"] = grant_list
        budget = {field: value for field in _BUDGET if (value := others.pop(field)) is not None}
        asked = {"query": query, "k": k, "min_seq": min_seq, "narrow": narrow or None, "budget": budget or None}
        command(question={field: value for field, value in asked.items() if value is not None}, **others)

    for option in reversed(_options()):
        run = option(run)
    return run


def _options() -> list[Callable[[Callable[..., None]], Callable[..., None]]]:
    narrowing = [
        click.option(
            name, field, multiple=True, help=_HELP.get(name, "Narrow to this one; may be given several times.")
        )
        for name, field in _NARROWING.items()
    ]
    budget = [click.option(f"--{field.replace('_', '-')}", type=int, help="Lower this ceiling.") for field in _BUDGET]
    return [
        click.argument("query"),
        click.option("--k", type=int, help="Hits wanted."),
        *narrowing,
        click.option("--grant-list", metavar="NAME", help="Narrow to a registered grant list."),
        *budget,
        click.option("--min-seq", type=int, help="The answer must see this change of the registry."),
    ]
