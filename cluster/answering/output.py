"""A model's output, held to the contract: an ``AnswerWithEvidence``, or what is wrong with it in our own words.

Errors never repeat the output. Ids that the model was not given are dropped and counted, never passed on.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from cluster.answering.cleaning import clean
from cluster.answering.contract import NOTHING_FOUND, AnswerWithEvidence, Source

LONGEST_ANSWER: Final = 8000
"""Characters; what is beyond is no answer any more."""

MOST_OUTPUT: Final = 65_536
"""Characters of an output that are parsed at all."""

_FIELDS: Final = ("answer", "answer_found", "complete_answer_found", "evidence_ids")
_FENCE: Final = re.compile(r"\A\s*```(?:json)?[ \t]*\n(.*)\n[ \t]*```\s*\Z", re.DOTALL)


class BrokenOutput(ValueError):
    """An output that is not what was asked for; ``dropped`` ids of it were not given to the model."""

    def __init__(self, reason: str, dropped: int = 0) -> None:
        super().__init__(reason, dropped)
        self.reason = reason
        self.dropped = dropped


def said_in(output: str, sources: Sequence[Source]) -> tuple[AnswerWithEvidence, int]:
    """What an output says about these sources, and how many cited ids were none of theirs.

    One code fence around the object is let pass, since many models cannot help it.

    Raises:
        BrokenOutput: if it breaks the contract.
    """
    values = _object(output)
    found, complete = values["answer_found"], values["complete_answer_found"]
    answer, cited = values["answer"], values["evidence_ids"]
    if not isinstance(answer, str):
        raise BrokenOutput("answer must be a string")
    if not isinstance(found, bool) or not isinstance(complete, bool):
        raise BrokenOutput("answer_found and complete_answer_found must be booleans")
    if not isinstance(cited, list) or not all(isinstance(one, str) for one in cited):
        raise BrokenOutput("evidence_ids must be a list of strings")
    if complete and not found:
        raise BrokenOutput("complete_answer_found cannot be true where answer_found is false")
    ids = {source.label: source.id for source in sources}
    distinct = dict.fromkeys(cited)
    known = tuple(ids[one] for one in distinct if one in ids)
    dropped = len(distinct) - len(known)
    if not found:
        return NOTHING_FOUND, dropped
    text = clean(answer).strip()
    if not text or len(text) > LONGEST_ANSWER:
        raise BrokenOutput(f"answer must have 1 to {LONGEST_ANSWER} characters where answer_found is true", dropped)
    if not known:
        raise BrokenOutput("evidence_ids must name at least one of the given pieces by its id", dropped)
    said = AnswerWithEvidence(answer=text, answer_found=True, complete_answer_found=complete, evidence_ids=known)
    return said, dropped


def _object(output: str) -> Mapping[str, object]:
    if len(output) > MOST_OUTPUT:
        raise BrokenOutput(f"it is longer than {MOST_OUTPUT} characters")
    fenced = _FENCE.match(output)
    try:
        values = json.loads(fenced[1] if fenced else output)
    except (ValueError, RecursionError) as exc:
        raise BrokenOutput("it is not one JSON object") from exc
    if not isinstance(values, dict):
        raise BrokenOutput("it is not one JSON object")
    if missing := [name for name in _FIELDS if name not in values]:
        raise BrokenOutput(f"it lacks {', '.join(missing)}")
    if len(values) > len(_FIELDS):
        raise BrokenOutput(f"it has other fields than {', '.join(_FIELDS)}")
    return values
