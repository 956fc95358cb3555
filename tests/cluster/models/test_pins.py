"""The files of a model, in packages made for the test."""

import hashlib
from pathlib import Path

import pytest

from cluster.errors import ModelMismatch
from cluster.models.pins import PackageMissing, Pin, fingerprint_of

WEIGHTS = b"0.5 0.25"
DIGEST = hashlib.sha256(WEIGHTS).hexdigest()
PIN = Pin(package="tiny-model", path="tiny_model/weights.bin", sha256=DIGEST)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages that holds one, version 1.0."""
    write_version(tmp_path, "1.0")
    (tmp_path / "tiny_model").mkdir()
    (tmp_path / "tiny_model/__init__.py").write_text("raise RuntimeError('nobody needs to run this')")
    (tmp_path / "tiny_model/weights.bin").write_bytes(WEIGHTS)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def write_version(folder: Path, version: str) -> None:
    info = folder / "tiny_model-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tiny-model\nVersion: {version}\n")


def test_a_pinned_file_is_found_without_importing_its_package(installed: Path) -> None:
    assert PIN.file() == installed / "tiny_model/weights.bin"


def test_a_damaged_file_is_refused_with_both_digests(installed: Path) -> None:
    damaged = b"0.5 0.26"
    (installed / "tiny_model/weights.bin").write_bytes(damaged)
    with pytest.raises(ModelMismatch) as refused:
        PIN.file()
    file = str(installed / "tiny_model/weights.bin")
    assert (refused.value.file, refused.value.expected) == (file, DIGEST)
    assert refused.value.found == hashlib.sha256(damaged).hexdigest()
    assert str(refused.value) == f"{file}: found {refused.value.found}, expected {DIGEST}"


def test_a_file_that_is_not_there_is_refused_too(installed: Path) -> None:
    (installed / "tiny_model/weights.bin").unlink()
    with pytest.raises(ModelMismatch, match="no such file"):
        PIN.file()


def test_a_package_that_is_not_there_is_named() -> None:
    with pytest.raises(PackageMissing) as missing:
        Pin(package="no-such-model-package", path="weights.bin", sha256=DIGEST).file()
    assert missing.value.name == "no-such-model-package"


def test_a_fingerprint_changes_with_recipe_files_and_versions(installed: Path) -> None:
    other = Pin(package=PIN.package, path=PIN.path, sha256="0" * 64)
    before = fingerprint_of("mean", [PIN], ["tiny-model"])
    assert before == fingerprint_of("mean", [PIN], ["tiny-model"])
    found = {before, fingerprint_of("max", [PIN], ["tiny-model"]), fingerprint_of("mean", [other], ["tiny-model"])}
    write_version(installed, "1.1")
    found.add(fingerprint_of("mean", [PIN], ["tiny-model"]))
    assert len(found) == 4
