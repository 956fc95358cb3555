"""Tokens as a model counts them: a ``tokenizer.json`` of the operator's, read by the package ``tokenizers``.

It downloads nothing and knows no model; without a file the estimate of ``cluster.tokens`` counts.
"""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from cluster.errors import InvalidConfiguration
from cluster.settings.search import TokenSettings
from cluster.tokens import ESTIMATE, TokenCounter

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_FIELD: Final = "tokens.tokenizer_file"

_PROBE: Final = 'Send {"an": "e-mail"}, فاکتور را بفرست، 查询余额, отправить, 🙂\n\x00'
"""A tokenizer that cannot read this cannot count records."""


class FileTokenizer:
    """Counts by one tokenizer, without the marks that a model puts around a whole text.

    ``name`` is the file's folder or own name and a digest of it: equal counts have equal names.
    """

    def __init__(self, tokenizer: "Tokenizer", name: str) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self.name = name

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """Read a ``tokenizer.json``.

        Raises:
            InvalidConfiguration: if the package is not installed, or the file cannot be read or used.
        """
        try:
            from tokenizers import Tokenizer  # noqa: PLC0415 -- an extra
        except ImportError as exc:
            raise InvalidConfiguration(_FIELD, str(path), "null without the extra shortlist[tokens]") from exc
        try:
            raw = path.read_bytes()
        except OSError as exc:
            raise InvalidConfiguration(_FIELD, str(path), f"a file that can be read ({exc.strerror})") from exc
        try:
            counter = cls(
                Tokenizer.from_buffer(raw), f"{_stem(path)}-{hashlib.blake2b(raw, digest_size=4).hexdigest()}"
            )
            counter.count(_PROBE)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as exc:
            # Foreign code, and a panic of its Rust is no Exception. It was given no text, so its words can be repeated.
            raise InvalidConfiguration(_FIELD, str(path), f"a tokenizer.json of Hugging Face ({exc})") from exc
        return counter

    def count(self, text: str) -> int:
        """Tokens of ``text``; a lone surrogate counts as a question mark."""
        readable = text if text.isascii() else text.encode("utf-8", "replace").decode()
        return len(self._tokenizer.encode(readable, add_special_tokens=False))


def counter_of(settings: TokenSettings) -> TokenCounter:
    """The counter that the settings name.

    Raises:
        InvalidConfiguration: as ``FileTokenizer.from_file``.
    """
    return ESTIMATE if settings.tokenizer_file is None else FileTokenizer.from_file(settings.tokenizer_file)


def _stem(path: Path) -> str:
    """``gpt2`` for ``gpt2/tokenizer.json`` as for ``gpt2.json``."""
    return path.parent.name if path.stem == "tokenizer" and path.parent.name else path.stem
