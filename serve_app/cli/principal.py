"""Whether a principal that options name is one that the policy knows, said in the words of the options.

It grants nothing: a principal that passes sees what the policy gives it.
"""

import click

from cluster.scope import Policy, Principal, is_list_name, is_name
from serve_app.token_claims import MAX_TEXT


def check_principal(principal: Principal, policy: Policy) -> None:
    """Refuse what the endpoint would refuse, or what would give nothing, while the user can still mend it.

    Raises:
        click.BadParameter: naming the option and what it may hold.
    """
    if not is_name(principal.tenant):
        raise click.BadParameter("letters, digits and . _ : @ - only, at most 128.", param_hint="--tenant")
    unknown = sorted(principal.roles - policy.roles)
    if unknown:
        known = ", ".join(sorted(policy.roles))
        raise click.BadParameter(f"{', '.join(unknown)}: not in the policy, which has {known}.", param_hint="--role")
    if principal.mode not in policy.modes:
        known = ", ".join(sorted(policy.modes))
        raise click.BadParameter(f"{principal.mode}: not in the policy, which has {known}.", param_hint="--mode")
    if not 1 <= len(principal.subject) <= MAX_TEXT or not principal.subject.isprintable():
        raise click.BadParameter(f"1 to {MAX_TEXT} printable characters.", param_hint="--subject")
    if principal.grant_list is not None and not is_list_name(principal.grant_list):
        raise click.BadParameter("letters, digits and . _ - only, at most 64.", param_hint="--grant-list")
