"""What packages hold that stand in for those of distributions and vendors, beside what the machine has itself."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kvplan.twin.packages import Contents
from kvplan.twin.programs.shipping import script
from kvplan.twin.rack.machine import SHARED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.twin.rack.plan import Face

_UNITS: Final = "/usr/lib/systemd/system"
_TIME_UNIT: Final[Mapping[Face, str]] = MappingProxyType({"rhel": "chronyd", "ubuntu": "chrony"})
_DRIVER: Final = "25.07-0.9.7"


def contents(face: Face) -> Mapping[str, Contents]:
    """Return what stand-in packages of a distribution hold.

    Parameters
    ----------
    face
        The distribution.

    Returns
    -------
    Mapping of Contents
        By name of package; one that is not named may be empty, for the machine has its programs.
    """
    return {
        "chrony": _chrony(face),
        "doca-ofed": _doca(),
        "ethtool": Contents(files={"/usr/sbin/ethtool": script("ethtool")}),
        "frr": _frr(face),
        "lldpd": _lldpd(face),
        "nvme-cli": Contents(links={"/usr/sbin/nvme": f"{SHARED}/commands"}),
        "pciutils": Contents(files={"/usr/sbin/setpci": script("setpci")}),
        "tuned": _tuned(face),
    }


def _chrony(face: Face) -> Contents:
    """Return the time daemon; Ubuntu's package starts it, and both bring a configuration with public servers."""
    unit = _TIME_UNIT[face]
    configuration = "/etc/chrony.conf" if face == "rhel" else "/etc/chrony/chrony.conf"
    return Contents(
        files={
            "/usr/sbin/chronyd": script("chronyd"),
            "/usr/bin/chronyc": script("chronyc"),
            f"{_UNITS}/{unit}.service": _unit("NTP client/server", "/usr/sbin/chronyd"),
            configuration: f"pool 2.{face}.pool.ntp.org iburst\nmakestep 1.0 3\nrtcsync\n",
        },
        after=_started(unit, face),
    )


def _frr(face: Face) -> Contents:
    """Return what FRR brings beside its programs, which the machine has: a configuration in which no protocol runs."""
    return Contents(
        files={
            "/etc/frr/daemons": "bgpd=no\nbfdd=no\nvtysh_enable=yes\n",
            "/etc/frr/frr.conf": "",
            "/etc/frr/vtysh.conf": "service integrated-vtysh-config\n",
        },
        after="chown -R frr:frr /etc/frr\n" + _started("frr", face),
    )


def _tuned(face: Face) -> Contents:
    """Return the tuning daemon."""
    return Contents(
        files={
            "/usr/sbin/tuned": script("tuned"),
            "/usr/sbin/tuned-adm": script("tuned-adm"),
            f"{_UNITS}/tuned.service": _unit("Dynamic System Tuning Daemon", "/usr/sbin/tuned"),
        },
        after=_started("tuned", face),
    )


def _lldpd(face: Face) -> Contents:
    """Return the daemon that tells neighbours who it is."""
    return Contents(
        files={
            "/usr/sbin/lldpd": script("lldpd"),
            "/usr/sbin/lldpcli": script("lldpcli"),
            f"{_UNITS}/lldpd.service": _unit("LLDP daemon", "/usr/sbin/lldpd"),
        },
        after=_started("lldpd", face),
    )


def _doca() -> Contents:
    """Return the driver of adapters with its tools; the driver that runs is another until it is loaded anew."""
    tools = {"/usr/bin/mlnx_qos", "/usr/bin/mlxconfig", "/usr/bin/mlxreg", "/usr/sbin/cma_roce_tos"}
    return Contents(
        files={
            **{path: script(path.rpartition("/")[2]) for path in sorted(tools)},
            "/usr/bin/ofed_info": f'#!/bin/sh\necho "OFED-internal-{_DRIVER}:"\n',
            "/etc/init.d/openibd": script("openibd"),
            "/usr/share/kvplan-twin/mlx5_core": f"{_DRIVER}\n",
        },
    )


def _unit(what: str, program: str) -> str:
    """Write the unit of a daemon."""
    return f"""\
[Unit]
Description={what}
After=network.target

[Service]
ExecStart={program}
Restart=no

[Install]
WantedBy=multi-user.target
"""


def _started(unit: str, face: Face) -> str:
    """Start a unit as packages of Ubuntu do; those of RHEL leave it as it is."""
    return f"systemctl enable --now {unit}.service >/dev/null 2>&1 || true\n" if face == "ubuntu" else ""
