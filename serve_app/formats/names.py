"""Names that a provider takes, made of the names that records have: legal, unique in one answer, and always the same.

It knows neither schemas nor providers. A name depends on its record alone, and on the ids beside it only where two
records would share one.
"""

import base64
import hashlib
import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

_SUFFIX_CHARS: Final = (0, 8, 16, 26)
"""Characters of the hash behind a name, by level; 26 are all 128 bits, so that two ids never share the last level."""

_NAMELESS: Final = "tool"


class Named(Protocol):
    """What has an id, and a name that need not be legal or unique."""

    @property
    def id(self) -> str:
        """Unique among those it is named with."""

    @property
    def name(self) -> str:
        """Any text."""

    @property
    def namespace(self) -> str:
        """Tells twins apart; may be empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRule:
    """What a provider takes for a name.

    Attributes:
        allowed: the inside of a character class.
        most_chars: at least 28, so that a hash of 128 bits fits behind a letter.
    """

    allowed: str
    most_chars: int

    def admits(self, name: str) -> bool:
        """Whether the name can stay as it is."""
        return re.fullmatch(f"[{self.allowed}]{{1,{self.most_chars}}}", name) is not None


FUNCTION_NAMES: Final = NameRule(allowed="a-zA-Z0-9_-", most_chars=64)
"""OpenAI: as the reference of ``FunctionDefinition`` says. Anthropic: 128 in ``tools``, 64 in ``tool_reference``."""

MCP_NAMES: Final = NameRule(allowed="a-zA-Z0-9_.-", most_chars=64)
"""Characters of specification 2025-11-25 (tools, tool names), length of SEP-986: legal by both, and hosts that hand
names on to a model as they are do not break on them."""


def tool_names(tools: Collection[Named], rule: NameRule) -> dict[str, str]:
    """A legal name by id, in the order given; all of them distinct.

    A legal name stays if no other record here has it. One that had to be changed always ends in a hash of its id, so
    that it is the same in every answer; twins end in one too, behind their namespace.

    Raises:
        ValueError: if two of them have one id.
    """
    by_id = {tool.id: tool for tool in tools}
    if len(by_id) != len(tools):
        raise ValueError("ids must be unique in one answer")
    levels = {tool.id: 0 if rule.admits(tool.name) else 1 for tool in tools}
    # It ends: names of the last level hold their whole hash, so of those that share a name one is below it and rises.
    while crowded := _crowded(names := {key: _name(by_id[key], levels[key], rule) for key in by_id}):
        for key in crowded:
            levels[key] = min(levels[key] + 1, len(_SUFFIX_CHARS) - 1)
    return names


def _crowded(names: Mapping[str, str]) -> list[str]:
    """Ids whose name is not theirs alone; all of them, so that no order decides who keeps it."""
    holders: dict[str, list[str]] = {}
    for key, name in names.items():
        holders.setdefault(name, []).append(key)
    return [key for sharing in holders.values() if len(sharing) > 1 for key in sharing]


def _name(tool: Named, level: int, rule: NameRule) -> str:
    if level == 0:
        return tool.name
    suffix = _hash(tool.id)[: _SUFFIX_CHARS[level]]
    return f"{_shortened(_base(tool, rule), rule.most_chars - 1 - len(suffix))}_{suffix}"


def _shortened(text: str, most_chars: int) -> str:
    """The start and the end: some names begin with what they do (``list_…``), others end in it (``….GetRoles``)."""
    if len(text) <= most_chars:
        return text
    head = (most_chars - 1) // 2
    return f"{text[:head]}_{text[head + 1 - most_chars :]}"


def _base(tool: Named, rule: NameRule) -> str:
    """The readable part: of the id where letters of the name are in no Latin script, for ids mostly are."""
    name, is_whole = _latin(tool.name, rule)
    if not is_whole:
        name = _latin(tool.id, rule)[0] or name
    elif rule.admits(tool.name) and not name.startswith(namespace := _latin(tool.namespace, rule)[0]):
        name = f"{namespace}_{name}"
    return name or _NAMELESS


def _latin(text: str, rule: NameRule) -> tuple[str, bool]:
    """The text in legal characters, and whether no letter was lost."""
    plain = unicodedata.normalize("NFKD", text)
    is_whole = not any(char.isalnum() for char in plain if not char.isascii())
    bare = "".join(char for char in plain if not unicodedata.combining(char))
    return re.sub(f"[^{rule.allowed}]+", "_", bare).strip("_.-"), is_whole


def _hash(record_id: str) -> str:
    digest = hashlib.blake2b(record_id.encode(errors="surrogatepass"), digest_size=16).digest()
    return base64.b32encode(digest).decode().rstrip("=").lower()
