"""The two questions of the endpoint, answered by hand: ``POST /v1/search`` and ``POST /v1/explain``.

The caller is known and let in before anything here runs; errors leave as exceptions.
"""

from cluster.contract import Answer, MissReason
from cluster.errors import RegistryUnavailable, UnknownGrantList
from serve_app.answer import answer_bytes
from serve_app.asking import Call, search_request
from serve_app.exchange import Exchange
from serve_app.explanation import Outcome, explain_record, explanation_bytes
from serve_app.haproxy import telling
from serve_app.json_body import parse_body
from serve_app.patience import within
from serve_app.services import Services
from serve_app.wire import ExplainBody, SearchBody


async def search(services: Services, call: Call, exchange: Exchange) -> None:
    """``POST /v1/search``."""
    body = parse_body(SearchBody, await _body(services, exchange))
    answer = await answer_search(services, call, body)
    exchange.outcome = "miss" if answer.miss else "hits"
    content = answer_bytes(answer, explain=body.explain, form=body.format, counter=services.router.counter)
    await exchange.reply(200, content, telling(services.admission.room()))
    if call.trail.asked is not None:
        services.shadow.after(call.trail.asked, answer)


async def explain(services: Services, call: Call, exchange: Exchange) -> None:
    """``POST /v1/explain``."""
    body = parse_body(ExplainBody, await _body(services, exchange))
    explanation = await explain_record(services, call, body)
    asked, name = call.trail.asked, body.narrow.grant_list
    if explanation.outcome is Outcome.FILTERED_BY_NARROWING and name and asked is not None:
        # As for a search: an unknown list is an error, and no filter.
        await check_grant_list(services, call, name, asked.deadline.remaining_ms() / 1000)
    await exchange.reply(200, explanation_bytes(call.request_id, explanation))


async def answer_search(services: Services, call: Call, body: SearchBody) -> Answer:
    """The answer to a body, in process.

    Raises:
        InvalidRequest: naming the field that this caller may not ask so.
        UnknownGrantList: if the search narrows to a list that the caller's tenant has not registered.
        Overloaded: if so many searches are ahead of this one that its time would be over before its turn.
    """
    request = search_request(services, call, body)
    call.trail.asked = request
    services.metrics.asked(request.scope.narrowing)
    with services.admission.place(request.deadline.remaining_ms() / 1000):
        answer = await services.router.search(request)
    call.trail.answer = answer
    if answer.miss and answer.miss.reason is MissReason.NOTHING_AUTHORIZED and body.narrow.grant_list:
        # Only here can the list be an unknown one, so only here is the control plane asked.
        await check_grant_list(services, call, body.narrow.grant_list, request.deadline.remaining_ms() / 1000)
    services.metrics.answer(answer)
    return answer


async def check_grant_list(services: Services, call: Call, name: str, timeout_s: float) -> None:
    """Say that a list is unknown, where one looked empty.

    Raises:
        UnknownGrantList: if the caller's tenant has registered none of this name.
    """
    try:
        known = await within(timeout_s, services.control.grant_list(call.principal.tenant, name))
    except RegistryUnavailable:
        return
    if known is None:
        raise UnknownGrantList(name)


async def _body(services: Services, exchange: Exchange) -> bytes:
    """The body, waited for as long as a search may take: the budget counts from arrival.

    Raises:
        Overloaded: before a byte is read, if the longest of budgets would not be enough for an answer.
    """
    services.admission.check(services.longest_s - (services.clock() - exchange.arrived_s))
    return await exchange.body(services.settings.http.max_body_bytes, services.longest_s)
