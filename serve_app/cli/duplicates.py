"""``shortlist duplicates``: which records say the same as one of them, or as one that is yet to be written."""

from pathlib import Path
from typing import Final

import click
import orjson
from rich.console import Console
from rich.table import Table

from serve_app.cli.target import JsonObject, Target, encoded, target_options
from serve_app.cli.terminal import shown

_DISTINCT: Final = "distinct"


@click.command(epilog="Example: shortlist duplicates kb:refunds --local")
@click.argument("record_id", metavar="[ID]", required=False)
@click.option(
    "--file",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Instead of ID: one record as JSON, as PUT /v1/records takes it; it is not stored.",
)
@click.option("--candidates", type=click.IntRange(1, 50), help="Records to compare it with.")
@click.option("--all", "with_distinct", is_flag=True, help="Show those that are distinct, too.")
@target_options(role="reader", local=True)
@click.option("--json", "as_json", is_flag=True, help="Print the endpoint's answer as it is.")
def command(
    *,
    record_id: str | None,
    file: Path | None,
    candidates: int | None,
    with_distinct: bool,
    target: Target,
    as_json: bool,
) -> None:
    """List what says the same as the record ID, within its tenant and product, with the reasons of each verdict."""
    asked = {"id": record_id, "record": None if file is None else _record_in(file), "candidates": candidates}
    body = {field: value for field, value in asked.items() if value is not None}
    answer = _local(target, body, quiet=as_json) if target.local else target.send("POST", "/v1/duplicates", body)
    if as_json:
        click.echo(orjson.dumps(answer))
    else:
        _print(answer, with_distinct=with_distinct)


def _record_in(file: Path) -> object:
    try:
        return orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise click.ClickException(f"{file}: {error}") from error


def _local(target: Target, body: JsonObject, *, quiet: bool) -> JsonObject:
    from serve_app.asking import Call  # noqa: PLC0415 -- as ``serve_app.cli.target`` says
    from serve_app.duplicates import look  # noqa: PLC0415
    from serve_app.json_body import parse_body  # noqa: PLC0415
    from serve_app.services import Services  # noqa: PLC0415
    from serve_app.wire import DuplicatesBody  # noqa: PLC0415

    content = encoded(body)

    async def ask(services: Services, call: Call) -> bytes:
        return orjson.dumps(await look(services, call, parse_body(DuplicatesBody, content)))

    return target.run(ask, quiet=quiet)


def _print(answer: JsonObject, *, with_distinct: bool) -> None:
    console = Console(highlight=False)
    rows = [one for one in answer["compared"] if with_distinct or one["verdict"] != _DISTINCT]
    if not answer["complete"]:
        console.print("A part of the records could not be looked through; ask again.")
    if not rows:
        console.print(f"{len(answer['compared'])} records compared, none of them like it.")
        return
    table = Table("verdict", "id", "title", "words", "part", "vectors", "why")
    for one in rows:
        likeness = one["likeness"]
        vectors = "-" if likeness["vectors"] is None else f"{likeness['vectors']:.2f}"
        shares = (f"{likeness[field]:.2f}" for field in ("words", "part"))
        verdict = f"{one['verdict']}, confirmed" if one["confirmed"] else one["verdict"]
        table.add_row(verdict, shown(one["id"]), shown(one["title"], 60), *shares, vectors, ", ".join(one["reasons"]))
    console.print(table)
    console.print("canonical:", shown(answer["canonical"]))
