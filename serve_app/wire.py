"""The bodies that callers send, as pydantic models, and their one conversion to values of the cluster.

It does not decide what a caller may see or spend: ``cluster.scope`` and ``serve_app.asking`` do. A field that is not
known, null where a narrowing was meant, or empty is an error: a narrowing that was ignored would widen an answer.
"""

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, FailFast, Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

from cluster.question_lexicon import AnswerShape
from cluster.registry_values import LIST_PATTERN, grant_list_key
from cluster.scope import OPEN
from serve_app.formats.formatting import Format
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
    "Hits wanted, from 1 to min(k_ceiling of the caller's mode in the policy, most_k of the server's budget);"
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
        if not self.model_fields_set:
            return OPEN
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
    evidence_bytes: int | None = None
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
    shape: Annotated[
        AnswerShape | None, Field(description="What the answer has to be; left out, the words of the query tell.")
    ] = None
    format: Annotated[Format, Field(description="The shape of the evidence: our own, or a provider's.")] = "native"


class ExplainBody(QuestionBody):
    """Body of ``POST /v1/explain``: why is this record in the answer to this question, or not."""

    id: RecordId


class ExportBody(Body):
    """Body of ``POST /v1/exports``: a new export, or with ``cursor`` the next page of one."""

    cursor: Annotated[
        str | None, Field(min_length=1, max_length=256, description="Of the page before; query and narrow stay out.")
    ] = None
    query: Annotated[
        str | None,
        Field(min_length=1, max_length=QUERY_LIMIT, description="Only records that hold one of its words."),
    ] = None
    narrow: NarrowBody = NarrowBody()
    page_size: Annotated[int | None, Field(description="Records of this page; the server's most if left out.")] = None

    @model_validator(mode="after")
    def _check_cursor(self) -> Self:
        if self.cursor is not None and self.model_fields_set & {"query", "narrow"}:
            raise PydanticCustomError("fixed_export", "a cursor without query and narrow, which the export has already")
        return self


class DuplicatesBody(Body):
    """Body of ``POST /v1/duplicates``: what is like this record, stored under ``id`` or yet to be written?"""

    id: RecordId | None = None
    record: Annotated[
        dict[str, JsonValue] | None, Field(description="A record as PUT /v1/records takes it; it is not stored.")
    ] = None
    candidates: Annotated[
        int | None, Field(ge=1, le=50, description="Records to compare it with; at most the server's own number.")
    ] = None

    @model_validator(mode="after")
    def _check_subject(self) -> Self:
        if (self.id is None) == (self.record is None):
            raise PydanticCustomError("one_subject", "either id or record")
        return self


class ConfirmedBody(Body):
    """Body of ``PUT /v1/duplicates/{id}``: which record stands for it."""

    canonical: RecordId


class GrantListBody(Body):
    """Body of ``PUT /v1/grants/{name}``; an empty list admits nothing."""

    ids: Annotated[list[RecordId], Field(max_length=GRANT_LIST_LIMIT), FailFast()]


def _set(values: list[str] | list[Literal["tool", "passage"]] | None) -> frozenset[str] | None:
    return None if values is None else frozenset(values)
