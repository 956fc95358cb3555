"""A schema without combinations at its root: one object with properties, which is all that OpenAI and Anthropic take.

What alternatives say together goes into the properties, what only they can say into words for the model. Sources:
OpenAI refuses "'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top level", Anthropic "oneOf, allOf, or anyOf".
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from serve_app.formats.changes import ChangeKind, Changes
from serve_app.formats.references import target_of
from serve_app.formats.repair import UnusableSchema, shown
from serve_app.formats.schema import Schema

_MOST_PARTS: Final = 64
"""Parts of combinations that are looked at; more can only be made by parts that refer to parts, over and over."""

_CHOICES: Final = {"anyOf": "At least one", "oneOf": "Exactly one"}
_OWN: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf", "properties", "required", "type"})


@dataclass(slots=True)
class _Plain:
    """A schema taken apart: an object's properties and required names, its other keywords, and words for the rest."""

    properties: dict[str, object] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    others: Schema = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)


def flattened(root: Schema, changes: Changes) -> Schema:
    """The valid schema of an object, as one without ``$ref``, ``allOf``, ``anyOf`` and ``oneOf`` at its root.

    Raises:
        UnusableSchema: if the root refers to what is not there.
    """
    if not {"$ref", "allOf", "anyOf", "oneOf"} & set(root):
        return root
    plain = _Flattening(root, changes).plain(root, "", frozenset())
    flat = {**plain.others, "type": "object", "properties": plain.properties}
    if plain.required:
        flat["required"] = plain.required
    return described(flat, plain.sentences)


def described(schema: Schema, sentences: Sequence[str]) -> Schema:
    """The schema with sentences at the end of its description."""
    if not sentences:
        return schema
    own = schema.get("description")
    text = "\n".join([own, *sentences] if isinstance(own, str) and own else sentences)
    return {**schema, "description": text}


class _Flattening:
    """One root being flattened."""

    def __init__(self, root: Schema, changes: Changes) -> None:
        self._root = root
        self._changes = changes
        self._parts_left = _MOST_PARTS

    def plain(self, schema: Schema, at: str, within: frozenset[str]) -> _Plain:
        """The schema at pointer ``at``; ``within`` holds the references that led here, for none is followed twice."""
        properties, required = schema.get("properties"), schema.get("required")
        plain = _Plain(
            properties=dict(properties) if isinstance(properties, dict) else {},
            required=list(required) if isinstance(required, list) else [],
            others={key: value for key, value in schema.items() if key not in _OWN},
        )
        if "$ref" in schema:
            self._follow(plain, str(schema["$ref"]), f"{at}/$ref", within)
        for number, part in enumerate(_listed(schema, "allOf")):
            self._add_all(plain, part, f"{at}/allOf/{number}", within)
        for keyword in _CHOICES:
            if branches := _listed(schema, keyword):
                self._add_choice(plain, keyword, branches, f"{at}/{keyword}", within)
        return plain

    def _follow(self, plain: _Plain, reference: str, at: str, within: frozenset[str]) -> None:
        if reference in within:
            return
        target = target_of(self._root, reference)
        if isinstance(target, dict):
            self._add_all(plain, target, at, within | {reference})
        elif not isinstance(target, dict | bool):
            raise UnusableSchema

    def _add_all(self, plain: _Plain, part: object, at: str, within: frozenset[str]) -> None:
        """Add what holds beside the rest."""
        if not self._can_merge(part, at):
            return
        assert isinstance(part, dict)  # noqa: S101 -- _can_merge has looked
        other = self.plain(part, at, within)
        self._changes.add(ChangeKind.MERGED, at)
        for name, schema in other.properties.items():
            plain.properties[name] = _both(plain.properties.get(name, schema), schema)
        plain.required = list(dict.fromkeys([*plain.required, *other.required]))
        plain.sentences += other.sentences
        for key, value in other.others.items():
            if plain.others.setdefault(key, value) != value:
                self._changes.add(ChangeKind.DROPPED, f"{at}/{key}", shown(value))

    def _add_choice(
        self, plain: _Plain, keyword: str, branches: Sequence[object], at: str, within: frozenset[str]
    ) -> None:
        """Add what one of several branches holds."""
        open_branches: list[_Plain] = []
        for number, branch in enumerate(branches):
            place = f"{at}/{number}"
            if branch is True:
                open_branches.append(_Plain())
            elif self._can_merge(branch, place):
                assert isinstance(branch, dict)  # noqa: S101 -- _can_merge has looked
                open_branches.append(self.plain(branch, place, within))
                for key, value in open_branches[-1].others.items():
                    self._changes.add(ChangeKind.DROPPED, f"{place}/{key}", shown(value))
        if not open_branches:
            return
        self._changes.add(ChangeKind.MERGED, at)
        self._add_branch_properties(plain, open_branches, at)
        shared = [name for name in open_branches[0].required if all(name in one.required for one in open_branches)]
        plain.required = list(dict.fromkeys([*plain.required, *shared]))
        plain.sentences += [sentence for one in open_branches for sentence in one.sentences]
        sets = list(dict.fromkeys(_set_in_words(one) for one in open_branches))
        if len(sets) > 1:
            plain.sentences.append(f"{_CHOICES[keyword]} of these sets of properties: {' | '.join(sets)}.")
            self._changes.add(ChangeKind.DESCRIBED, at, plain.sentences[-1])

    def _add_branch_properties(self, plain: _Plain, branches: Sequence[_Plain], at: str) -> None:
        for name in dict.fromkeys(name for one in branches for name in one.properties):
            variants: list[object] = []
            for one in branches:
                if name in one.properties and one.properties[name] not in variants:
                    variants.append(one.properties[name])
            either = variants[0] if len(variants) == 1 else {"anyOf": variants}
            if name not in plain.properties:
                plain.properties[name] = either
            elif all(name in one.properties for one in branches):
                plain.properties[name] = _both(plain.properties[name], either)
            elif either != plain.properties[name]:
                self._changes.add(ChangeKind.DROPPED, at, f"{name}: {shown(either)}")

    def _can_merge(self, part: object, at: str) -> bool:
        self._parts_left -= 1
        if self._parts_left >= 0 and can_be_object(part) and isinstance(part, dict):
            return True
        if part is not True:
            self._changes.add(ChangeKind.DROPPED, at, shown(part))
        return False


def can_be_object(schema: object) -> bool:
    """Whether the schema does not say by its type that no object fits it."""
    if not isinstance(schema, dict):
        return schema is True
    kind = schema.get("type", "object")
    return "object" in kind if isinstance(kind, list) else kind == "object"


def _listed(schema: Schema, keyword: str) -> list[object]:
    parts = schema.get(keyword)
    return parts if isinstance(parts, list) else []


def _both(one: object, other: object) -> object:
    return one if one == other else {"allOf": [one, other]}


def _set_in_words(branch: _Plain) -> str:
    """``(action="create", title; optional note)``: the fixed value of a property tells branches apart."""
    needed = [_fixed(name, branch.properties.get(name)) for name in branch.required]
    optional = [name for name in branch.properties if name not in branch.required]
    if not needed and not optional:
        return "(none)"
    words = ", ".join(needed)
    return f"({words}{'; ' if words and optional else ''}{'optional ' if optional else ''}{', '.join(optional)})"


def _fixed(name: str, schema: object) -> str:
    if isinstance(schema, dict):
        if "const" in schema:
            return f"{name}={shown(schema['const'])}"
        values = schema.get("enum")
        if isinstance(values, list) and len(values) == 1:
            return f"{name}={shown(values[0])}"
    return name
