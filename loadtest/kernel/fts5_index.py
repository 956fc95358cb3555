"""SQLite's FTS5 as a contender: a database file, its own BM25, the filter as a joined column."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from loadtest.kernel.contender import HITS, Lines, Question, Search, timed
from loadtest.tiers import Share, tiers_in

_SEARCH: Final = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?"
_FILTERED: Final = (
    "SELECT texts.rowid FROM texts JOIN tiers ON tiers.rowid = texts.rowid"
    " WHERE texts MATCH ? AND tiers.tier < ? ORDER BY rank LIMIT ?"
)


class Fts5Index:
    """Texts split at blanks by its tokenizer ``unicode61``; nothing but the index is stored."""

    name = "SQLite FTS5"
    at_once = 1

    def __init__(self, lines: Lines, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "texts.sqlite3"
        if not path.exists():
            waiting = path.with_suffix(".part")
            waiting.unlink(missing_ok=True)
            _write(lines, waiting)
            waiting.replace(path)
        self._database = sqlite3.connect(path)
        self._database.execute("PRAGMA cache_size = -1000000")

    def prepared(self, questions: Sequence[Question], share: Share) -> Search:
        """See ``Contender``."""
        (question,) = questions
        match = " OR ".join('"' + term.replace('"', '""') + '"' for term in question.terms)
        statement: str = _SEARCH
        values: tuple[str | int, ...] = (match, HITS)
        if share is not Share.ALL:
            statement, values = _FILTERED, (match, len(tiers_in(share)), HITS)
        return timed(lambda: self._database.execute(statement, values).fetchall())


def _write(lines: Lines, path: Path) -> None:
    order = tiers_in(Share.ALL)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute(
            "CREATE VIRTUAL TABLE texts USING fts5(text, content='', tokenize=\"unicode61 remove_diacritics 0\")"
        )
        database.execute("CREATE TABLE tiers(rowid INTEGER PRIMARY KEY, tier INTEGER)")
        for number, line in enumerate(lines()):
            database.execute("INSERT INTO texts(rowid, text) VALUES (?, ?)", (number, line.text))
            database.execute("INSERT INTO tiers(rowid, tier) VALUES (?, ?)", (number, order.index(line.tier)))
        database.execute("INSERT INTO texts(texts) VALUES ('optimize')")
    database.close()
