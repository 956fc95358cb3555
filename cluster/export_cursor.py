"""Cursors of exports: a place in one export, sealed so that it serves nobody but the caller who opened it.

It knows no table and no clock. A cursor holds neither ids nor positions of the registry that a caller could read.
"""

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass
from typing import Final, Self

from cluster.errors import UnknownExport

ID_BYTES: Final = 16
SECRET_BYTES: Final = 32
_START_BYTES: Final = 8
_SEAL_BYTES: Final = 18
"""With them a cursor is a multiple of three bytes, and its text needs no padding."""

_CURSOR_BYTES: Final = ID_BYTES + _START_BYTES + _SEAL_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """The next page of export ``export_id`` begins at its record number ``start``.

    ``seal`` binds both to what ``sealed`` was given; whoever has not the export's secret cannot make it.
    """

    export_id: str
    start: int
    seal: bytes

    @classmethod
    def sealed(cls, export_id: str, start: int, *, secret: bytes, bound_to: str) -> Self:
        """A cursor that ``holds_for`` the same secret and the same ``bound_to`` only."""
        return cls(export_id=export_id, start=start, seal=_seal(export_id, start, secret, bound_to))

    @classmethod
    def read(cls, text: str) -> Self:
        """The cursor that ``str`` wrote; its seal is not checked yet.

        Raises:
            UnknownExport: if it is none.
        """
        try:
            raw = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
        except (UnicodeEncodeError, binascii.Error) as exc:
            raise UnknownExport("malformed") from exc
        if len(raw) != _CURSOR_BYTES:
            raise UnknownExport("malformed")
        start = int.from_bytes(raw[ID_BYTES : ID_BYTES + _START_BYTES])
        return cls(export_id=raw[:ID_BYTES].hex(), start=start, seal=raw[-_SEAL_BYTES:])

    def holds_for(self, *, secret: bytes, bound_to: str) -> bool:
        """Whether it was sealed with this secret for this."""
        return hmac.compare_digest(self.seal, _seal(self.export_id, self.start, secret, bound_to))

    def __str__(self) -> str:
        raw = bytes.fromhex(self.export_id) + self.start.to_bytes(_START_BYTES) + self.seal
        return base64.urlsafe_b64encode(raw).decode()


def _seal(export_id: str, start: int, secret: bytes, bound_to: str) -> bytes:
    content = f"{export_id}/{start}/{bound_to}".encode()
    return hashlib.blake2b(content, digest_size=_SEAL_BYTES, key=secret).digest()
