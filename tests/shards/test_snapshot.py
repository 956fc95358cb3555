"""Snapshots: the same shard comes back, and no damage is overlooked."""

import pickle
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards import snapshot, snapshot_files
from shards.errors import CorruptSnapshot
from shards.messages import Change, DocumentRequest
from shards.scope import Scope
from shards.shard import Shard
from shards.snapshot_files import Buffer, digest_of, write_durably
from tests.depth import examples
from tests.shards.makers import (
    EMBEDDER,
    EVERYTHING,
    MIX_OF_BOTH,
    loaded,
    new_vector,
    plain,
    query,
    record,
    upsert,
    vector_query,
)
from tests.worlds import WORDS, World, callers, worlds

CATALOGUE = tuple(record(f"r{number:02}", "dapo veku " * (number % 3), name=f"tool_{number}") for number in range(30))


def changed_shard() -> Shard:
    """A shard of two segments with dead rows, a grant list, and vectors of most records."""
    shard = loaded(CATALOGUE, seq=3, lists={"mine": ("r01",)}, number=1)
    shard.take_vectors(EMBEDDER, [new_vector(one) for one in CATALOGUE[:20]])
    shard.apply(3, 4, [Change(seq=4, record_id="r05"), upsert(4, record("r06", "molo", version=2))])
    return shard


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("saved")
    changed_shard().save(directory)
    return directory


@examples(25)
@given(world=worlds(), scope=callers, words=st.lists(st.sampled_from(WORDS), max_size=4, unique=True))
def test_an_opened_shard_answers_as_the_saved_one(
    world: World, scope: Scope, words: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory = tmp_path_factory.mktemp("round")
    shard = loaded(world.records, seq=3, lists=world.grant_lists)
    shard.take_vectors(EMBEDDER, [new_vector(one) for one in world.records[::2]])
    shard.apply(3, 4, [Change(seq=4, record_id=one.id) for one in world.records[::3]])
    shard.save(directory)
    opened = Shard.open(0, directory)
    asked = query(*words, scope=scope, pinned=("r01", "r20"), n=5, mix=MIX_OF_BOTH, vector=vector_query(len(words)))
    assert plain(opened.search((asked,))[0]) == plain(shard.search((asked,))[0])
    request = DocumentRequest(scope=scope, ids=tuple(one.id for one in world.records))
    assert opened.documents((request,)) == shard.documents((request,))
    assert opened.status() == shard.status()
    assert opened.missing_vectors(EMBEDDER, 100) == shard.missing_vectors(EMBEDDER, 100)


def test_an_opened_shard_goes_on_where_the_saved_one_stood(saved: Path) -> None:
    shard = Shard.open(1, saved)
    assert (shard.status().seq, shard.status().records, shard.status().segments) == (4, 29, 2)
    shard.apply(4, 5, [Change(seq=5, record_id="r07"), upsert(5, record("r05", "molo"))])
    assert shard.search((query("molo"),))[0].ids == ("r05", "r06")


@examples(100)
@given(data=st.data())
def test_any_flipped_bit_is_detected(saved: Path, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(saved.iterdir())))
    content = path.read_bytes()
    place = data.draw(st.integers(0, 8 * len(content) - 1))
    damaged = bytearray(content)
    damaged[place // 8] ^= 1 << place % 8
    path.write_bytes(damaged)
    try:
        with pytest.raises(CorruptSnapshot):
            Shard.open(1, saved)
    finally:
        path.write_bytes(content)


@examples(100)
@given(data=st.data())
def test_any_truncation_and_any_appended_byte_is_detected(saved: Path, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(saved.iterdir())))
    content = path.read_bytes()
    length = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:length] if length < len(content) else content + b"\n")
    try:
        with pytest.raises(CorruptSnapshot):
            Shard.open(1, saved)
    finally:
        path.write_bytes(content)


