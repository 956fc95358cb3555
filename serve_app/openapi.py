"""The OpenAPI document: FastAPI's own of its routes, filled in with bodies, answers and the routes it does not know.

Schemas come from the models that parse bodies and the shapes that are written; nothing is described twice.
"""

from collections.abc import Iterator
from typing import Any, Final

from fastapi import FastAPI
from pydantic import TypeAdapter

from serve_app.access import ACCESS, Right
from serve_app.answer_view import AnswerView
from serve_app.answering.body import AnswerBody
from serve_app.answering.view import AnsweredView
from serve_app.bulk import ReportView
from serve_app.duplicates_view import ConfirmedView, DuplicatesView
from serve_app.explanation import ExplanationView
from serve_app.export_view import ExportView
from serve_app.problems import CODES, MEDIA_TYPE, ProblemView
from serve_app.record_view import StoredView
from serve_app.record_wire import RecordIn
from serve_app.wire import ConfirmedBody, DuplicatesBody, ExplainBody, ExportBody, GrantListBody, SearchBody

JsonObject = dict[str, Any]  # the document follows OpenAPI's own schema, which is not ours to type

_JSON: Final = "application/json"
_NDJSON: Final = "application/x-ndjson"

_EVENTS: Final = "text/event-stream"
_EVENTS_SAY: Final = (
    "Events with JSON data: evidence (what will be read), step (one reading), answer (the body of the JSON answer, "
    "last), or problem (last, where an error came after the stream began)."
)

_BODIES: Final[dict[tuple[str, str], tuple[str, str, Any]]] = {
    ("POST", "/v1/search"): (_JSON, "SearchBody", SearchBody),
    ("POST", "/v1/explain"): (_JSON, "ExplainBody", ExplainBody),
    ("POST", "/v1/answer"): (_JSON, "AnswerBody", AnswerBody),
    ("POST", "/v1/exports"): (_JSON, "ExportBody", ExportBody),
    ("POST", "/v1/duplicates"): (_JSON, "DuplicatesBody", DuplicatesBody),
    ("PUT", "/v1/duplicates/{record_id:path}"): (_JSON, "ConfirmedBody", ConfirmedBody),
    ("PUT", "/v1/grants/{name}"): (_JSON, "GrantListBody", GrantListBody),
    ("PUT", "/v1/records"): (_NDJSON, "Record", RecordIn),
}

_ANSWERS: Final[dict[tuple[str, str], tuple[str, Any]]] = {
    ("POST", "/v1/search"): ("Answer", AnswerView),
    ("POST", "/v1/explain"): ("Explanation", ExplanationView),
    ("POST", "/v1/answer"): ("Answered", AnsweredView),
    ("POST", "/v1/exports"): ("ExportPage", ExportView),
    ("POST", "/v1/duplicates"): ("Duplicates", DuplicatesView),
    ("PUT", "/v1/duplicates/{record_id:path}"): ("Confirmed", ConfirmedView),
    ("DELETE", "/v1/duplicates/{record_id:path}"): ("Confirmed", ConfirmedView),
    ("GET", "/v1/records/{record_id:path}"): ("StoredRecord", StoredView),
    ("PUT", "/v1/records"): ("Report", ReportView),
}

_SUMMARIES: Final = {
    "/v1/search": "The records that a model should see for a question, or a typed miss",
    "/v1/explain": "Why a record is, or is not, in the answer to a question",
    "/v1/answer": "An answer that the evidence of a search carries, and what it cost",
}


def document(app: FastAPI) -> JsonObject:
    """The document of every route in the access table."""
    described = app.openapi()
    schemas: JsonObject = {}
    paths: JsonObject = {}
    for (method, path), right in ACCESS.items():
        known = described["paths"].get(_plain(path), {}).get(method.lower())
        operation = dict(known or _by_hand(path))
        operation["x-right"] = right.value
        operation["security"] = [] if right is Right.ANYONE else [{"bearer": []}]
        if body := _BODIES.get((method, path)):
            media_type, name, model = body
            content = {media_type: {"schema": _schema(name, model, schemas)}}
            operation["requestBody"] = {"required": True, "content": content}
        operation["responses"] = dict(_responses(method, path, schemas))
        paths.setdefault(_plain(path), {})[method.lower()] = operation
    schemas["Code"]["description"] += f" {CODES}."
    return {
        "openapi": described["openapi"],
        "info": described["info"],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _responses(method: str, path: str, schemas: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    response: JsonObject = {"description": "Done"}
    if answer := _ANSWERS.get((method, path)):
        response["content"] = {_JSON: {"schema": _schema(*answer, schemas)}}
    if path == "/v1/answer":
        response["content"][_EVENTS] = {"schema": {"type": "string", "description": _EVENTS_SAY}}
    yield "200", response
    if (method, path) == ("PUT", "/v1/records"):
        yield "207", {**response, "description": "Some lines were refused; the others are written"}
    problem = {MEDIA_TYPE: {"schema": _schema("Problem", ProblemView, schemas)}}
    if path in _SUMMARIES:
        yield (
            "429",
            {
                "description": "So many questions are waiting that an answer would take longer than the budget",
                "headers": {"Retry-After": {"description": "Whole seconds", "schema": {"type": "integer"}}},
                "content": problem,
            },
        )
    yield "default", {"description": "A problem (RFC 9457)", "content": problem}


def _schema(name: str, shape: Any, schemas: JsonObject) -> JsonObject:  # noqa: ANN401 -- models and typed dicts alike
    """A reference to the schema of ``shape``, which is put among ``schemas`` with all that it refers to."""
    if name not in schemas:
        schema = TypeAdapter(shape).json_schema(ref_template="#/components/schemas/{model}")
        schemas |= schema.pop("$defs", {})
        schemas[name] = schema
    return {"$ref": f"#/components/schemas/{name}"}


def _by_hand(path: str) -> JsonObject:
    return {"summary": _SUMMARIES[path], "operationId": path.rsplit("/", 1)[-1]}


def _plain(path: str) -> str:
    """The path as OpenAPI writes it: without Starlette's converter."""
    return path.replace(":path}", "}")
