"""The protocol between a router and a shard's door: the address, the two keys, and the header of every frame.

It opens no socket: ``shards.door`` answers, ``cluster.shard_socket`` asks, and ``shards.packing`` knows what is asked.

A router that connects shows ``key`` and nothing else. The door then shows ``proof``, so that a router never talks to a
stranger who took the port of a dead shard. From then on each side sends frames: a header, then as many bytes as it
says. Replies come in the order of the questions, one each. Nothing is encrypted: as for Ray's own traffic, the network
between the nodes has to be a private one.
"""

import struct
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

KEY_BYTES: Final = 32
"""Of ``key`` and of ``proof``."""

HEADER: Final = struct.Struct("<IB")
"""Bytes that follow, then a ``Kind`` in a question and a ``Status`` in a reply."""

MOST_REQUEST_BYTES: Final = 64 * 2**20
"""Of one question: a batch of 64 queries has some hundred kilobytes."""

MOST_REPLY_BYTES: Final = 2**30
"""Of one reply: documents of a whole batch may be large."""


class Kind(IntEnum):
    """What a question asks for."""

    SEARCH = 1
    DOCUMENTS = 2


class Status(IntEnum):
    """What a reply is.

    ``DONE`` carries the packed reply, ``MALFORMED`` the message and the reason of a ``MalformedMessage`` on a line
    each, ``FAILED`` the name of an error that is no part of the contract; ``NOT_READY`` carries nothing.
    """

    DONE = 0
    NOT_READY = 1
    MALFORMED = 2
    FAILED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorAddress:
    """Where a shard's door is, and what the two sides show each other. It must reach routers through Ray alone.

    Attributes:
        host: an address of the shard's node.
        key: ``KEY_BYTES`` random bytes that a router shows.
        proof: as many others, which the door shows in return.
    """

    host: str
    port: int
    key: bytes = field(repr=False)
    proof: bytes = field(repr=False)
