"""The search library tantivy (Rust, Lucene's design) as a contender; one segment, one thread."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import tantivy

from loadtest.kernel.contender import HITS, Lines, Question, Search, timed
from loadtest.tiers import Share, tiers_in

_HEAP_BYTES: Final = 1 << 30


class TantivyIndex:
    """Texts split at blanks, with frequencies; the tiers that a record belongs to are terms of a second field.

    The filter is one required term that scores nothing, but for the whole catalogue, which is asked without any.
    Hits are not counted, so that its block-max pruning may work.
    """

    name = "tantivy"
    at_once = 1

    def __init__(self, lines: Lines, folder: Path) -> None:
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
        builder.add_text_field("share", tokenizer_name="raw", index_option="basic")
        self._schema = builder.build()
        done = folder / "done"
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            self._write(lines, folder)
            done.touch()
        self._searcher = tantivy.Index.open(str(folder)).searcher()

    def prepared(self, questions: Sequence[Question], share: Share) -> Search:
        """See ``Contender``."""
        (question,) = questions
        words = tantivy.Query.boolean_query(
            [(tantivy.Occur.Should, self._term("text", term, "freq")) for term in question.terms]
        )
        if share is Share.ALL:
            query = words
        else:
            admitted = tantivy.Query.const_score_query(self._term("share", share.value, "basic"), 0.0)
            query = tantivy.Query.boolean_query([(tantivy.Occur.Must, words), (tantivy.Occur.Must, admitted)])
        return timed(lambda: self._searcher.search(query, HITS, count=False))

    def _term(self, field: str, value: str, option: str) -> "tantivy.Query":
        return tantivy.Query.term_query(self._schema, field, value, index_option=option)

    def _write(self, lines: Lines, folder: Path) -> None:
        shares = {tier: [share.value for share in Share if tier in tiers_in(share)] for tier in Share}
        writer = tantivy.Index(self._schema, path=str(folder)).writer(_HEAP_BYTES, num_threads=1)
        for line in lines():
            document = tantivy.Document()
            document.add_text("text", line.text)
            for share in shares[line.tier]:
                document.add_text("share", share)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
