"""All programs by name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from kvplan.twin.programs.node import adapters, clock, kernels, neighbours, network, profiles, starting
from kvplan.twin.programs.node.place import Node, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAMS: Final[dict[str, Callable[[Node, list[str]], int]]] = {
    "NetworkManager": network.daemon,
    "chronyc": clock.chronyc,
    "chronyd": clock.chronyd,
    "cma_roce_tos": adapters.cma_roce_tos,
    "dmidecode": starting.dmidecode,
    "ethtool": adapters.ethtool,
    "grubby": kernels.grubby,
    "lldpcli": neighbours.lldpcli,
    "lldpd": neighbours.lldpd,
    "mlnx_qos": adapters.mlnx_qos,
    "mlxconfig": adapters.mlxconfig,
    "mlxreg": adapters.mlxreg,
    "modinfo": kernels.modinfo,
    "nmcli": network.nmcli,
    "openibd": kernels.openibd,
    "rdma": adapters.rdma,
    "setpci": adapters.setpci,
    "start": starting.start,
    "tuned": profiles.tuned,
    "tuned-adm": profiles.tuned_adm,
    "uname": kernels.uname,
}


def main(argv: list[str]) -> int:
    """Run a program.

    Parameters
    ----------
    argv
        Its name and its arguments.

    Returns
    -------
    int
        Its return code.
    """
    try:
        return PROGRAMS[argv[0]](Node(), argv[1:])
    except Refused as refusal:
        sys.stderr.write(f"{refusal}\n")
        return refusal.code
