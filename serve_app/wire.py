"""The bodies that callers send, as pydantic models, and their one conversion to values of the cluster.

It does not decide what a caller may see or spend: ``cluster.scope`` and ``serve_app.asking`` do. A field that is not
known, null where a narrowing was meant, or empty is an error: a narrowing that was ignored would widen an answer.
"""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, FailFast, Field
from pydantic_core import PydanticCustomError

from cluster.registry_values import LIST_PATTERN, grant_list_key
from serve_app.record_wire import MAX_NAME_CHARS
from shards.scope import Narrowing

QUERY_LIMIT: Final = 4096
"""Characters of a query."""

GRANT_LIST_LIMIT: Final = 50_000
"""Ids of one registered grant list."""

_NAMED_IDS: Final = 1000
_NAMED_VALUES: Final = 64
_MAX_SEQ: Final = 2**63 - 1
_K: Final = (
    "Hits wanted, from 1 to min(k_ceiling of the caller's mode in the policy, rerank_k of the server's budget);"
    " the server's evidence_k within that if left out."
)


def _listed(value: object) -> object:
    """A single string stands for a list of one."""
    if value is None:
        raise PydanticCustomError("null_narrowing", "a string or a list of strings; leave the field out to not use it")
    return [value] if isinstance(value, str) else value


def _pattern(value: str) -> str:
    if "*" in value[:-1]:
        raise PydanticCustomError("namespace_pattern", "an exact namespace, or a prefix that ends in *")
    return value


RecordId = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
_Value = Annotated[str, Field(min_length=1, max_length=256)]
_Namespace = Annotated[str, Field(min_length=1, max_length=256), AfterValidator(_pattern)]
_Listed = BeforeValidator(_listed, json_schema_input_type=str | list[str])
_Values = Annotated[list[_Value] | None, Field(min_length=1, max_length=_NAMED_VALUES), _Listed]


class Body(BaseModel):
    """Base of every body: no unknown field, no conversion of types."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class NarrowBody(Body):
    """Leaves records out of the caller's own scope. Each field takes one string or a list; all given ones must hold."""

    kinds: Annotated[list[Literal["tool", "passage"]] | None, Field(min_length=1, max_length=2), _Listed] = None
    namespaces: Annotated[
        list[_Namespace] | None,
        Field(min_length=1, max_length=_NAMED_VALUES, description="Exact, or a prefix that ends in *."),
        _Listed,
    ] = None
    products: _Values = None
    locales: _Values = None
    releases: _Values = None
    domains: _Values = None
    capabilities: _Values = None
    ids: Annotated[list[RecordId] | None, Field(min_length=1, max_length=_NAMED_IDS), _Listed] = None
    grant_list: Annotated[
        str, Field(pattern=f"^{LIST_PATTERN}$", description="A grant list of the caller's tenant.")
    ] = ""

    def narrowing(self, tenant: str) -> Narrowing:
        """The value of the cluster; the grant list is looked for among those of ``tenant``."""
        return Narrowing(
            kinds=_set(self.kinds),
            namespaces=_set(self.namespaces),
            products=_set(self.products),
            locales=_set(self.locales),
            releases=_set(self.releases),
            domains=_set(self.domains),
            capabilities=_set(self.capabilities),
            ids=_set(self.ids),
            grant_list=grant_list_key(tenant, self.grant_list) if self.grant_list else None,
        )

    @property
    def passages_only(self) -> bool:
        """Whether only passages are asked for."""
        return self.kinds is not None and set(self.kinds) == {"passage"}


class BudgetBody(Body):
    """Ceilings that the caller lowers; a value above the server's own is an error."""

    candidate_k: int | None = None
    rerank_k: int | None = None
    evidence_k: int | None = None
    evidence_tokens: int | None = None
    timeout_ms: int | None = None


class QuestionBody(Body):
    """What a search and an explanation have in common."""

    query: Annotated[str, Field(min_length=1, max_length=QUERY_LIMIT)]
    k: Annotated[int | None, Field(description=_K)] = None
    budget: BudgetBody = BudgetBody()
    narrow: NarrowBody = NarrowBody()
    min_seq: Annotated[int, Field(ge=0, le=_MAX_SEQ, description="Answer must see this change; 0 for any.")] = 0


class SearchBody(QuestionBody):
    """Body of ``POST /v1/search``."""

    pinned: Annotated[list[RecordId], Field(max_length=128, description="Always in the result if authorized.")] = []
    preferred: Annotated[list[RecordId], Field(max_length=128, description="Always candidates if authorized.")] = []
    explain: Annotated[bool, Field(description="Add the parts of every score.")] = False


class ExplainBody(QuestionBody):
    """Body of ``POST /v1/explain``: why is this record in the answer to this question, or not."""

    id: RecordId


class GrantListBody(Body):
    """Body of ``PUT /v1/grants/{name}``; an empty list admits nothing."""

    ids: Annotated[list[RecordId], Field(max_length=GRANT_LIST_LIMIT), FailFast()]


def _set(values: list[str] | list[Literal["tool", "passage"]] | None) -> frozenset[str] | None:
    return None if values is None else frozenset(values)
