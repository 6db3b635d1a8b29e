"""Switch counts of a fabric of two or three tiers, in cages and the legs they are broken out into."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.core.arithmetic import ceil_div
from kvplan.core.network.notes import structure_notes
from kvplan.errors import InputError
from kvplan.schema.network import Fabric

if TYPE_CHECKING:
    from kvplan.schema.hardware import Switch

LEGS_PER_UPLINK: Final = 2
"""An uplink cage runs as two legs: adaptive routing works on 400G links, not on 800G."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Machines of one kind and the fabric ports of each: machines [1], ports a machine [1], port rate [bit/s]."""

    machines: int
    per_machine: int
    bits_per_s: float


class _Attached(NamedTuple):
    """Ports of one kind, and how many of them one cage holds."""

    ports: Ports
    legs_per_cage: int


class _Spines(NamedTuple):
    """Spines, the legs of a leaf to all of them, the uplink cages those fill, and the cages used on each spine.

    Beyond two tiers leaves and spines form `pods` under super-spines, and each spine has as many cages up as down.
    """

    switches: int
    legs: int
    uplinks: int
    cages_used: int
    pods: int = 1
    super_spines: int = 0


class _Layout(NamedTuple):
    """Leaf pairs, cages and bandwidth down of one leaf, and the spines above; no spines beyond two tiers."""

    pairs: int
    cages_down: int
    down_bits_per_s: float
    uplinks: int
    spines: _Spines | None


def fabric(
    storage_client: Ports,
    storage: Ports,
    client: Ports,
    switch: Switch,
    oversubscription: float = 1.0,
    min_spines: int = 1,
) -> Fabric:
    """Lay out the fewest leaf switches, in pairs, and the spines above them.

    Each machine has half of its ports on either leaf of a pair. For a leaf with n nodes and k clients in its pair:
    cages down = sum over port kinds of ceil(legs / legs per cage); uplinks = ceil(bandwidth down / (oversubscription
    x cage rate)), grown until the legs divide by the spines; cages down + uplinks <= cages of the switch.

    Parameters
    ----------
    storage_client
        Ports of the storage nodes towards the clients, machines [1] and rate [bit/s].
    storage
        Ports of the storage nodes towards each other, machines [1] and rate [bit/s].
    client
        Ports of the client servers, machines [1] and rate [bit/s].
    switch
        Catalogue row of the switch, the same for leaf and spine.
    oversubscription
        Bandwidth down over bandwidth up of a leaf that is accepted [1].
    min_spines
        Spines at least, such as two so that one may fail [1].

    Returns
    -------
    Fabric
        Counts of switches, cages and cables [1], and what to know about them.

    Raises
    ------
    InputError
        When a port is faster than the switch, or one machine alone has too many ports.

    Notes
    -----
    Two tiers end where each leaf has a single leg to each spine: 128 leaves with 64-cage switches. Beyond that leaves
    form pods of at most half a spine's cages, with one spine an uplink cage, and super-spines join the pods: the
    spines of one position in all pods form a plane with super-spines of its own.

    References
    ----------
    Derived for a folded Clos network (C. Clos, Bell System Technical Journal 32 (1953), 406-424); breakouts from the
    NVIDIA Cumulus Linux 5.15 documentation, Switch Port Attributes.

    Examples
    --------
    The published system: eight nodes, four clients, three switches.

    >>> from kvplan.core.network.examples import SWITCH
    >>> built = fabric(Ports(8, 2, 200e9), Ports(8, 1, 400e9), Ports(4, 2, 400e9), SWITCH)
    >>> built.leaf_switches, built.spine_switches, built.cages_down_per_leaf, built.uplinks_per_leaf
    (2, 1, 6, 6)
    """
    kinds = (storage_client, storage, client)
    attached = tuple(_Attached(ports, legs_per_cage(switch, ports.bits_per_s)) for ports in kinds)
    return _fabric(attached, switch.cages, switch.cage_bits_per_s, oversubscription, min_spines)


