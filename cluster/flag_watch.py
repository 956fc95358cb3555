"""FlagWatch: the flags of a running replica, which follow the settings file.

It reads the section ``flags`` and nothing else of a changed file. Where the file cannot be used, or is still being
written, everything stays as it was; what is wrong is logged and kept for the status.
"""

import asyncio
import hashlib
import logging
import stat
from pathlib import Path
from typing import Final

from cluster.config import Settings, flags_in
from cluster.errors import InvalidConfiguration
from cluster.flags import FlagPlan
from cluster.strict_yaml import read_bytes

PERIOD_S: Final = 1.0
"""Time between two looks at the file."""

_Signature = tuple[int, int, int]

_log = logging.getLogger(__name__)


class FlagWatch:
    """Holds one ``FlagPlan`` at a time and replaces it whole. Belongs to one event loop.

    A change is taken at the second look that finds the same bytes: a file that is half written may be valid YAML.

    Args:
        settings: as the replica was started with; without a ``source`` nothing is followed.
    """

    def __init__(self, settings: Settings) -> None:
        self._path = settings.source
        self._now = settings.flags.plan()
        self._signature: _Signature | None = None
        self._judged = b""
        self._waiting = b""
        self._fault = ""
        self._taken = 0
        self._refused = 0

    @property
    def now(self) -> FlagPlan:
        """What holds for a request that comes now; the request keeps what it got."""
        return self._now

    @property
    def fault(self) -> str:
        """Why the file as it is cannot be used, empty where it can; the flags are those of before."""
        return self._fault

    @property
    def taken(self) -> int:
        """Changes of the flags that were taken over."""
        return self._taken

    @property
    def refused(self) -> int:
        """Files that could not be used."""
        return self._refused

    async def run(self, period_s: float = PERIOD_S) -> None:
        """Follow the file for ever."""
        while True:
            await asyncio.sleep(period_s)
            await asyncio.to_thread(self.look)

    def look(self) -> None:
        """Look at the file once; it is read only if it was touched since, or if its bytes wait for a second look."""
        if self._path is None:
            return
        try:
            signature = _signature(self._path)
            if signature == self._signature and not self._waiting:
                return
            self._signature = signature
            self._read(self._path)
        except InvalidConfiguration as error:
            self._signature, self._judged, self._waiting = None, b"", b""
            self._refuse(error)

    def _read(self, path: Path) -> None:
        raw = read_bytes(path)
        digest = hashlib.blake2b(raw).digest()
        if digest == self._judged:
            self._waiting = b""
        elif digest != self._waiting:
            self._waiting = digest
        else:
            self._judged, self._waiting = digest, b""
            self._judge(raw, path)

    def _judge(self, raw: bytes, path: Path) -> None:
        try:
            plan = flags_in(raw, path).plan()
        except InvalidConfiguration as error:
            self._refuse(error)
            return
        self._fault = ""
        if plan != self._now:
            self._now = plan
            self._taken += 1
            _log.info("flags_taken", extra={"rollout_percent": {**plan.rollout_percent}})

    def _refuse(self, error: InvalidConfiguration) -> None:
        # Without the value: what stands at a wrong place may be a secret.
        fault = f"{error.field}: expected {error.allowed}"
        if fault != self._fault:
            self._fault = fault
            self._refused += 1
            _log.warning("flags_kept", extra={"fault": fault})


def _signature(path: Path) -> _Signature:
    """What changes with the file: time of change, size, identity.

    Raises:
        InvalidConfiguration: if there is no such file.
    """
    try:
        found = path.stat()
    except OSError as exc:
        raise InvalidConfiguration(str(path), exc.strerror or type(exc).__name__, "a readable file") from exc
    if not stat.S_ISREG(found.st_mode):
        raise InvalidConfiguration(str(path), "something else", "a regular file")
    return found.st_mtime_ns, found.st_size, found.st_ino
