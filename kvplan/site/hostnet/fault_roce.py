"""Rules for RoCE: what hosts send must be what switches expect."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kvplan.site.hostnet import places
from kvplan.site.hostnet.adapters import adapters_of, firmware
from kvplan.site.hostnet.parse import settings
from kvplan.site.hostnet.roce import PRIORITIES, number, rdma_name
from kvplan.site.hostnet.rules import fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.design import Finding
    from kvplan.schema.roles import Role
    from kvplan.site.deployment import Deployment
    from kvplan.site.hostnet.view import HostView

_ECN_CAPABLE: Final = (1, 2)
_STEPS: Final = (
    "--trust=dscp",
    "--pfc=",
    "roce_np/enable",
    "roce_rp/enable",
    "cnp_dscp",
    "cma_roce_tos",
    "traffic_class",
)
_CNP_KEY: Final = re.compile(r"CNP_(DSCP|802P_PRIO)_P\d")


def roce_faults(deployment: Deployment, view: HostView) -> Iterator[Finding]:
    """Check the RoCE values of a server's legs.

    Parameters
    ----------
    deployment
        The deployment.
    view
        The server's files.

    Yields
    ------
    Finding
        What breaks a rule.
    """
    legs = {leg.name for leg in view.server.fabric}
    for name in sorted(legs - {*view.roce}):
        yield fault(36, view.server.name, f"{name} has no RoCE values")
    for name in sorted({*view.roce} - legs if legs else ()):
        yield fault(36, view.where(f"{places.ROCE_ENV}/{name}.env"), f"{name} is no leg of {view.server.name}")
    for name in sorted(legs & {*view.roce}):
        where = view.where(f"{places.ROCE_ENV}/{name}.env")
        yield from _values(deployment, where, view.roce[name])
        if view.roce[name].get("KV_RDMA") != rdma_name(name):
            yield fault(40, where, f"the RDMA device is {view.roce[name].get('KV_RDMA')}, not {rdma_name(name)}")


def unit_faults(role: str, files: Mapping[str, str]) -> Iterator[Finding]:
    """Check the unit that sets RoCE up, and its script.

    Parameters
    ----------
    role
        What the servers are.
    files
        The files that they share, by path on the host.

    Yields
    ------
    Finding
        What breaks a rule.
    """
    unit = files.get(places.ROCE_UNIT, "")
    where = places.of_role(role, places.ROCE_UNIT)
    started = re.search(r"^ExecStart=(\S+)", unit, re.MULTILINE)
    if not started or started[1] not in files:
        yield fault(41, where, f"starts {started[1] if started else 'nothing'}, which is not in the tree")
    if "BindsTo=sys-subsystem-net-devices-%i.device" not in unit:
        yield fault(41, where, "is not bound to its port, and so not started again with it")
    script = files.get(places.ROCE_SCRIPT, "")
    for step in _STEPS:
        if step not in script:
            yield fault(52, places.of_role(role, places.ROCE_SCRIPT), f"does nothing about {step.strip('-=')}")


def adapter_faults(deployment: Deployment, role: Role, files: Mapping[str, str]) -> Iterator[Finding]:
    """Check the firmware settings of the adapters of a role.

    Parameters
    ----------
    deployment
        The deployment.
    role
        What the servers are.
    files
        The files that they share, by path on the host.

    Yields
    ------
    Finding
        What breaks a rule.
    """
    for adapter, nic in sorted(adapters_of(deployment.in_role(role)).items()):
        wanted = firmware(deployment, nic, role)
        if not wanted:
            remedy = "Add its id to rows of settings/nic.yaml, once its manual has been read."
            yield fault(42, adapter, f"there are no firmware settings for {nic.id}", remedy)
        path = f"{places.NIC}/{adapter}.conf"
        found = settings(files.get(path, ""))
        for key in sorted({*wanted, *found}):
            if found.get(key) != str(wanted.get(key)):
                text = f"{key} is {found.get(key, 'missing')}, wanted {wanted.get(key, 'not at all')}"
                yield fault(44 if _CNP_KEY.fullmatch(key) else 43, places.of_role(role, path), text)


def _values(deployment: Deployment, where: str, values: dict[str, str]) -> Iterator[Finding]:
    """Compare the values of a port with what the switches are told."""
    priority = number(deployment, "switch.roce_priority")
    pfc = values.get("KV_PFC", "").split(",")
    if [index for index, on in enumerate(pfc) if on == "1"] != [priority] or len(pfc) != PRIORITIES:
        yield fault(37, where, f"PFC is {values.get('KV_PFC')}, and the switches pause priority {priority} alone")
    if values.get("KV_PRIORITY") != str(priority):
        yield fault(37, where, f"ECN is on for priority {values.get('KV_PRIORITY')}, and RoCE has {priority}")
    dscp, tos = number(deployment, "switch.roce_dscp"), values.get("KV_TOS", "")
    if not tos.isdigit() or int(tos) >> 2 != dscp or int(tos) & 3 not in _ECN_CAPABLE:
        yield fault(38, where, f"traffic class {tos}: not DSCP {dscp} of the switches with an ECN-capable mark")
    for key, setting in (("KV_CNP_DSCP", "switch.cnp_dscp"), ("KV_CNP_PRIORITY", "switch.cnp_priority")):
        if values.get(key) != str(deployment.setting(setting)):
            yield fault(39, where, f"{key} is {values.get(key)}, and the switches have {deployment.setting(setting)}")
