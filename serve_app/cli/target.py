"""Where a command sends its question: to an endpoint over HTTP, or into this process with ``--local``.

It adds the options for that to a command, and knows nothing of what is asked. Heavy imports wait for ``--local``.
"""

from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import wraps
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import click
import orjson

if TYPE_CHECKING:
    from cluster.config import Settings
    from cluster.scope import Principal
    from serve_app.asking import Call
    from serve_app.services import Services

JsonObject = dict[str, Any]  # what an endpoint of any version sent

_TIMEOUT_S: Final = 30.0
_TOKEN_TTL_S: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The options of ``target_options``; empty strings and None are options that were not given."""

    url: str
    token: str
    local: bool
    home: Path | None
    config: Path | None
    tenant: str
    roles: tuple[str, ...]
    mode: str

    def send(
        self, method: str, path: str, body: JsonObject | None = None, *, timeout_s: float = _TIMEOUT_S
    ) -> JsonObject:
        """The JSON that the endpoint answers; ``timeout_s`` of silence are too long.

        Raises:
            click.ClickException: if the endpoint cannot be reached or answers with a problem.
        """
        with self._opened(method, path, body, {}, timeout_s) as response:
            return answer_of(response.status, response.read())

    def reply(self, method: str, path: str, body: JsonObject | None = None) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers by their names in lower case, and body that the endpoint answers, a problem too.

        Raises:
            click.ClickException: if the endpoint cannot be reached.
        """
        with self._opened(method, path, body, {}, _TIMEOUT_S) as response:
            answered = {name.lower(): value for name, value in response.getheaders()}
            return response.status, answered, response.read()

    def events(self, path: str, body: JsonObject, *, timeout_s: float) -> Iterator[tuple[str, JsonObject]]:
        """Names and data of the server-sent events that the endpoint answers a POST with, as they come.

        Raises:
            click.ClickException: if it cannot be reached, is silent for ``timeout_s``, or answers with a problem.
        """
        with self._opened("POST", path, body, {"Accept": "text/event-stream"}, timeout_s) as response:
            if response.status != HTTPStatus.OK:
                answer_of(response.status, response.read())
            name = ""
            while line := response.readline():
                field, _, value = line.rstrip(b"\n").partition(b": ")
                if field == b"event":
                    name = value.decode()
                elif field == b"data":
                    data = orjson.loads(value)
                    if name == "problem":
                        answer_of(data["status"], value)
                    yield name, data

    @contextmanager
    def _opened(
        self, method: str, path: str, body: JsonObject | None, extra: Mapping[str, str], timeout_s: float
    ) -> Iterator[HTTPResponse]:
        """A response whose body has not been read.

        Raises:
            click.ClickException: if the endpoint does not answer, inside the block too.
        """
        from serve_app.cli.instance import url_of  # noqa: PLC0415 -- as the module says

        url = urlsplit(self.url or url_of(self.settings()))
        connect = HTTPSConnection if url.scheme == "https" else HTTPConnection
        headers = {"Authorization": f"Bearer {self._credential()}", "Content-Type": "application/json", **extra}
        content = encoded(body) if body else None
        try:
            # No redirect is followed and no proxy asked: the token goes to the host that was named, and nowhere else.
            connection = connect(url.hostname or "", url.port, timeout=timeout_s)
            with closing(connection):
                connection.request(method, url.path.rstrip("/") + path, content, headers)
                yield connection.getresponse()
        except (OSError, HTTPException, ValueError) as error:
            raise click.ClickException(f"{url.geturl()} does not answer ({error}); is it running?") from error

    def run(self, ask: Callable[["Services", "Call"], Coroutine[object, None, bytes]], *, quiet: bool) -> JsonObject:
        """The JSON that ``ask`` makes in this process, from the registry, without Ray.

        ``quiet`` leaves out the line about the index where standard error is no terminal.

        Raises:
            click.ClickException: if the registry cannot be read, or ``ask`` is refused.
        """
        from serve_app.cli.in_process import run_in_process  # noqa: PLC0415 -- as the module says

        status, body = run_in_process(self.settings(), self.principal(), ask, quiet=quiet)
        return answer_of(status, body)

    def settings(self) -> "Settings":
        """The settings, with ``--home`` in place.

        Raises:
            click.ClickException: if the settings cannot be read.
        """
        from cluster.errors import InvalidConfiguration  # noqa: PLC0415 -- as the module says
        from serve_app.cli.instance import instance_settings  # noqa: PLC0415

        try:
            return instance_settings(self.config, self.home)
        except InvalidConfiguration as error:
            raise click.ClickException(str(error)) from error

    def principal(self) -> "Principal":
        """Who asks, where no token says it.

        Raises:
            click.ClickException: if the policy cannot be read.
            click.BadParameter: if the policy knows no such role or mode.
        """
        from cluster.errors import InvalidConfiguration  # noqa: PLC0415 -- as the module says
        from cluster.scope import Policy, Principal  # noqa: PLC0415
        from serve_app.cli.principal import check_principal  # noqa: PLC0415

        principal = Principal(subject="local", tenant=self.tenant, roles=frozenset(self.roles), mode=self.mode)
        try:
            check_principal(principal, Policy.load(self.settings().policy))
        except InvalidConfiguration as error:
            raise click.ClickException(str(error)) from error
        return principal

    def _credential(self) -> str:
        """The token given, else one of the local key: who can read the key may say who it is.

        Raises:
            click.ClickException: if the key is not fit to sign.
        """
        from cluster.errors import InvalidConfiguration  # noqa: PLC0415 -- as the module says
        from serve_app.keys import read_secret  # noqa: PLC0415
        from serve_app.local_key import FILE_NAME, mint_token  # noqa: PLC0415

        if self.token:
            return self.token
        settings = self.settings()
        key_file = settings.home / FILE_NAME
        if not settings.auth.local_key or not key_file.exists():
            raise click.UsageError(
                f"Give --token or SHORTLIST_TOKEN: there is no local key at {key_file} (--home names its folder)."
            )
        try:
            secret = read_secret(key_file)
        except InvalidConfiguration as error:
            raise click.ClickException(str(error)) from error
        return mint_token(secret, self.principal(), settings.auth.jwt, _TOKEN_TTL_S).token


