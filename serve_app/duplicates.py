"""``/v1/duplicates``: what is like a record, and a writer's word on it, which can be taken back.

It shows and compares what the caller may see and nothing else, and changes no record: originals stay as they are.
"""

from datetime import UTC, datetime
from typing import Final

from fastapi import FastAPI, Request, Response

from cluster.budget import Deadline
from cluster.duplicate_search import Compared, Found, find, neighbours
from cluster.duplicate_store import ConfirmedPair
from cluster.duplicates import SHARE, SURE_LIKENESS, Likeness
from cluster.errors import InvalidRequest
from serve_app.access import Right
from serve_app.admission import Overloaded
from serve_app.asking import CALL, Call
from serve_app.auth_errors import Forbidden
from serve_app.duplicates_view import ComparedView, ConfirmedView, DuplicatesView, LikenessView
from serve_app.exchange import EXCHANGE, Exchange
from serve_app.json_body import parse_body
from serve_app.patience import LOOK_TIMEOUT_S, WRITE_TIMEOUT_S, within
from serve_app.problems import NOT_FOUND, Refused
from serve_app.record_wire import parse_record
from serve_app.routes import json_response, visible_record
from serve_app.services import Services
from serve_app.wire import ConfirmedBody, DuplicatesBody
from shards.record import Record

_RETRY_S: Final = 1

_LONGEST_CHAIN: Final = 32
"""Records that stand for one another in turn; whoever merges that many means the last one."""


async def look(services: Services, call: Call, body: DuplicatesBody) -> DuplicatesView:
    """What is like the record of a body.

    Raises:
        Refused: ``not_found`` where the caller sees no record of this id.
        InvalidRecord: naming a field of the record that cannot be used.
        InvalidRequest: if more candidates are asked for than the settings allow.
        ShardUnavailable: if a shard does not answer in time.
    """
    own = services.settings.duplicates
    if body.candidates is not None and body.candidates > own.candidates:
        raise InvalidRequest("candidates", str(body.candidates), f"an integer from 1 to {own.candidates}")
    record = await _subject(services, call, body)
    found = await find(
        services.router,
        record,
        services.policy.compile(call.principal, neighbours(record)),
        candidates=body.candidates or own.candidates,
        deadline=Deadline.of(call.arrived_s, own.timeout_ms / 1000, services.clock),
        request_id=call.request_id,
    )
    confirmed = await _confirmed(services, record, found)
    return {
        "request_id": call.request_id,
        "id": record.id,
        "canonical": found.canonical,
        "complete": found.coverage.full,
        "vectors": found.vectors.value,
        "compared": [_compared(one, confirmed) for one in found.compared],
    }


async def _subject(services: Services, call: Call, body: DuplicatesBody) -> Record:
    if body.record is not None:
        return parse_record(body.record)
    return await _seen(services, call, body.id or "", verb="duplicates")


async def _seen(services: Services, call: Call, record_id: str, *, verb: str) -> Record:
    found = await visible_record(services, call, record_id, from_s=services.clock())
    if found is None:
        services.inquiries.missing(call.request_id, call.principal, verb, record_id)
        raise Refused(NOT_FOUND)
    return found


async def _confirmed(services: Services, record: Record, found: Found) -> dict[str, str]:
    """The canonical id by candidate, for pairs of the record and a candidate whose texts are as they were."""
    shown = {record.id: record, **{one.record.id: one.record for one in found.compared}}
    pairs = await within(LOOK_TIMEOUT_S, services.control.confirmed_duplicates(list(shown)))
    holding = {}
    for pair in pairs:
        duplicate, canonical = shown.get(pair.duplicate), shown.get(pair.canonical)
        if duplicate is None or canonical is None or record.id not in {duplicate.id, canonical.id}:
            continue
        if (duplicate.search_text_hash, canonical.search_text_hash) == (pair.duplicate_hash, pair.canonical_hash):
            holding[canonical.id if duplicate.id == record.id else duplicate.id] = pair.canonical
    return holding


def _compared(one: Compared, confirmed: dict[str, str]) -> ComparedView:
    return {
        "id": one.record.id,
        "title": one.record.name,
        "version": one.record.version,
        "verdict": one.judgement.verdict.value,
        "reasons": [reason.value for reason in one.judgement.reasons],
        "likeness": _likeness(one.judgement.likeness),
        "confirmed": confirmed.get(one.record.id),
    }


def _likeness(likeness: Likeness) -> LikenessView:
    vectors = likeness.vectors
    return {
        "words": round(likeness.words / SHARE, 3),
        "part": round(likeness.part / SHARE, 3),
        "pairs": round(likeness.pairs / SHARE, 3),
        "vectors": None if vectors is None else round(vectors / SURE_LIKENESS, 3),
    }


