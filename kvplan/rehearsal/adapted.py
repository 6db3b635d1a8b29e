"""What a rehearsal changes of a Site: whose key lets it in, what secrets are, and where packages lie; nothing else."""

from __future__ import annotations

import secrets as chance
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kvplan.site.secrets import controller_secret, secret_references

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.schema.site.site import Site

PREFIX: Final = "KV_REHEARSAL_"
"""How the variables begin that hold a rehearsal's secrets."""
_PASSWORD_BYTES: Final = 12


class Adapted(NamedTuple):
    """The rehearsal's Site, and its secrets by the name under which files ask for them."""

    site: Site
    secrets: dict[str, str]

    @property
    def environment(self) -> dict[str, str]:
        """The variables that the Site's references name."""
        return {_variable(name): value for name, value in self.secrets.items()}


def adapted(site: Site, key: str, public_key: str, packages: Mapping[str, Any]) -> Adapted:
    """Change a Site for a rehearsal.

    Parameters
    ----------
    site
        The Site that is rehearsed.
    key
        File of the key that logs in, beside the Site's.
    public_key
        Its public half.
    packages
        Section `packages`: where what stands in for them lies.

    Returns
    -------
    Adapted
        The Site and its secrets: each is made up, and none of the real ones is read.
    """
    names = secret_references(site).keys() - {"private_key"}
    made = {name: chance.token_urlsafe(_PASSWORD_BYTES) for name in sorted(names)}
    snmp = site.network.snmp
    access = {
        "ssh_keys": (public_key.strip(),),
        "private_key": f"file:{key}",
        "switch_password": _reference("switch_password"),
        "console_password_hash": _reference("console_password_hash") if site.access.console_password_hash else None,
    }
    watching = {"authentication": _reference("snmp_authentication"), "privacy": _reference("snmp_privacy")}
    servers = [
        server.model_copy(
            update={"bmc": server.bmc.model_copy(update={"password": _reference(controller_secret(server.name))})}
        )
        for server in site.servers
    ]
    changed = site.model_copy(
        update={
            "access": site.access.model_copy(update=access),
            "network": site.network.model_copy(update={"snmp": snmp and snmp.model_copy(update=watching)}),
            "servers": tuple(servers),
            "packages": type(site.packages).model_validate(packages),
        }
    )
    return Adapted(type(site).model_validate(changed.model_dump()), made)


def _reference(name: str) -> str:
    """Refer to a secret of the rehearsal."""
    return f"env:{_variable(name)}"


def _variable(name: str) -> str:
    """Name the variable of a secret."""
    return f"{PREFIX}{name.upper()}"
