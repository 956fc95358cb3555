"""The ``shortlist`` command: a table of subcommands, each imported only when it is called."""

import importlib
from typing import Final

import click

_COMMANDS: Final = {
    "serve": "serve_app.cli.serve",
    "import": "serve_app.cli.import_records",
    "search": "serve_app.cli.search",
    "explain": "serve_app.cli.explain",
    "eval": "serve_app.cli.eval",
    "status": "serve_app.cli.status",
    "token": "serve_app.cli.token",
}


class LazyGroup(click.Group):
    """Loads ``command`` from a subcommand's module on first use, so that ``--help`` starts neither Ray nor Numba."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """Names in the order of the table."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- as above
        """The command, or None where there is none of this name."""
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(_COMMANDS[cmd_name]).command
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="shortlist")
def cli() -> None:
    """Shortlist finds the handful of tools or passages that a language model should see."""
