"""``shortlist status``: the health of a running cluster, for operators."""

import click
import orjson
from rich.console import Console
from rich.table import Table

from serve_app.cli.target import JsonObject, Target, target_options

_MIB = 2**20


@click.command(epilog="Example: shortlist status --home .shortlist")
@target_options(role="admin", local=False)
@click.option("--json", "as_json", is_flag=True, help="Print the endpoint's answer as it is.")
def command(*, target: Target, as_json: bool) -> None:
    """Show every shard copy of a running cluster, and how far it has followed the registry."""
    status = target.send("GET", "/v1/status")
    if as_json:
        click.echo(orjson.dumps(status))
    else:
        _print(status)


def _print(status: JsonObject) -> None:
    console = Console(highlight=False)
    console.print(f"{status['health']}: {status['records']:,} records, registry at seq {status['seq']:,}")
    console.print(f"vectors: {embedding_line(status['embedding'])}", markup=False)
    if "flags" in status:
        _print_flags(console, status["flags"])
    table = Table(
        "shard", "state", "records", "seq", "segments", "index", "text", "lost", "pid", caption="index and text in MiB"
    )
    for copy in status["copies"]:
        detail = copy["detail"]
        state = "ready" if copy["ready"] else f"loading {copy['loaded_records']:,} of {copy['expected_records']:,}"
        counts = ("-",) * 5 if detail is None else _counts(detail)
        pid = "-" if detail is None else str(detail["pid"])
        table.add_row(str(copy["shard"]), state, *counts, str(copy["replaced"]), pid)
    console.print(table)


def _print_flags(console: Console, flags: JsonObject) -> None:
    """The flags of the replica that answered, a line each."""
    if flags["fault"]:
        console.print(f"flags: those of before are kept, {flags['fault']}", markup=False)
    for name, flag in flags["flags"].items():
        line = f"flag {name}: {flag['rollout_percent']} % of queries"
        if flag["shadow_percent"] or flag["compared"]:
            line += (
                f"; shadow {flag['shadow_percent']} %: {flag['equal']:,} of {flag['compared']:,} equal, "
                f"{flag['incomparable']:,} incomparable, {flag['skipped']:,} skipped"
            )
        console.print(line, markup=False)


def embedding_line(embedding: JsonObject) -> str:
    """The state of an ``EmbeddingStatus`` in one line."""
    state = embedding["state"]
    if state == "off":
        return "off; searches go by words"
    parts = [f"{state}, {embedding['embedded']:,} of {embedding['records']:,} records embedded"]
    if embedding["records_per_s"]:
        parts.append(f"{embedding['records_per_s']:,.0f} records/s")
    if embedding["refused"]:
        parts.append(f"{embedding['refused']:,} texts refused")
    if embedding["embedder"]:
        parts.append(f"embedder {embedding['embedder']}")
    if embedding["fault"]:
        parts.append(embedding["fault"])
    return "; ".join(parts)


def _counts(detail: JsonObject) -> tuple[str, ...]:
    sizes = (f"{detail[field] / _MIB:,.1f}" for field in ("index_bytes", "document_bytes"))
    return (f"{detail['records']:,}", f"{detail['seq']:,}", str(detail["segments"]), *sizes)
