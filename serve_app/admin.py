"""The routes that write: records in bulk, one record's end, and the grant lists of the caller's tenant.

A route's right stands in ``serve_app.access``; here is decided only whose records a writer may touch. A record that the
caller may neither write nor see and one that does not exist are the same 404; one that the caller sees is a 403.
"""

import asyncio
from collections.abc import Awaitable
from typing import Final, TypeVar

from fastapi import FastAPI, Request, Response

from cluster.control import Receipt, WriteOutcome
from cluster.errors import RegistryUnavailable
from cluster.scope import is_list_name
from serve_app import audit
from serve_app.access import Right
from serve_app.asking import CALL, Call
from serve_app.auth_errors import Forbidden
from serve_app.bulk import read_lines, report, write_lines
from serve_app.exchange import EXCHANGE, Exchange
from serve_app.json_body import parse_body
from serve_app.patience import LOOK_TIMEOUT_S, WRITE_TIMEOUT_S, within
from serve_app.problems import NOT_FOUND, FieldError, Refused, invalid_request
from serve_app.pseudonyms import Of
from serve_app.routes import json_response, visible_record
from serve_app.services import Services
from serve_app.wire import GrantListBody
from shards.record import Status

T = TypeVar("T")

MAX_BULK_BYTES: Final = 16 * 2**20
"""Largest body of a bulk write; larger catalogues go in several bodies, or through ``shortlist import``."""

MAX_LIST_BYTES: Final = 4 * 2**20
"""Largest body of a grant list: room for all the ids it may have, and read in one go, which holds up searches."""

BODY_TIMEOUT_S: Final = 60.0
"""Time a body of an administrator has to arrive."""


