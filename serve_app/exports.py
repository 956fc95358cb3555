"""``POST /v1/exports``: everything that the caller may see and that matches, page by page.

What is in an export was fixed when it was opened (``cluster.exports``). Here the shards are asked once more about each
page, with the caller's scope of now, so that nothing leaves that was withdrawn in between. It ranks nothing.
"""

from datetime import UTC, datetime

from fastapi import FastAPI, Request, Response

from cluster.budget import Deadline
from cluster.errors import InvalidRequest, UnknownExport
from cluster.exports import Exporter, ExportOrder, ExportPage
from cluster.query import plan_query
from serve_app import audit
from serve_app.asking import CALL, Call
from serve_app.exchange import EXCHANGE, Exchange
from serve_app.export_view import ExportView
from serve_app.json_body import parse_body
from serve_app.patience import EXPORT_TIMEOUT_S, LOOK_TIMEOUT_S, within
from serve_app.questions import check_grant_list
from serve_app.record_view import stored_view
from serve_app.routes import json_response
from serve_app.services import Services
from serve_app.wire import ExportBody
from shards.record import Record


async def export_page(services: Services, call: Call, body: ExportBody) -> ExportView:
    """The page that a body asks for.

    Raises:
        InvalidRequest, UnknownGrantList, UnknownExport, ExpiredExport, ExportTooLarge, ExportsExceeded: see each.
        ShardUnavailable: if a shard does not answer in time; the same cursor serves again.
    """
    page = await within(EXPORT_TIMEOUT_S, _page(services, call, body))
    if page.total == 0 and body.narrow.grant_list:
        # As in a search: only here can the list be an unknown one.
        await check_grant_list(services, call, body.narrow.grant_list, LOOK_TIMEOUT_S)
    stored = [Record.from_json(one) for one in page.bodies]
    deadline = Deadline.of(services.clock(), EXPORT_TIMEOUT_S, services.clock)
    scope = services.policy.compile(call.principal)
    visible = await services.router.documents(scope, [record.id for record in stored], deadline)
    versions = {record.id: record.version for record in visible}
    _tell(services, call, body, page)
    return {
        "request_id": call.request_id,
        "index_position": page.position,
        "total": page.total,
        "start": page.start,
        "end": page.end,
        "expires_at": datetime.fromtimestamp(page.expires_s, UTC).isoformat().replace("+00:00", "Z"),
        "records": [
            {**stored_view(record), "changed": versions[record.id] != record.version}
            for record in stored
            if record.id in versions
        ],
        "cursor": page.cursor or None,
    }


async def _page(services: Services, call: Call, body: ExportBody) -> ExportPage:
    principal = call.principal
    exporter = Exporter(
        subject=principal.subject,
        tenant=principal.tenant,
        authority=services.policy.compile(principal).fingerprint,
    )
    if body.cursor is not None:
        return await services.control.export_page(exporter, body.cursor, body.page_size)
    order = ExportOrder(
        exporter=exporter,
        scope=services.policy.compile(principal, body.narrow.narrowing(principal.tenant)),
        terms=() if body.query is None else _terms(body.query),
        page_size=body.page_size,
        request_id=call.request_id,
    )
    return await services.control.open_export(order)


def _terms(query: str) -> tuple[str, ...]:
    terms = plan_query(query).terms
    if not terms:
        # No terms are no condition, and the caller meant one.
        raise InvalidRequest("query", query, "a text with at least one word")
    return terms


def _tell(services: Services, call: Call, body: ExportBody, page: ExportPage) -> None:
    events = [*(["export_opened"] if body.cursor is None else []), *([] if page.cursor else ["export_finished"])]
    for event in events:
        caller = services.pseudonyms.caller(call.principal)
        audit.exported(call.request_id, page.opened_by, event=event, seq=page.seq, records=page.total, caller=caller)


def add_export_routes(app: FastAPI, services: Services) -> None:
    """Put the route on ``app``."""

    async def exports(request: Request) -> Response:
        """Everything authorized that matches, page by page, as it stood when the first page was asked for."""
        call: Call = request.scope[CALL]
        exchange: Exchange = request.scope[EXCHANGE]
        content = await exchange.body(services.settings.http.max_body_bytes, LOOK_TIMEOUT_S)
        body = parse_body(ExportBody, content)
        try:
            return json_response(await export_page(services, call, body))
        except UnknownExport as error:
            audit.cursor_refused(call.request_id, error.reason)
            raise

    app.add_api_route("/v1/exports", exports, methods=["POST"], response_class=Response)
