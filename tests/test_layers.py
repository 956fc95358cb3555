"""The import rules of the architecture, checked on the syntax tree of every module."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("shards", "cluster", "serve_app", "evals", "loadtest", "configs")

ALLOWED = {
    "shards": {"shards"},
    "cluster": {"cluster", "shards", "configs"},
    "serve_app": {"serve_app", "cluster", "shards", "configs"},
    "evals": set(PACKAGES),
    "loadtest": set(PACKAGES),
    "configs": {"configs"},
}
"""Which of our own packages each may import."""

DOORS = {"serve_app/cli/eval.py": {"evals"}}
"""The one way from the service to its own measurement."""


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


RAY_FILES = {
    "shards/actor.py",
    "cluster/placement.py",
    "cluster/ray_client.py",
    "cluster/ray_control.py",
}
"""Inside ``shards`` and ``cluster`` only these touch Ray; the same code runs without it everywhere else."""

PYDANTIC_FILES = {"cluster/config.py", "cluster/policy_file.py", "cluster/yaml_model.py"} | {
    relative(path) for path in (ROOT / "cluster/settings").glob("*.py")
}
"""Outside ``serve_app`` pydantic reads the configuration files and nothing else."""

HNSWLIB_FILES = {"shards/graph.py"}
"""The one place that knows the library of the graphs."""

OPENAI_FILES = {"serve_app/answering/client.py"}
"""The one place that knows the client library of a model's endpoint."""

MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def imports_of(path: Path) -> set[str]:
    """Dotted names of everything a module imports, imports inside functions included."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes(), filename=str(path))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            names.add(str(node.module))
    return names


def roots_of(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imports_of(path)}


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_imports_go_one_way_and_nothing_imports_tests(path: Path) -> None:
    name = relative(path)
    allowed = ALLOWED[name.partition("/")[0]] | DOORS.get(name, set())
    assert roots_of(path) & {*PACKAGES, "tests"} <= allowed


@pytest.mark.parametrize(
    "path", [path for path in MODULES if relative(path).startswith(("shards/", "cluster/"))], ids=relative
)
def test_only_the_placement_side_imports_ray(path: Path) -> None:
    assert "ray" not in roots_of(path) or relative(path) in RAY_FILES


@pytest.mark.parametrize(
    "path", [path for path in MODULES if not relative(path).startswith("serve_app/")], ids=relative
)
def test_pydantic_stays_at_the_edge_and_in_configuration(path: Path) -> None:
    assert "pydantic" not in roots_of(path) or relative(path) in PYDANTIC_FILES


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_only_the_graph_imports_hnswlib(path: Path) -> None:
    assert "hnswlib" not in roots_of(path) or relative(path) in HNSWLIB_FILES


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_only_the_client_of_answers_imports_openai(path: Path) -> None:
    assert "openai" not in roots_of(path) or relative(path) in OPENAI_FILES


def test_the_rules_are_about_files_that_exist() -> None:
    listed = RAY_FILES | PYDANTIC_FILES | HNSWLIB_FILES | OPENAI_FILES | set(DOORS)
    assert {name for name in listed if not (ROOT / name).is_file()} == set()