class DuplicateRoutes:
    """Handlers over one replica's services; at most ``duplicates.at_once`` looks at the same time."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._at_work = 0

    async def look(self, request: Request) -> Response:
        """What is like a record: duplicates, those for review, and the others, each with its reasons."""
        call, exchange = _call(request), _exchange(request)
        limit_bytes = self._services.settings.http.max_body_bytes
        body = parse_body(DuplicatesBody, await exchange.body(limit_bytes, LOOK_TIMEOUT_S))
        if self._at_work >= self._services.settings.duplicates.at_once:
            raise Overloaded(_RETRY_S)
        self._at_work += 1
        try:
            return json_response(await look(self._services, call, body))
        finally:
            self._at_work -= 1

    async def confirm(self, request: Request, record_id: str) -> Response:
        """Say that another record stands for this one, while the texts of both stay as they are."""
        call, exchange = _call(request), _exchange(request)
        limit_bytes = self._services.settings.http.max_body_bytes
        body = parse_body(ConfirmedBody, await exchange.body(limit_bytes, LOOK_TIMEOUT_S))
        duplicate = await self._own(call, record_id, verb="confirm")
        canonical = await self._own(call, body.canonical, verb="confirm")
        if canonical.id == duplicate.id or canonical.access.tenant != duplicate.access.tenant:
            raise InvalidRequest("canonical", canonical.id, "another record of the same tenant")
        await self._refuse_ring(call, duplicate, canonical)
        pair = ConfirmedPair(
            duplicate=duplicate.id,
            canonical=canonical.id,
            tenant=duplicate.access.tenant,
            duplicate_hash=duplicate.search_text_hash,
            canonical_hash=canonical.search_text_hash,
            subject=call.principal.subject,
            at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        )
        await within(WRITE_TIMEOUT_S, self._services.control.confirm_duplicate(pair))
        return json_response(_said(call, duplicate.id, canonical.id))

    async def withdraw(self, request: Request, record_id: str) -> Response:
        """Take back what was said of this record; where nothing was, that is a 404."""
        call = _call(request)
        duplicate = await self._own(call, record_id, verb="withdraw")
        if not await within(WRITE_TIMEOUT_S, self._services.control.withdraw_duplicate(duplicate.id)):
            raise Refused(NOT_FOUND)
        return json_response(_said(call, duplicate.id, None))

    async def _refuse_ring(self, call: Call, duplicate: Record, canonical: Record) -> None:
        """No record may come to stand for itself, as far as the caller sees the records in between.

        A ring through others tells nothing here, and does no harm: a search shows the best record of it.
        """
        control, above = self._services.control, canonical.id
        for _ in range(_LONGEST_CHAIN):
            pairs = await within(LOOK_TIMEOUT_S, control.confirmed_duplicates([above]))
            if not pairs:
                return
            above = pairs[0].canonical
            if above == duplicate.id:
                raise InvalidRequest("canonical", canonical.id, f"a record that {duplicate.id} does not stand for")
            if await visible_record(self._services, call, above, from_s=self._services.clock()) is None:
                return
        raise InvalidRequest(
            "canonical", canonical.id, f"a record that at most {_LONGEST_CHAIN} others stand for in turn"
        )

    async def _own(self, call: Call, record_id: str, *, verb: str) -> Record:
        """A record that the caller sees and may write."""
        record = await _seen(self._services, call, record_id, verb=verb)
        tenants = self._services.policy.writable_tenants(call.principal)
        if tenants is not None and record.access.tenant not in tenants:
            raise Forbidden(Right.WRITER)
        return record


def _said(call: Call, duplicate: str, canonical: str | None) -> ConfirmedView:
    return {"request_id": call.request_id, "id": duplicate, "canonical": canonical}


def _call(request: Request) -> Call:
    call: Call = request.scope[CALL]
    return call


def _exchange(request: Request) -> Exchange:
    exchange: Exchange = request.scope[EXCHANGE]
    return exchange


def add_duplicate_routes(app: FastAPI, services: Services) -> None:
    """Put the routes on ``app``."""
    routes = DuplicateRoutes(services)
    one = "/v1/duplicates/{record_id:path}"
    app.add_api_route("/v1/duplicates", routes.look, methods=["POST"], response_class=Response)
    app.add_api_route(one, routes.confirm, methods=["PUT"], response_class=Response)
    app.add_api_route(one, routes.withdraw, methods=["DELETE"], response_class=Response)
