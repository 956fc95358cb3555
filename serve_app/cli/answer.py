"""``shortlist answer``: the answer to one question with the records it stands in, and what it cost in tokens.

It shows what the endpoint says, as it comes on a terminal, and judges nothing.
"""

import sys
from typing import Final

import click
import orjson
from rich.console import Console
from rich.table import Table

from cluster.contract import Delivery
from cluster.question_lexicon import AnswerShape
from serve_app.cli.question import question_options
from serve_app.cli.target import JsonObject, Target, encoded, target_options
from serve_app.cli.terminal import shown

_LONGEST_S: Final = 600.0
"""The most that the settings of any endpoint let an answer take."""

_GRACE_S: Final = 10.0
"""Beyond the time of an answer, for its way."""

_FAILED: Final = 1


@click.command(epilog='Example: shortlist answer "How long does a refund take?" --product shop')
@question_options
@click.option("--pin", "pinned", multiple=True, metavar="ID", help="Always read, if you may see it.")
@click.option("--prefer", "preferred", multiple=True, metavar="ID", help="Always a candidate, if you may see it.")
@click.option(
    "--shape", type=click.Choice([one.value for one in AnswerShape]), help="What the answer is. [default: QUERY tells]"
)
@click.option(
    "--delivery", type=click.Choice([one.value for one in Delivery]), help="How evidence is read. [default: as planned]"
)
@click.option("--answer-timeout-ms", type=click.IntRange(min=100), help="Time to the end of the answer.")
@click.option("--stream/--no-stream", default=None, help="Show every reading as it comes. [default: on a terminal]")
@target_options(role="reader", local=True)
@click.option("--json", "as_json", is_flag=True, help="Print the endpoint's answer as it is.")
def command(
    *,
    question: JsonObject,
    pinned: tuple[str, ...],
    preferred: tuple[str, ...],
    shape: str | None,
    delivery: str | None,
    answer_timeout_ms: int | None,
    stream: bool | None,
    target: Target,
    as_json: bool,
) -> None:
    """Answer QUERY from the passages that you may see, with the records the answer stands in.

    It ends with 1 where the reader gave out before it found anything.
    """
    asked = {"shape": shape, "delivery": delivery, "timeout_ms": answer_timeout_ms}
    body = {**question, "pinned": list(pinned), "preferred": list(preferred)}
    body |= {field: value for field, value in asked.items() if value is not None}
    timeout_s = _GRACE_S + (_LONGEST_S if answer_timeout_ms is None else answer_timeout_ms / 1000)
    if target.local:
        answer = _local(target, body, quiet=as_json)
    elif not as_json and (sys.stdout.isatty() if stream is None else stream):
        answer = _streamed(target, body, timeout_s)
    else:
        answer = target.send("POST", "/v1/answer", body, timeout_s=timeout_s)
    if as_json:
        click.echo(orjson.dumps(answer))
    else:
        _print(answer)
    if answer["kind"] == "failure":
        sys.exit(_FAILED)


def _local(target: Target, body: JsonObject, *, quiet: bool) -> JsonObject:
    from serve_app.answering.body import AnswerBody  # noqa: PLC0415 -- needs Numba, which --help does not
    from serve_app.answering.route import answer_once  # noqa: PLC0415
    from serve_app.asking import Call  # noqa: PLC0415
    from serve_app.json_body import parse_body  # noqa: PLC0415
    from serve_app.services import Services  # noqa: PLC0415

    content = encoded(body)

    async def ask(services: Services, call: Call) -> bytes:
        return await answer_once(services, call, parse_body(AnswerBody, content))

    return target.run(ask, quiet=quiet)


def _streamed(target: Target, body: JsonObject, timeout_s: float) -> JsonObject:
    """The answer, after a line for each of its readings."""
    console = Console(highlight=False)
    pieces = 0
    for name, data in target.events("/v1/answer", {**body, "stream": True}, timeout_s=timeout_s):
        if name == "answer":
            return data
        if name == "evidence":
            pieces = len(data["evidence"])
            delivery, reason = data["plan"]["delivery"], data["plan"]["reason"]
            console.print(f"{pieces} pieces of evidence; plan: {delivery} ({reason})", style="dim")
        elif name == "step":
            console.print(f"{data['number']}. {_read(data, pieces)}:", shown(_found(data)), style="dim")
    raise click.ClickException("The stream ended before the answer; ask again.")


def _read(step: JsonObject, pieces: int) -> str:
    ids = step["evidence_ids"]
    return f"all {pieces}" if len(ids) == pieces > 1 else ", ".join(shown(one).plain for one in ids)


def _found(step: JsonObject) -> str:
    said = step["answer"]
    if said is None:
        return f"failed ({step['failure']})"
    if not said["answer_found"]:
        return "nothing"
    return said["answer"] if said["complete_answer_found"] else f"a part: {said['answer']}"


def _print(answer: JsonObject) -> None:
    console = Console(highlight=False)
    if answer["kind"] == "miss":
        console.print(f"No evidence: {answer['miss']['reason']}.", shown(answer["miss"]["advice"]))
        return
    said, failure = answer["answer"], answer["failure"]
    if said is not None and said["answer_found"]:
        for line in said["answer"].splitlines():
            console.print(shown(line, limit=len(line)))
        if not said["complete_answer_found"]:
            console.print("This is a part of what was asked.")
        console.print(_cited(answer, said["evidence_ids"]))
    elif failure is None:
        console.print("The evidence does not answer it.")
    if failure is not None:
        console.print(f"The reader gave out: {failure['reason']}.", shown(failure["advice"]))
    console.print(_cost(answer))


def _cited(answer: JsonObject, cited: list[str]) -> Table:
    table = Table("#", "id", "title", "section", "source")
    for rank, piece in enumerate(answer["evidence"], start=1):
        if piece["id"] in cited:
            texts = (piece["id"], piece["title"], piece["section"], piece["source_url"])
            table.add_row(str(rank), *(shown(text, limit=len(text) + 1) for text in texts))
    return table


def _cost(answer: JsonObject) -> str:
    usage, evidence = answer["usage"], answer["evidence"]
    read = sum(piece["read"] for piece in evidence)
    saved, batch = usage["tokens_saved"], usage["batch_tokens"]
    share = f" ({saved / batch:.0%})" if batch else ""
    against = f"{saved:,} saved against batch{share}" if saved >= 0 else f"{-saved:,} more than batch"
    return (
        f"{answer['delivery']}: read {read} of {len(evidence)} pieces in {usage['calls']} "
        f"{'call' if usage['calls'] == 1 else 'calls'}; {usage['tokens_in']:,} tokens in, {usage['tokens_out']:,} out, "
        f"{against}\n{answer['reader']}; {answer['timings_ms']['answer']:.1f} ms"
    )
