"""Identifiers: where ``camelCase``, ``snake_case``, ``kebab-case`` and ``dotted.names`` part.

It keeps the case of the parts and knows nothing of stems.
"""

import re
from typing import Final

from shards.analysis.scripts import ZWNJ

_CONNECTORS: Final = re.compile(f"[-_.:'{ZWNJ}]+")

_CLITIC: Final = re.compile(r"'(?:s|t|m|d|re|ve|ll)$", re.IGNORECASE)

_CAMEL: Final = re.compile(
    r"IPv[46]"  # a word of its own in most cloud catalogues
    r"|[A-ZА-Я]{2,}s(?![a-zа-я])"  # the plural of an acronym: URLs, VMs
    r"|[A-ZА-Я]+(?=[A-ZА-Я][a-zа-я])"  # an acronym before a word: HTTPServer
    r"|[A-ZА-Я]?[a-zа-я]+[0-9]*(?![a-zа-я])"
    r"|[A-ZА-Я]?[a-zа-я]+"
    r"|[A-ZА-Я]+[0-9]*"
    r"|[0-9]+[a-zа-я]*"
    r"|[^A-Za-zА-Яа-я0-9]+"
)


def without_clitic(run: str) -> str:
    """A run without an English clitic: ``user's`` -> user, ``I'm`` -> I, ``don't`` -> don; other runs unchanged."""
    if "'" not in run:
        return run
    return _CLITIC.sub("", run)


def parts_of(run: str) -> list[str]:
    """The parts of one run in order, case kept; a plain word is its own only part. Never empty parts."""
    if run.isalnum():
        return split_camel(run)
    pieces = [piece for piece in _CONNECTORS.split(run) if piece]
    return [part for piece in pieces for part in split_camel(piece)]


def split_camel(piece: str) -> list[str]:
    """Parts at changes of case: ``S3BucketACLs`` -> S3, Bucket, ACLs. Digits stay with the letters before them."""
    if piece.islower() or piece.isdigit():
        return [piece]
    return _CAMEL.findall(piece)
