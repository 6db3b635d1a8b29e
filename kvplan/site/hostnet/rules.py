"""What is checked of files of hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.schema.design import Finding

if TYPE_CHECKING:
    from kvplan.schema.base import Severity

RULES: Final[dict[str, str]] = {
    "KV-HST-001": "Each server has a network file for every port of the design, and there are no others.",
    "KV-HST-002": "Each file can be read by the rules of its format.",
    "KV-HST-003": "The Site has the MAC address of every port of a server.",
    "KV-HST-004": "A port's file has the MAC address that the Site has.",
    "KV-HST-005": "No two ports have the same MAC address.",
    "KV-HST-006": "A MAC address in YAML is quoted: six pairs of digits would otherwise be a number.",
    "KV-HST-007": "Each port's name is pinned to its MAC address, by a .link file or by netplan.",
    "KV-HST-008": "Names of interfaces are plain and have 15 characters at most.",
    "KV-HST-009": "A port has the address that the design gives it, and no other.",
    "KV-HST-010": "No two ports of servers have the same address.",
    "KV-HST-011": "Both ends of a leg are on one /31, and the host's next hop is the switch's end.",
    "KV-HST-012": "Each leg has the Site's MTU of hosts.",
    "KV-HST-013": "The MTU of hosts is not above that of the switches.",
    "KV-HST-014": "The MTU of hosts lets RDMA use frames of 4096 bytes.",
    "KV-HST-015": "A server has no default route but the Site's gateway, on its management port.",
    "KV-HST-016": "What leaves from a leg's address follows a table with routes through that leg.",
    "KV-HST-017": "No two legs of a server share a routing table.",
    "KV-HST-018": "IPv6 is on for every leg.",
    "KV-HST-019": "The loopback address is on lo, as a /32.",
    "KV-HST-020": "No kernel parameter turns IPv6 off.",
    "KV-HST-021": "The reverse path filter is not strict on servers with several legs.",
    "KV-HST-022": "Servers with several legs answer and ask by ARP only for the addresses of the port.",
    "KV-HST-023": "Kernel parameters have the values of the catalogue.",
    "KV-HST-024": "A server without legs has no file of the fabric.",
    "KV-HST-025": "Each server with legs has a configuration of FRR.",
    "KV-HST-026": "A server's own ASN and router id are those of the design.",
    "KV-HST-027": "No two servers have the same ASN.",
    "KV-HST-028": "FRR has a session with the switch at the far end of each leg, with that switch's ASN, and no other.",
    "KV-HST-029": "BFD watches every session.",
    "KV-HST-030": "Every session is active and filtered in both directions.",
    "KV-HST-031": "A server announces its loopback address.",
    "KV-HST-032": "A server announces nothing but its loopback address.",
    "KV-HST-033": "Routes use all legs at once.",
    "KV-HST-034": "FRR runs its BGP and BFD daemons.",
    "KV-HST-035": "A server opens connections from its loopback address, and FRR starts when that address is there.",
    "KV-HST-036": "Each leg has a file of RoCE values, and no other port has one.",
    "KV-HST-037": "PFC is on for the switches' RoCE priority and for no other.",
    "KV-HST-038": "RDMA is marked with the DSCP that the switches put into their RoCE class, and as ECN-capable.",
    "KV-HST-039": "Congestion notifications have the DSCP and the priority that the switches expect.",
    "KV-HST-040": "Each port's RDMA device has the name that the rest of the tree uses.",
    "KV-HST-041": "The RoCE unit is bound to its port and starts a script that is in the tree.",
    "KV-HST-042": "The catalogue has firmware settings for every adapter.",
    "KV-HST-043": "Files of adapters have the firmware settings of the catalogue: NIC mode, Ethernet, no SR-IOV.",
    "KV-HST-044": "Firmware sends congestion notifications as the switches expect them.",
    "KV-HST-045": "/etc/hosts has every name of every machine at its address.",
    "KV-HST-046": "/etc/hosts has each name at one address.",
    "KV-HST-047": "/etc/hosts has no machine's name at a loopback address of the host itself.",
    "KV-HST-048": "/etc/hosts is equal on all servers.",
    "KV-HST-049": "The clock follows the Site's time servers, and no others.",
    "KV-HST-050": "Locked memory is not limited on servers that use RDMA.",
    "KV-HST-051": "networkd leaves the routes of FRR alone.",
    "KV-HST-052": "The RoCE script sets trust, PFC, ECN, notifications and traffic class.",
    "KV-HST-053": "The gateway of the management network is in the prefix of a server's management port.",
    "KV-HST-054": "A server accepts routes to the fabric, and to nowhere else.",
    "KV-HST-055": "LLDP calls a server and its ports what the plan of the cabling calls them.",
}
_RENDER: Final = "Render the tree again; what should differ is changed in the Site, not in this file."


def fault(rule: int, where: str, text: str, remedy: str = _RENDER, severity: Severity = "error") -> Finding:
    """Report what a rule found.

    >>> fault(10, "storage-001", "has it too").id
    'KV-HST-010'
    """
    return Finding(id=f"KV-HST-{rule:03}", severity=severity, where=where, text=text, remedy=remedy)
