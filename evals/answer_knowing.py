"""KnowingReader: a reader that finds an answer wherever it stands in front of it, and nowhere else.

It stands for a model that never errs, so that what ways of reading cost does not hang on how well somebody reads. It
is no reader to serve with: it knows the gold.
"""

from collections.abc import Sequence

from cluster.answering.contract import NOTHING_FOUND, AnswerWithEvidence, Inquiry, Reading, Source, Work
from cluster.answering.loop import output_tokens
from cluster.answering.prompts import messages_of, tokens_of
from cluster.answering.sources import inquiry_of
from cluster.budget import Deadline
from evals.answer_gold import AnswerQuestion
from evals.answer_judge import holds


class KnowingReader:
    """See the module and ``cluster.answering.contract.Reader``.

    A yes or no stands where a right article does, because no rule can tell which of its sentences it follows from:
    for these alone an excerpt is always taken for enough.
    """

    name = "knowing"

    def __init__(self, questions: Sequence[AnswerQuestion]) -> None:
        self._questions = {inquiry_of(one.text).text: one for one in questions}

    async def read(self, inquiry: Inquiry, sources: Sequence[Source], deadline: Deadline) -> Reading:
        """See ``Reader``; cannot fail."""
        del deadline  # nothing here takes time
        said = self._said(self._questions[inquiry.text], sources)
        work = Work(calls=1, tokens_in=tokens_of(messages_of(inquiry, sources)), tokens_out=output_tokens(said))
        return Reading(said=said, failure=None, work=work)

    @staticmethod
    def _said(question: AnswerQuestion, sources: Sequence[Source]) -> AnswerWithEvidence:
        right = tuple(one.id for one in sources if one.id in question.relevant and _holds(question, one))
        several = question.kind == "comparison"
        if not right:
            return NOTHING_FOUND
        return AnswerWithEvidence(
            answer=question.answer,
            answer_found=True,
            complete_answer_found=not several or question.share_of(frozenset(right)) == 1.0,
            evidence_ids=right,
        )


def _holds(question: AnswerQuestion, source: Source) -> bool:
    parts = question.kind == "comparison" or question.shape == "boolean"
    return parts or holds(f"{source.title} {source.section} {source.text}", question.answer, question.shape)
