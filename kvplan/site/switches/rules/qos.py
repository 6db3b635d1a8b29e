"""Rules about lossless RoCE: classes as hosts have them, shares that add up, headroom, and adaptive routing."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

from kvplan.site.rules import Break, rule
from kvplan.site.switches.ports import GIGABIT, WATCHED, receivers_bar_adaptive_routing
from kvplan.site.switches.qos import EVERY_PORT, traffic_classes
from kvplan.site.switches.reading import at, names_in, number_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.switches.reading import Config, Scene

_WHOLE: Final = 100
_BOTH: Final = "both"
_OFF: Final = ("disable", "disabled", "off")


@rule("KV-SWT-047", "RoCE is on and lossless.")
def roce_is_lossless(scene: Scene) -> Iterator[Break]:
    """Find switches that would drop RDMA traffic."""
    for config in scene.fabric:
        roce = at(config.content, "qos", "roce")
        if not config.is_on(roce) or at(roce, "mode") != "lossless":
            yield Break(f"{config.path}: qos.roce", "is not on and lossless")


@rule("KV-SWT-048", "The shares of buffer memory sum to 100 %.")
def pools_add_up(scene: Scene) -> Iterator[Break]:
    """Find buffers that are not shared out to 100 %."""
    for config in scene.fabric:
        pools = at(config.content, "qos", "traffic-pool")
        total = sum(number_in(pools, name, "memory-percent") for name in names_in(pools))
        if total != _WHOLE:
            yield Break(f"{config.path}: qos.traffic-pool", f"shares out {total} % of the memory, not 100 %")


@rule("KV-SWT-049", "Switches and hosts put RDMA into the same class.")
def classes_are_those_of_hosts(scene: Scene) -> Iterator[Break]:
    """Find code points that switches and hosts would read differently."""
    for config, kind in product(scene.fabric, ("roce", "cnp")):
        point, wanted = scene.setting(f"{kind}_dscp"), scene.setting(f"{kind}_priority")
        found = at(config.content, "qos", "mapping", EVERY_PORT, "dscp", str(point), "switch-priority")
        if found != wanted:
            text = f"puts DSCP {point} into priority {found or 'none'}, hosts into {wanted}"
            yield Break(f"{config.path}: qos.mapping", text)


@rule("KV-SWT-064", "Every priority has a traffic class: RDMA and notifications their own, all others one.")
def priorities_have_their_class(scene: Scene) -> Iterator[Break]:
    """Find priorities without a traffic class, and such as share the class of RDMA or have another."""
    wanted = traffic_classes(scene.setting("roce_priority"), scene.setting("cnp_priority"))
    for config in scene.fabric:
        classes = at(config.content, "qos", "egress-queue-mapping", EVERY_PORT, "switch-priority")
        for priority, traffic_class in wanted.items():
            found = at(classes, str(priority), "traffic-class")
            if found != traffic_class:
                text = f"puts priority {priority} into class {'none' if found == {} else found}, not {traffic_class}"
                yield Break(f"{config.path}: qos.egress-queue-mapping", text)


@rule("KV-SWT-065", "Switches trust the DSCP of hosts, and mark RDMA instead of dropping it.")
def marks_are_kept(scene: Scene) -> Iterator[Break]:
    """Find switches that class packets by something else than their DSCP, or turn notifications of congestion off."""
    roce = str(scene.setting("roce_priority"))
    for config in scene.fabric:
        trust = at(config.content, "qos", "mapping", EVERY_PORT, "trust")
        if trust != _BOTH:
            yield Break(f"{config.path}: qos.mapping", f"trusts {trust or 'nothing'}, not {_BOTH}: VLAN tag and DSCP")
        profiles = at(config.content, "qos", "congestion-control")
        for name in names_in(profiles):
            if at(profiles, name, "traffic-class", roce, "ecn") in _OFF:
                text = f"turns ECN off for class {roce}: hosts would not slow down before they are paused"
                yield Break(f"{config.path}: qos.congestion-control.{name}", text)


@rule("KV-SWT-050", "The shares of bandwidth sum to 100 %, and notifications go first.")
def bandwidth_adds_up(scene: Scene) -> Iterator[Break]:
    """Find shares of bandwidth that are not 100 %, and notifications that wait behind other traffic."""
    for config in scene.fabric:
        classes = at(config.content, "qos", "egress-scheduler", EVERY_PORT, "traffic-class")
        total = sum(number_in(classes, name, "bw-percent") for name in names_in(classes))
        where = f"{config.path}: qos.egress-scheduler"
        if total != _WHOLE:
            yield Break(where, f"shares out {total} % of the bandwidth, not 100 %")
        if at(classes, str(scene.setting("cnp_priority")), "mode") != "strict":
            yield Break(where, "lets notifications of congestion wait")


@rule("KV-SWT-051", "Headroom for pauses reckons with the longest cable.")
def pauses_have_headroom(scene: Scene) -> Iterator[Break]:
    """Find cables that are longer than the headroom for pauses reckons with, and pauses of another priority."""
    wanted = [str(scene.setting("roce_priority"))]
    for config in scene.fabric:
        pfc = at(config.content, "qos", "pfc", EVERY_PORT)
        if names_in(pfc, "switch-priority") != wanted or at(pfc, "rx") != "enable" or at(pfc, "tx") != "enable":
            yield Break(f"{config.path}: qos.pfc", f"does not pause priority {wanted[0]} alone, both ways")
    for config, port in scene.legs:
        length = number_in(config.content, "qos", "pfc", EVERY_PORT, "cable-length")
        longest = max((scene.deployment.cables[name].length_m for name in port.cables), default=0)
        if longest > length:
            text = f"reckons with {length} m, and the cable of {port.name} is {longest:g} m long"
            yield Break(f"{config.path}: qos.pfc", text)


@rule("KV-SWT-052", "The PFC watchdog is on for every host.")
def storms_are_watched(scene: Scene) -> Iterator[Break]:
    """Find legs on which a host could pause the fabric for good."""
    for config, port, host in scene.host_legs:
        if at(config.interfaces, port.name, "qos", "pfc-watchdog", "state") != WATCHED:
            text = f"has no PFC watchdog: {host.device} could pause the fabric for good"
            yield Break(f"{config.path}: interface.{port.name}", text)
    for config in scene.fabric:
        watchdog = at(config.content, "qos", "pfc-watchdog")
        if not at(watchdog, "polling-interval") or not at(watchdog, "robustness"):
            yield Break(f"{config.path}: qos.pfc-watchdog", "does not say when a storm is one")


@rule("KV-SWT-053", "Adaptive routing is on only where it works and is asked for.")
def adaptive_routing_is_possible(scene: Scene) -> Iterator[Break]:
    """Find adaptive routing on links that are too fast for it, to receivers without it, or that nobody asks for."""
    is_barred = receivers_bar_adaptive_routing(scene.deployment)
    most = scene.setting("adaptive_routing_most_gbit_per_s")
    is_asked_for = scene.deployment.site.build.fabric.adaptive_routing
    ports = ((config, name) for config in scene.fabric for name in _adaptive(config))
    for config, name in ports:
        speed = config.gbit_per_s(name, scene.cage_gbit_per_s)
        where = f"{config.path}: interface.{name}.router.adaptive-routing"
        if speed > most:
            remedy = "run the cage as two legs: build.fabric.uplink_legs: 2x400G"
            yield Break(where, f"is on at {speed:g} Gbit/s, and works up to {most} Gbit/s", remedy)
        if not is_asked_for:
            yield Break(where, "is on, and build.fabric.adaptive_routing is off")
        if is_barred:
            remedy = "leave build.fabric.adaptive_routing off, or have other adapters on every port"
            yield Break(where, "is on, and ConnectX-7 receivers share the fabric", remedy)


def _adaptive(config: Config) -> list[str]:
    """List the ports with adaptive routing."""
    return [
        name for name in config.interfaces if config.is_on(at(config.interfaces, name, "router", "adaptive-routing"))
    ]


@rule("KV-SWT-054", "Adaptive routing is on for all links between switches, or none.")
def adaptive_routing_is_complete(scene: Scene) -> Iterator[Break]:
    """Find switches where adaptive routing is on for some links between switches only, or not as a whole."""
    asked_for = scene.deployment.site.build.fabric.adaptive_routing
    is_barred = receivers_bar_adaptive_routing(scene.deployment)
    most = scene.setting("adaptive_routing_most_gbit_per_s")
    for config in scene.fabric:
        links = config.links
        adaptive = set(_adaptive(config))
        is_on = config.is_on(at(config.content, "router", "adaptive-routing"))
        missing = [port.name for port in links if port.name not in adaptive]
        is_slow = all(port.bits_per_s <= most * GIGABIT for port in links)
        if adaptive and (missing or not is_on):
            text = f"is on for {len(adaptive)} ports, off for {len(missing)} links between switches, globally {is_on}"
            yield Break(f"{config.path}: router.adaptive-routing", text)
        elif asked_for and is_barred and not adaptive:
            text = "is off: ConnectX-7 receivers share the fabric"
            remedy = "leave build.fabric.adaptive_routing off, or have other adapters on every port"
            yield Break(f"{config.path}: router.adaptive-routing", text, remedy, severity="warning")
        elif asked_for and is_slow and not adaptive:
            yield Break(f"{config.path}: router.adaptive-routing", "is off, and the Site asks for it")
        elif asked_for and not is_slow:
            text = "is off: links between switches are too fast for it"
            remedy = "run the cages as two legs: build.fabric.uplink_legs: 2x400G"
            yield Break(f"{config.path}: router.adaptive-routing", text, remedy, severity="warning")
