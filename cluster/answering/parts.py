"""The parts of a question, each with the shape of its answer. It splits only where the parser counted as many parts."""

import re
from typing import Final

from cluster.answering.contract import Inquiry

_BORDER: Final = re.compile(
    r"[?؟;]\s*(?=\S)"
    r"|,?\s+(?:and|or)\s+(?=(?:what|how|when|who|where|which|why|does|do|is|are|can|in|on|at|until|by)\b)"
    r"|,?\s+(?:и|а)\s+(?=(?:что|как|когда|кто|где|какой|какая|какие|сколько|можно|есть|до|в)\b)"
    r"|،?\s+و\s+(?=(?:چه|چند|چقدر|چطور|چگونه|کی|کجا|کدام|آیا|در)\s)",
    re.IGNORECASE,
)


def parts_of(inquiry: Inquiry) -> list[tuple[str, str]]:
    """Text and shape of every part; the whole text for each of them where it cannot be told apart."""
    if len(inquiry.shapes) == 1:
        return [(inquiry.text, inquiry.shapes[0])]
    texts = [part.strip() for part in _BORDER.split(inquiry.text) if part.strip(" ?؟")]
    if len(texts) != len(inquiry.shapes):
        return [(inquiry.text, shape) for shape in dict.fromkeys(inquiry.shapes)]
    return list(zip(texts, inquiry.shapes, strict=True))