def target_options(*, role: str, local: bool) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Adds the options of a target to a command, which gets them as ``target``.

    Args:
        role: the role of the default token.
        local: whether the command has ``--local``.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(
            *, url: str, token: str, home: Path | None, config: Path | None, tenant: str, roles: tuple[str, ...],
            mode: str, in_process: bool = False, **others: object,
        ) -> None:  # fmt: skip
            target = Target(
                url=url, token=token, local=in_process, home=home, config=config, tenant=tenant, roles=roles, mode=mode
            )
            command(target=target, **others)

        for option in reversed(_options(role, local=local)):
            run = option(run)
        return run

    return decorate


def _options(role: str, *, local: bool) -> list[Callable[[Callable[..., None]], Callable[..., None]]]:
    in_process = click.option(
        "--local", "in_process", is_flag=True, help="In this process, from the registry in --home; needs no endpoint."
    )
    return [
        click.option("--url", default="", envvar="SHORTLIST_URL", help="The endpoint. [default: as in the settings]"),
        click.option("--token", default="", envvar="SHORTLIST_TOKEN", help="Bearer token. [default: of the local key]"),
        *([in_process] if local else []),
        click.option(
            "--tenant", default="demo", show_default=True, help="Tenant of the default token, and of --local."
        ),
        click.option("--role", "roles", multiple=True, default=(role,), show_default=True, help="As --tenant."),
        click.option("--mode", default="autonomous", show_default=True, help="As --tenant."),
        click.option("--home", type=click.Path(path_type=Path, file_okay=False), help="Folder of key and registry."),
        click.option("--config", type=click.Path(path_type=Path), help="Settings file, if not the shipped one."),
    ]


def encoded(body: JsonObject) -> bytes:
    """The body of a request.

    Raises:
        click.ClickException: if an option or argument is no text.
    """
    try:
        return orjson.dumps(body)
    except TypeError as error:
        # What the shell hands over is bytes; those that are no text become lone surrogates.
        raise click.ClickException("What is asked is not valid UTF-8.") from error


def answer_of(status: int, body: bytes) -> JsonObject:
    """The JSON of a response.

    Raises:
        click.ClickException: if it is a problem.
    """
    answer = orjson.loads(body)
    if status >= 400:  # noqa: PLR2004 -- where HTTP's errors begin
        # Where no replica took the request, nobody named it.
        request = f" (request {answer['request_id']})" if "request_id" in answer else ""
        raise click.ClickException(f"{answer['title']}: {answer['detail']}{request}")
    return dict(answer)
