"""``shortlist search``: one question, to the endpoint or in this process: as a table, a provider's tools or JSON.

It shapes nothing itself: what a provider takes is the endpoint's to say.
"""

from typing import Final

import click
import orjson
from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table

from serve_app.cli.question import question_options
from serve_app.cli.target import JsonObject, Target, encoded, target_options
from serve_app.cli.terminal import shown

FORMATS: Final = ("native", "openai_chat", "openai_responses", "anthropic", "anthropic_tool_search", "mcp")
"""Those of ``serve_app.formats.formatting``, whose import takes longer than ``--help`` may."""

_BY_WORDS: Final = {
    "language": "no model knows the query's language",
    "embedding": "{missing:,} of your records have no vector yet",
    "timeout": "the query's vector did not come in time",
    "failed": "the embedding model failed",
}
"""Why an answer was made by words alone, where there are vectors."""

_OTHER_COLUMNS: Final = 48
"""Characters of a line beside the id: borders, numbers, and a description that can still be read."""


@click.command(epilog='Example: shortlist search "create a bucket" --k 5 --namespace "aws*" --local')
@question_options
@click.option("--pin", "pinned", multiple=True, metavar="ID", help="Always in the result, if you may see it.")
@click.option("--prefer", "preferred", multiple=True, metavar="ID", help="Always a candidate, if you may see it.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="native",
    show_default=True,
    help="Shape of the tools and passages: our own, or a provider's, which is printed as JSON.",
)
@click.option("--parts", is_flag=True, help="Add the parts of every score (with --json).")
@target_options(role="reader", local=True)
@click.option("--json", "as_json", is_flag=True, help="Print the endpoint's answer as it is.")
def command(
    *,
    question: JsonObject,
    pinned: tuple[str, ...],
    preferred: tuple[str, ...],
    form: str,
    parts: bool,
    target: Target,
    as_json: bool,
) -> None:
    """Find the records that a model should see for QUERY."""
    body = {**question, "pinned": list(pinned), "preferred": list(preferred), "explain": parts, "format": form}
    answer = _local(target, body, quiet=as_json) if target.local else target.send("POST", "/v1/search", body)
    if as_json:
        click.echo(orjson.dumps(answer))
    elif "formatted" in answer and not answer["miss"]:
        click.echo(orjson.dumps(answer["formatted"], option=orjson.OPT_INDENT_2))
        click.echo(_summary(answer), err=True)
    else:
        _print(answer)


def _local(target: Target, body: JsonObject, *, quiet: bool) -> JsonObject:
    from serve_app.answer import answer_bytes  # noqa: PLC0415 -- needs Numba, which --help does not
    from serve_app.asking import Call  # noqa: PLC0415
    from serve_app.json_body import parse_body  # noqa: PLC0415
    from serve_app.questions import answer_search  # noqa: PLC0415
    from serve_app.services import Services  # noqa: PLC0415
    from serve_app.wire import SearchBody  # noqa: PLC0415

    content = encoded(body)

    async def ask(services: Services, call: Call) -> bytes:
        parsed = parse_body(SearchBody, content)
        answer = await answer_search(services, call, parsed)
        counter = services.router.counter
        return answer_bytes(answer, explain=parsed.explain, form=parsed.format, counter=counter)

    return target.run(ask, quiet=quiet)


def _print(answer: JsonObject) -> None:
    console = Console()
    if answer["miss"]:
        console.print(f"No hit: {answer['miss']['reason']}.", shown(answer["miss"]["advice"]))
    else:
        console.print(_table(answer["hits"], console.width))
        console.print(f"Plan: {answer['plan']['delivery']} ({answer['plan']['reason']})", highlight=False)
    console.print(_summary(answer), highlight=False)


def _table(hits: list[JsonObject], width: int) -> Table:
    # An id is there to be copied: whole on one line if the description can give way, over several lines if not.
    ids = [hit["id"] + (" (pinned)" if hit["pinned"] else "") for hit in hits]
    one_line = max(map(cell_len, ids)) + _OTHER_COLUMNS <= width
    table = Table("#", Column("id", no_wrap=one_line, overflow="fold"), "what it is", "score", "tokens")
    for hit, hit_id in zip(hits, ids, strict=True):
        record = hit["record"]
        what = shown(record.get("description") or record.get("text") or hit["name"], limit=100)
        table.add_row(str(hit["rank"]), shown(hit_id, limit=len(hit_id)), what, f"{hit['score']:,}", str(hit["tokens"]))
    return table


def _summary(answer: JsonObject) -> str:
    coverage, spent = answer["coverage"], answer["spent"]
    whole = (
        "all" if coverage["full"] else f"{coverage['searched']:,} ({', '.join(coverage['gaps'])}: rest not searched)"
    )
    vectors = answer["vectors"]
    by_words = _BY_WORDS.get(vectors["state"], "").format(missing=vectors["missing"])
    return (
        f"{spent['matched']:,} of {coverage['authorized'] or 0:,} records you may see match; searched {whole}.\n"
        f"{spent['evidence_tokens']:,} of {answer['budget']['evidence_tokens']:,} tokens; "
        f"{'exact' if answer['exact'] else 'not proved exact'}; {answer['timings_ms'].get('total', 0):.1f} ms"
        + (f"\nBy words alone: {by_words}." if by_words else "")
    )
