"""The desk of one replica: the reader that answers, and how many answers are made at the same time.

It reads no request. A model keeps an answer waiting for seconds, so answers have a ceiling of their own.
"""

from types import TracebackType
from typing import Final, Self

from cluster.answering.contract import Reader
from cluster.answering.model import ModelReader
from cluster.answering.reader import ExtractiveReader
from cluster.settings.answers import AnswerSettings
from serve_app.admission import Overloaded
from serve_app.answering.client import OpenAIModel

RETRY_AFTER_S: Final = 1


class Desk:
    """See the module. Belongs to one event loop.

    Raises:
        InvalidConfiguration: as ``OpenAIModel``.
    """

    def __init__(self, settings: AnswerSettings) -> None:
        self.reader: Final[Reader] = reader_of(settings)
        self._most = settings.max_ongoing
        self._ongoing = 0

    def place(self) -> Self:
        """For a ``with`` block, inside which one answer is made.

        Raises:
            Overloaded: if as many as may be are being made.
        """
        if self._ongoing >= self._most:
            raise Overloaded(RETRY_AFTER_S)
        return self

    def __enter__(self) -> None:
        self._ongoing += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ongoing -= 1


def reader_of(settings: AnswerSettings) -> Reader:
    """The configured model, or the extractive reader where there is none."""
    if settings.url is None or settings.model is None:
        return ExtractiveReader()
    return ModelReader(OpenAIModel(settings.url, settings.model, settings))
