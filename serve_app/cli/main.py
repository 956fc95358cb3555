"""The ``shortlist`` command: a table of subcommands, each imported only when it is called."""

import importlib
from typing import Final

import click

_COMMANDS: Final = {
    "serve": "serve_app.cli.serve",
    "import": "serve_app.cli.import_records",
    "import docs": "serve_app.cli.import_docs",
    "search": "serve_app.cli.search",
    "answer": "serve_app.cli.answer",
    "explain": "serve_app.cli.explain",
    "export": "serve_app.cli.export",
    "duplicates": "serve_app.cli.duplicates",
    "eval": "serve_app.cli.eval",
    "status": "serve_app.cli.status",
    "token": "serve_app.cli.token",
}


class LazyGroup(click.Group):
    """Loads ``command`` from a subcommand's module on first use, so that ``--help`` starts neither Ray nor Numba."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """Names in the order of the table."""
        return list(_COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Names of two words before those of one: ``import docs DIR`` reads a folder, ``import ./docs`` a file."""
        name = " ".join(args[:2])
        if len(args) > 1 and name in _COMMANDS:
            return name, self.get_command(ctx, name), args[2:]
        return super().resolve_command(ctx, args)

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
