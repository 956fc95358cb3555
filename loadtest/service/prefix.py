"""Behind a prefix: the real app, which knows none, beside other systems of one instance. It changes nothing else."""

from serve_app.exchange import ASGIApp, ASGIScope, Receive, Send


def behind_prefix(app: ASGIApp, prefix: str) -> ASGIApp:
    """``app``, for requests whose paths begin with ``prefix``."""

    async def without_prefix(scope: ASGIScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "path": scope["path"].removeprefix(prefix), "root_path": ""}
        await app(scope, receive, send)

    return without_prefix