def legs_per_leaf(machines: int, ports_per_machine: int) -> int:
    """Legs that some machines of a leaf pair have on one of its two leaves.

    legs = ceil(machines x ports / 2)

    Parameters
    ----------
    machines
        Machines of the pair [1].
    ports_per_machine
        Fabric ports of each [1].

    Returns
    -------
    int
        Legs on the fuller leaf of the two [1].

    Notes
    -----
    Single ports alternate between the two leaves.

    References
    ----------
    Derived.

    Examples
    --------
    >>> legs_per_leaf(37, 2), legs_per_leaf(37, 1)
    (37, 19)
    """
    return ceil_div(machines * ports_per_machine, 2)


def uplinks_per_leaf(down_bits_per_s: float, cage_bits_per_s: float, oversubscription: float) -> int:
    """Uplink cages that a leaf needs.

    uplinks = ceil(bandwidth down / (oversubscription x cage rate))

    Parameters
    ----------
    down_bits_per_s
        Sum of the line rates of all ports below [bit/s].
    cage_bits_per_s
        Line rate of one cage [bit/s].
    oversubscription
        Bandwidth down over bandwidth up that is accepted [1].

    Returns
    -------
    int
        Cages, before they are grown to divide by the spines [1].

    Notes
    -----
    At least one, or the leaves would not be joined.

    References
    ----------
    Derived.

    Examples
    --------
    >>> [uplinks_per_leaf(4.8e12, 800e9, ratio) for ratio in (1, 2, 4)]
    [6, 3, 2]
    """
    return max(math.ceil(down_bits_per_s / (oversubscription * cage_bits_per_s)), 1)


