"""``shortlist token``: mints a bearer token of the local key.

It cannot sign for configured keys: those tokens come from their own issuer.
"""

from pathlib import Path

import click
import orjson

from cluster.errors import InvalidConfiguration
from cluster.scope import Policy, Principal
from serve_app.cli.instance import instance_settings
from serve_app.cli.principal import check_principal
from serve_app.keys import read_secret
from serve_app.local_key import MAX_TTL_S, ensure_local_key, mint_token
from serve_app.token_claims import DEFAULT_MODE


@click.command(epilog="Example: shortlist token --tenant acme --role reader --ttl 600")
@click.option("--tenant", required=True, help="Tenant the token speaks for.")
@click.option("--role", "roles", required=True, multiple=True, help="Role of the policy; may be given several times.")
@click.option("--mode", default=DEFAULT_MODE, show_default=True, help="Mode of the policy.")
@click.option("--subject", default="local", show_default=True, help="Name of the caller in the audit log.")
@click.option(
    "--ttl",
    "ttl_s",
    type=click.IntRange(1, MAX_TTL_S),
    default=3600,
    show_default=True,
    metavar="SECONDS",
    help="Life of the token.",
)
@click.option("--grant-list", metavar="NAME", help="Narrow the token to a registered grant list of the tenant.")
@click.option(
    "--home", type=click.Path(path_type=Path, file_okay=False), help="Folder with the key, if not as settings."
)
@click.option("--config", type=click.Path(path_type=Path), help="Settings file, if not the shipped one.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of the bare token.")
def command(
    *,
    tenant: str,
    roles: tuple[str, ...],
    mode: str,
    subject: str,
    ttl_s: int,
    grant_list: str | None,
    home: Path | None,
    config: Path | None,
    as_json: bool,
) -> None:
    """Mint a bearer token signed by the local key, which is made on first use.

    The token goes to standard output; send it as "Authorization: Bearer TOKEN".
    """
    try:
        settings = instance_settings(config, home)
        if not settings.auth.local_key:
            raise click.UsageError("These settings name their own keys; tokens of the local key would be refused.")
        policy = Policy.load(settings.policy)
        principal = Principal(subject=subject, tenant=tenant, roles=frozenset(roles), mode=mode, grant_list=grant_list)
        check_principal(principal, policy)
        key_file = ensure_local_key(settings.home)
        minted = mint_token(read_secret(key_file), principal, settings.auth.jwt, ttl_s)
    except InvalidConfiguration as exc:
        raise click.ClickException(str(exc)) from exc
    if not as_json:
        click.echo(minted.token)
        return
    claims = {
        "tenant": tenant,
        "roles": sorted(principal.roles),
        "mode": mode,
        "subject": subject,
        "grant_list": grant_list,
    }
    click.echo(orjson.dumps({"token": minted.token, "expires_at": minted.expires_at, **claims}).decode())
