r"""Locust users for any Shortlist deployment: real queries, a mix of principals, every answer checked.

    export SHORTLIST_TOKEN="$(shortlist token --tenant a --role reader) $(shortlist token --tenant b --role writer)"
    locust -f loadtest/locustfile.py --host http://127.0.0.1:8900 --users 100 --spawn-rate 100 --run-time 60s \
        --headless --html report.html --csv report

Without ``--headless`` the same file gives Locust's web page. Latencies are kept to the millisecond. The environment
says the rest:

- ``SHORTLIST_TOKEN``: bearer tokens separated by white space, one per principal; users take them in turn. Required.
- ``SHORTLIST_TOKEN_FILE``: a file of such tokens instead, for more principals than a command line holds.
- ``SHORTLIST_QUERIES``: a ``.jsonl`` or ``.jsonl.gz`` file of ``{"query": …}`` lines; our own small gold set if not
  given. No user asks a query twice.
- ``SHORTLIST_SHAPE=steps``: 1, 10, 50 and 100 users in turn, 30 s each; ``--users`` and ``--run-time`` do nothing then.
- ``SHORTLIST_K``: hits asked for, 10 if not given.
- ``SHORTLIST_PNG``: where to draw the run when it stops (report.png); it needs matplotlib (``pip install
  'shortlist[loadtest]'``).
"""

import itertools
import os
from pathlib import Path
from typing import Any, ClassVar, Final

from locust import FastHttpUser, events, task

from loadtest.latency import keep_whole_milliseconds
from loadtest.picture import write_picture
from loadtest.queries import non_repeating, read_queries

if os.environ.get("SHORTLIST_SHAPE") == "steps":
    from loadtest.shapes import OneToHundred  # noqa: F401 -- Locust uses a shape class that it finds in this module

keep_whole_milliseconds()

_TOKENS: Final = (
    Path(path).read_text()
    if (path := os.environ.get("SHORTLIST_TOKEN_FILE"))
    else os.environ.get("SHORTLIST_TOKEN", "")
).split()
_QUERIES: Final = read_queries(Path(path) if (path := os.environ.get("SHORTLIST_QUERIES")) else None)
_K: Final = int(os.environ.get("SHORTLIST_K", "10"))
_PNG: Final = os.environ.get("SHORTLIST_PNG")
_SEEDS: Final = itertools.count()

_OK, _TOO_MANY = 200, 429

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
        """One search; anything but a typed answer is a failure, and so is one that ran out of time."""
        with self.client.post(
            "/v1/search",
            json={"query": next(self._queries), "k": _K},
            headers=self._headers,
            name="/v1/search",
            catch_response=True,
        ) as response:
            if response.status_code != _OK:
                refused = response.status_code == _TOO_MANY
                response.failure("refused: too many requests" if refused else f"status {response.status_code}")
                return
            answer = response.json()
            if answer.get("kind") not in ("hits", "miss"):
                response.failure("answer is neither hits nor a miss")
            elif answer["kind"] == "miss" and answer["miss"]["reason"] in ("timeout", "unavailable"):
                response.failure(f"miss: {answer['miss']['reason']}")


@events.test_stop.add_listener
def draw(environment: Any, **_: object) -> None:  # noqa: ANN401 -- Locust is untyped
    """Leave a picture of the run; of several processes only the one that collects the figures does."""
    if _PNG and environment.stats.history:
        write_picture(environment.stats, Path(_PNG))
