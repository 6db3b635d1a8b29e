"""Rules for RoCE: what hosts send must be what switches expect."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kvplan.site.hostnet import places
from kvplan.site.hostnet.adapters import adapters_of, firmware
from kvplan.site.hostnet.roce import PRIORITIES, number, rdma_name, read_request
from kvplan.site.rules import Break, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.hardware import Nic
    from kvplan.site.hostnet.view import Hosts, Shared

_ECN_CAPABLE: Final = (1, 2)
_STEPS: Final = (
    "--trust=dscp",
    "--pfc=",
    "roce_np/enable",
    "roce_rp/enable",
    "cnp_dscp",
    "cma_roce_tos",
    "traffic_class",
    "rdma dev set",
    "mlxreg",
    "setpci",
)
_CNP_KEY: Final = re.compile(r"CNP_(DSCP|802P_PRIO)_P\d")


@rule("KV-HST-036", "Each leg has a file of RoCE values, and no other port has one.")
def _files(hosts: Hosts) -> Iterator[Break]:
    for view in hosts.views:
        legs = {leg.name for leg in view.server.fabric}
        for name in sorted(legs - view.roce.keys()):
            yield Break(view.server.name, f"{name} has no RoCE values")
        for name in sorted(view.roce.keys() - legs if legs else ()):
            yield Break(view.roce_where(name), f"{name} is no leg of {view.server.name}")


@rule("KV-HST-037", "PFC is on for the switches' RoCE priority and for no other.")
def _pauses(hosts: Hosts) -> Iterator[Break]:
    priority = number(hosts.deployment, "switch.roce_priority")
    for where, _, values in hosts.roce:
        pfc = values.get("KV_PFC", "").split(",")
        if [index for index, on in enumerate(pfc) if on == "1"] != [priority] or len(pfc) != PRIORITIES:
            yield Break(where, f"PFC is {values.get('KV_PFC')}, and the switches pause priority {priority} alone")
        if values.get("KV_PRIORITY") != str(priority):
            yield Break(where, f"ECN is on for priority {values.get('KV_PRIORITY')}, and RoCE has {priority}")


@rule("KV-HST-038", "RDMA is marked with the DSCP that the switches put into their RoCE class, and as ECN-capable.")
def _marks(hosts: Hosts) -> Iterator[Break]:
    dscp = number(hosts.deployment, "switch.roce_dscp")
    for where, _, values in hosts.roce:
        tos = values.get("KV_TOS", "")
        if not tos.isdigit() or int(tos) >> 2 != dscp or int(tos) & 3 not in _ECN_CAPABLE:
            yield Break(where, f"traffic class {tos}: not DSCP {dscp} of the switches with an ECN-capable mark")


@rule("KV-HST-039", "Congestion notifications have the DSCP and the priority that the switches expect.")
def _notifications(hosts: Hosts) -> Iterator[Break]:
    for where, _, values in hosts.roce:
        for key, setting in (("KV_CNP_DSCP", "switch.cnp_dscp"), ("KV_CNP_PRIORITY", "switch.cnp_priority")):
            wanted = hosts.deployment.setting(setting)
            if values.get(key) != str(wanted):
                yield Break(where, f"{key} is {values.get(key)}, and the switches have {wanted}")


@rule("KV-HST-040", "Each port's RDMA device has the name that the rest of the tree uses.")
def _devices(hosts: Hosts) -> Iterator[Break]:
    for where, name, values in hosts.roce:
        if values.get("KV_RDMA") != rdma_name(name):
            yield Break(where, f"the RDMA device is {values.get('KV_RDMA')}, not {rdma_name(name)}")


@rule("KV-HST-041", "The RoCE unit is bound to its port and starts a script that is in the tree.")
def _unit(hosts: Hosts) -> Iterator[Break]:
    for shared in hosts.with_legs:
        unit, where = shared.text(places.ROCE_UNIT), shared.where(places.ROCE_UNIT)
        started = re.search(r"^ExecStart=(\S+)", unit, re.MULTILINE)
        if not started or started[1] not in shared.files:
            yield Break(where, f"starts {started[1] if started else 'nothing'}, which is not in the tree")
        if "BindsTo=sys-subsystem-net-devices-%i.device" not in unit:
            yield Break(where, "is not bound to its port, and so not started again with it")


@rule("KV-HST-042", "The catalogue has firmware settings for every adapter.")
def _known_adapters(hosts: Hosts) -> Iterator[Break]:
    remedy = "Add its id to rows of settings/nic.yaml, once its manual has been read."
    for _, adapter, nic, wanted in _adapters(hosts):
        if not wanted:
            yield Break(adapter, f"there are no firmware settings for {nic.id}", remedy)


@rule("KV-HST-043", "Files of adapters have the firmware settings of the catalogue: NIC mode, Ethernet, no SR-IOV.")
def _firmware(hosts: Hosts) -> Iterator[Break]:
    return (found for key, found in _other_settings(hosts) if not _CNP_KEY.fullmatch(key))


@rule("KV-HST-044", "Firmware sends congestion notifications as the switches expect them.")
def _firmware_notifications(hosts: Hosts) -> Iterator[Break]:
    return (found for key, found in _other_settings(hosts) if _CNP_KEY.fullmatch(key))


def _other_settings(hosts: Hosts) -> Iterator[tuple[str, Break]]:
    """Yield each key of firmware whose value in the file of an adapter is not the catalogue's."""
    for shared, adapter, _, wanted in _adapters(hosts):
        path = f"{places.NIC}/{adapter}.conf"
        found = shared.values(path)
        for key in sorted({*wanted, *found}):
            if found.get(key) != str(wanted.get(key)):
                text = f"{key} is {found.get(key, 'missing')}, wanted {wanted.get(key, 'not at all')}"
                yield key, Break(shared.where(path), text)


def _adapters(hosts: Hosts) -> Iterator[tuple[Shared, str, Nic, dict[str, int]]]:
    """Yield each adapter of a role's servers: their files, its name and kind, and its keys of firmware."""
    for shared in hosts.with_legs:
        for adapter, nic in sorted(adapters_of(hosts.deployment.in_role(shared.role)).items()):
            yield shared, adapter, nic, firmware(hosts.deployment, nic, shared.role)


@rule("KV-HST-058", "How RoCE sends again and how much adapters read at once are as the catalogue has it.")
def _adapter_values(hosts: Hosts) -> Iterator[Break]:
    size = number(hosts.deployment, "nic.read_request_bytes")
    wanted = {
        "KV_ROCE_ACCL": str(hosts.deployment.setting("nic.roce_acceleration")),
        "KV_READ_REQUEST": read_request(size),
    }
    for where, _, values in hosts.roce:
        for key, value in wanted.items():
            if values.get(key) != value:
                yield Break(where, f"{key} is {values.get(key, 'missing')}, wanted {value}")


@rule("KV-HST-052", "The RoCE script sets name, trust, PFC, ECN, notifications, traffic class and the adapter.")
def _script(hosts: Hosts) -> Iterator[Break]:
    for shared in hosts.with_legs:
        lines = shared.text(places.ROCE_SCRIPT).splitlines()
        script = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
        for step in (step for step in _STEPS if step not in script):
            yield Break(shared.where(places.ROCE_SCRIPT), f"does nothing about {step.strip('-=')}")
