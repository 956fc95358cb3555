"""The registry against a sequential model written in plain dictionaries: random histories, the same answers."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from cluster.errors import StaleVersion
from cluster.registry import Registry
from shards.record import Access, Kind, Record

_IDS = st.sampled_from(["a", "b", "c"])
_VERSIONS = st.integers(0, 6)
_UPSERT = st.tuples(st.just("upsert"), _IDS, st.sampled_from(["x", "y"]), _VERSIONS)
_REMOVE = st.tuples(st.just("remove"), _IDS, st.just(""), _VERSIONS)
_RESTART = st.just(("restart", "", "", 0))

Step = tuple[str, str, str, int]


class Model:
    """What the registry must do: id → (version, text or None), and the log of accepted writes."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[int, str | None]] = {}
        self.log: list[tuple[str, int, str | None]] = []

    def upsert(self, record_id: str, text: str, version: int) -> str:
        stored, kept = self.rows.get(record_id, (0, None))
        if kept == text and version in (0, stored):
            return "unchanged"
        if version and version <= stored:
            return "stale"
        self._write(record_id, version or stored + 1, text)
        return "imported"

    def remove(self, record_id: str, version: int) -> str:
        if record_id not in self.rows:
            return "unknown"
        stored, kept = self.rows[record_id]
        if version == 0 and kept is None:
            return "unchanged"
        if version and version <= stored:
            return "stale"
        self._write(record_id, version or stored + 1, None)
        return "removed"

    def _write(self, record_id: str, version: int, text: str | None) -> None:
        self.rows[record_id] = (version, text)
        self.log.append((record_id, version, text))


def _apply(registry: Registry, step: Step) -> str:
    what, record_id, text, version = step
    if what == "remove":
        try:
            receipt = registry.remove(record_id, version or None)
        except StaleVersion:
            return "stale"
        return "unknown" if receipt is None else receipt.outcome
    access = Access(tenant="*")
    record = Record(id=record_id, kind=Kind.TOOL, name="n", namespace="ns", description=text, access=access)
    return registry.upsert_many([replace(record, version=version)])[0].outcome


@settings(max_examples=40)
@given(st.lists(st.one_of(_UPSERT, _UPSERT, _REMOVE, _RESTART), max_size=25))
def test_any_history_gives_what_the_sequential_model_gives(steps: list[Step]) -> None:
    model = Model()
    with TemporaryDirectory() as folder:
        registry = Registry.in_home(Path(folder))
        for step in steps:
            what, record_id, text, version = step
            if what == "restart":
                registry.close()
                registry = Registry.in_home(Path(folder))
                continue
            expected = model.upsert(record_id, text, version) if what == "upsert" else model.remove(record_id, version)
            assert _apply(registry, step) == expected
        feed = [(c.record_id, c.body and Record.from_json(c.body)) for c in registry.changes(0, 1_000)]
        assert [(name, body.version, body.description) if body else (name, None, None) for name, body in feed] == [
            (name, version, text) if text is not None else (name, None, None) for name, version, text in model.log
        ]
        for record_id, (version, text) in model.rows.items():
            found = registry.get(record_id)
            assert (found and (found.version, found.description)) == (None if text is None else (version, text))
        registry.close()
