r"""Locust users for any Shortlist deployment: real queries, a mix of principals, every answer checked.

    SHORTLIST_TOKEN=$(shortlist token --tenant acme --role reader) \
        locust -f loadtest/locustfile.py --host http://127.0.0.1:8900 --users 100 --spawn-rate 100 --run-time 60s \
        --headless --html report.html --csv report

``SHORTLIST_TOKEN`` may hold several tokens separated by spaces, one per principal; ``SHORTLIST_QUERIES`` names a
``.jsonl[.gz]`` file of queries; ``SHORTLIST_SHAPE=steps`` runs 1, 10, 50 and 100 clients in turn.
"""

import itertools
import os
from pathlib import Path
from typing import ClassVar

from locust import FastHttpUser, task

from loadtest.latency import keep_whole_milliseconds
from loadtest.queries import non_repeating, read_queries

if os.environ.get("SHORTLIST_SHAPE") == "steps":
    from loadtest.shapes import OneToHundred  # noqa: F401 -- Locust uses a shape class that it finds in this module

keep_whole_milliseconds()

_TOKENS = os.environ.get("SHORTLIST_TOKEN", "").split()
_QUERIES = read_queries(Path(path) if (path := os.environ.get("SHORTLIST_QUERIES")) else None)
_SEEDS = itertools.count()

if not _TOKENS:
    raise SystemExit("SHORTLIST_TOKEN is not set; for a local server: export SHORTLIST_TOKEN=$(shortlist token ...)")


class Searcher(FastHttpUser):
    """A closed-loop caller: one search after the other, no waiting, no query twice."""

    host: ClassVar = "http://127.0.0.1:8900"

    def on_start(self) -> None:
        """Take the next principal in turn and an own order of queries."""
        seed = next(_SEEDS)
        self._headers = {"Authorization": f"Bearer {_TOKENS[seed % len(_TOKENS)]}"}
        self._queries = non_repeating(_QUERIES, seed)

    @task
    def search(self) -> None:
        """One search; anything but a typed answer is a failure."""
        with self.client.post(
            "/v1/search",
            json={"query": next(self._queries), "k": 10},
            headers=self._headers,
            name="/v1/search",
            catch_response=True,
        ) as response:
            if response.status_code != 200:  # noqa: PLR2004 -- the only success
                response.failure(f"status {response.status_code}")
            elif response.json().get("kind") not in ("hits", "miss"):
                response.failure("answer is neither hits nor a miss")
