"""ExtractiveReader: answers without a model, by the sentence that fits best and the value of the asked type in it.

It writes nothing of its own but yes and no, joins nothing it did not read, and says so where nothing fits. English,
Persian and Russian have words for values; in other languages it answers by sentences.
"""

from collections.abc import Sequence
from typing import Final

from cluster.answering.contract import NOTHING_FOUND, AnswerWithEvidence, Inquiry, Reading, Source, Work
from cluster.answering.extracts import Extract, extract
from cluster.answering.fitting import Fit, fits_of
from cluster.answering.loop import output_tokens
from cluster.answering.parts import parts_of
from cluster.answering.prompts import messages_of, tokens_of
from cluster.budget import Deadline

FOUND_PERCENT: Final = 35
"""Share of the question's weight that a sentence and what is around it must hold for an answer."""


class ExtractiveReader:
    """See the module and ``cluster.answering.contract.Reader``. Tokens are those of the prompt a model would read."""

    name = "extractive"

    async def read(self, inquiry: Inquiry, sources: Sequence[Source], deadline: Deadline) -> Reading:
        """See ``Reader``; takes a few milliseconds, and cannot fail."""
        del deadline  # evidence is bounded, and so is the time
        said = read(inquiry, sources)
        work = Work(
            calls=1,
            tokens_in=tokens_of(messages_of(inquiry, sources)),
            tokens_out=output_tokens(said),
            reported_in=None,
            reported_out=None,
        )
        return Reading(said=said, failure=None, work=work)


def read(inquiry: Inquiry, sources: Sequence[Source]) -> AnswerWithEvidence:
    """What these sources say about every part of a question."""
    found: list[Extract] = []
    complete = True
    parts = parts_of(inquiry)
    for text, shape in parts:
        extracted = extract(text, shape, _good(fits_of(text, sources)))
        if extracted is None:
            complete = False
        else:
            found.append(extracted)
    if not found:
        return NOTHING_FOUND
    cited = {index for one in found for index in one.sources}
    return AnswerWithEvidence(
        answer="\n".join(dict.fromkeys(one.text for one in found)),
        answer_found=True,
        complete_answer_found=complete,
        evidence_ids=tuple(source.id for index, source in enumerate(sources) if index in cited),
    )


def _good(fits: Sequence[Fit]) -> list[Fit]:
    return [fit for fit in fits if fit.percent >= FOUND_PERCENT]
