"""``shortlist explain``: why one record is in the answer to a question, or not."""

from typing import Final

import click
import orjson
from rich.console import Console
from rich.table import Table

from serve_app.cli.question import question_options
from serve_app.cli.target import JsonObject, Target, encoded, target_options
from serve_app.cli.terminal import shown

_SENTENCES: Final = {
    "hit": "It is in the answer.",
    "outranked": "It matches, but others score higher.",
    "cut_by_budget": "Its rank is within k, but the evidence tokens ran out before it.",
    "cut_by_scores": "Its rank is within k, but the scores fall away before it (adaptive K).",
    "abstained": "The question reads like talk that no record is for, so the answer is a no_match.",
    "not_a_candidate": "It shares nothing with the question.",
    "filtered_by_narrowing": "You may see it, but this request narrows it away.",
    "stale": "Its part of the index has not seen the change min_seq yet.",
    "not_searched": "Its part of the index did not answer.",
    "duplicate": "Another hit stands for it, because somebody confirmed that both say the same.",
}

_NOTHING: Final[JsonObject] = {"impact": 0, "name": 0, "score": 0}


@click.command(epilog='Example: shortlist explain "create a bucket" aws:s3:ListBuckets --k 5 --local')
@question_options
@click.argument("record_id", metavar="ID")
@target_options(role="reader", local=True)
@click.option("--json", "as_json", is_flag=True, help="Print the endpoint's answer as it is.")
def command(*, question: JsonObject, record_id: str, target: Target, as_json: bool) -> None:
    """Say why the record ID is, or is not, in the answer to QUERY."""
    body = {**question, "id": record_id}
    answer = _local(target, body, quiet=as_json) if target.local else target.send("POST", "/v1/explain", body)
    if as_json:
        click.echo(orjson.dumps(answer))
    else:
        _print(answer)


def _local(target: Target, body: JsonObject, *, quiet: bool) -> JsonObject:
    from serve_app.asking import Call  # noqa: PLC0415 -- needs Numba, which --help does not
    from serve_app.explanation import explain_record, explanation_bytes  # noqa: PLC0415
    from serve_app.json_body import parse_body  # noqa: PLC0415
    from serve_app.services import Services  # noqa: PLC0415
    from serve_app.wire import ExplainBody  # noqa: PLC0415

    content = encoded(body)

    async def ask(services: Services, call: Call) -> bytes:
        parsed = parse_body(ExplainBody, content)
        return explanation_bytes(call.request_id, await explain_record(services, call, parsed))

    return target.run(ask, quiet=quiet)


def _print(answer: JsonObject) -> None:
    console = Console(highlight=False)
    rank = "not ranked" if answer["rank"] is None else f"rank {answer['rank']}"
    console.print(shown(answer["id"]), f"{answer['outcome']}, {rank}, k {answer['k']}.", _SENTENCES[answer["outcome"]])
    if answer["shown_instead"]:
        console.print("Shown instead:", shown(answer["shown_instead"]))
    if answer["score"] is None:
        return
    last = "none, fewer match" if answer["kth_score"] is None else f"{answer['kth_score']:,}"
    console.print(f"Score {answer['score']:,}; the last of the k best has {last}.")
    table = Table("term", "weight", "impact", "name", "score")
    for part in answer["parts"]:
        numbers = (f"{part[field]:,}" for field in ("weight", "impact", "name", "score"))
        table.add_row(shown(_said(part)), *numbers)
    if answer["bonus"]:
        table.add_row("exact name, capability or domain", "", "", "", f"{answer['bonus']:,}")
    if answer["similarity"]:
        likeness = f"likeness of vectors, {answer['similarity']['likeness']:,} of 1,024"
        table.add_row(likeness, f"{answer['similarity']['weight']:,}", "", "", f"{answer['similarity']['score']:,}")
    if table.row_count:
        console.print(table)
    if answer["versus"]:
        _print_versus(console, answer["versus"])


def _print_versus(console: Console, versus: JsonObject) -> None:
    """The record beside the last one shown, one feature a row, first what decided most."""
    console.print(f"Beside the record at rank {versus['rank']},", shown(versus["id"]))
    table = Table("term", "weight", "impact, name", "score", "its impact, name", "its score", "its lead")
    for pair in versus["terms"]:
        own, other = pair["own"] or _NOTHING, pair["other"] or _NOTHING
        table.add_row(
            shown(_said(pair)),
            f"{(pair['own'] or pair['other'])['weight']:,}",
            f"{own['impact']}, {own['name']}",
            f"{own['score']:,}",
            f"{other['impact']}, {other['name']}",
            f"{other['score']:,}",
            f"{pair['lead']:+,}",
        )
    for name, feature in (("names", "bonus"), ("likeness of vectors", "similarity"), ("in all", "score")):
        pair = versus[feature]
        table.add_row(name, "", "", f"{pair['own']:,}", "", f"{pair['other']:,}", f"{pair['lead']:+,}")
    console.print(table)


def _said(part: JsonObject) -> str:
    """The term, after the word of the question that it was taken for, if there is one."""
    return f"{part['instead_of']} → {part['term']}" if "instead_of" in part else str(part["term"])
