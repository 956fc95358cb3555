"""Random catalogues, callers and questions, made of words on which text analysis is the identity.

A world is a catalogue with grant lists; strategies draw few small values per record, so that thousands of worlds are
cheap and a failing one shrinks to a readable size.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import orjson
from hypothesis import strategies as st

from shards.record import Access, Kind, Record, SideEffect, Status
from shards.scope import Denial, Grant, Narrowing, Scope

WORDS: Final = ("dapo", "veku", "molo", "ruxo", "zibu", "keno", "fado", "wupo", "goli", "hutu", "jomo", "peku")
"""Four letters each, so that joined words part in one way only; no stop words, and stems of themselves."""

UNKNOWN_WORD: Final = "xaxo"
"""A word that no record holds."""

SENTINEL: Final = "SENTINEL"
SENTINEL_WORD: Final = "sentinelo"
"""Stands in hidden records only, in all their fields."""

TENANTS: Final = ("acme", "zeta", "*")
NAMESPACES: Final = ("srv/one", "srv/two", "srv", "lab/one")
PRODUCTS: Final = ("", "dapo", "molo")
DOMAINS: Final = ("", "veku", "keno fado")
CAPABILITIES: Final = ("", "goli", "hutu_jomo")
GRANT_LISTS: Final = ("lists/even", "lists/none")
TEXT_FIELDS: Final = ("name", "description", "parameters", "aliases", "keywords", "examples", "tags", "section")

_words = st.sampled_from(WORDS)
_ids = st.integers(0, 39).map("r{:02d}".format)


DIMS: Final = 5
"""Numbers in a vector: so few that products tie often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A catalogue and the grant lists registered beside it."""

    records: tuple[Record, ...]
    grant_lists: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a caller asks, and the ids it asks to keep."""

    text: str
    pinned: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()


def _record(
    number: int,
    *,
    words: Sequence[tuple[str, str]],
    labels: tuple[str, str, str, str],
    access: Access,
    kind: Kind,
    state: Status,
) -> Record:
    texts: dict[str, list[str]] = {field: [] for field in TEXT_FIELDS}
    for word, field in words:
        texts[field].append(word)
    namespace, product, domain, capability = labels
    return Record(
        id=f"r{number:02d}",
        kind=kind,
        name=" _"[number % 2].join(texts["name"]) or WORDS[number % len(WORDS)],
        namespace=namespace,
        description=" ".join(texts["description"]),
        parameters=parameters_of(texts["parameters"]),
        aliases=tuple(texts["aliases"]),
        keywords=tuple(texts["keywords"]),
        examples=tuple(texts["examples"]),
        tags=tuple(texts["tags"]),
        section=" ".join(texts["section"]),
        product=product,
        domain=domain,
        capability=capability,
        locale=("", "en", "fa")[number % 3],
        release=("", "1", "2")[number % 3],
        status=state,
        access=access,
        version=1 + number % 3,
    )


def parameters_of(words: Sequence[str]) -> str:
    """A JSON schema with one property per word, each described by its follower."""
    properties = {
        word: {"type": "string", "description": words[(place + 1) % len(words)]} for place, word in enumerate(words)
    }
    schema = {"type": "object", "properties": properties} if properties else {}
    return orjson.dumps(schema, option=orjson.OPT_SORT_KEYS).decode()


_accesses = st.builds(
    Access,
    tenant=st.sampled_from(TENANTS),
    permissions=st.sampled_from(((), ("p1",), ("p1", "p2"))),
    modes=st.sampled_from(((), ("analyzer",), ("analyzer", "autonomous"))),
    side_effect=st.sampled_from(SideEffect),
)
_labels = st.tuples(*map(st.sampled_from, (NAMESPACES, PRODUCTS, DOMAINS, CAPABILITIES)))
_bodies = st.fixed_dictionaries(
    {
        "words": st.lists(st.tuples(_words, st.sampled_from(TEXT_FIELDS)), min_size=1, max_size=9),
        "labels": _labels,
        "access": _accesses,
        "kind": st.sampled_from((Kind.TOOL, Kind.TOOL, Kind.TOOL, Kind.PASSAGE)),
        "state": st.sampled_from((Status.ENABLED,) * 6 + (Status.DISABLED, Status.DEPRECATED)),
    }
)


@st.composite
def records(draw: st.DrawFn, max_size: int = 40) -> tuple[Record, ...]:
    """Records with distinct ids ``r00``…; some words are shared by many, so that scores tie."""
    size = max_size - draw(st.integers(0, max_size))  # drawn apart, because lists alone stay short
    numbers = draw(st.lists(st.integers(0, 39), min_size=size, max_size=size, unique=True))
    return tuple(_record(number, **draw(_bodies)) for number in numbers)


any_record = st.builds(lambda number, body: _record(number, **body), st.integers(0, 39), _bodies)
"""One record of any drawn world's ids."""

any_id = _ids

grant_ids = st.sets(_ids, max_size=12).map(lambda ids: tuple(sorted(ids)))


@st.composite
def worlds(draw: st.DrawFn, max_size: int = 40) -> World:
    """A catalogue whose grant lists name known and unknown ids."""
    return World(
        records=draw(records(max_size)),
        grant_lists={GRANT_LISTS[0]: draw(grant_ids)},
    )


