"""The mark that some editors and spreadsheets put before UTF-8, and text that is none. It decodes nothing."""

import codecs
from pathlib import Path
from typing import Final

from cluster.errors import UnreadableSource

_OTHERS: Final = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""The longer marks first: that of UTF-16 is how one of UTF-32 begins."""


def without_mark(raw: bytes, path: Path) -> bytes:
    """The beginning of a file, or all of it, without the mark of UTF-8.

    Raises:
        UnreadableSource: if it has the mark of another encoding.
    """
    for mark, name in _OTHERS.items():
        if raw.startswith(mark):
            raise UnreadableSource(str(path), f"is {name} text; expected UTF-8")
    return raw.removeprefix(codecs.BOM_UTF8)
