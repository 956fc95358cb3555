"""LocalRay: one instance of Ray and Serve on this machine, from start to a clean end.

Import it only after ``serve_app.launch.apply``: Ray Serve reads its environment while it is imported. It shows
nothing to the user; ``serve_app.cli.serve`` does.
"""

import logging
import warnings
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import ray
from ray import serve

from cluster.config import Settings
from cluster.control import ClusterStatus
from cluster.placement import NAMESPACE, start_supervisor
from serve_app.app import APP, build_app

_STOP_TIMEOUT_S: Final = 30.0
_STATUS_TIMEOUT_S: Final = 60.0
_OBJECT_STORE_BYTES: Final = 256 * 2**20
"""Ray's shared memory: only bulk loads pass through it, in batches of a few megabytes."""


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
            if ray.is_initialized():
                serve.shutdown()
            if self._supervisor is not None:
                ray.get(self._supervisor.stop.remote(), timeout=_STOP_TIMEOUT_S)
        finally:
            ray.shutdown()
            self._output.close()

    def start_proxy(self) -> None:
        """Start Serve's controller and HAProxy, which have nothing to serve yet."""
        logging.getLogger("ray.serve").setLevel(logging.ERROR)
        http = self._settings.http
        serve.start(
            proxy_location="HeadOnly",
            http_options={"host": http.host, "port": http.port},
            logging_config={"log_level": "WARNING", "enable_access_log": False},
        )

    def start_loading(self) -> None:
        """Start the supervisor, which begins to load the shards from the registry as it is now."""
        self._supervisor = start_supervisor(self._settings, self._shards)
        # Its first call starts it; whoever asks for the status next waits for the same start.
        self._supervisor.status.remote()

    def start_replicas(self) -> None:
        """Start the endpoint's replicas; it answers once this returns, and is ready when the shards are."""
        serve.run(build_app(self._settings, self._supervisor), name=APP, route_prefix="/")

    def status(self) -> ClusterStatus:
        """The cluster as the supervisor sees it now."""
        status: ClusterStatus = ray.get(self._supervisor.status.remote(), timeout=_STATUS_TIMEOUT_S)
        return status
