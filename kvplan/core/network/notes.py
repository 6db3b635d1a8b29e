"""What a fabric design says of itself: where it has a single point of failure and which features it rules out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kvplan.core.network.sides import StorageSide
    from kvplan.schema.hardware import Nic

ADAPTIVE_ROUTING_BITS_PER_S: Final = 400e9
"""Fastest link on which adaptive routing works: NVIDIA Cumulus Linux 5.15 documentation, ECMP Load Sharing."""

SPARE_SHARE: Final = 0.10
"""Share of a leaf's cages that is kept free for growth and repair; a planning rule."""

_SINGLE_SPINE: Final = (
    "one spine is a single point of failure for traffic between leaves: add a second spine or links between the leaves"
)
_NO_ADAPTIVE_ROUTING: Final = "adaptive routing does not work on links faster than 400 Gb/s, such as these uplinks"
_LEGS: Final = (
    "run each uplink cage as two legs of at most 400 Gb/s: adaptive routing works on those, not on 800 Gb/s links"
)
_CONNECTX7: Final = (
    "leave adaptive routing off while ConnectX-7 receivers share the fabric: "
    "no Spectrum-X profile names them as fit to take packets out of order (inferred, confirm with NVIDIA)"
)
_SUPER_SPINE: Final = (
    "two tiers do not carry this many leaves: they form pods under super-spines, "
    "and half of the cages of each spine face up"
)


def structure_notes(*, spines: int, leg_bits_per_s: float, spare_share: float, super_spine: bool) -> tuple[str, ...]:
    """Say what follows from the shape of a fabric.

    Parameters
    ----------
    spines
        Spine switches [1].
    leg_bits_per_s
        Line rate of one leg of an uplink [bit/s].
    spare_share
        Share of a leaf's cages that is free [1].
    super_spine
        Whether two tiers are too few.

    Returns
    -------
    tuple of str
        Notes, none of which carries a unit of its own [1].

    Notes
    -----
    Texts depend on counts and rates only, not on the make of the switch.

    References
    ----------
    NVIDIA Cumulus Linux 5.15 documentation, Equal Cost Multipath Load Sharing.

    Examples
    --------
    >>> len(structure_notes(spines=2, leg_bits_per_s=800e9, spare_share=0.5, super_spine=False))
    1
    """
    spare = f"less than {SPARE_SHARE:.0%} of the cages of a leaf are spare"
    said = (
        (super_spine, _SUPER_SPINE),
        (spines == 1, _SINGLE_SPINE),
        (spare_share < SPARE_SHARE, spare),
        (leg_bits_per_s <= ADAPTIVE_ROUTING_BITS_PER_S, _LEGS),
        (leg_bits_per_s > ADAPTIVE_ROUTING_BITS_PER_S, _NO_ADAPTIVE_ROUTING),
    )
    return tuple(text for holds, text in said if holds)


def adapter_notes(storage: StorageSide, client_nic: Nic) -> tuple[str, ...]:
    """Say what follows from the choice of network adapters.

    Parameters
    ----------
    storage
        The storage nodes; ports of a node in the storage network [1].
    client_nic
        Catalogue row of the client servers' adapter.

    Returns
    -------
    tuple of str
        Notes, none of which carries a unit of its own [1].

    Notes
    -----
    A ConnectX-7 is told by its part number or name.

    References
    ----------
    Mellanox/nic-configuration-operator bindata/spectrum-x: the profiles name BlueField-3 and ConnectX-8 and later.

    Examples
    --------
    >>> from kvplan.core.network.examples import CLIENTS, STORAGE
    >>> [note.partition(":")[0] for note in adapter_notes(STORAGE, CLIENTS.nic)]  # doctest: +ELLIPSIS
    ['a storage NIC with a single port ...', 'leave adaptive routing off ...']
    """
    single = (
        "a storage NIC with a single port ties each node to one leaf: losing that leaf cuts its nodes off; "
        "take two ports a node (2 x 200G carries as much as 1 x 400G) or route around over the client NIC"
    )
    nics = (storage.storage_nic, storage.client_nic, client_nic)
    said = ((storage.storage_ports == 1, single), (any(map(is_connectx7, nics)), _CONNECTX7))
    return tuple(text for holds, text in said if holds)


def is_connectx7(nic: Nic) -> bool:
    """Tell a ConnectX-7 by its part number or name."""
    words = f"{nic.id} {nic.title}".lower()
    return nic.part_number.upper().startswith("MCX7") or any(name in words for name in ("connectx-7", "cx-7", "cx7"))
