"""Trail: what became known of one request on its way, for whoever reports on it at the end."""

from dataclasses import dataclass

from cluster.contract import Answer, SearchRequest
from cluster.scope import Principal


@dataclass(slots=True, kw_only=True)
class Trail:
    """Filled in by the handlers, read once at the end.

    Attributes:
        principal: who called, None before the credential was verified.
        asked: the search that was made of the request, None where there is none.
        answer: to that search, None where it did not come that far.
    """

    principal: Principal | None = None
    asked: SearchRequest | None = None
    answer: Answer | None = None
