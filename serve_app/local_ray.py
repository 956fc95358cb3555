"""LocalRay: one instance of Ray and Serve on this machine, from start to a clean end.

Import it only after ``serve_app.launch.apply``: Ray Serve reads its environment while it is imported. It shows
nothing to the user; ``serve_app.cli.serve`` does.
"""

import logging
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import ray
from ray import serve
from ray.exceptions import RayError

from cluster.config import Settings
from cluster.control import ClusterStatus, EmbeddingStatus
from cluster.placement import NAMESPACE, start_supervisor
from serve_app.app import APP, build_app

_STOP_TIMEOUT_S: Final = 30.0
_STATUS_TIMEOUT_S: Final = 60.0
_OBJECT_STORE_BYTES: Final = 256 * 2**20
"""Ray's shared memory: only bulk loads pass through it, in batches of a few megabytes."""


_log = logging.getLogger(__name__)


class StartFailed(Exception):
    """A part of the instance did not start."""

    def __init__(self, part: str, reason: str, logs: str) -> None:
        super().__init__(part, reason, logs)
        self.part = part
        self.reason = reason
        self.logs = logs

    def __str__(self) -> str:
        return f"{self.part} did not start: {self.reason} (logs: {self.logs})"


class LocalRay:
    """A Ray instance that this process started and will end; a context manager.

    Args:
        settings: of the instance.
        shards: number of shards.
        run: private folder of this run, for sockets and logs.
    """

    def __init__(self, settings: Settings, shards: int, run: Path) -> None:
        self._settings = settings
        self._shards = shards
        self._run = run
        self._supervisor: Any = None
        self._serving = False
        self._output = ExitStack()

    @property
    def logs(self) -> Path:
        """Where every process of this instance writes its log."""
        return self._run / "ray" / "session_latest" / "logs"

    def __enter__(self) -> Self:
        return self

    def start(self) -> None:
        """Start Ray itself. From here on whatever its driver prints goes to a log: standard output is ours."""
        http = self._settings.http
        log = self._output.enter_context((self._run / "driver.log").open("w", buffering=1))
        self._output.enter_context(redirect_stdout(log))
        self._output.enter_context(redirect_stderr(log))
        warnings.filterwarnings("ignore", category=FutureWarning, module="ray")
        with self._starting("Ray"):
            ray.init(
                address="local",
                namespace=NAMESPACE,
                num_cpus=0,  # nothing here is scheduled by cores, and Ray would keep an idle worker for each
                object_store_memory=_OBJECT_STORE_BYTES,
                include_dashboard=http.dashboard,
                dashboard_host="127.0.0.1",
                dashboard_port=http.dashboard_port if http.dashboard else None,
                log_to_driver=False,
                logging_level=logging.ERROR,
                _temp_dir=str(self._run / "ray"),
            )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._serving:
                serve.shutdown()
            if self._supervisor is not None:
                ray.get(self._supervisor.stop.remote(), timeout=_STOP_TIMEOUT_S)
        except RayError:
            # Only the last snapshots are missing; the registry has everything.
            _log.warning("not_stopped_in_order", exc_info=True)
        finally:
            ray.shutdown()
            self._output.close()

    def start_proxy(self) -> None:
        """Start Serve's controller and HAProxy, which have nothing to serve yet."""
        logging.getLogger("ray.serve").setLevel(logging.ERROR)
        self._serving = True
        http = self._settings.http
        with self._starting("The proxy"):
            serve.start(
                proxy_location="HeadOnly",
                # HAProxy alone listens where the settings say (``serve_app.haproxy``); the replicas behind it would
                # take the same address, and so be reached past it.
                http_options={"host": "127.0.0.1", "port": http.port},
                logging_config={"log_level": "WARNING", "enable_access_log": False},
            )

    def start_loading(self) -> None:
        """Start the supervisor, which begins to load the shards from the registry as it is now."""
        self._supervisor = start_supervisor(self._settings, self._shards)
        # Its first call starts it; whoever asks for the status next waits for the same start.
        self._supervisor.status.remote()

    def start_replicas(self) -> None:
        """Start the endpoint's replicas; it answers once this returns, and is ready when the shards are."""
        with self._starting("The endpoint"):
            serve.run(build_app(self._settings, self._supervisor), name=APP, route_prefix="/")

    @property
    def supervisor(self) -> Any:  # noqa: ANN401 -- Ray's handles are untyped
        """Handle of the supervisor, once ``start_loading`` was called: other applications may share its shards."""
        return self._supervisor

    def status(self) -> ClusterStatus:
        """The cluster as the supervisor sees it now."""
        with self._starting("The supervisor"):
            status: ClusterStatus = ray.get(self._supervisor.status.remote(), timeout=_STATUS_TIMEOUT_S)
        return status

    def embedding(self) -> EmbeddingStatus | None:
        """How far the embedding of records is; None while the supervisor does not say, as after its replacement."""
        try:
            status: EmbeddingStatus = ray.get(self._supervisor.embedding.remote(), timeout=_STATUS_TIMEOUT_S)
        except RayError:
            _log.debug("no_status", exc_info=True)
            return None
        return status

    @contextmanager
    def _starting(self, part: str) -> Iterator[None]:
        try:
            yield
        except (RayError, RuntimeError, OSError) as exc:
            reason = (str(exc).strip().splitlines() or [type(exc).__name__])[0]
            raise StartFailed(part, reason, str(self.logs)) from exc
