"""The body of ``POST /v1/answer``. As every body it decides nothing about what its caller may see."""

from typing import Annotated, Literal

from pydantic import Field

from cluster.question_lexicon import AnswerShape
from serve_app.wire import QuestionBody, RecordId, SearchBody


class AnswerBody(QuestionBody):
    """Body of ``POST /v1/answer``: a search, whose hits are read for an answer.

    It is about passages alone unless ``narrow.kinds`` says more: answers stand in texts, not in tools.
    """

    pinned: Annotated[tuple[RecordId, ...], Field(max_length=128, description="Always read if authorized.")] = ()
    preferred: Annotated[
        tuple[RecordId, ...], Field(max_length=128, description="Always candidates if authorized.")
    ] = ()
    shape: Annotated[
        AnswerShape | None, Field(description="What the answer has to be; left out, the words of the query tell.")
    ] = None
    timeout_ms: Annotated[
        int | None,
        Field(ge=100, description="Time from arrival to the end of the answer; the server's own at most."),
    ] = None
    delivery: Annotated[
        Literal["sequential", "batch"] | None, Field(description="How evidence is read; null leaves it to the plan.")
    ] = None
    stream: Annotated[
        bool, Field(description="Server-sent events instead of one JSON object, as with Accept: text/event-stream.")
    ] = False

    def search(self, timeout_ms: int | None) -> SearchBody:
        """The search for its evidence, which takes at most ``timeout_ms`` where that is less than the server's own."""
        narrow, budget = self.narrow, self.budget
        if narrow.kinds is None:
            narrow = narrow.model_copy(update={"kinds": ["passage"]})
        if timeout_ms is not None and (budget.timeout_ms is None or budget.timeout_ms > timeout_ms):
            budget = budget.model_copy(update={"timeout_ms": timeout_ms})
        return SearchBody(
            query=self.query,
            k=self.k,
            budget=budget,
            narrow=narrow,
            min_seq=self.min_seq,
            pinned=list(self.pinned),
            preferred=list(self.preferred),
            shape=self.shape,
        )
