"""Pins: the files of a model, where their package put them, and the digests without which they are not used.

Nothing of such a package is imported to find its files.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from cluster.errors import ModelMismatch


class PackageMissing(ImportError):
    """A package that holds a file of a model is not installed; ``name`` is the package."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One file of one package.

    Attributes:
        package: name of the distribution.
        path: from the folder that packages are installed in, with slashes.
        sha256: of the file, in hex.
    """

    package: str
    path: str
    sha256: str

    def file(self) -> Path:
        """Where the file lies, once its digest was compared.

        Raises:
            PackageMissing: if the package is not installed.
            ModelMismatch: if the file is missing or another one.
        """
        file = Path(str(_distribution(self.package).locate_file(self.path)))
        found = _sha256(file) if file.is_file() else "no such file"
        if found != self.sha256:
            raise ModelMismatch(str(file), found, self.sha256)
        return file


def fingerprint_of(recipe: str, pins: Iterable[Pin], packages: Iterable[str]) -> str:
    """A digest of all that decides a model's vectors: how it is used, its files, and the versions of what runs it."""
    digest = hashlib.blake2b(recipe.encode(), digest_size=8)
    for pin in pins:
        digest.update(f"\n{pin.sha256}".encode())
    for package in packages:
        digest.update(f"\n{package} {_distribution(package).version}".encode())
    return digest.hexdigest()


def _distribution(package: str) -> Distribution:
    try:
        return distribution(package)
    except PackageNotFoundError as exc:
        raise PackageMissing(f"{package} is not installed", name=package) from exc


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