def legs_per_cage(switch: Switch, bits_per_s: float) -> int:
    """Ports of a rate that one cage of a switch holds.

    legs = ports per cage of the switch's table, else floor(cage rate / port rate); at most max ports / cages

    Parameters
    ----------
    switch
        Catalogue row of the switch.
    bits_per_s
        Line rate of the port [bit/s].

    Returns
    -------
    int
        Ports a cage [1].

    Raises
    ------
    InputError
        When the port is faster than a cage.

    Notes
    -----
    A breakout that takes the neighbouring cage with it counts half.

    References
    ----------
    NVIDIA Cumulus Linux 5.15 documentation, Switch Port Attributes.

    Examples
    --------
    >>> from kvplan.core.network.examples import SWITCH
    >>> [legs_per_cage(SWITCH, rate) for rate in (200e9, 400e9, 800e9)]
    [4, 2, 1]
    """
    most = max(switch.breakout_legs.values(), default=1)
    divided = min(int(switch.cage_bits_per_s // bits_per_s), most)
    legs = switch.breakout_legs.get(f"{bits_per_s / 1e9:g}G", divided)
    if legs == 0:
        raise InputError.single(
            switch.id,
            f"a port of {bits_per_s / 1e9:g} Gb/s is faster than a cage of the switch",
            allowed=f"up to {switch.cage_bits_per_s / 1e9:g} Gb/s",
        )
    return legs if switch.max_ports is None else min(legs, max(switch.max_ports // switch.cages, 1))


@lru_cache(maxsize=4096)
def _fabric(
    attached: tuple[_Attached, ...], cages: int, cage_bits_per_s: float, oversubscription: float, min_spines: int
) -> Fabric:
    """Lay out the fabric; cached, for many requests share few fabrics."""
    layout = _layout(attached, cages, cage_bits_per_s, oversubscription, min_spines)
    spines = layout.spines or _beyond_two_tiers(layout, cages)
    leaves = 2 * layout.pairs
    cages_used = layout.cages_down + spines.uplinks
    return Fabric(
        leaf_switches=leaves,
        spine_switches=spines.switches,
        super_spine_switches=spines.super_spines,
        pods=spines.pods,
        cages_down_per_leaf=layout.cages_down,
        uplinks_per_leaf=spines.uplinks,
        cages_per_switch=cages,
        cage_bits_per_s=cage_bits_per_s,
        spine_cages_used=spines.cages_used,
        inter_switch_cables=leaves * spines.uplinks + (spines.switches * spines.cages_used if spines.pods > 1 else 0),
        oversubscription=layout.down_bits_per_s / (spines.legs / LEGS_PER_UPLINK * cage_bits_per_s),
        super_spine_needed=layout.spines is None,
        notes=structure_notes(
            spines=spines.switches,
            leg_bits_per_s=cage_bits_per_s / LEGS_PER_UPLINK,
            spare_share=1 - cages_used / cages,
            super_spine=layout.spines is None,
        ),
    )


def _layout(
    attached: tuple[_Attached, ...], cages: int, cage_bits_per_s: float, oversubscription: float, min_spines: int
) -> _Layout:
    """Find the fewest leaf pairs whose cages hold all ports and uplinks."""
    pairs = _fewest_pairs(attached, cages, cage_bits_per_s, oversubscription)
    most_pairs = max(*(kind.ports.machines for kind in attached), pairs)
    while pairs <= most_pairs:
        layout = _with_pairs(pairs, attached, cage_bits_per_s, oversubscription)
        if layout.cages_down + layout.uplinks <= cages:
            return layout._replace(spines=_spines(layout, cages, min_spines))
        pairs += 1
    what = f"one machine has more ports than a pair of {cages}-cage switches can hold with its uplinks"
    raise InputError.single(where="network", what=what)


def _fewest_pairs(attached: tuple[_Attached, ...], cages: int, cage_bits_per_s: float, oversubscription: float) -> int:
    """Return a count of leaf pairs that is certainly not too high: all cages filled to the last leg."""
    # A lower bound saves trying every count from one up, which is slow for thousands of machines.
    legs = [(kind.ports.machines * kind.ports.per_machine / 2, kind) for kind in attached]
    down = sum(count / kind.legs_per_cage for count, kind in legs)
    up = sum(count * kind.ports.bits_per_s for count, kind in legs) / (oversubscription * cage_bits_per_s)
    return max(math.floor((down + up) / cages), 1)


def _with_pairs(
    pairs: int, attached: tuple[_Attached, ...], cage_bits_per_s: float, oversubscription: float
) -> _Layout:
    """Spread the machines over so many leaf pairs and fill the fullest leaf."""
    cages, bits = 0, 0.0
    for ports, legs_per_cage in attached:
        legs = legs_per_leaf(ceil_div(ports.machines, pairs), ports.per_machine)
        cages += ceil_div(legs, legs_per_cage)
        bits += legs * ports.bits_per_s
    return _Layout(pairs, cages, bits, uplinks_per_leaf(bits, cage_bits_per_s, oversubscription), None)


def _spines(layout: _Layout, cages: int, least: int) -> _Spines | None:
    """Find the fewest spines that hold the legs of all leaves; none when two tiers do not carry that many leaves."""
    leaves, legs = 2 * layout.pairs, LEGS_PER_UPLINK * layout.uplinks
    most_per_spine = min(LEGS_PER_UPLINK * cages // leaves, legs)
    if most_per_spine == 0:
        return None
    # Fewest spines first; legs that do not divide by them take more cages, which must still fit beside the machines.
    for count in range(max(ceil_div(legs, most_per_spine), least), max(legs, least + 1)):
        per_spine = ceil_div(legs, count)
        uplinks = ceil_div(count * per_spine, LEGS_PER_UPLINK)
        if layout.cages_down + uplinks <= cages:
            return _Spines(count, count * per_spine, uplinks, layout.pairs * per_spine)
    return _Spines(legs, legs, layout.uplinks, layout.pairs)


def _beyond_two_tiers(layout: _Layout, cages: int) -> _Spines:
    """Count pods, spines and super-spines of a three-tier fabric; half of a spine's cages face up."""
    leaves, uplinks = 2 * layout.pairs, layout.uplinks
    pods = ceil_div(leaves, cages // 2)
    # Both leaves of a pair stand in one pod.
    down = 2 * ceil_div(layout.pairs, pods)
    planes = next((count for count in range(1, down + 1) if pods * ceil_div(down, count) <= cages), 0)
    if not planes:
        what = f"{leaves:,} leaf switches are more than three tiers of {cages}-cage switches carry"
        raise InputError.single(where="network", what=what)
    return _Spines(pods * uplinks, LEGS_PER_UPLINK * uplinks, uplinks, down, pods, uplinks * planes)
