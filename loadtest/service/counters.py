"""Counters: what a replica says of its own answers, read before and after a sample; asked for nothing else.

wrk sees statuses only; a search that ran out of time is a typed 200.
"""

import re
from dataclasses import dataclass
from typing import Final
from urllib.request import Request, urlopen

from loadtest.service.target import Target

_LINE: Final = re.compile(r'^shortlist_(misses|coverage_gaps)_total\{\w+="(\w+)"\} ([\d.e+]+)$', re.MULTILINE)
_INCOMPLETE: Final = frozenset(
    {("misses", "timeout"), ("misses", "unavailable"), ("coverage_gaps", "timeout"), ("coverage_gaps", "unavailable")}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """Reads the metrics of a searching system; ``token`` is one of a role that may operate."""

    token: str

    def incomplete(self, target: Target) -> int:
        """Answers so far that lack something for want of time or of a shard; gaps and misses may be counted twice."""
        request = Request(  # noqa: S310 -- loopback http
            f"{target.url}{target.system.prefix}/metrics", headers={"Authorization": f"Bearer {self.token}"}
        )
        with urlopen(request, timeout=10) as response:  # noqa: S310 -- as above
            text = response.read().decode()
        return sum(int(float(count)) for kind, label, count in _LINE.findall(text) if (kind, label) in _INCOMPLETE)