class AdminRoutes:
    """Handlers over one replica's services."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._policy = services.policy
        self._control = services.control

    async def put_records(self, request: Request) -> Response:
        """Write records, one JSON object a line. The report names every line that was refused, and why.

        200 if every line was taken, 207 if some was not; the others are written all the same.
        """
        call, exchange = _call(request), _exchange(request)
        body = await exchange.body(MAX_BULK_BYTES, BODY_TIMEOUT_S)
        lines = await asyncio.to_thread(read_lines, body)
        tenants = self._policy.writable_tenants(call.principal)
        results = await self._confirmed(call, "put", write_lines(self._control, lines, tenants))
        refused, view = report(call.request_id, results)
        outcome = "applied" if view["applied"] else "nothing_applied"
        self._tell(call, "put", outcome, lines=len(results), refused=refused, records=view["applied"], seq=view["seq"])
        response = json_response(view)
        response.status_code = 207 if refused else 200
        return response

    async def delete_record(self, request: Request, record_id: str) -> Response:
        """Remove a record for good. It is gone from the first search after the answer."""
        call = _call(request)
        tenants = self._policy.writable_tenants(call.principal)
        receipt = await self._confirmed(call, "delete", self._control.remove(record_id, tenants))
        return await self._receipt(call, "delete", receipt)

    async def disable_record(self, request: Request, record_id: str) -> Response:
        """Take a record out of every answer and keep it; write it again to enable it."""
        call = _call(request)
        tenants = self._policy.writable_tenants(call.principal)
        change = self._control.set_status(record_id, Status.DISABLED, tenants)
        receipt = await self._confirmed(call, "disable", change)
        return await self._receipt(call, "disable", receipt)

    async def put_grants(self, request: Request, name: str) -> Response:
        """Register or replace a grant list of the caller's tenant."""
        call, exchange = _call(request), _exchange(request)
        _check_list_name(name)
        body = parse_body(GrantListBody, await exchange.body(MAX_LIST_BYTES, BODY_TIMEOUT_S))
        change = self._control.put_grant_list(call.principal.tenant, name, body.ids)
        receipt = await self._confirmed(call, "put_grant_list", change)
        self._tell_of_list(call, "put_grant_list", receipt)
        return json_response(
            {"request_id": call.request_id, "name": name, "outcome": receipt.outcome, "seq": receipt.seq}
        )

    async def get_grants(self, request: Request, name: str) -> Response:
        """The ids of a grant list of the caller's tenant, sorted."""
        if not is_list_name(name):
            raise Refused(NOT_FOUND)
        ids = await within(LOOK_TIMEOUT_S, self._control.grant_list(_call(request).principal.tenant, name))
        if ids is None:
            raise Refused(NOT_FOUND)
        return json_response({"name": name, "ids": ids})

    async def delete_grants(self, request: Request, name: str) -> Response:
        """Remove a grant list: from the answer on, scopes that name it admit nothing through it."""
        call = _call(request)
        if not is_list_name(name):
            raise Refused(NOT_FOUND)
        change = self._control.delete_grant_list(call.principal.tenant, name)
        receipt = await self._confirmed(call, "delete_grant_list", change)
        self._tell_of_list(call, "delete_grant_list", receipt)
        if receipt.outcome is WriteOutcome.UNKNOWN:
            raise Refused(NOT_FOUND)
        return json_response(
            {"request_id": call.request_id, "name": name, "outcome": receipt.outcome, "seq": receipt.seq}
        )

    async def _confirmed(self, call: Call, verb: str, change: Awaitable[T]) -> T:
        """What a change came to; one that is not confirmed in time is told as such: it may be done all the same."""
        try:
            return await within(WRITE_TIMEOUT_S, change)
        except RegistryUnavailable:
            self._tell(call, verb, "unconfirmed")
            raise

    def _tell(self, call: Call, verb: str, outcome: str, **about: str | int | None) -> None:
        caller = self._services.pseudonyms.caller(call.principal)
        audit.wrote(call.request_id, caller, verb=verb, outcome=outcome, **about)

    def _tell_of_list(self, call: Call, verb: str, receipt: Receipt) -> None:
        name = self._services.pseudonyms.of(Of.LIST, receipt.name)
        self._tell(call, verb, receipt.outcome.value, list=name, seq=receipt.seq)

    async def _receipt(self, call: Call, verb: str, receipt: Receipt) -> Response:
        if receipt.outcome is WriteOutcome.UNKNOWN:
            # Whoever can read a record learns nothing from hearing that it is another's to write.
            if await visible_record(self._services, call, receipt.name, from_s=self._services.clock()) is not None:
                raise Forbidden(Right.WRITER)
            self._services.inquiries.missing(call.request_id, call.principal, verb, receipt.name)
            raise Refused(NOT_FOUND)
        record = self._services.pseudonyms.of(Of.RECORD, receipt.name)
        self._tell(call, verb, receipt.outcome.value, record=record, seq=receipt.seq)
        return json_response(
            {
                "request_id": call.request_id,
                "id": receipt.name,
                "outcome": receipt.outcome,
                "version": receipt.version,
                "seq": receipt.seq,
            }
        )


def _call(request: Request) -> Call:
    call: Call = request.scope[CALL]
    return call


def _exchange(request: Request) -> Exchange:
    exchange: Exchange = request.scope[EXCHANGE]
    return exchange


def _check_list_name(name: str) -> None:
    if not is_list_name(name):
        allowed = "1 to 64 letters, digits and . _ -, a letter or digit first"
        raise Refused(invalid_request(FieldError(field="name", allowed=allowed)))


def add_admin_routes(app: FastAPI, services: Services) -> None:
    """Put the routes on ``app``."""
    routes = AdminRoutes(services)
    for method, path, handler in (
        ("PUT", "/v1/records", routes.put_records),
        ("DELETE", "/v1/records/{record_id:path}", routes.delete_record),
        ("POST", "/v1/records/{record_id:path}/disable", routes.disable_record),
        ("PUT", "/v1/grants/{name}", routes.put_grants),
        ("GET", "/v1/grants/{name}", routes.get_grants),
        ("DELETE", "/v1/grants/{name}", routes.delete_grants),
    ):
        app.add_api_route(path, handler, methods=[method], response_class=Response)
