"""What a design comes to when it is counted: cages in use, modules fitted, cables of a kind."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kvplan.schema.cabling import Connector, Medium
    from kvplan.schema.design import Cable, Design


class Module(NamedTuple):
    """A transceiver in its cage: device, cage, family, the connector of the cage, and the fibre that is plugged in."""

    device: str
    cage: str
    transceiver: str
    connector: Connector
    fibre: str


class CableLot(NamedTuple):
    """Equal cables: what is ordered as one line."""

    family: str
    part_number: str
    medium: Medium
    length_m: float


def cages_used(design: Design) -> Mapping[str, frozenset[str]]:
    """Gather the cages of each device that a fabric link takes.

    used = distinct cages of its ports outside the management network

    Parameters
    ----------
    design
        The design.

    Returns
    -------
    mapping of frozenset
        Names of the cages by device; how many there are is the length [1].

    References
    ----------
    Derived.

    Examples
    --------
    >>> from kvplan.core.design.engine import design_of
    >>> from kvplan.reference import INPUTS
    >>> len(cages_used(design_of(INPUTS))["leaf-001a"])
    12
    """
    cages: dict[str, set[str]] = defaultdict(set)
    for port in design.ports:
        if port.network != "management":
            cages[port.device].add(port.cage)
    return {device: frozenset(found) for device, found in cages.items()}


def modules_fitted(cables: Iterable[Cable]) -> tuple[Module, ...]:
    """List the transceivers, each once, although a twin-port one takes two fibres.

    one module = one (device, cage)

    Parameters
    ----------
    cables
        The cables with their ends.

    Returns
    -------
    tuple of Module
        In the order of the cables.

    References
    ----------
    NVIDIA cable and transceiver overview: a twin-port module takes two fibres.

    Examples
    --------
    >>> from kvplan.core.design.engine import design_of
    >>> from kvplan.reference import INPUTS
    >>> modules_fitted(design_of(INPUTS).cables)
    ()
    """
    fitted: dict[tuple[str, str], Module] = {}
    for cable in cables:
        for end in (cable.a, *cable.b):
            if end.transceiver:
                module = Module(end.device, end.cage, end.transceiver, end.connector, cable.family)
                fitted.setdefault((end.device, end.cage), module)
    return tuple(fitted.values())


def cable_lots(cables: Iterable[Cable]) -> Mapping[CableLot, int]:
    """Count cables of the same family and length.

    count of each (family, part number, length)

    Parameters
    ----------
    cables
        The cables.

    Returns
    -------
    mapping of int
        Cables by lot [1], families and lengths [m] in order.

    References
    ----------
    Derived.

    Examples
    --------
    >>> from kvplan.core.design.engine import design_of
    >>> from kvplan.reference import INPUTS
    >>> lots = cable_lots(design_of(INPUTS).cables)
    >>> [(lot.family, lot.length_m, count) for lot, count in lots.items()][:2]
    [('cat6a', 1.0, 3), ('cat6a', 2.0, 3)]
    """
    lots = Counter(CableLot(cable.family, cable.part_number, cable.medium, cable.length_m) for cable in cables)
    return {lot: lots[lot] for lot in sorted(lots, key=lambda lot: (lot.family, lot.length_m, lot.part_number))}
