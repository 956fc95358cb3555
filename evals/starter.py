"""Starter: a gold set for a user's own catalogue, with rows to fill in. It invents no question and no label."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from shutil import copyfile
from typing import Final, TypedDict

import orjson

from evals.data import read_tools
from evals.errors import BadEvalFile, WouldOverwrite
from shards.record import Record

SAMPLED_TOOLS: Final = 30
"""Tools that templates are written for: half a day's work, and enough to see what is wrong."""

SEED: Final = 7

_QUESTIONS: Final = {
    "plain": "Ask for it as a user would who does not know that the tool exists.",
    "indirect": "Describe the situation in which somebody needs it, without the words of its name.",
    "typo": "Ask for it in a hurry, or in another language your users write in.",
}
"""What each template of a tool asks to be written; a kind, and the task."""

_NO_MATCH: Final = (
    "Say something that needs no tool, as users do: a greeting, thanks, a word that ends a talk.",
    "Ask for something that none of your tools can do, but that your users do ask for.",
)

_README: Final = """\
# A gold set for your catalogue

`queries.jsonl` holds a template per line. Write the `query` that the line's `todo` asks for, set `lang` (`en`, `fa`),
and correct `relevant`: the ids of all tools that serve it. Ids that a person would accept, too, go into `acceptable`.
Lines whose `query` is still empty are left out, so you can measure at any time:

    {command}

- Let people write who did not write the tools' descriptions, or take the words of real users.
- Keep the questions that have no answer (`"relevant": []`): they show whether a greeting draws tools.
- What you change after looking at these questions (names, aliases, examples) is not proved by them. Keep a part that
  nobody looks at, and judge by that.
"""


class Template(TypedDict):
    """A question to be written; read as a question once ``query`` is not empty."""

    id: str
    query: str
    relevant: list[str]
    acceptable: list[str]
    lang: str
    kind: str
    todo: str


def start_gold_set(tools: Sequence[Path], folder: Path) -> tuple[Path, ...]:
    """Write a copy of the tools, templates and a short README into ``folder``; returns the files.

    Raises:
        BadEvalFile: if the tools cannot be read, or the folder not be written.
        WouldOverwrite: if one of the files is there already; nothing is written then.
    """
    records, _ = read_tools(tools)
    # Under their own names: records without a namespace have that of their file.
    copies = {folder / path.name: path for path in tools}
    queries, readme = folder / "queries.jsonl", folder / "README.md"
    new = [*(copy for copy, source in copies.items() if copy.absolute() != source.absolute()), queries, readme]
    for path in new:
        if path.exists():
            raise WouldOverwrite(path)
    if len(copies) < len(tools):
        raise BadEvalFile(folder, "", "two of the tools files have the same name")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for copy in new[:-2]:
            copyfile(copies[copy], copy)
        queries.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in templates(records)))
        readme.write_text(_README.format(command=_command(copies, queries)), "utf-8")
    except OSError as exc:
        raise BadEvalFile(folder, "", f"cannot be written: {exc.strerror}") from exc
    return tuple(new)


def templates(records: Sequence[Record]) -> Iterable[Template]:
    """Rows to fill in: a few per sampled tool, spread over the namespaces, then some without an answer."""
    number = 0
    for record in _sample(records):
        for kind, task in _QUESTIONS.items():
            number += 1
            todo = f"{task} It is {record.name}: {record.description[:160]}".rstrip(": ")
            yield _template(number, [record.id], kind, todo)
    for task in _NO_MATCH * 5:
        number += 1
        yield _template(number, [], "no_match", task)


def _template(number: int, relevant: list[str], kind: str, todo: str) -> Template:
    name = f"q{number:03}"
    return Template(id=name, query="", relevant=relevant, acceptable=[], lang="en", kind=kind, todo=todo)


def _sample(records: Sequence[Record]) -> list[Record]:
    """One tool of each namespace in turn, drawn by a fixed seed, in the order of the catalogue."""
    random = Random(SEED)  # noqa: S311 -- a sample that can be drawn again, no secret
    waiting: dict[str, list[Record]] = {}
    for record in random.sample(list(records), len(records)):
        waiting.setdefault(record.namespace, []).append(record)
    drawn: set[str] = set()
    while waiting and len(drawn) < SAMPLED_TOOLS:
        for namespace in sorted(waiting)[: SAMPLED_TOOLS - len(drawn)]:
            drawn.add(waiting[namespace].pop().id)
            if not waiting[namespace]:
                del waiting[namespace]
    return [record for record in records if record.id in drawn]


def _command(tools: Iterable[Path], queries: Path) -> str:
    files = " ".join(f"--tools {path}" for path in tools)
    return f"shortlist eval {files} --queries {queries} --system lexical --system bm25"
