"""OpenAIModel: a model behind an OpenAI-compatible endpoint, by the official client library (extra ``answers``).

One call is one request: no retries, no redirects, no streaming. It reads no environment variable and logs no text.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from cluster.answering.contract import Failure
from cluster.answering.model import Completion, ModelFailed
from cluster.answering.prompts import SCHEMA, Message
from cluster.errors import InvalidConfiguration
from cluster.settings.answers import AnswerSettings
from serve_app.private_file import read_private_file

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletion, ChatCompletionMessageParam

_BUSY: Final = frozenset({408, 409, 425, 429})
"""Statuses below 500 that pass by themselves."""

_LONGEST_KEY: Final = 4096

_MOST_COUNTED: Final = 2**40
"""Tokens of one call that an endpoint can have counted; a sum of many of these is still a number of JSON."""


class OpenAIModel:
    """See ``cluster.answering.model.ChatModel``. Belongs to one event loop.

    Raises:
        InvalidConfiguration: if the client library is not installed, or the key's file cannot be used.
    """

    def __init__(self, url: str, model: str, settings: AnswerSettings) -> None:
        self.name = model
        self._client = _client_of(url, settings)
        self._options = _options_of(settings)
        if settings.key_file is None:
            self._options["extra_headers"] = _without_key()

    async def complete(self, messages: Sequence[Message], timeout_s: float) -> Completion:
        """See ``ChatModel``."""
        # Imported here, because an installation without a model has no client library.
        import openai  # noqa: PLC0415

        try:
            completion: ChatCompletion = await self._client.chat.completions.create(
                model=self.name, messages=_typed(messages), timeout=timeout_s, **self._options
            )
        except openai.APITimeoutError as exc:
            raise ModelFailed(Failure.TIMEOUT, "timeout") from exc
        except openai.APIStatusError as exc:
            passing = exc.status_code in _BUSY or exc.status_code >= 500  # noqa: PLR2004 -- HTTP's own border
            failure = Failure.UNAVAILABLE if passing else Failure.REFUSED
            raise ModelFailed(failure, f"status_{exc.status_code}") from exc
        except openai.APIConnectionError as exc:
            raise ModelFailed(Failure.UNAVAILABLE, "connection") from exc
        except (openai.OpenAIError, ValueError) as exc:
            # A body that is no JSON, or not in UTF-8: it comes from the parser as it is.
            raise ModelFailed(Failure.UNAVAILABLE, "protocol") from exc
        return _completion(completion)


def _client_of(url: str, settings: AnswerSettings) -> "AsyncOpenAI":
    try:
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Omit  # noqa: PLC0415 -- an optional package
    except ImportError as exc:
        raise InvalidConfiguration("answers.url", url, "the client: pip install 'shortlist[answers]'") from exc
    key = None if settings.key_file is None else _key_in(settings)
    headers: dict[str, Any] = {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
    return AsyncOpenAI(
        base_url=url,
        api_key=key or "none",
        max_retries=0,
        default_headers=headers,
        # A redirect could carry question and evidence to where nobody meant to send them; so could a proxy of the
        # environment.
        http_client=DefaultAsyncHttpxClient(follow_redirects=False, trust_env=False),
    )


def _without_key() -> dict[str, Any]:
    """Headers of a call to an endpoint that wants no key: the library sends one unless each call leaves it out."""
    from openai import Omit  # noqa: PLC0415 -- an optional package

    return {"Authorization": Omit()}


def _key_in(settings: AnswerSettings) -> str:
    path = settings.key_file
    assert path is not None  # noqa: S101 -- the one caller has looked
    key = read_private_file(path).strip()
    if not 1 <= len(key) <= _LONGEST_KEY or not key.isascii() or not key.decode().isprintable():
        raise InvalidConfiguration(str(path), "no usable key", f"one line of 1 to {_LONGEST_KEY} ASCII characters")
    return key.decode()


def _options_of(settings: AnswerSettings) -> dict[str, Any]:
    """What every call says besides model and messages; endpoints differ in what they know."""
    options: dict[str, Any] = {settings.limit_field: settings.max_tokens_out}
    if settings.temperature is not None:
        options["temperature"] = settings.temperature
    if settings.format == "json_schema":
        schema = {"name": "AnswerWithEvidence", "strict": True, "schema": SCHEMA}
        options["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif settings.format == "json_object":
        options["response_format"] = {"type": "json_object"}
    return options


def _typed(messages: Sequence[Message]) -> "list[ChatCompletionMessageParam]":
    """Our messages as the library's type, which has one shape per role."""
    typed: list[Any] = list(messages)
    return typed


def _completion(completion: "ChatCompletion") -> Completion:
    """What an endpoint sent; the library checks no types, so nothing here may rely on them.

    Raises:
        ModelFailed: if it is no completion at all, which a model that is told so cannot mend.
    """
    choices: object = getattr(completion, "choices", None)
    message: object = getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None
    if message is None:
        raise ModelFailed(Failure.UNAVAILABLE, "protocol")
    text: object = getattr(message, "content", None)
    usage: object = getattr(completion, "usage", None)
    return Completion(
        # An empty output breaks the contract, and is repaired like any other that does.
        text=text if isinstance(text, str) else "",
        tokens_in=_count(getattr(usage, "prompt_tokens", None)),
        tokens_out=_count(getattr(usage, "completion_tokens", None)),
    )


def _count(value: object) -> int | None:
    """A count that can be one: not below 0, and no larger than any JSON reader takes."""
    counted = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_COUNTED
    return value if counted and isinstance(value, int) else None
