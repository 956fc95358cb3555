"""Writes ``configs/shortlist.yaml`` from the settings' own descriptions: ``python -m cluster.settings_document``.

It decides nothing; a test fails while the file and ``cluster.settings`` differ.
"""

import json
import sys
import textwrap
from collections.abc import Iterator
from typing import Final

from cluster.config import Settings
from cluster.yaml_model import StrictModel

_HEAD: Final = """\
# Every setting of Shortlist with its default. Copy this file, keep what you change, and name it with --config FILE.
# Unknown keys are errors. Relative paths count from the folder of your file.
# Written from cluster/config.py and cluster/settings/ by: python -m cluster.settings_document > configs/shortlist.yaml
"""


def settings_document() -> str:
    """The documented YAML file of every setting with its default."""
    return _HEAD + "\n" + "\n".join(_lines(Settings(), "")) + "\n"


def _lines(section: StrictModel, indent: str) -> Iterator[str]:
    for name, spec in type(section).model_fields.items():
        value = getattr(section, name)
        if isinstance(value, StrictModel):
            if not indent:
                yield ""
            yield f"{indent}{name}:"
            yield from _lines(value, indent + "  ")
        else:
            yield from textwrap.wrap(
                spec.description or "", 100, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# "
            )
            yield f"{indent}{name}: {_flow(section, name)}"


def _flow(section: StrictModel, name: str) -> str:
    """One value as YAML on one line; strings without quotes, which the test that reads the file back allows."""
    value = section.model_dump(mode="json")[name]
    if isinstance(value, list):
        return "[" + ", ".join(value) + "]"
    return value if isinstance(value, str) else json.dumps(value)


if __name__ == "__main__":
    sys.stdout.write(settings_document())
