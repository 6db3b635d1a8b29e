"""The script that a new switch fetches: it knows the switch by its serial number and applies its configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.site.switches.system import DEFAULT_USER
from kvplan.site.templating import rendered

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.site.deployment import Deployment, SwitchUnit
    from kvplan.site.tree import File


def ztp_script(deployment: Deployment, written: Iterable[tuple[SwitchUnit, File]]) -> str:
    """Write the script of zero-touch provisioning.

    Placeholders of secrets are not filled over an open connection: until the deployer replaces the configuration by
    the whole one, a random text that nobody knows stands for each.

    Parameters
    ----------
    deployment
        The Site with its media server.
    written
        The switches and their configurations.

    Returns
    -------
    str
        A bash script.
    """
    media = deployment.site.media
    host = f"[{media.address}]" if ":" in media.address else media.address
    return rendered(
        "switches/ztp.sh.j2",
        base=f"http://{host}:{media.port}/switches",
        user=DEFAULT_USER,
        switches=[(switch.site.serial, switch.name, file.sha256) for switch, file in written],
    )
