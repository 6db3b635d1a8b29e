"""What a rack runs for real, and what it only stands in for: to be said wherever a rack is spoken of."""

from __future__ import annotations

from typing import Final

REAL: Final = (
    "OpenSSH with a host key for each node, and sudo",
    "systemd as the first process of each node: units, journal, logins, restarts",
    "dnf and rpm on nodes that look like RHEL, apt and dpkg on those that look like Ubuntu, with their repositories",
    "the addresses, MAC addresses, port names, MTU and cables of the plan",
    "FRR on every switch and node: BGP, BFD and the kernel's routing of the packets",
)
"""What runs for real."""
STANDS_IN: Final = (
    "the programs below a node's systemd are those of the machine that the rack is on",
    "packages have names, versions and scripts of those that they stand in for, and little or nothing in them",
    "one kernel for all nodes: no modules, no SELinux, no sysctl outside the network, no clock of their own",
    "ports are pairs of virtual interfaces: no speed, no RoCE, no PFC, no optics",
    "the management switches are one bridge, and the management VRF of a switch is not kept apart",
    "drives are not there, and a disk is memory",
    "power is that of a process; what a BMC would do about it is asked for by a verb",
)
"""What is simulated, or not there at all."""
