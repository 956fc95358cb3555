"""LocalRay: one instance of Ray and Serve on this machine, from start to a clean end.

Import it only after ``serve_app.launch.apply``: Ray Serve reads its environment while it is imported. It shows
nothing to the user; ``serve_app.cli.serve`` does.
"""

import logging
import shutil
import warnings
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
_STATUS_TIMEOUT_S: Final = 10.0
_OBJECT_STORE_BYTES: Final = 256 * 2**20
"""Ray's shared memory: only bulk loads pass through it, in batches of a few megabytes."""


class LocalRay:
    """A Ray instance that this process started and will end; a context manager.

    Args:
        settings: of the instance.
        shards: number of shards.
        run: private folder of this run, removed at a clean end.
    """

    def __init__(self, settings: Settings, shards: int, run: Path) -> None:
        self._settings = settings
        self._shards = shards
        self._run = run
        self._supervisor: Any = None

    def __enter__(self) -> Self:
        http = self._settings.http
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
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._supervisor is not None:
                serve.shutdown()
                ray.get(self._supervisor.stop.remote(), timeout=_STOP_TIMEOUT_S)
        finally:
            ray.shutdown()
        if kind is None:
            shutil.rmtree(self._run, ignore_errors=True)

    def start_loading(self) -> None:
        """Start the supervisor, which begins to load the shards."""
        self._supervisor = start_supervisor(self._settings, self._shards)
        self.status()

    def start_serving(self) -> None:
        """Start the endpoint; it answers once this returns, and is ready when the shards are."""
        logging.getLogger("ray.serve").setLevel(logging.ERROR)
        http = self._settings.http
        serve.start(
            proxy_location="HeadOnly",
            http_options={"host": http.host, "port": http.port},
            logging_config={"log_level": "WARNING", "enable_access_log": False},
        )
        serve.run(build_app(self._settings, self._supervisor), name=APP, route_prefix="/")

    def status(self) -> ClusterStatus:
        """The cluster as the supervisor sees it now."""
        status: ClusterStatus = ray.get(self._supervisor.status.remote(), timeout=_STATUS_TIMEOUT_S)
        return status