def test_a_missing_file_or_directory_is_detected(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(CorruptSnapshot, match="cannot be read"):
        Shard.open(1, tmp_path / "nowhere")
    for name in [path.name for path in saved.iterdir()]:
        copy = tmp_path / name
        shutil.copytree(saved, copy)
        (copy / name).unlink()
        with pytest.raises(CorruptSnapshot, match="cannot be read"):
            Shard.open(1, copy)


def rewritten(saved: Path, directory: Path, **values: object) -> Path:
    """A copy whose manifest says something else under a right checksum."""
    shutil.copytree(saved, directory)
    manifest = orjson.loads((directory / snapshot.MANIFEST).read_bytes().partition(b"\n")[2]) | values
    content = orjson.dumps(manifest)
    write_durably(directory / snapshot.MANIFEST, [digest_of([content]).encode(), b"\n", content])
    return directory


@pytest.mark.parametrize(
    ("field", "value"), [("analyzer", "another"), ("format", 2), ("shard", 0), ("parts", None), ("parts", [{}])]
)
def test_a_snapshot_of_another_kind_is_refused(saved: Path, tmp_path: Path, field: str, value: object) -> None:
    with pytest.raises(CorruptSnapshot, match=r"manifest\.json"):
        Shard.open(1, rewritten(saved, tmp_path / "copy", **{field: value}))


@pytest.mark.parametrize(
    ("field", "value"), [("embedder", ""), ("embedder", None), ("dims", 0), ("dims", 11), ("dims", "12"), ("dims", -1)]
)
def test_vectors_of_no_embedder_or_of_another_length_are_refused(
    saved: Path, tmp_path: Path, field: str, value: object
) -> None:
    with pytest.raises(CorruptSnapshot, match="not a manifest of format 4"):
        Shard.open(1, rewritten(saved, tmp_path / "copy", **{field: value}))


def test_vectors_that_come_after_a_start_stay_out_of_the_file_until_the_next_save(tmp_path: Path) -> None:
    changed_shard().save(tmp_path)
    (path,) = tmp_path.glob("*.vectors")
    content = path.read_bytes()
    shard = Shard.open(1, tmp_path)
    assert shard.take_vectors(EMBEDDER, [new_vector(one) for one in CATALOGUE[20:]]) == 10
    assert path.read_bytes() == content
    shard.save(tmp_path)
    # Record r06 has another text than the one that was sent.
    assert [one.record_id for one in Shard.open(1, tmp_path).missing_vectors(EMBEDDER, 9)] == ["r06"]


def test_vectors_that_come_while_a_save_is_writing_do_not_spoil_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard, late = changed_shard(), [new_vector(one) for one in CATALOGUE[20:]]

    def digest_and_take(chunks: Sequence[Buffer]) -> str:
        digest = digest_of(chunks)
        shard.take_vectors(EMBEDDER, late)
        return digest

    with monkeypatch.context() as patch:
        patch.setattr(snapshot_files, "digest_of", digest_and_take)
        shard.save(tmp_path)
    assert len(Shard.open(1, tmp_path).missing_vectors(EMBEDDER, 99)) == 11
    assert len(shard.missing_vectors(EMBEDDER, 99)) == 1


@pytest.mark.parametrize(
    "place", [["|O", 0, 1], ["<f8", 0, 1], ["<u4", 0, 10**9], ["<u4", 10**9, 1], ["<u4", "0"], None]
)
def test_an_array_of_another_type_or_beyond_its_file_is_refused(saved: Path, tmp_path: Path, place: object) -> None:
    manifest = orjson.loads((saved / snapshot.MANIFEST).read_bytes().partition(b"\n")[2])
    manifest["parts"][0]["arrays"]["versions"] = place
    with pytest.raises(CorruptSnapshot, match="not a manifest of format 4"):
        Shard.open(1, rewritten(saved, tmp_path / "copy", parts=manifest["parts"]))


@pytest.mark.parametrize("name", ["../manifest.json", "/etc/hostname", "a.index"])
def test_a_file_name_that_is_no_digest_is_refused(saved: Path, tmp_path: Path, name: str) -> None:
    manifest = orjson.loads((saved / snapshot.MANIFEST).read_bytes().partition(b"\n")[2])
    manifest["parts"][0]["index"] = name
    with pytest.raises(CorruptSnapshot, match="not a data file"):
        Shard.open(1, rewritten(saved, tmp_path / "copy", parts=manifest["parts"]))


def test_nothing_of_a_snapshot_is_a_pickle(saved: Path) -> None:
    for path in saved.iterdir():
        with pytest.raises((pickle.UnpicklingError, EOFError, ValueError, IndexError, KeyError, AttributeError)):
            pickle.loads(path.read_bytes())  # noqa: S301 -- proves that it is none


def test_saving_again_replaces_the_snapshot_and_leaves_no_other_file(tmp_path: Path) -> None:
    shard = changed_shard()
    shard.save(tmp_path)
    (tmp_path / "notes.txt").write_text("not ours")
    (tmp_path / "manifest.json.tmp").write_text("left by a crash")
    before = {path.name for path in tmp_path.iterdir()}
    shard.apply(4, 5, [Change(seq=5, record_id="r01"), upsert(5, record("r06", "ruxo", version=3))])
    shard.save(tmp_path)
    after = {path.name for path in tmp_path.iterdir()}
    assert "notes.txt" in after
    assert "manifest.json.tmp" not in after
    assert before - after
    named = {
        name for part in manifest_of(tmp_path)["parts"] for kind, name in part.items() if kind != "arrays" and name
    }
    assert after == {"notes.txt", snapshot.MANIFEST, *named}
    assert plain(Shard.open(1, tmp_path).search((query("dapo", "ruxo"),))[0]) == plain(
        shard.search((query("dapo", "ruxo"),))[0]
    )


def manifest_of(directory: Path) -> dict[str, list[dict[str, object]]]:
    manifest: dict[str, list[dict[str, object]]] = orjson.loads(
        (directory / snapshot.MANIFEST).read_bytes().partition(b"\n")[2]
    )
    return manifest


def test_a_save_that_fails_before_its_manifest_leaves_the_earlier_snapshot_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = changed_shard()
    shard.save(tmp_path)
    shard.apply(4, 5, [Change(seq=5, record_id="r01")])

    def no_space(path: Path, chunks: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(snapshot, "write_durably", no_space)
    with pytest.raises(OSError, match="No space"):
        shard.save(tmp_path)
    monkeypatch.undo()
    assert Shard.open(1, tmp_path).status().seq == 4


def test_a_damaged_file_is_written_anew_by_the_next_save(tmp_path: Path) -> None:
    shard = changed_shard()
    shard.save(tmp_path)
    for path in tmp_path.iterdir():
        path.write_bytes(b"\0" * path.stat().st_size)
    shard.save(tmp_path)
    assert Shard.open(1, tmp_path).status() == shard.status()


def test_documents_of_an_opened_shard_are_memory_mapped(saved: Path) -> None:
    shard = Shard.open(1, saved)
    document = shard.documents((DocumentRequest(scope=EVERYTHING, ids=("r02",)),))[0][0]
    assert document.body == CATALOGUE[2].to_json()
    assert not isinstance(shard._index.parts[0].segment.documents.blob, bytes)
    assert shard._index.parts[0].segment.postings.ordinals.dtype == np.uint16
