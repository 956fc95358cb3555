"""``POST /v1/answer``: a search, then its evidence read for an answer, as one JSON object or as server-sent events.

The caller is known and let in before anything here runs; errors leave as exceptions. What a reader fails at is a part
of the answer, not an error: the evidence was found all the same.
"""

import asyncio
from collections.abc import Coroutine
from typing import Final

from cluster.answering.contract import Answered, Step
from cluster.answering.loop import OnStep, answer_from, unheard
from cluster.answering.sources import inquiry_of, sources_of
from cluster.budget import Deadline
from cluster.contract import Answer, Delivery
from cluster.errors import InvalidRequest
from serve_app import audit
from serve_app.answering.body import AnswerBody
from serve_app.answering.view import answered_bytes, evidence_bytes, step_bytes
from serve_app.asking import Call
from serve_app.exchange import EVENT_STREAM, ClientGone, Exchange
from serve_app.json_body import parse_body
from serve_app.questions import answer_search
from serve_app.services import Services
from serve_app.wire import SearchBody
from shards.record import Kind

PULSE_S: Final = 10.0
"""Time without an event after which a comment is sent, so that nothing on the way takes the stream for dead."""


async def answer(services: Services, call: Call, exchange: Exchange) -> None:
    """``POST /v1/answer``.

    Raises:
        InvalidRequest: naming the field that this caller may not ask so.
        Overloaded: if too many answers are being made, or as a search does.
        ClientGone: if the caller went away; nothing is read for it any more.
    """
    raw = await exchange.body(services.settings.http.max_body_bytes, services.longest_s)
    body = parse_body(AnswerBody, raw)
    deadline = _deadline(services, call, body)
    with services.desk.place():
        await _unless_gone(exchange, _answer(services, call, exchange, body, deadline))


async def answer_once(services: Services, call: Call, body: AnswerBody) -> bytes:
    """The JSON object of an answer, for a caller inside this process. Raises as ``answer``."""
    deadline = _deadline(services, call, body)
    with services.desk.place():
        found = await answer_search(services, call, _search(services, body, deadline))
        answered = await _read(services, body, found, deadline, unheard)
    return _bytes(services, call.arrived_s, found, answered)


async def _answer(services: Services, call: Call, exchange: Exchange, body: AnswerBody, deadline: Deadline) -> None:
    found = await answer_search(services, call, _search(services, body, deadline))
    reader = services.desk.reader
    if not (body.stream or _wants_events(exchange)):
        answered = await _read(services, body, found, deadline, unheard)
        exchange.outcome = _outcome(answered)
        await exchange.reply(200, _bytes(services, call.arrived_s, found, answered))
        return
    async with exchange.events(PULSE_S) as send_event:
        if found.hits:
            await send_event("evidence", evidence_bytes(found, reader.name))

        async def tell(step: Step) -> None:
            await send_event("step", step_bytes(step))

        answered = await _read(services, body, found, deadline, tell)
        exchange.outcome = _outcome(answered)
        await send_event("answer", _bytes(services, call.arrived_s, found, answered))


def _search(services: Services, body: AnswerBody, deadline: Deadline) -> SearchBody:
    """The search, inside the time of the answer."""
    search = body.search(None)
    own = services.budgets[Kind.PASSAGE if search.narrow.passages_only else Kind.TOOL]
    left_ms = max(1, int(deadline.remaining_ms()))
    return body.search(left_ms) if left_ms < own.timeout_ms else search


async def _read(
    services: Services, body: AnswerBody, found: Answer, deadline: Deadline, on_step: OnStep
) -> Answered | None:
    if found.plan is None:
        return None

    async def hear(step: Step) -> None:
        if step.reading.failure is not None:
            audit.reader_failed(found.request_id, step.reading.failure.value, step.reading.cause)
        await on_step(step)

    return await answer_from(
        inquiry_of(body.query, body.shape),
        sources_of(found.hits),
        found.plan.delivery if body.delivery is None else Delivery(body.delivery),
        services.desk.reader,
        deadline,
        on_step=hear,
    )


def _bytes(services: Services, arrived_s: float, found: Answer, answered: Answered | None) -> bytes:
    """The body, counted."""
    services.metrics.answered(_outcome(answered), answered)
    elapsed_ms = (services.clock() - arrived_s) * 1000
    return answered_bytes(found, answered, services.desk.reader.name, elapsed_ms)


def _outcome(answered: Answered | None) -> str:
    if answered is None:
        return "miss"
    said = answered.said
    if said is not None and said.answer_found:
        return "complete" if said.complete_answer_found else "partial"
    return "not_found" if answered.failure is None else f"failure_{answered.failure.value}"


def _deadline(services: Services, call: Call, body: AnswerBody) -> Deadline:
    """Of the whole answer, counted from arrival."""
    most = services.settings.answers.timeout_ms
    timeout_ms = most if body.timeout_ms is None else body.timeout_ms
    if timeout_ms > most:
        raise InvalidRequest("timeout_ms", str(timeout_ms), f"an integer from 100 to {most}")
    return Deadline.of(call.arrived_s, timeout_ms / 1000, services.clock)


def _wants_events(exchange: Exchange) -> bool:
    return any(name == b"accept" and EVENT_STREAM.encode() in value.lower() for name, value in exchange.headers)


async def _unless_gone(exchange: Exchange, work: Coroutine[None, None, None]) -> None:
    """The work, given up as soon as nobody waits for it: a model that goes on reading costs money."""
    task = asyncio.create_task(work)
    gone = asyncio.create_task(exchange.until_gone())
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGone
        task.result()
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)
