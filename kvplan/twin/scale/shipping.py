"""What the stand-ins of the packages `gpfs.*` hold: the simulated commands, and the service of a node."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kvplan.twin.packages.contents import Contents
from kvplan.twin.scale.commands import COMMANDS, PROGRAM, entry
from kvplan.twin.scale.kernel import SOURCES

if TYPE_CHECKING:
    from collections.abc import Mapping

BIN: Final = "/usr/lpp/mmfs/bin"
_RAID: Final = ("ecedrivemapping", "mmvdisk")
_UNIT: Final = f"""\
[Unit]
Description=General Parallel File System
After=network.target
[Service]
ExecStart={BIN}/{PROGRAM} watch
Restart=always
RestartSec=1
[Install]
WantedBy=multi-user.target
"""
_PROFILE: Final = f"""\
case ":$PATH:" in
  *:{BIN}:*) ;;
  *) PATH="$PATH:{BIN}" ;;
esac
"""
_TELL: Final = f"{BIN}/{PROGRAM} tell || :\n"
_START: Final = f"""\
systemctl daemon-reload || :
systemctl enable gpfs.service || :
{_TELL}systemctl start --no-block gpfs.service || :
"""


def contents() -> Mapping[str, Contents]:
    """Say what the packages hold that hold more than a name.

    Returns
    -------
    Mapping
        Contents by package: commands and service in `gpfs.base`, sources of the kernel layer in `gpfs.gpl`, what
        recovery groups need in `gpfs.gnr`.
    """
    plain = sorted(name for name in COMMANDS if name.startswith("mm") and name not in _RAID)
    base = Contents(
        files={
            f"{BIN}/{PROGRAM}": entry(),
            "/usr/lib/systemd/system/gpfs.service": _UNIT,
            "/etc/profile.d/gpfs.sh": _PROFILE,
        },
        links={
            **{f"{BIN}/{name}": PROGRAM for name in plain},
            "/usr/local/sbin/modinfo": f"{BIN}/{PROGRAM}",
        },
        after=_START,
    )
    gpl = Contents(files={SOURCES: "#!/bin/sh\n"}, requires=("gpfs.base",))
    gnr = Contents(links={f"{BIN}/{name}": PROGRAM for name in _RAID}, after=_TELL, requires=("gpfs.base",))
    return MappingProxyType({"gpfs.base": base, "gpfs.gpl": gpl, "gpfs.gnr": gnr})
