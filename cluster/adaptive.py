"""AdaptiveK: how many of the ranked records are worth handing over, read from the curve of their scores.

Pure functions in integers. It only shortens: never below ``least``, never beyond what was asked, and what is pinned
stays. For which requests it is used is the flag ADAPTIVE_DISCOVERY_K (``cluster.flags``).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final, Self

import orjson

from cluster.errors import InvalidConfiguration
from cluster.strict_yaml import Json, integer_in, read_yaml

WHOLE: Final = 1024

LEAST_LIMIT: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Records stay while their score is at least ``share``/1024 of the best, and the best ``least`` in any case."""

    share: int
    least: int

    def cut(self, scores: Sequence[int]) -> int:
        """How many of these scores, best first, stay; all of at most ``least``."""
        if not scores:
            return 0
        floor = self.share * scores[0]
        near = next((place for place, score in enumerate(scores) if score * WHOLE < floor), len(scores))
        return min(len(scores), max(self.least, near))


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveK:
    """The fitted curves: ``words`` for searches by words alone, ``hybrid`` where vectors were used."""

    version: str
    words: Curve
    hybrid: Curve

    @classmethod
    def from_config(cls, path: Path | None = None) -> Self:
        """The curves of the file at ``path``, or of the shipped ``configs/adaptive.yaml``.

        Raises:
            InvalidConfiguration: if it cannot be read, a key is missing or unknown, or a value is outside its range.
        """
        if path is not None:
            return cls._read(path)
        with as_file(files("configs") / "adaptive.yaml") as shipped:
            return cls._read(shipped)

    def cut(self, scores: Sequence[int], *, vectors: bool) -> int:
        """See ``Curve.cut``."""
        return (self.hybrid if vectors else self.words).cut(scores)

    @classmethod
    def _read(cls, path: Path) -> Self:
        config = read_yaml(path)
        if not isinstance(config, dict) or set(config) != {"name", "words", "hybrid"}:
            raise InvalidConfiguration(str(path), str(config)[:80], "the keys name, words and hybrid")
        digest = hashlib.blake2b(orjson.dumps([config["words"], config["hybrid"]]), digest_size=4).hexdigest()
        return cls(
            version=f"{config['name']}-{digest}",
            words=_curve(f"{path}: words", config["words"]),
            hybrid=_curve(f"{path}: hybrid", config["hybrid"]),
        )


def _curve(place: str, raw: Json) -> Curve:
    if not isinstance(raw, dict) or set(raw) != {"share", "least"}:
        raise InvalidConfiguration(place, str(raw)[:80], "the keys share and least")
    return Curve(
        share=integer_in(f"{place}: share", raw["share"], 0, WHOLE),
        least=integer_in(f"{place}: least", raw["least"], 1, LEAST_LIMIT),
    )
