"""Rules about the script that switches fetch, the topology that they check, and the management switches."""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from kvplan.site.rules import Break, rule
from kvplan.site.switches.management import BRIDGE, uplink_names
from kvplan.site.switches.reading import at, names_in
from kvplan.site.switches.system import MANAGEMENT_VRF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.switches.reading import Scene

ZTP: Final = "switches/ztp.sh"
TOPOLOGY: Final = "switches/topology.dot"
MARKER: Final = "CUMULUS-AUTOPROVISIONING"
_CHOICE: Final = re.compile(r"^ *(?P<serial>[\w.-]+)\) echo (?P<name>[\w-]+) (?P<sum>[0-9a-f]{64}) ;;$", re.MULTILINE)
_EDGE: Final = re.compile(r'^ *"([^"]+)":"([^"]+)" -- "([^"]+)":"([^"]+)"', re.MULTILINE)


@rule("KV-SWT-055", "The script that new switches fetch is one that they run.")
def script_is_for_switches(scene: Scene) -> Iterator[Break]:
    """Find a script that a switch would not run."""
    text = scene.tree.get(ZTP, "")
    if not text.startswith("#!/bin/bash\n") or MARKER not in text:
        yield Break(ZTP, f"is missing, is no bash script, or lacks the line {MARKER}")


@rule("KV-SWT-056", "The script knows every switch once, by its serial number.")
def serials_are_known_once(scene: Scene) -> Iterator[Break]:
    """Find serial numbers that the script knows twice, not at all, or for another switch."""
    choices = [(found["serial"], found["name"]) for found in _CHOICE.finditer(scene.tree.get(ZTP, ""))]
    for serial, count in Counter(serial for serial, _ in choices).items():
        if count > 1:
            yield Break(ZTP, f"knows the serial number {serial} {count} times")
    wanted = {(config.switch.site.serial, config.name) for config in scene.configs.values()}
    for serial, name in sorted(wanted ^ set(choices)):
        text = "does not know" if (serial, name) in wanted else "knows, unlike the Site,"
        yield Break(ZTP, f"{text} {name} by the serial number {serial}")


@rule("KV-SWT-057", "The script knows the sha256 of every configuration.")
def sums_are_those_of_the_files(scene: Scene) -> Iterator[Break]:
    """Find configurations that the script would refuse, for they are not those that it was written for."""
    for found in _CHOICE.finditer(scene.tree.get(ZTP, "")):
        path = f"switches/{found['name']}.yaml"
        if sha256(scene.tree.get(path, "").encode()).hexdigest() != found["sum"]:
            yield Break(ZTP, f"has another sha256 of {path} than the file")


@rule("KV-SWT-058", "The topology for PTM has an edge for every leg, and no other.")
def topology_is_the_cabling(scene: Scene) -> Iterator[Break]:
    """Find legs that the topology lacks, and edges that no cable has."""
    edges = _EDGE.findall(scene.tree.get(TOPOLOGY, ""))
    found = {frozenset(((a, b), (c, d))) for a, b, c, d in edges}
    wanted = {
        frozenset(((port.device, port.name), (port.peer_device, port.peer_port)))
        for port in scene.deployment.design.ports
        if port.kind == "fabric"
    }
    for edge in sorted(sorted(edge) for edge in found ^ wanted):
        text = "lacks" if frozenset(edge) in wanted else "has, unlike the cabling,"
        yield Break(TOPOLOGY, f"{text} {' -- '.join(':'.join(end) for end in edge)}")
    if len(edges) != len(found):
        yield Break(TOPOLOGY, "has an edge twice")


@rule("KV-SWT-059", "A management switch joins all its ports.")
def management_switches_join_all_ports(scene: Scene) -> Iterator[Break]:
    """Find ports of a management switch that are not in its bridge, or in another network of it."""
    vlan = scene.setting("management_vlan")
    for config in (config for config in scene.configs.values() if not config.is_fabric):
        for name in (*(port.name for port in config.switch.ports), *uplink_names(scene.deployment)):
            if at(config.interfaces, name, "bridge", "domain", BRIDGE, "access") != vlan:
                yield Break(f"{config.path}: interface.{name}", f"is not in network {vlan} of the bridge {BRIDGE}")
        if BRIDGE not in names_in(config.content, "bridge", "domain"):
            yield Break(f"{config.path}: bridge.domain", f"lacks {BRIDGE}")


@rule("KV-SWT-060", "A management switch answers at its own address.")
def management_switches_are_reached(scene: Scene) -> Iterator[Break]:
    """Find management switches that would not answer at their address."""
    for config in scene.configs.values():
        wanted = [config.switch.device.management_address]
        bridges = [name for name in config.interfaces if at(config.interfaces, name, "type") == "svi"]
        held = [(config.addresses(name), config.vrf(name)) for name in bridges]
        if not config.is_fabric and held != [(wanted, MANAGEMENT_VRF)]:
            text = f"has no address {wanted[0]} on the bridge in the VRF {MANAGEMENT_VRF}"
            yield Break(f"{config.path}: interface", text)
