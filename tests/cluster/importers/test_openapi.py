"""OpenAPI documents as tools: names, ids, side effects, what is refused, and that nothing else is ever opened."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from cluster.errors import OversizedSource, UnreadableSource
from cluster.importers import documents, openapi
from cluster.importers.formats import Format, detect, read_file
from cluster.importers.source import Defaults, RawRecord
from serve_app.record_wire import parse_record
from tests.cluster.importers.openapi_documents import document, notes, one_operation, read, refused, tools

PETS = document(
    {
        "/pets/{id}": {
            "get": {
                "operationId": "getPet",
                "summary": "Find a pet",
                "description": "By its id.",
                "tags": ["pets", "pets", ""],
            },
            "delete": {"operationId": "removePet", "deprecated": True},
            "patch": {"summary": "Change a pet."},
        }
    }
)

SWAGGER = """\
swagger: "2.0"
info: {title: Pet Shop, version: 2024-01-01}
host: api.example.com
paths:
  /pets:
    post:
      operationId: addPet
      parameters:
        - {name: dry, in: query, type: boolean}
        - {name: pet, in: body, required: true, schema: {$ref: '#/definitions/Pet'}}
definitions:
  Pet:
    type: object
    required: [name]
    properties:
      name: {type: string}
      sold: {type: string, enum: [no, yes]}
