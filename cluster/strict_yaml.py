"""Reads a small YAML file that an operator wrote into plain JSON values. It knows no settings and no policy.

Stricter than YAML: duplicate keys, anchors, aliases, tags, dates and non-finite numbers are errors, because in a
security file each of them is a line that says something else than it seems to.
"""

import json
from pathlib import Path
from typing import Final

import yaml

from cluster.errors import InvalidConfiguration

MAX_BYTES: Final = 1 << 20
"""Size limit of a configuration file."""

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class _StrictLoader(yaml.SafeLoader):
    """SafeLoader without its ways to say one thing twice."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave it out
        if getattr(event, "anchor", None) is not None:
            raise yaml.MarkedYAMLError(problem="anchors and aliases are not allowed", problem_mark=event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:  # noqa: FBT001, FBT002 -- PyYAML's signature
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                raise yaml.MarkedYAMLError(problem="a key must be a string", problem_mark=key.start_mark)
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"key {key.value!r} is given twice", problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> Json:
    """The value in the YAML file at ``path``; an empty file is None.

    Raises:
        InvalidConfiguration: if the file cannot be read, is larger than ``MAX_BYTES``, or is not strict YAML.
    """
    return parse_yaml(read_bytes(path), str(path))


def read_bytes(path: Path) -> bytes:
    """What stands in the configuration file at ``path``.

    Raises:
        InvalidConfiguration: if the file cannot be read or is larger than ``MAX_BYTES``.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as exc:
        raise InvalidConfiguration(str(path), exc.strerror or type(exc).__name__, "a readable file") from exc
    if len(raw) > MAX_BYTES:
        raise InvalidConfiguration(str(path), "a larger file", f"a file of at most {MAX_BYTES} bytes")
    return raw


def parse_yaml(raw: bytes, source: str) -> Json:
    """As ``read_yaml``, for bytes that came from ``source``."""
    try:
        value = _StrictLoader(raw.decode()).get_single_data()
        # One pass through JSON: whatever YAML made that JSON has no word for (dates, sets, NaN) is refused here.
        parsed: Json = json.loads(json.dumps(value, allow_nan=False))
    except yaml.MarkedYAMLError as exc:
        line = exc.problem_mark.line + 1 if exc.problem_mark else 0
        raise InvalidConfiguration(f"{source}: line {line}", exc.problem or "no YAML", "plain YAML") from exc
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as exc:
        raise InvalidConfiguration(source, type(exc).__name__, "UTF-8 YAML of plain JSON values") from exc
    return parsed


def integer_in(field: str, value: object, least: int, most: int) -> int:
    """A value that has to be an integer from ``least`` to ``most``; True and 1.0 are none.

    Raises:
        InvalidConfiguration: naming ``field``, for any other value.
    """
    if type(value) is not int or not least <= value <= most:
        raise InvalidConfiguration(field, str(value)[:80], f"an integer from {least} to {most}")
    return value
