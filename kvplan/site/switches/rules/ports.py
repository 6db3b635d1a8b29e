"""Rules about front ports: each used port once, none beyond the switch, and cages divided as they can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.site.rules import Break, rule
from kvplan.site.switches.management import uplink_names
from kvplan.site.switches.reading import at, cage_of, names_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.design import Port
    from kvplan.site.switches.reading import Config, Scene

_ALL_LANES_OF_TWO: Final = 8
"""Legs of a cage that take the lanes of its neighbour too."""
_PLACED: Final = frozenset(["type", "link", "description"])
"""Keys that a divided cage may have."""


def _ports(config: Config) -> dict[str, Port]:
    """Return the cabled front ports of a switch by name."""
    return {port.name: port for port in config.switch.ports if cage_of(port.name)}


@rule("KV-SWT-020", "Every cabled port is configured and up.")
def used_ports_are_there(scene: Scene) -> Iterator[Break]:
    """Find cabled ports that no configuration has, or that would stay down."""
    cabled = ((config, name) for config in scene.configs.values() for name in _ports(config))
    for config, name in cabled:
        if name not in config.interfaces:
            yield Break(f"{config.path}: interface.{name}", "is cabled and not configured")
        elif "up" not in names_in(config.interfaces, name, "link", "state"):
            yield Break(f"{config.path}: interface.{name}", "is cabled and would stay down")


@rule("KV-SWT-021", "No port is configured that has no cable.")
def no_other_ports_are_there(scene: Scene) -> Iterator[Break]:
    """Find configured ports that no cable leads to."""
    for config in scene.configs.values():
        ports = _ports(config)
        uplinks = () if config.is_fabric else uplink_names(scene.deployment)
        known = {*ports, *(port.cage for port in ports.values()), *uplinks}
        for name in (name for name in config.front_ports if name not in known):
            yield Break(f"{config.path}: interface.{name}", "is configured and has no cable")


@rule("KV-SWT-022", "Every configured port is on the switch.")
def ports_are_on_the_switch(scene: Scene) -> Iterator[Break]:
    """Find ports beyond the last one of the switch."""
    fabric = scene.deployment.plan.parts.switch.cages
    management = scene.setting("management_ports") + scene.setting("management_uplinks")
    for config, name in scene.front_ports:
        cages = fabric if config.is_fabric else management
        _, number, _ = cage_of(name) or ("", 0, None)
        if not 1 <= number <= cages:
            yield Break(f"{config.path}: interface.{name}", f"is beyond the switch, which has {cages} ports")


@rule("KV-SWT-023", "Legs and lanes are within their cage.")
def legs_fit_their_cage(scene: Scene) -> Iterator[Break]:
    """Find cages divided into more lanes than they have, and legs beyond the last one."""
    lanes = scene.setting("cage_lanes")
    for config, name in scene.front_ports:
        where = f"{config.path}: interface.{name}"
        divided = config.breakout(name)
        if divided and divided[0] * divided[1] > lanes:
            yield Break(where, f"takes {divided[0]} x {divided[1]} lanes of a cage of {lanes}")
        cage, _, leg = cage_of(name) or ("", 0, None)
        legs, _ = config.breakout(cage) or (0, 0)
        if leg is not None and leg >= legs:
            yield Break(where, f"is leg {leg} of {cage}, which has {legs} legs")


@rule("KV-SWT-024", "Cages are divided as their cables are.")
def cages_are_divided_as_designed(scene: Scene) -> Iterator[Break]:
    """Find cages with other legs or lanes than their cables have."""
    divisions = {
        (config.name, port.cage): (port.cage_legs, port.lanes) if port.cage_legs > 1 else None
        for config, port in scene.legs
    }
    for (name, cage), wanted in divisions.items():
        found = scene.configs[name].breakout(cage)
        if found != wanted:
            text = f"is divided into {found or 'nothing'} (legs, lanes each), its cables into {wanted or 'nothing'}"
            yield Break(f"{scene.configs[name].path}: interface.{cage}", text)


@rule("KV-SWT-025", "A divided cage holds nothing but its division.")
def divided_cages_hold_nothing_else(scene: Scene) -> Iterator[Break]:
    """Find settings on a port that its division does away with."""
    for config, name in scene.front_ports:
        keys = set(names_in(config.interfaces, name)) - _PLACED
        extra = keys | (set(names_in(config.interfaces, name, "link")) - {"breakout"})
        if config.breakout(name) and extra:
            yield Break(f"{config.path}: interface.{name}", f"is divided and holds {', '.join(sorted(extra))}")


@rule("KV-SWT-026", "The neighbour of a cage of eight legs is not used.")
def neighbours_of_eight_legs_are_off(scene: Scene) -> Iterator[Break]:
    """Find cages in use whose lanes the other cage of their pair takes."""
    for config, name in scene.front_ports:
        _, number, _ = cage_of(name) or ("", 0, None)
        other = f"swp{number + 1 if number % 2 else number - 1}"
        if (config.breakout(name) or (0, 0))[0] == _ALL_LANES_OF_TWO and other in config.interfaces:
            yield Break(f"{config.path}: interface.{name}", f"has eight legs, so {other} must be off")


@rule("KV-SWT-027", "Forward error correction is left to the driver.")
def fec_is_left_to_the_driver(scene: Scene) -> Iterator[Break]:
    """Find forward error correction set to `auto`, which is not to be set."""
    for config, name in scene.front_ports:
        if at(config.interfaces, name, "link", "fec") == "auto":
            yield Break(f"{config.path}: interface.{name}.link.fec", "is auto: leave it out")
