"""What the installation leaves on the disk of a server, and what the server itself is delivered as."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from kvplan.site.hostnet.adapters import firmware
from kvplan.site.templating import rendered
from kvplan.twin.programs.node.place import FACTS
from kvplan.twin.programs.shipping import LIBRARY, library, script

if TYPE_CHECKING:
    from kvplan.site.deployment import Deployment, ManagementPort, Server

_UNITS: Final = "/etc/systemd/system"
_UDEVD: Final = """\
[Unit]
Description=Names and readiness of devices
DefaultDependencies=no
Before=sysinit.target

[Service]
Type=notify
ExecStart=/lib/systemd/systemd-udevd
Environment=SYSTEMD_DEVICE_VERIFY_SYSFS=0
"""
_START: Final = f"""\
[Unit]
Description=The machine that this node is
DefaultDependencies=no
Wants=kv-udevd.service
After=kv-udevd.service kv-seal.service local-fs.target systemd-tmpfiles-setup.service
Before=sysinit.target systemd-sysctl.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/bin/python3 -I {LIBRARY} start
"""
_NETWORK: Final = """\
[Unit]
Description=Network Manager
After=network-pre.target
Before=network.target network-online.target
Wants=network.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/sbin/NetworkManager

[Install]
WantedBy=multi-user.target
"""
_FORCED: Final = """\
[Unit]
# systemd now and then loses a job of a shutdown among the many mounts of a container
JobTimeoutSec=20s
JobTimeoutAction={how}-force
"""
_PROFILE: Final = """\
[connection]
id=eno1
type=ethernet

[ethernet]
mac-address={mac}

[ipv4]
method=manual
address1={address}
gateway={gateway}
dns={dns}

[ipv6]
method=auto
"""


def installed(deployment: Deployment, server: Server) -> dict[str, str]:
    """Return what lies on the disk of a server after its installation.

    Parameters
    ----------
    deployment
        The deployment.
    server
        The server.

    Returns
    -------
    dict of str
        Text by absolute path. One path is that of what the machine was delivered as: `FACTS`.
    """
    machine = delivered(deployment, server)
    own = _storage_files(deployment, server) if server.role == "storage" else _ubuntu_files(deployment, server)
    wanted = " ".join(["kv-machine.service", *(["NetworkManager.service"] if server.role == "storage" else [])])
    return {
        **library(),
        **own,
        FACTS: json.dumps(machine, indent=1) + "\n",
        "/etc/kvplan-twin/name": f"{server.name}\n",
        "/etc/kvplan/installed": _marker(deployment, server),
        f"/boot/vmlinuz-{machine['kernel']}": "",
        "/etc/systemd/system.conf.d/kvplan-twin.conf": "[Manager]\nDefaultEnvironment=SYSTEMD_DEVICE_VERIFY_SYSFS=0\n",
        f"{_UNITS}/kv-udevd.service": _UDEVD,
        f"{_UNITS}/kv-machine.service": _START,
        f"{_UNITS}/sysinit.target.d/kvplan-twin.conf": "[Unit]\nWants=kv-machine.service\n",
        f"{_UNITS}/multi-user.target.d/kvplan-twin.conf": f"[Unit]\nWants={wanted}\n",
        **{f"{_UNITS}/{how}.target.d/kvplan-twin.conf": _FORCED.format(how=how) for how in ("poweroff", "reboot")},
        **{f"/usr/local/bin/{name}": script(name) for name in ("modinfo", "rdma", "uname")},
        "/usr/sbin/dmidecode": script("dmidecode"),
    }


def delivered(deployment: Deployment, server: Server) -> dict[str, Any]:
    """Return what a server is delivered as: its adapters already have the settings of the plan.

    Parameters
    ----------
    deployment
        The deployment.
    server
        The server.

    Returns
    -------
    dict
        What the programs of the node answer from.
    """
    versions = deployment.site.versions
    is_storage = server.role == "storage"
    cards = {leg.name.rpartition("p")[0]: leg.nic for leg in server.fabric}
    bus = {adapter: f"0000:{0x17 + 16 * index:02x}:00" for index, adapter in enumerate(cards)}
    fabric = [
        {
            "name": leg.name,
            "mac": leg.mac,
            "adapter": (adapter := leg.name.rpartition("p")[0]),
            "pci": f"{bus[adapter]}.{leg.lane}",
            "speed_mbit_per_s": round(leg.port.bits_per_s / 1e6),
        }
        for leg in server.fabric
    ]
    drives = server.site.data_drives
    return {
        "name": server.name,
        "serial": server.site.serial,
        "model": server.site.model,
        "memory_gib": deployment.site.storage.memory_gib if is_storage else 1024,
        "kernel": f"{versions.rhel_kernel}.x86_64" if is_storage else versions.ubuntu_kernel,
        "drives": drives.count if drives else 0,
        "ports": fabric + [{"name": held.port.name, "mac": held.mac} for held in server.management],
        "adapters": {adapter: firmware(deployment, nic, server.role) for adapter, nic in cards.items()},
    }


def _marker(deployment: Deployment, server: Server) -> str:
    """Return what the installer writes down, by the template that writes it."""
    text = rendered("install/marker.sh.j2", root="", server=server, plan_sha256=deployment.plan_sha256)
    found = re.search(r"<<'EOF'\n(.*?\n)EOF", text, re.DOTALL)
    if found is None:
        message = "install/marker.sh.j2 writes nothing down"
        raise ValueError(message)
    return found.group(1)


def _storage_files(deployment: Deployment, server: Server) -> dict[str, str]:
    """Return what RHEL leaves: NetworkManager, the installer's profile, and who chooses the kernel."""
    network, first = deployment.site.network, server.management[0]
    profile = _PROFILE.format(
        mac=first.mac, address=first.port.address, gateway=network.management_gateway, dns=";".join(network.dns)
    )
    return {
        "/etc/NetworkManager/system-connections/eno1.nmconnection": profile,
        f"{_UNITS}/NetworkManager.service": _NETWORK,
        "/usr/sbin/NetworkManager": script("NetworkManager"),
        "/usr/bin/nmcli": script("nmcli"),
        "/usr/sbin/grubby": script("grubby"),
    }


def _ubuntu_files(deployment: Deployment, server: Server) -> dict[str, str]:
    """Return what Ubuntu leaves: the installer's file for netplan, and what its networkd must know of this machine."""
    network, first = deployment.site.network, server.management[0]
    ports = [*((leg.name, leg.mac) for leg in server.fabric), *((m.port.name, m.mac) for m in server.management)]
    return {
        "/etc/netplan/50-cloud-init.yaml": _netplan(first, str(network.management_gateway)),
        **{
            # a port of a container has no MAC address that was burnt in, by which netplan has networkd find it
            f"/etc/systemd/network/10-netplan-{name}.network.d/kvplan-twin.conf": (
                f"[Match]\nPermanentMACAddress=\nMACAddress={mac}\n"
            )
            for name, mac in ports
        },
    }


def _netplan(port: ManagementPort, gateway: str) -> str:
    """Write the installer's file for netplan."""
    return f"""\
network:
  version: 2
  ethernets:
    {port.port.name}:
      match:
        macaddress: "{port.mac}"
      set-name: {port.port.name}
      dhcp4: false
      dhcp6: false
      addresses:
        - "{port.port.address}"
      routes:
        - to: default
          via: "{gateway}"
"""
