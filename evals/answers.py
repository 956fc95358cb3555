"""``python -m evals.answers``: what becomes of questions over a knowledge base, in recall, answers found and tokens.

The shipped articles and questions unless others are named; the extractive reader unless settings name a model.
"""

import asyncio
import hashlib
from pathlib import Path
from typing import Final

import click
import orjson

from cluster.config import load_settings
from cluster.errors import ClusterError
from evals.answer_gold import AnswerQuestion, read_answer_questions
from evals.answer_knowing import KnowingReader
from evals.answer_report import draw, figures_of, lines_of
from evals.answer_run import AnswerSystem
from evals.articles import read_articles
from evals.duplicates import pair_figures, pair_lines
from evals.errors import EvalError
from evals.provenance import provenance
from evals.writing import write_bytes
from serve_app.answering.desk import reader_of

GOLD: Final = Path(__file__).parent / "gold" / "knowledge"

HANDBOOK: Final = GOLD.parent / "handbook"
"""Longer passages, as real documents have them; no rule was written looking at its questions."""

HALVES: Final = ("all", "fitted", "kept")
"""The rules of the extractive reader were written looking at the fitted half alone."""

_FILE: Final = click.Path(path_type=Path)


def half_of(question: AnswerQuestion) -> str:
    """Fitted or kept, by the id, so that further questions change nobody's half."""
    return HALVES[1 + hashlib.sha256(question.id.encode()).digest()[0] % 2]


@click.command()
@click.option("--articles", type=_FILE, default=GOLD / "articles", help="Folder of articles. [default: the shipped]")
@click.option("--questions", type=_FILE, default=GOLD / "questions.jsonl", help="JSON Lines. [default: the shipped]")
@click.option("--half", type=click.Choice(HALVES), default="all", show_default=True, help="Which questions.")
@click.option("--config", type=_FILE, help="Settings that name a model. [default: the extractive reader]")
@click.option("--knowing", is_flag=True, help="A reader that knows every answer, and says it where it stands.")
@click.option("--plot", type=_FILE, metavar="FILE", help="Draw tokens against answers found, as PNG (extra 'evals').")
@click.option("--save", type=_FILE, metavar="FILE", help="Write all figures with commit and versions, as JSON.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
def command(  # noqa: PLR0917 -- click passes options by name
    articles: Path,
    questions: Path,
    half: str,
    config: Path | None,
    knowing: bool,  # noqa: FBT001 -- click passes flags so
    plot: Path | None,
    save: Path | None,
    as_json: bool,  # noqa: FBT001 -- as above
) -> None:
    """Ask every question three ways: piece by piece, all at once, and as the dispatcher plans."""
    try:
        shown = evaluate(
            articles, questions, half=half, config=config, knowing=knowing, plot=plot, save=save, as_json=as_json
        )
    except (EvalError, ClusterError) as exc:
        raise click.ClickException(str(exc)) from exc
    click.echo(shown)


def evaluate(
    articles: Path = GOLD / "articles",
    questions: Path = GOLD / "questions.jsonl",
    *,
    half: str = "all",
    config: Path | None = None,
    knowing: bool = False,
    plot: Path | None = None,
    save: Path | None = None,
    as_json: bool = False,
) -> str:
    """Measure, leave behind what was asked for, and say the figures.

    Raises:
        EvalError: if a file cannot be read or written.
        InvalidConfiguration: if the settings cannot be used.
    """
    asked = [one for one in read_answer_questions(questions) if half in {"all", half_of(one)}]
    reader = KnowingReader(asked) if knowing else reader_of(load_settings(config).answers)
    records = read_articles(articles)
    measured = asyncio.run(AnswerSystem(records, reader).measure(asked))
    figures, pairs = figures_of(measured), pair_figures(articles.parent, records)
    body = orjson.dumps(
        {"reader": reader.name, "half": half, **figures, "duplicate_pairs": pairs, "provenance": provenance()},
        option=orjson.OPT_INDENT_2,
    )
    if save is not None:
        write_bytes(save, body)
    if plot is not None:
        draw(figures, plot)
    return body.decode() if as_json else "\n".join((f"reader {reader.name}", *lines_of(figures), *pair_lines(pairs)))


if __name__ == "__main__":
    command()
