"""What a rack runs for real, and what it only stands in for: to be said wherever a rack is spoken of."""

from __future__ import annotations

from typing import Final

REAL: Final = (
    "OpenSSH with a host key for each node, and sudo",
    "systemd as the first process of each node: units, journal, logins, restarts",
    "dnf and rpm on nodes that look like RHEL, apt and dpkg on those that look like Ubuntu, with their repositories",
    "the addresses, MAC addresses, port names, MTU and cables of the plan",
    "FRR on every switch and node: BGP, BFD and the kernel's routing of the packets",
    "LLDP frames on every cable, from what is configured at both ends",
    "HTTPS to every BMC and switch at its own address, and boot media that are read by ranges",
)
"""What runs for real."""
STANDS_IN: Final = (
    "the programs below a node's systemd are those of the machine that the rack is on",
    "packages have names, versions and scripts of those that they stand in for, and little or nothing in them",
    "one kernel for all nodes: no modules, no SELinux, no sysctl outside the network, no clock of their own",
    "ports are pairs of virtual interfaces: no speed, no RoCE, no PFC, no optics",
    "the management switches are one bridge, and the management VRF of a switch is not kept apart",
    "drives are not there, and a disk is memory",
    "BMCs are emulators with the quirks of their kind, and power is that of a process",
    "no installer runs: what it is told on its medium is read and compared, and the disk laid as it would be",
    "NVUE is an emulator: what is applied becomes that of FRR and the kernel, whose links and sessions it shows",
)
"""What is simulated, or not there at all."""
