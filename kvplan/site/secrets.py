"""The secrets of a Site by the name under which rendered files ask for them; the files never hold one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kvplan.schema.site.site import Site

PLACEHOLDER: Final = re.compile(r"\{\{ kv_secret_(?P<name>[a-z0-9_]+) \}\}")
"""Where a secret is put in when a file is deployed."""


def placeholder(name: str) -> str:
    """Write the place of a secret.

    Parameters
    ----------
    name
        One of the names of `secret_references`.

    Returns
    -------
    str
        The text that deploying replaces.

    Examples
    --------
    >>> placeholder("snmp_privacy")
    '{{ kv_secret_snmp_privacy }}'
    """
    return f"{{{{ kv_secret_{name} }}}}"


def controller_secret(server: str) -> str:
    """Name the password of a server's controller.

    Parameters
    ----------
    server
        Name of the server.

    Returns
    -------
    str
        The name by which files ask for it.

    Examples
    --------
    >>> controller_secret("storage-001")
    'bmc_storage_001'
    """
    return f"bmc_{server.replace('-', '_')}"


def secret_references(site: Site) -> dict[str, str]:
    """List where each secret of a Site is, by name.

    Parameters
    ----------
    site
        The Site.

    Returns
    -------
    dict of str
        References (`env:`, `file:`, `vault:`) by name; a controller's password is `bmc_<server>`.
    """
    snmp = site.network.snmp
    named = {
        "private_key": site.access.private_key,
        "switch_password": site.access.switch_password,
        "console_password_hash": site.access.console_password_hash,
        "snmp_authentication": snmp.authentication if snmp else None,
        "snmp_privacy": snmp.privacy if snmp else None,
    }
    controllers = {controller_secret(server.name): server.bmc.password for server in site.servers}
    return {name: reference for name, reference in {**named, **controllers}.items() if reference}
