"""``shortlist export``: everything that the caller may see and that matches, one record a line.

Records go to standard output and all else to standard error, so that the output of a broken-off export can be kept and
the rest appended with ``--cursor``.
"""

import asyncio
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

import click
import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from serve_app.cli.question import narrowing_options
from serve_app.cli.target import JsonObject, Target, answer_of, encoded, target_options
from serve_app.cli.terminal import shown

_TOO_MANY: Final = 429


@click.command(epilog='Example: shortlist export --namespace "aws*" --json > aws.jsonl')
@click.argument("query", required=False)
@narrowing_options
@click.option("--page-size", type=click.IntRange(min=1), help="Records of a page. [default: the server's most]")
@click.option("--cursor", help="Go on with an export that broke off; QUERY and narrowing are those of its beginning.")
@click.option("--json", "as_json", is_flag=True, help="Print each record as one line of JSON.")
@target_options(role="reader", local=True)
def command(
    *, query: str | None, narrow: JsonObject, page_size: int | None, cursor: str | None, as_json: bool, target: Target
) -> None:
    """Print all that you may see, or all that holds a word of QUERY, as it stands now, whatever is written meanwhile.

    Records that are removed, disabled or closed to you before their page is read are left out.
    """
    asked = {"query": query, "narrow": narrow or None, "page_size": page_size, "cursor": cursor}
    body = {field: value for field, value in asked.items() if value is not None}
    with _Output(body, _write_json if as_json else _write_line) as output:
        if target.local:
            _local(target, output, quiet=as_json)
        else:
            while not output.complete:
                output.take(_waited(target, output.next_body))


class _Output:
    """Takes pages, writes their records, shows how far it is; says where to go on where it ends too early.

    Attributes:
        next_body: of the request for the next page.
        complete: whether there is none.
    """

    def __init__(self, body: JsonObject, write: Callable[[JsonObject], None]) -> None:
        self.next_body = body
        self.complete = False
        self._write = write
        self._written = 0
        self._console = Console(stderr=True, highlight=False)
        columns = (TextColumn("Exporting"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=self._console, disable=not self._console.is_terminal)
        self._task = self._progress.add_task("", total=None)

    def take(self, page: JsonObject) -> None:
        for record in page["records"]:
            self._write(record)
        self._written += len(page["records"])
        self._progress.update(self._task, total=page["total"], completed=page["end"])
        self.complete = page["cursor"] is None
        if not self.complete:
            size = {field: value for field, value in self.next_body.items() if field == "page_size"}
            self.next_body = {"cursor": page["cursor"], **size}

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
        if self.complete:
            self._console.print(f"{self._written:,} records")
        elif "cursor" in self.next_body:
            # After Ctrl-C as well: what was written stays good, and nobody else knows how to go on.
            rest = f"{self._written:,} records so far. Go on with: --cursor {self.next_body['cursor']}"
            self._console.print(rest, markup=False, soft_wrap=True)


def _waited(target: Target, body: JsonObject) -> JsonObject:
    """The page that a body asks for, when its turn has come."""
    while True:
        status, headers, content = target.reply("POST", "/v1/exports", body)
        if status != _TOO_MANY or b"pages_per_minute" not in content:
            return answer_of(status, content)
        time.sleep(int(headers["retry-after"]))


def _local(target: Target, output: _Output, *, quiet: bool) -> None:
    from cluster.errors import ExportsExceeded  # noqa: PLC0415 -- as ``serve_app.cli.target`` says
    from serve_app.asking import Call  # noqa: PLC0415
    from serve_app.exports import export_page  # noqa: PLC0415
    from serve_app.json_body import parse_body  # noqa: PLC0415
    from serve_app.services import Services  # noqa: PLC0415
    from serve_app.wire import ExportBody  # noqa: PLC0415

    async def ask(services: Services, call: Call) -> bytes:
        while not output.complete:
            body = parse_body(ExportBody, encoded(output.next_body))
            try:
                # Through JSON, so that both ways write the same bytes.
                output.take(orjson.loads(orjson.dumps(await export_page(services, call, body))))
            except ExportsExceeded as error:
                if error.limit != "pages_per_minute":
                    raise
                await asyncio.sleep(error.retry_after_s)
        return b"{}"

    target.run(ask, quiet=quiet)


def _write_json(record: JsonObject) -> None:
    click.echo(orjson.dumps(record))


def _write_line(record: JsonObject) -> None:
    click.echo(f"{shown(record['id'])}  {shown(record.get('name') or record.get('title', ''))}")
