"""What the installed Ray Serve writes for HAProxy: one application with one replica. Nothing is started."""

from pathlib import Path

from ray.serve._private.common import RequestProtocol
from ray.serve._private.haproxy import BackendConfig, HAProxyApi, HAProxyConfig, ServerConfig
from ray.serve.config import HTTPOptions, gRPCOptions

from serve_app.launch import Ports


def render(folder: Path, *, port: int, replica_port: int, ports: Ports) -> Path:
    """The configuration file, in ``folder``."""
    config = HAProxyConfig(
        socket_path=str(folder / "admin.sock"),
        server_state_base=str(folder),
        server_state_file=str(folder / "state"),
        http_options=HTTPOptions(host="127.0.0.1", port=port),
        grpc_options=gRPCOptions(),
        metrics_enabled=False,
        stats_port=ports.statistics,
        metrics_port=ports.metrics,
    )
    backend = BackendConfig(
        name="app",
        path_prefix="/",
        app_name="app",
        servers=[ServerConfig(name="replica", host="127.0.0.1", port=replica_port)],
        fallback_server=ServerConfig(name="serve", host="127.0.0.1", port=ports.fallback),
        protocol=RequestProtocol.HTTP,
    )
    path = folder / "haproxy.cfg"
    api = HAProxyApi(cfg=config, backend_configs={"app": backend}, config_file_path=str(path))
    api._generate_config_file_internal()
    return path
