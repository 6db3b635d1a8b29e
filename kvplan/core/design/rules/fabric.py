"""Rules about the fabric: single points of failure, cages left, adaptive routing, and the Plan's own counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.core.design.inventory import cages_used
from kvplan.core.design.machines import adapters_of
from kvplan.core.network.notes import ADAPTIVE_ROUTING_BITS_PER_S, SPARE_SHARE, is_connectx7
from kvplan.schema.design import Finding
from kvplan.schema.roles import FABRIC_ROLES, ROLE_NOUNS
from kvplan.units import format_percent, format_rate, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvplan.core.design.inputs import DesignInputs
    from kvplan.schema.design import Design
    from kvplan.schema.roles import Role


HALF: Final = 0.5 - 1e-9
"""What two rails promise when one is lost, less what rounding takes."""


def _single_port(inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report machines that hang on one leaf with a whole network."""
    leaf = design.state("leaf")
    left = format_rate(leaf.read_bytes_per_s) if leaf.read_bytes_per_s else "nothing"
    roles: tuple[Role, ...] = ("storage", "client")
    for role in roles:
        for entry in adapters_of(inputs.plan.parts, role):
            if entry.ports == 1:
                yield Finding(
                    id="storage-single-port" if entry.network == "storage" else "single-port",
                    severity="warning",
                    where=f"{ROLE_NOUNS[role][1]}, {entry.nic.id}",
                    text=f"each {ROLE_NOUNS[role][0]} hangs on one leaf with its {entry.network} network: with a leaf "
                    f"lost {left} is read",
                    remedy="a dual-port adapter (2 x 200G carries as much as 1 x 400G), or a routed way over another",
                )


def _single_spine(_inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report a single spine, which carries all traffic between leaves."""
    if design.switches.spines == 1:
        yield Finding(
            id="single-spine",
            severity="warning",
            where=next(device.name for device in design.devices if device.role == "spine"),
            text="one spine is a single point of failure for what crosses the leaves",
            remedy="`--spines 2`: the uplinks are shared out to both",
        )


def _lost_leaf(_inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report that less than half of the bandwidth is left with a leaf lost."""
    leaf = design.state("leaf")
    if 0 < leaf.read_share < HALF:
        yield Finding(
            id="leaf-lost",
            severity="warning",
            where="leaf switches",
            text=f"with a leaf lost {format_percent(leaf.read_share, 0)} of the bandwidth is left: {leaf.text}",
            remedy="two ports a node in each network",
        )


def _cages_left(inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report switches with few cages left for growth and repair."""
    cages = cages_used(design)
    total = inputs.plan.parts.switch.cages
    fabric = [device for device in design.devices if device.role in FABRIC_ROLES]
    tight = {device.name: total - len(cages[device.name]) for device in fabric}
    scarce = {name: free for name, free in tight.items() if free < SPARE_SHARE * total}
    if scarce:
        least = min(scarce, key=lambda name: (scarce[name], name))
        yield Finding(
            id="cages-left",
            severity="warning",
            where=listed([least, *(name for name in scarce if name != least)], 1),
            text=f"{scarce[least]} of {total} cages are left, less than {format_percent(SPARE_SHARE, 0)}",
            remedy="plan the next leaf pair before the tier grows",
        )


def _adaptive_routing(inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report what rules adaptive routing out: links above 400G, and ConnectX-7 receivers in the fabric."""
    parts, asked = inputs.plan.parts, inputs.options.fabric.adaptive_routing
    uplinks = [port for port in design.ports if port.network in {"uplink", "super-uplink"}]
    too_fast = [port for port in uplinks if port.bits_per_s > ADAPTIVE_ROUTING_BITS_PER_S]
    connectx7 = sorted({nic.id for nic in (parts.client_nic, parts.storage_nic, parts.gpu_nic) if is_connectx7(nic)})
    if too_fast:
        yield Finding(
            id="adaptive-routing-rate",
            severity="error" if asked else "info",
            where=listed([f"{port.device} {port.name}" for port in too_fast], 1),
            text="adaptive routing does not work on 800G links: it is off",
            remedy="run the uplinks as 2x400G",
        )
    if connectx7:
        yield Finding(
            id="adaptive-routing-receivers",
            severity="error" if asked else "info",
            where=", ".join(connectx7),
            text="ConnectX-7 receivers share the fabric, and no Spectrum-X profile names them: adaptive routing stays "
            "off (inferred, confirm with NVIDIA)",
            remedy="BlueField-3 or ConnectX-8 on every port, or leave adaptive routing off",
        )


def _plan_differs(inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report build options that lead to another fabric than the Plan's."""
    network, built = inputs.plan.network, design.switches
    planned = (network.leaf_switches, network.spine_switches, network.super_spine_switches, network.uplinks_per_leaf)
    if planned != (built.leaves, built.spines, built.super_spines, built.uplinks_per_leaf):
        yield Finding(
            id="plan-differs",
            severity="info",
            where="fabric",
            text=f"{built.leaves} leaf and {built.spines} spine switches with {built.uplinks_per_leaf} uplink cages a "
            f"leaf are built, the Plan has {planned[0]}, {planned[1]} and {planned[3]}",
            remedy="the states of this design hold for the fabric as built; the Plan's network budget for its own",
        )


def _spines_fewer(inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report spines and 800G uplinks that were asked for and cannot be cabled."""
    asked = inputs.options.fabric
    if design.switches.spines < asked.min_spines:
        yield Finding(
            id="spines-fewer",
            severity="warning",
            where=f"{design.switches.spines} spines",
            text=f"{asked.min_spines} spines were asked for: a leaf has too few uplinks to reach them all",
            remedy="less oversubscription, or fewer spines",
        )
    uplinks = [port for port in design.ports if port.network == "uplink"]
    if asked.uplink_legs == "1x800G" and uplinks[0].cage_legs > 1:
        yield Finding(
            id="uplink-legs",
            severity="warning",
            where="uplinks",
            text="800G links were asked for; the legs of a leaf do not divide evenly by the spines, so they run as two",
            remedy="another count of spines (`--spines`)",
        )


def _catalogue_differs(inputs: DesignInputs, _design: Design) -> Iterator[Finding]:
    """Report that cables and enclosures come from another catalogue than the Plan's."""
    lock, today = inputs.plan.catalogue, inputs.lock
    if lock.sha256 != today.sha256:
        yield Finding(
            id="catalogue-differs",
            severity="info",
            where=f"catalogue {today.version} ({today.sha256[:12]})",
            text=f"the Plan was made with catalogue {lock.version} ({lock.sha256[:12]}), whose parts it keeps",
            remedy="size again to take everything from one catalogue",
        )


def _management_uplinks(inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report the uplinks at which the management network ends and the site's own begins."""
    count = design.switches.management * inputs.options.management.uplinks_per_switch
    yield Finding(
        id="management-uplinks",
        severity="info",
        where="management switches",
        text=f"{count} uplinks are handed over to the site's management network",
        remedy="agree on optics, ports and addresses with whoever runs that network",
    )


RULES: Final[tuple[Callable[[DesignInputs, Design], Iterator[Finding]], ...]] = (
    _single_port,
    _single_spine,
    _lost_leaf,
    _cages_left,
    _adaptive_routing,
    _plan_differs,
    _spines_fewer,
    _catalogue_differs,
    _management_uplinks,
)
