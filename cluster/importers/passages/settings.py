"""What is true of a folder's files beside what they say themselves: ``shortlist.yaml`` files, and options.

``shortlist.yaml`` at the top names the namespace and may name the source. One in any folder below says facts of the
files under it, and the nearest one wins. An option is the weakest word: a file that keeps its tenant keeps it whatever
the command says.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from cluster.errors import UnreadableSource
from cluster.importers.passages.facts import FOLDER_FACTS, Fact, check_facts
from cluster.importers.passages.folder import DEFAULTS_FILE, Folder
from cluster.importers.yaml_document import parse_yaml

_TOP_ONLY: Final = ("namespace", "source")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the operator says; None is not said.

    Attributes:
        source: name under which the folder's records are remembered; the namespace where nobody says it.
        facts: of files that nobody else says it of, checked.
    """

    namespace: str | None = None
    source: str | None = None
    facts: Mapping[str, Fact] = field(default_factory=dict)


class FolderSettings:
    """The settings of one folder, each file of them read once.

    Attributes:
        namespace: of every record.
        source: name of the folder's records.
    """

    def __init__(self, folder: Folder, options: Options) -> None:
        """Read the top file.

        Raises:
            UnreadableSource: if it cannot be used, or nobody says the namespace: policies grant by it.
        """
        self._folder = folder
        top = self._read("")
        named = {name: top.pop(name, None) for name in _TOP_ONLY}
        for name, value in named.items():
            if not (value is None or (isinstance(value, str) and value.strip())):
                raise UnreadableSource(DEFAULTS_FILE, f"{name}: must be text")
        namespace = options.namespace or named["namespace"]
        if namespace is None:
            raise UnreadableSource(str(folder.root), f"namespace: required; say it in {DEFAULTS_FILE} or as an option")
        self.namespace = str(namespace).strip()
        self.source = (options.source or str(named["source"] or "") or self.namespace).strip()
        self._said: dict[str, Mapping[str, Fact]] = {"": {**options.facts, **self._checked("", top)}}

    def of(self, path: str) -> Mapping[str, Fact]:
        """What is said of a file by the folders that it is in.

        Raises:
            UnreadableSource: if a ``shortlist.yaml`` on the way cannot be used. It may be the one that keeps files
                from strangers, so it is not a fault of one file.
        """
        folder = path.rpartition("/")[0]
        if folder not in self._said:
            self._said[folder] = {**self.of(folder), **self._checked(folder, self._read(folder))}
        return self._said[folder]

    def _read(self, folder: str) -> dict[str, object]:
        path = _file_in(folder)
        if not self._folder.has(path):
            return {}
        value = parse_yaml(self._folder.read(path), path)
        if not (value is None or isinstance(value, dict)):
            raise UnreadableSource(path, "must be a YAML object")
        return value or {}

    @staticmethod
    def _checked(folder: str, values: Mapping[str, object]) -> Mapping[str, Fact]:
        path = _file_in(folder)
        try:
            facts = check_facts(values, FOLDER_FACTS)
        except ValueError as exc:
            raise UnreadableSource(path, str(exc)) from exc
        if facts.ignored:
            # Nobody else reads this file, so a word that is not known here is a mistake.
            known = sorted(FOLDER_FACTS if folder else {*FOLDER_FACTS, *_TOP_ONLY})
            raise UnreadableSource(path, f"{facts.ignored[0]}: not known here; expected one of {', '.join(known)}")
        return facts.said


def _file_in(folder: str) -> str:
    return f"{folder}/{DEFAULTS_FILE}" if folder else DEFAULTS_FILE