_grants = st.builds(
    Grant,
    reason=st.just("drawn"),
    tenants=st.sets(st.sampled_from(TENANTS), min_size=1).map(frozenset),
    permissions=st.sampled_from(
        (frozenset({"p1", "p2"}), frozenset({"p1", "p2", "p3"}), frozenset({"p1"}), frozenset())
    ),
    mode=st.sampled_from(("analyzer", "autonomous")),
    side_effects=st.sampled_from((frozenset(SideEffect), frozenset({SideEffect.READ}))),
    namespaces=st.sampled_from((None, None, frozenset({"srv/*"}), frozenset({"srv", "lab*"}), frozenset({"*"}))),
    ids=st.one_of(st.none(), st.none(), st.sets(_ids, max_size=10).map(frozenset)),
    grant_list=st.sampled_from((None, None, None, *GRANT_LISTS)),
)
_denials = st.builds(
    Denial,
    reason=st.just("drawn"),
    namespaces=st.sampled_from((frozenset(), frozenset({"srv/two"}), frozenset({"lab/*"}))),
    ids=st.sets(_ids, max_size=3).map(frozenset),
)
_narrowings = st.one_of(
    st.just(Narrowing()),
    st.builds(
        Narrowing,
        kinds=st.sampled_from((None, None, frozenset({"tool"}), frozenset({"passage", "tool"}))),
        namespaces=st.sampled_from((None, None, frozenset({"srv*"}))),
        products=st.sampled_from((None, None, frozenset({"dapo", ""}))),
        locales=st.sampled_from((None, None, frozenset({"en", "fa"}))),
        releases=st.sampled_from((None, None, frozenset({"1"}))),
        domains=st.sampled_from((None, None, frozenset({"veku", ""}))),
        capabilities=st.sampled_from((None, None, frozenset({"goli", ""}))),
        ids=st.one_of(st.none(), st.sets(_ids, max_size=15).map(frozenset)),
        grant_list=st.sampled_from((None, None, GRANT_LISTS[0])),
    ),
)

scopes = st.builds(
    Scope,
    grants=st.sampled_from((2, 1, 3, 0)).flatmap(lambda size: st.tuples(*[_grants] * size)),
    denials=st.lists(_denials, max_size=1).map(tuple),
    narrowing=_narrowings,
)

WIDE: Final = Grant(
    reason="wide",
    tenants=frozenset(TENANTS),
    permissions=frozenset({"p1", "p2"}),
    mode="analyzer",
    side_effects=frozenset(SideEffect),
)
"""Admits everything that a drawn world holds and nothing that ``hidden`` adds."""

callers = st.one_of(
    st.just(Scope(grants=(WIDE,))), st.builds(Scope, grants=st.just((WIDE,)), narrowing=_narrowings), scopes
)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Words, among them unknown and hidden ones, in spellings that may name a tool, a capability or a domain."""
    size = draw(st.sampled_from((3, 2, 1, 4, 5, 2, 3, 7, 1, 0)))
    asked = st.sampled_from((*WORDS, *WORDS, UNKNOWN_WORD, SENTINEL_WORD))
    words = draw(st.lists(asked, min_size=size, max_size=size))
    joiner = draw(st.sampled_from((" ", " ", " ", "_", ", ")))
    return Question(
        text=joiner.join(words) or "?",
        pinned=tuple(draw(st.lists(_ids, max_size=3, unique=True))),
        preferred=tuple(draw(st.lists(_ids, max_size=3, unique=True))),
    )


def vector_of(record: Record) -> tuple[int, ...]:
    """What an embedder might make of a record: int8 numbers of its text alone."""
    chance = random.Random(record.search_text_hash)  # noqa: S311 -- the same for the same text, nothing secret
    return tuple(chance.choice((-128, -60, -1, 0, 30, 60, 127)) for _ in range(DIMS))


query_vectors = st.lists(st.sampled_from((-30_000, -900, 0, 7, 900, 5_000)), min_size=DIMS, max_size=DIMS).map(tuple)
"""Questions as vectors: int16 numbers."""

floors = st.sampled_from((0, 50_000, -200_000, 1_000_000))
"""Products that say nothing, some of them more and some less than most."""


def hidden(count: int) -> tuple[Record, ...]:
    """Records of a tenant that no drawn scope names: better matches than any visible one, with ids on both sides."""
    return _HIDDEN[:count]


def _hidden(number: int) -> Record:
    chance = random.Random(number)  # noqa: S311 -- the same catalogue in every run, nothing secret
    words = [*chance.choices(WORDS, k=6), SENTINEL_WORD]
    base = _record(
        number,
        words=[(word, field) for word in words for field in chance.sample(TEXT_FIELDS, k=4)],
        labels=(
            chance.choice(NAMESPACES),
            chance.choice(PRODUCTS),
            chance.choice(DOMAINS),
            chance.choice(CAPABILITIES),
        ),
        access=Access(tenant=f"{SENTINEL}_tenant"),
        kind=Kind.TOOL,
        state=Status.ENABLED,
    )
    return replace(
        base,
        id=f"{chance.choice('amz')}_{SENTINEL}_{number}",
        name=" ".join(chance.choices(WORDS, k=chance.choice((1, 1, 2)))),
        tags=(*base.tags, f"{SENTINEL}_tag"),
        description=f"{base.description} {SENTINEL}_text",
    )


_HIDDEN: Final = tuple(map(_hidden, range(1000)))
