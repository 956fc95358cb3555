"""``shortlist import`` of OpenAPI documents, from the file to the registry and the report."""

from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from cluster.importers.formats import Format
from cluster.registry import Registry
from serve_app.cli.import_records import FORMATS, command

SHOP = """\
openapi: 3.0.3
info: {title: Shop, version: '1'}
paths:
  /nodes:
    post:
      operationId: addNode
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Node'}}}}
    get: {operationId: listNodes, parameters: [{$ref: 'common.yaml#/page'}]}
    delete: {operationId: clearNodes}
components:
  schemas:
    Node: {type: object, properties: {child: {$ref: '#/components/schemas/Node'}}}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.yaml").write_text(SHOP)
    return tmp_path / "shop.yaml"


def run(*arguments: object) -> dict[str, object]:
    result = CliRunner().invoke(command, [*map(str, arguments), "--json"])
    report: dict[str, object] = orjson.loads(result.stdout)
    return report


def test_a_loop_is_cut_and_said_and_a_bad_operation_is_refused_by_name(shop: Path) -> None:
    report = run(shop, "--home", shop.parent / "home")
    assert (report["imported"], report["namespaces"], report["example"]) == (2, ["shop"], "shop:addNode")
    assert report["refused"] == [
        {
            "name": "GET /nodes",
            "place": None,
            "reason": "$ref: 'common.yaml#/page' is outside the document, and is never opened",
            "file": str(shop),
        }
    ]
    assert report["notes"] == ["schema cut where it contains itself: 1 record"]


@pytest.mark.parametrize(("option", "expected"), [("write", "write"), ("read", "read"), ("destructive", "destructive")])
def test_the_side_effect_option_is_for_methods_that_do_not_tell(shop: Path, option: str, expected: str) -> None:
    run(shop, "--home", shop.parent / "home", "--side-effect", option)
    registry = Registry.in_home(shop.parent / "home")
    effects = [
        str(record.access.side_effect) for name in ("addNode", "clearNodes") if (record := registry.get(f"shop:{name}"))
    ]
    registry.close()
    assert effects == [expected, "destructive"]


def test_importing_a_document_again_changes_nothing(shop: Path) -> None:
    run(shop, "--home", shop.parent / "home")
    report = run(shop, "--home", shop.parent / "home", "--format", "openapi")
    assert (report["imported"], report["unchanged"]) == (0, 2)


def test_the_command_knows_every_format() -> None:
    assert list(FORMATS) == list(Format)
