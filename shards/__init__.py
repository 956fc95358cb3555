"""One partition of the index: it knows nothing of HTTP, callers' credentials or other shards."""

import hashlib
import os
from pathlib import Path
from typing import Final

_SOURCES: Final = Path(__file__).parent


def _sources_digest() -> str:
    digest = hashlib.blake2b(digest_size=8)
    for source in sorted(_SOURCES.rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


# Numba keeps a compiled kernel for as long as the kernel's own file stays the same, and never looks at what it calls:
# after an upgrade it would run the old halves of new kernels. So each state of the sources has a folder of its own.
os.environ.setdefault("NUMBA_CACHE_DIR", str(_SOURCES / "__pycache__" / f"numba-{_sources_digest()}"))