"""


def test_every_operation_becomes_a_tool(tmp_path: Path) -> None:
    get, delete, patch = tools(read(tmp_path, PETS))
    assert get == {
        "id": "pet-shop:getPet",
        "name": "getPet",
        "namespace": "pet-shop",
        "description": "Find a pet. By its id.",
        "parameters": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
        "aliases": ["/pets/{id}"],
        "tags": ["pets"],
        "product": "Pet Shop",
        "release": "1.2",
        "access": {"side_effect": "read"},
    }
    assert (delete["status"], delete["access"]) == ("deprecated", {"side_effect": "destructive"})
    assert delete["description"] == "DELETE /pets/{id} of Pet Shop"
    assert (patch["id"], patch["name"]) == ("pet-shop:PATCH /pets/{id}", "patch_pets_id")
    assert "access" not in patch


def test_every_tool_is_a_record_and_the_same_document_gives_the_same_ids(tmp_path: Path) -> None:
    first, second = (
        [parse_record(Defaults().fill(tool)) for tool in tools(read(tmp_path, PETS))] for _ in range(2)
    )  # fmt: skip
    assert first == second
    assert len({record.id for record in first}) == 3


def test_a_note_says_which_operations_are_not_offered(tmp_path: Path) -> None:
    assert notes(read(tmp_path, PETS)) == {"deprecated, and so not offered": 1}


def test_swagger_in_yaml_is_read_and_its_words_stay_words(tmp_path: Path) -> None:
    (tool,) = tools(read(tmp_path, SWAGGER.encode(), name="shop.yaml"))
    assert tool["release"] == "2024-01-01"
    assert tool["parameters"] == {
        "type": "object",
        "properties": {
            "dry": {"type": "boolean"},
            "name": {"type": "string"},
            "sold": {"type": "string", "enum": ["no", "yes"]},
        },
        "required": ["name"],
    }


@pytest.mark.parametrize(
    ("info", "more", "namespace"),
    [
        ({"title": "Pet Shop — v2"}, {}, "pet-shop-v2"),
        ({"title": "فروشگاه"}, {}, "فروشگاه"),
        ({"title": "!!"}, {"servers": [{"url": "https://api.example.com:8443/v1"}]}, "api.example.com"),
        ({}, {"host": "old.example.com:80"}, "old.example.com"),
        ({}, {"servers": [{"url": "http://[bad"}]}, "shop"),
        (None, {"servers": "x"}, "shop"),
    ],
)
def test_the_namespace_is_the_title_then_the_server_then_the_file(
    tmp_path: Path, info: object, more: dict[str, object], namespace: str
) -> None:
    value = one_operation({}) | {"info": info} | more
    assert tools(read(tmp_path, value))[0]["id"] == f"{namespace}:op"
    assert tools(read(tmp_path, value, Defaults(namespace="own")))[0]["id"] == "own:op"


def test_operations_that_share_an_id_are_all_named_by_method_and_path_whatever_their_order(tmp_path: Path) -> None:
    paths = {path: {"get": {"operationId": "list"}} for path in ("/a", "/b")}
    for order in (paths, dict(reversed(paths.items()))):
        items = read(tmp_path, document(order))
        assert {(tool["id"], tool["name"], tool["aliases"][0]) for tool in tools(items)} == {
            ("pet-shop:GET /a", "get_a", "list"),
            ("pet-shop:GET /b", "get_b", "list"),
        }
        assert list(notes(items).values()) == [2]


@pytest.mark.parametrize(
    ("place", "expected"),
    [("operation", "read"), ("path", "read"), ("document", "read"), (None, "destructive")],
)
def test_the_document_can_say_what_an_operation_does(tmp_path: Path, place: str | None, expected: str) -> None:
    said = {"x-shortlist-side-effect": "read"}
    operation: dict[str, Any] = {"operationId": "op"} | (said if place == "operation" else {})
    value = document({"/x": {"delete": operation} | (said if place == "path" else {})})
    items = read(tmp_path, value | (said if place == "document" else {}))
    assert tools(items)[0]["access"] == {"side_effect": expected}


def test_an_unknown_side_effect_refuses_its_operation_only(tmp_path: Path) -> None:
    items = read(
        tmp_path, document({"/a": {"get": {"x-shortlist-side-effect": "none"}}, "/b": {"get": {"operationId": "b"}}})
    )
    reason = "x-shortlist-side-effect: 'none' is not allowed; expected read, write, destructive"
    assert refused(items) == [("GET /a", reason)]
    assert [tool["name"] for tool in tools(items)] == ["b"]


@pytest.mark.parametrize(
    ("method", "expected"),
    [("get", "read"), ("head", "read"), ("options", "read"), ("delete", "destructive"), ("post", "write"),
     ("put", "write"), ("patch", "write"), ("trace", "write")],
)  # fmt: skip
def test_the_method_tells_the_side_effect(tmp_path: Path, method: str, expected: str) -> None:
    (tool,) = tools(read(tmp_path, one_operation({}, method=method)))
    assert parse_record(Defaults().fill(tool)).access.side_effect == expected


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"get": 5}, "operation: must be a JSON object"),
        ({"get": {"parameters": {}}}, "parameters: must be a list"),
        ({"get": {"parameters": [{"in": "query"}]}}, "parameters: item 1: name: must be non-empty text"),
        ({"get": {"parameters": [{"name": "a", "in": "url"}]}},
         "parameters: item 1: in: 'url' is not allowed; expected path, query, header, cookie, formData, body"),
        ({"get": {"requestBody": []}}, "requestBody: must be a JSON object"),
        ({"get": {"requestBody": {"content": {"a/b": 5}}}}, "requestBody: 'a/b': must be a JSON object"),
        ({"get": {"requestBody": {"content": {"a/b": {"schema": "s"}}}}}, "schema: must be a JSON object"),
        ({"get": {"tags": "pets"}}, "tags: must be a list"),
        ({"get": {"parameters": [{"$ref": "#/components/none"}]}},
         "$ref: '#/components/none' leads to nothing in the document"),
        ({"get": {"parameters": [{"$ref": "#/paths/~1a/get/parameters/0"}]}},
         "$ref: '#/paths/~1a/get/parameters/0' leads back to itself"),
        ({"get": {"parameters": [{"$ref": "#Pet"}]}}, "$ref: '#Pet' is no path inside the document, as '#/a/b'"),
        ({"get": {"parameters": [{"$ref": 5}]}}, "$ref: must be text"),
    ],
)  # fmt: skip
def test_a_bad_operation_is_refused_with_the_reason_and_the_rest_is_taken(
    tmp_path: Path, item: dict[str, Any], reason: str
) -> None:
    items = read(tmp_path, document({"/a": item, "/b": {"get": {"operationId": "b"}}}))
    assert refused(items) == [("GET /a", reason)]
    assert [tool["name"] for tool in tools(items)] == ["b"]


def test_a_path_that_is_no_object_is_refused_by_its_name(tmp_path: Path) -> None:
    items = read(tmp_path, document({"/a": [], "/b": None, "x-c": 5, "/d": {"$ref": "d.yaml"}}))
    assert refused(items) == [
        ("/a", "path: must be a JSON object"),
        ("/d", "$ref: 'd.yaml' is outside the document, and is never opened"),
    ]


def test_a_path_may_stand_elsewhere_in_the_document(tmp_path: Path) -> None:
    elsewhere = {"components": {"pathItems": {"X": {"get": {"operationId": "there"}}}}}
    items = read(
        tmp_path, document({"/x": {"$ref": "#/components/pathItems/X", "put": {"operationId": "here"}}}, **elsewhere)
    )
    assert [tool["name"] for tool in tools(items)] == ["there", "here"]


@pytest.fixture
def touched() -> Iterator[list[str]]:
    """What the process opens, and whom it calls, from here on."""
    seen: list[str] = []
    watching = True

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if watching and (event == "open" or event.startswith(("socket.", "urllib.", "http.client", "subprocess."))):
            seen.append(f"{event} {arguments[0]}")

    sys.addaudithook(hook)
    yield seen
    watching = False


@pytest.mark.parametrize("name", ["shop.json", "shop.yaml"])
def test_references_to_the_outside_are_refused_and_never_opened(tmp_path: Path, touched: list[str], name: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for other in (tmp_path / "x.yaml", folder / "y.json", folder / "shop.json"):
        other.write_bytes(b'{"P": {"name": "secret", "in": "query"}}')
    outside = [
        "http://127.0.0.1:9/x.json#/P", "https://example.invalid/x", f"file://{tmp_path}/x.yaml#/P", "../x.yaml#/P",
        "y.json#/P", f"{folder}/y.json", "shop.json#/paths", "//example.invalid/x", "\\\\host\\share",
    ]  # fmt: skip
    paths: dict[str, object] = {}
    for number, reference in enumerate(outside):
        schema = {"type": "object", "properties": {"a": {"items": {"$ref": reference}}}}
        paths[f"/parameter{number}"] = {"get": {"parameters": [{"$ref": reference}]}}
        paths[f"/schema{number}"] = {"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}}}
    paths["/fine"] = {"get": {"operationId": "fine", "responses": {"200": {"$ref": outside[0]}}}}
    read(folder, document({}), name=name)
    touched.clear()
    content = orjson.dumps(document(paths))
    (folder / name).write_bytes(content)
    touched.clear()
    items = list(openapi.read_openapi(folder / name, Defaults()))
    assert set(touched) == {f"open {folder / name}"}
    assert [tool["name"] for tool in tools(items)] == ["fine"]
    assert len(refused(items)) == 2 * len(outside)
    assert all("is outside the document, and is never opened" in reason for _, reason in refused(items))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"paths": {}}, "is no OpenAPI document"),
        ([], "is no OpenAPI document"),
        ({"swagger": "1.2"}, "swagger: '1.2' is not read; expected 2.0, 3.0 or 3.1"),
        ({"openapi": "3.2.0"}, "openapi: '3.2.0' is not read"),
        ({"openapi": None}, "openapi: 'None' is not read"),
        ({"openapi": "3.0.0", "paths": []}, "paths: must be a JSON object"),
    ],
)
def test_what_is_no_document_of_a_known_version_is_an_error(tmp_path: Path, value: object, reason: str) -> None:
    with pytest.raises(UnreadableSource, match=reason):
        read(tmp_path, value)


@pytest.mark.parametrize("version", ["3.0", "3.0.4", "3.1.1", 3.1, "3.0.0-rc1"])
def test_every_patch_of_a_known_version_is_read(tmp_path: Path, version: object) -> None:
    assert len(tools(read(tmp_path, one_operation({}) | {"openapi": version}))) == 1
    assert len(tools(read(tmp_path, one_operation({}, version="2.0") | {"swagger": 2.0}))) == 1


def test_a_document_of_webhooks_only_has_no_tools(tmp_path: Path) -> None:
    assert read(tmp_path, {"openapi": "3.1.0", "webhooks": {"ping": {"post": {}}}}) == []


def test_limits_are_errors_that_name_the_field_and_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openapi, "MAX_OPERATIONS", 2)
    with pytest.raises(OversizedSource, match="paths: more than 2 operations") as operations:
        read(tmp_path, document({f"/{n}": {"get": {}} for n in range(3)}))
    assert (operations.value.field, operations.value.limit) == ("paths", 2)
    with pytest.raises(OversizedSource, match="depth: more than 1024 levels"):
        read(tmp_path, b'{"openapi":' + b"[" * 2_000 + b"]" * 2_000 + b"}")
    monkeypatch.setattr(documents, "MAX_YAML_BYTES", 10)
    with pytest.raises(OversizedSource, match="size: more than 10 bytes of YAML"):
        read(tmp_path, SWAGGER.encode(), name="shop.yaml")
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 20)
    with pytest.raises(OversizedSource, match="size: more than 20 bytes"):
        read(tmp_path, PETS)


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.json", b'{"openapi": "3.0.0"}'), ("a.json", b'{"swagger": "2.0", "tools": []}'), ("a.yaml", b""),
     ("a.yml", b"")],
)  # fmt: skip
def test_documents_are_told_from_other_files(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert detect(tmp_path / name) is Format.OPENAPI


def test_json_and_yaml_may_have_any_name_and_a_byte_order_mark(tmp_path: Path) -> None:
    for name, content in (
        ("a.txt", b"\xef\xbb\xbf" + orjson.dumps(PETS)),
        ("b", SWAGGER.encode("utf-8-sig")),
        ("c", b"{openapi: 3.0.0, paths: {/x: {get: {}}}}"),
    ):
        (tmp_path / name).write_bytes(content)
        items = list(read_file(tmp_path / name, Format.OPENAPI, Defaults()))
        assert any(isinstance(item, RawRecord) for item in items)
