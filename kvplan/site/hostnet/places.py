"""Where files of hosts lie: below `hosts/`, at the path that they have on the host."""

from __future__ import annotations

from typing import Final

KEYFILES: Final = "/etc/NetworkManager/system-connections"
LINKS: Final = "/etc/systemd/network"
LLDP: Final = "/etc/lldpd.d/kv.conf"
NETPLAN: Final = "/etc/netplan/90-kv.yaml"
FRR: Final = "/etc/frr/frr.conf"
DAEMONS: Final = "/etc/frr/daemons"
FRR_UNIT: Final = "/etc/systemd/system/frr.service.d/kv.conf"
NETWORKD: Final = "/etc/systemd/networkd.conf.d/kv.conf"
ROCE_ENV: Final = "/etc/kv-roce"
ROCE_UNIT: Final = "/etc/systemd/system/kv-roce@.service"
ROCE_SCRIPT: Final = "/usr/local/sbin/kv-roce"
NIC: Final = "/etc/kv-nic"
NIC_SCRIPT: Final = "/usr/local/sbin/kv-nic-check"
SYSCTL: Final = "/etc/sysctl.d/90-kv.conf"
HOSTS: Final = "/etc/hosts"
LIMITS: Final = "/etc/security/limits.d/90-kv.conf"


def of_server(name: str, path: str) -> str:
    """Place a file of one server.

    >>> of_server("storage-001", HOSTS)
    'hosts/storage-001/etc/hosts'
    """
    return f"hosts/{name}{path}"


def of_role(role: str, path: str) -> str:
    """Place a file that all servers of a role share.

    >>> of_role("client", SYSCTL)
    'hosts/_common/client/etc/sysctl.d/90-kv.conf'
    """
    return f"hosts/_common/{role}{path}"


def chrony_path(role: str) -> str:
    """Return where chrony's configuration lies: RHEL and Ubuntu differ.

    >>> chrony_path("storage"), chrony_path("client")
    ('/etc/chrony.conf', '/etc/chrony/chrony.conf')
    """
    return "/etc/chrony.conf" if role == "storage" else "/etc/chrony/chrony.conf"


def manager(role: str) -> str:
    """Name the unit that gives interfaces their addresses: RHEL and Ubuntu differ.

    >>> manager("storage"), manager("client")
    ('NetworkManager', 'systemd-networkd')
    """
    return "NetworkManager" if role == "storage" else "systemd-networkd"
