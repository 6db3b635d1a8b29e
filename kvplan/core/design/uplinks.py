"""Leaves to spines, and spines to super-spines: which cage goes to which."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from kvplan.core.arithmetic import ceil_div
from kvplan.core.design.bundles import CAGE_LANES, Bundle, Far, Leg
from kvplan.core.design.names import cage_name, device_name, leaf_name, switch_port
from kvplan.core.network.leafspine import LEGS_PER_UPLINK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.core.design.inputs import DesignInputs
    from kvplan.schema.hardware import Switch
    from kvplan.schema.network import Fabric
    from kvplan.schema.roles import Network, Rail


def uplink_legs(inputs: DesignInputs, fabric: Fabric) -> int:
    """Legs that an uplink cage runs as.

    2, or 1 where 800G links are asked for and the legs of a leaf to each spine are even

    Parameters
    ----------
    inputs
        The build options.
    fabric
        The switches.

    Returns
    -------
    int
        Legs a cage [1].

    References
    ----------
    NVIDIA Cumulus Linux 5.15 documentation, Equal Cost Multipath Load Sharing: adaptive routing works on 200G and 400G
    links, not on 800G.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> from kvplan.core.design.machines import fabric_of_design
    >>> uplink_legs(INPUTS, fabric_of_design(INPUTS))
    2
    """
    whole = fabric.pods > 1 or legs_per_spine(fabric) % LEGS_PER_UPLINK == 0
    return 1 if inputs.options.fabric.uplink_legs == "1x800G" and whole else LEGS_PER_UPLINK


def legs_per_spine(fabric: Fabric) -> int:
    """Legs that a leaf has to each spine of a two-tier fabric.

    legs = cages used on a spine / leaf pairs

    Parameters
    ----------
    fabric
        The switches.

    Returns
    -------
    int
        Legs of half a cage's rate [1].

    References
    ----------
    As `kvplan.core.network.leafspine.fabric`: spine cages used = leaves x legs per spine / 2.

    Examples
    --------
    >>> from kvplan.core.network.examples import FABRIC
    >>> legs_per_spine(FABRIC)
    12
    """
    return fabric.spine_cages_used * LEGS_PER_UPLINK // fabric.leaf_switches


def uplink_bundles(inputs: DesignInputs, fabric: Fabric) -> tuple[Bundle, ...]:
    """Join leaves and spines, and spines and super-spines.

    two tiers: leg t of leaf l goes to spine t div p, there to leg l x p + t mod p, with p legs to each spine;
    three tiers: uplink cage u of leaf i of a pod goes to cage i of spine u of that pod, and upper cage j of that
    spine to super-spine j mod k of its plane, with k super-spines a plane

    Parameters
    ----------
    inputs
        The Plan and the build options.
    fabric
        The switches.

    Returns
    -------
    tuple of Bundle
        One an uplink cage, seen from below; rates in [bit/s].

    References
    ----------
    Derived, see `kvplan.core.network.leafspine`.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> from kvplan.core.design.machines import fabric_of_design
    >>> first = uplink_bundles(INPUTS, fabric_of_design(INPUTS))[0]
    >>> first.device, first.cage, [(leg.port, leg.far.device, leg.far.port) for leg in first.legs]
    ('leaf-001a', 'swp59', [('swp59s0', 'spine-001', 'swp1s0'), ('swp59s1', 'spine-001', 'swp1s1')])
    """
    switch, legs = inputs.plan.parts.switch, uplink_legs(inputs, fabric)
    if fabric.pods == 1:
        return _marked(list(_two_tiers(switch, fabric, legs)))
    return (*_leaves_of_pods(switch, fabric, legs), *_pods_to_core(switch, fabric, legs))


def pod_of_pair(fabric: Fabric, pair: int) -> int:
    """Pod that a leaf pair belongs to.

    pod = ceil(2 x pair / leaves of a pod); a fabric of two tiers is one pod

    Parameters
    ----------
    fabric
        The switches.
    pair
        Number of the pair, from 1 [1].

    Returns
    -------
    int
        Number of the pod, from 1 [1].

    References
    ----------
    As `uplink_bundles`: a spine has a cage for each leaf of its pod.

    Examples
    --------
    >>> from kvplan.core.network.examples import FABRIC
    >>> pod_of_pair(FABRIC, 1)
    1
    """
    return 1 if fabric.pods == 1 else ceil_div(2 * pair, fabric.spine_cages_used)


def leaf_of(index: int) -> tuple[str, Rail]:
    """Name the leaf at a position, from 0, and its rail.

    pair = index div 2 + 1

    Parameters
    ----------
    index
        Position among all leaves, from 0 [1].

    Returns
    -------
    tuple of str
        Name and rail.

    References
    ----------
    As `kvplan.core.design.names`.

    Examples
    --------
    >>> leaf_of(3)
    ('leaf-002b', 'b')
    """
    rail: Rail = "b" if index % 2 else "a"
    return leaf_name(index // 2 + 1, rail), rail


def _two_tiers(switch: Switch, fabric: Fabric, legs: int) -> Iterator[Bundle]:
    """Yield the uplink cages of all leaves."""
    per_spine = legs_per_spine(fabric)
    total = per_spine * fabric.spine_switches
    for index in range(fabric.leaf_switches):
        leaf, rail = leaf_of(index)
        cages: dict[int, list[Leg]] = defaultdict(list)
        for leg in range(0, total, LEGS_PER_UPLINK // legs):
            spine, position = divmod(leg, per_spine)
            cage, far_leg = divmod(index * per_spine + position, LEGS_PER_UPLINK)
            up = switch.cages - fabric.uplinks_per_leaf + 1 + leg // LEGS_PER_UPLINK
            far = _switch_end(switch, device_name("spine", spine + 1), cage + 1, legs, far_leg)
            cages[up].append(Leg(switch_port(up, legs, leg % LEGS_PER_UPLINK), far, legs))
        yield from (_bundle(switch, leaf, cage, legs, "uplink", rail, found) for cage, found in cages.items())


def _marked(bundles: list[Bundle]) -> tuple[Bundle, ...]:
    """Mark the cages of which a far cage serves another cage as well."""
    near = Counter(cage for bundle in bundles for cage in bundle.far_cages)
    return tuple(
        bundle._replace(shared=len(bundle.far_cages) > 1 or any(near[cage] > 1 for cage in bundle.far_cages))
        for bundle in bundles
    )


def _leaves_of_pods(switch: Switch, fabric: Fabric, legs: int) -> Iterator[Bundle]:
    """Yield the uplink cages of the leaves of a three-tier fabric."""
    in_pod = fabric.spine_cages_used
    for index in range(fabric.leaf_switches):
        leaf, rail = leaf_of(index)
        pod, down = divmod(index, in_pod)
        for uplink in range(fabric.uplinks_per_leaf):
            spine = device_name("spine", pod * fabric.uplinks_per_leaf + uplink + 1)
            up = switch.cages - fabric.uplinks_per_leaf + 1 + uplink
            yield _whole(switch, (leaf, up), (spine, down + 1), legs, "uplink", rail)


def _pods_to_core(switch: Switch, fabric: Fabric, legs: int) -> Iterator[Bundle]:
    """Yield the upper cages of the spines of a three-tier fabric."""
    planes, upper = fabric.uplinks_per_leaf, fabric.spine_cages_used
    in_plane = fabric.super_spine_switches // planes
    from_pod = ceil_div(upper, in_plane)
    for number in range(fabric.spine_switches):
        pod, plane = divmod(number, planes)
        spine = device_name("spine", number + 1)
        for cage in range(upper):
            row, column = divmod(cage, in_plane)
            core = device_name("super-spine", plane * in_plane + column + 1)
            up = switch.cages - upper + 1 + cage
            yield _whole(switch, (spine, up), (core, pod * from_pod + row + 1), legs, "super-uplink", "")


def _whole(
    switch: Switch, near: tuple[str, int], far: tuple[str, int], legs: int, network: Network, rail: Rail
) -> Bundle:
    """Join two whole cages."""
    device, cage = near
    joined = [Leg(switch_port(cage, legs, leg), _switch_end(switch, *far, legs, leg), legs) for leg in range(legs)]
    return _bundle(switch, device, cage, legs, network, rail, joined)


def _bundle(
    switch: Switch, device: str, cage: int, legs: int, network: Network, rail: Rail, joined: list[Leg]
) -> Bundle:
    """Build the bundle of one cage between switches."""
    rate = switch.cage_bits_per_s / legs
    name = cage_name(cage)
    return Bundle(device, name, switch.connector, legs, CAGE_LANES // legs, rate, network, rail, tuple(joined))


def _switch_end(switch: Switch, device: str, cage: int, legs: int, leg: int) -> Far:
    """Build the far end of a leg at a switch."""
    return Far(device, cage_name(cage), switch_port(cage, legs, leg), switch.connector)
