"""How well near-duplicates are told: labelled pairs, all other pairs of their articles, articles changed on purpose.

    python -m evals.duplicates [--json]

It fits nothing, and shows figures only, so that the kept half of the pairs stays unread. What each file of pairs is
worth as proof stands in ``gold/knowledge/README.md``.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import click
import orjson
from typing_extensions import TypedDict

from cluster.duplicates import Verdict, judge
from evals.articles import read_articles
from evals.errors import BadEvalFile
from serve_app.record_wire import parse_record
from shards.errors import InvalidRecord
from shards.record import Record

KNOWLEDGE: Final = Path(__file__).parent / "gold" / "knowledge"
KEPT: Final = "kept"
FITTED: Final = "fitted"
ALL: Final = "all"

LABELLED: Final = "duplicates.jsonl"
INLINE: Final = {"looked at": "duplicates_looked_at.jsonl", "fresh": "duplicates_fresh.jsonl"}
"""The first was fresh once; then the rule was changed for its errors. The second was written later, and run once."""

_PASSAGE: Final[Mapping[str, object]] = {
    "kind": "passage",
    "namespace": "veloria",
    "product": "veloria-sync",
    "release": "3.1",
    "source_url": "https://help.veloria.example/fresh",
    "access": {"tenant": "*"},
}
"""What every passage is that stands in a row, unless the row says otherwise: as ``articles/shortlist.yaml``."""

_PERSIAN_DIGITS: Final = str.maketrans("0123456789", "۰۱۲۳۴۵۶۷۸۹")
_NUMBER: Final = re.compile(r"(?<![\w.-])\d+(?![\w.-])")
_CODE: Final = re.compile(r"\b([A-Z]+)-(\d+)\b")
_VERB: Final = re.compile(r"\b(is|are|can|may)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two records and what a person says of them."""

    id: str
    left: str
    right: str
    verdict: Verdict

    @property
    def half(self) -> str:
        """Which half it belongs to, by its id alone."""
        return KEPT if crc32(self.id.encode()) & 1 else FITTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Labelled verdict and verdict given -> how many pairs."""

    counts: Mapping[tuple[str, str], int]

    def precision(self, verdict: Verdict) -> float | None:
        """Of what is given this verdict, the share that has it; None where nothing is."""
        given = sum(count for (_, one), count in self.counts.items() if one == verdict)
        return self.counts.get((verdict, verdict), 0) / given if given else None

    def recall(self, verdict: Verdict) -> float | None:
        """Of what has this verdict, the share that is given it; None where nothing has."""
        has = sum(count for (one, _), count in self.counts.items() if one == verdict)
        return self.counts.get((verdict, verdict), 0) / has if has else None


def read_pairs(path: Path, known: Mapping[str, Record]) -> tuple[Pair, ...]:
    """Pairs in file order.

    Raises:
        BadEvalFile: for the first row that breaks its contract or names a record that is not there.
    """
    pairs = []
    try:
        lines = path.read_bytes().splitlines()
    except OSError as exc:
        raise BadEvalFile(path, "", f"cannot be read: {exc.strerror}") from exc
    for number, line in enumerate(lines, start=1):
        try:
            row = orjson.loads(line)
            pair = Pair(id=row["id"], left=row["left"], right=row["right"], verdict=Verdict(row["verdict"]))
        except (ValueError, KeyError, TypeError) as exc:
            raise BadEvalFile(path, f"line {number}", "must have id, left, right and a verdict") from exc
        for record_id in (pair.left, pair.right):
            if record_id not in known:
                raise BadEvalFile(path, f"line {number}", f"no article has the id {record_id!r}")
        pairs.append(pair)
    return tuple(pairs)


def read_inline(path: Path, known: Mapping[str, Record]) -> tuple[tuple[Pair, ...], dict[str, Record]]:
    """Pairs in file order, and their records by id: articles, and passages that stand in the rows themselves.

    Raises:
        BadEvalFile: for the first row that breaks its contract or names a record that is not there.
    """
    records = dict(known)
    pairs = []
    try:
        lines = path.read_bytes().splitlines()
    except OSError as exc:
        raise BadEvalFile(path, "", f"cannot be read: {exc.strerror}") from exc
    for number, line in enumerate(lines, start=1):
        try:
            row = orjson.loads(line)
            ids = {side: _told_in(row, side, records) for side in ("left", "right")}
            pairs.append(Pair(id=row["id"], verdict=Verdict(row["verdict"]), **ids))
        except (ValueError, KeyError, TypeError, InvalidRecord) as exc:
            raise BadEvalFile(path, f"line {number}", "must have id, lang, left, right and a verdict") from exc
    return tuple(pairs), records


def _told_in(row: Mapping[str, Any], side: str, records: dict[str, Record]) -> str:
    """The id of one side; a passage that stands in the row joins the records under an id of its own."""
    given = row[side]
    if isinstance(given, str):
        return records[given].id
    passage = parse_record({**_PASSAGE, "id": f"veloria:{row['id']}/{side}", "locale": row["lang"], **given})
    records[passage.id] = passage
    return passage.id


def told_of(pairs: Iterable[Pair], records: Mapping[str, Record]) -> Told:
    """What is made of labelled pairs."""
    return Told(
        counts=Counter(
            (pair.verdict.value, judge(records[pair.left], records[pair.right]).verdict.value) for pair in pairs
        )
    )


def strays(pairs: Iterable[Pair], records: Mapping[str, Record]) -> tuple[int, list[tuple[str, str]]]:
    """How many pairs nobody labelled, and those of them that are taken for duplicates."""
    labelled = {frozenset((pair.left, pair.right)) for pair in pairs}
    others = [both for both in combinations(sorted(records), 2) if frozenset(both) not in labelled]
    wrong = [
        (left, right) for left, right in others if judge(records[left], records[right]).verdict is Verdict.DUPLICATE
    ]  # fmt: skip
    return len(others), wrong


def _with(change: Callable[[str], str]) -> Callable[[Record], Record]:
    return lambda record: replace(record, description=change(record.description))


CHANGES: Final[Mapping[str, tuple[bool, Callable[[Record], Record]]]] = {
    "a number": (False, _with(lambda text: _NUMBER.sub(lambda one: str(int(one[0]) + 1), text, count=1))),
    "a code": (False, _with(lambda text: _CODE.sub(lambda one: f"{one[1]}-{int(one[2]) + 1}", text, count=1))),
    "a negation": (False, _with(lambda text: _VERB.sub(r"\1 not", text, count=1))),
    "the release": (False, lambda record: replace(record, release=f"{record.release}.9")),
    "the locale": (False, lambda record: replace(record, locale=f"{record.locale}-x")),
    "the product": (False, lambda record: replace(record, product=f"{record.product}-x")),
    "digits and blanks": (True, _with(lambda text: "  ".join(text.translate(_PERSIAN_DIGITS).split(" ")))),
    "marks of Markdown": (True, _with(lambda text: text.replace("*", "").replace("`", ""))),
}
"""What is changed in an article, whether it still says the same, and how."""


def changed(records: Iterable[Record]) -> Iterator[tuple[str, bool, Verdict]]:
    """For each article and each change that touches it: the change, whether both say the same, and the verdict."""
    for record in records:
        for name, (same, change) in CHANGES.items():
            other = replace(change(record), id=f"{record.id}-copy")
            if replace(other, id=record.id) != record:
                yield name, same, judge(record, other).verdict


def told_as_figures(told: Told) -> dict[str, object]:
    """Precision and recall at ``duplicate``, and the whole table."""
    return {
        "precision": told.precision(Verdict.DUPLICATE),
        "recall": told.recall(Verdict.DUPLICATE),
        "verdicts": {f"{has} -> {given}": count for (has, given), count in sorted(told.counts.items())},
    }


def inline_told(records: Sequence[Record], path: Path) -> Told:
    """What is made of a file of pairs whose records stand in its rows.

    Raises:
        BadEvalFile: as ``read_inline``.
    """
    pairs, known = read_inline(path, {record.id: record for record in records})
    return told_of(pairs, known)


class PairFigures(TypedDict):
    """Labelled pairs, and how well duplicates among them are told; None where nothing is called one, or is one."""

    pairs: int
    precision: float | None
    recall: float | None


def pair_figures(folder: Path, records: Sequence[Record]) -> dict[str, PairFigures]:
    """By the files of labelled pairs that stand beside the articles; nothing where there are none.

    Raises:
        BadEvalFile: as ``read_pairs``.
    """
    known = {record.id: record for record in records}
    told: dict[str, Told] = {}
    if (labelled := folder / LABELLED).exists():
        told["labelled"] = told_of(read_pairs(labelled, known), known)
    for name, file in INLINE.items():
        if (folder / file).exists():
            told[name] = inline_told(records, folder / file)
    return {
        name: {
            "pairs": sum(one.counts.values()),
            "precision": one.precision(Verdict.DUPLICATE),
            "recall": one.recall(Verdict.DUPLICATE),
        }
        for name, one in told.items()
    }


def pair_lines(figures: Mapping[str, PairFigures]) -> Iterator[str]:
    """The figures for people."""
    for name, one in figures.items():
        precision, recall = (
            "none" if share is None else f"{share:.3f}" for share in (one["precision"], one["recall"])
        )  # fmt: skip
        yield f"duplicate pairs, {one['pairs']} {name}: precision {precision}   recall {recall}"


def report(records: Sequence[Record], pairs: Sequence[Pair], inline: Mapping[str, Told]) -> dict[str, object]:
    """All figures; ``inline`` is what is made of the files of pairs whose records stand in their rows, by name."""
    known = {record.id: record for record in records}
    compared, wrong = strays(pairs, known)
    changes: dict[str, Counter[str]] = {}
    for name, _, verdict in changed(records):
        changes.setdefault(name, Counter())[verdict.value] += 1
    halves = {
        half: told_of([pair for pair in pairs if half in {pair.half, ALL}], known) for half in (FITTED, KEPT, ALL)
    }
    return {
        "labelled": {half: told_as_figures(told) for half, told in halves.items()},
        **{name: told_as_figures(told) for name, told in inline.items()},
        "unlabelled": {"pairs": compared, "taken for duplicates": len(wrong)},
        "changed": {
            name: {"says the same": CHANGES[name][0], **dict(sorted(counts.items()))}
            for name, counts in changes.items()
        },
    }


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def main(*, as_json: bool) -> None:
    """Show how well near-duplicates are told."""
    records = read_articles(KNOWLEDGE / "articles")
    pairs = read_pairs(KNOWLEDGE / LABELLED, {record.id: record for record in records})
    inline = {name: inline_told(records, KNOWLEDGE / file) for name, file in INLINE.items()}
    figures = report(records, pairs, inline)
    click.echo(orjson.dumps(figures, option=0 if as_json else orjson.OPT_INDENT_2))


if __name__ == "__main__":
    main()
