"""An instance as Ray Serve starts it when nobody sets anything: its Python proxy, five requests at a time, its logs.

The application is ours, shards and micro-batches included; only the way to it is Serve's. Import it as ``LocalRay``.
"""

import logging

from ray import serve

from serve_app.app import APP, Edge
from serve_app.local_ray import LocalRay


class DefaultsRay(LocalRay):
    """``LocalRay`` without our settings of Serve; the environment must be free of them, too."""

    def start_proxy(self) -> None:
        """Serve's controller and its own proxy; only address and port are given."""
        # Of this process only: what a replica logs is Serve's business here.
        logging.getLogger("ray.serve").setLevel(logging.ERROR)
        http = self._settings.http
        self._serving = True
        with self._starting("The proxy"):
            serve.start(http_options={"host": http.host, "port": http.port})

    def start_replicas(self) -> None:
        """The same edge, in a deployment that names no limit."""
        app = serve.deployment(serve.ingress()(Edge), name=APP, ray_actor_options={"num_cpus": 0})
        with self._starting("The endpoint"):
            serve.run(app.bind(self._settings, self._supervisor), name=APP, route_prefix="/")
