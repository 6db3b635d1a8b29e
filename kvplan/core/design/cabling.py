"""Which cable joins a cage to what it serves: copper while it reaches, then fibre with a module at each end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.schema.design import Cable, CableEnd

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kvplan.core.design.bundles import Bundle, Leg
    from kvplan.core.design.inputs import DesignInputs
    from kvplan.core.design.reach import Reach
    from kvplan.schema.build import MediumChoice
    from kvplan.schema.cabling import CableFamily, Connector, Medium, Transceiver

MEDIA: Final[dict[MediumChoice, tuple[Medium, ...]]] = {
    "auto": ("passive-copper", "active-copper", "multimode", "single-mode"),
    "copper": ("passive-copper", "active-copper"),
    "optics": ("multimode", "single-mode"),
}
"""Media in the order in which they are tried: the cheaper and cooler first."""


class Choice(NamedTuple):
    """A cable family with the modules at its ends, where it is fibre, and how far it carries [m]."""

    family: CableFamily
    near: Transceiver | None
    far: Transceiver | None
    reach_m: float


def _choice(family: CableFamily, near: Transceiver | None = None, far: Transceiver | None = None) -> Choice:
    """Build a choice; it carries as far as the weakest of its parts."""
    reaches = (family.max_length_m, *(module.reach_m for module in (near, far) if module))
    return Choice(family, near, far, min(reaches))


def cables_of(inputs: DesignInputs, bundles: Sequence[Bundle], reach: Reach) -> tuple[Cable, ...]:
    """Choose a cable for each cage, or two fibres.

    length bought = the shortest of the family that covers the way to the farthest end

    Parameters
    ----------
    inputs
        The cabling options, the cable families and the transceivers.
    bundles
        Cages and what hangs on them.
    reach
        Distances between devices [m].

    Returns
    -------
    tuple of Cable
        In the order of the cages; lengths in [m].

    References
    ----------
    NVIDIA cable and transceiver overview, 400G with 100G PAM4: twin-port modules only in switch cages, flat-top or
    QSFP112 modules in adapters; a twin-port module takes two fibres of the same kind.

    Examples
    --------
    >>> from kvplan.core.design.engine import design_of
    >>> from kvplan.reference import INPUTS
    >>> first = design_of(INPUTS).cables[0]
    >>> first.id, first.family, len(first.b)
    ('leaf-001a:swp1', 'mcp7y40', 4)
    """
    chooser = _Chooser(inputs)
    # Cages that share a far cage share the module in it, so the farthest of them decides for all.
    farthest = max((_needed(bundle.device, bundle.legs, reach) for bundle in bundles if bundle.shared), default=0.0)
    return tuple(
        cable
        for bundle in bundles
        for cable in _bundle_cables(chooser, bundle, reach, at_least_m=farthest if bundle.shared else 0.0)
    )


class _Chooser:
    """Chooses families; the same question gets the same answer without being worked out again."""

    def __init__(self, inputs: DesignInputs) -> None:
        self._inputs = inputs
        self._known: dict[tuple[object, ...], tuple[Choice, ...]] = {}

    def choose(self, bundle: Bundle, needed_m: float) -> Choice | None:
        """Return the first choice that reaches; the farthest reaching where none does; nothing where none fits."""
        choices = self._choices(bundle)
        reaching = (choice for choice in choices if choice.reach_m >= needed_m)
        return next(reaching, max(choices, key=lambda choice: choice.reach_m, default=None))

    def _choices(self, bundle: Bundle) -> tuple[Choice, ...]:
        """List what joins a cage to its far ends, in the order of preference."""
        far = bundle.legs[0].far.connector
        key = (
            bundle.network, bundle.connector, far, bundle.breakout, bundle.bits_per_s, len(bundle.far_cages),
            bundle.shared,
        )  # fmt: skip
        if key not in self._known:
            self._known[key] = tuple(self._listed(bundle, far))
        return self._known[key]

    def _listed(self, bundle: Bundle, far: Connector) -> Iterator[Choice]:
        """Yield the family asked for, else each that fits, medium by medium."""
        cabling = self._inputs.options.cabling
        wanted = cabling.families.get(bundle.network)
        if wanted is not None:
            yield from (self._forced(family, bundle, far) for family in self._inputs.cables if family.id == wanted)
        elif bundle.connector == "RJ45":
            yield from (_choice(family) for family in self._inputs.cables if family.medium == "twisted-pair")
        else:
            for medium in MEDIA[cabling.medium]:
                yield from self._of_medium(medium, bundle, far)

    def _of_medium(self, medium: Medium, bundle: Bundle, far: Connector) -> Iterator[Choice]:
        """Yield what fits of one medium."""
        for family in self._inputs.cables:
            if family.medium != medium:
                continue
            if not family.is_fibre and copper_fits(family, bundle, far):
                yield _choice(family)
            elif family.is_fibre:
                yield from self._optical(family, bundle, far)

    def _optical(self, family: CableFamily, bundle: Bundle, far: Connector) -> Iterator[Choice]:
        """Yield pairs of modules that a fibre joins."""
        for near in self._modules(family, bundle.connector):
            enough = near.ports * near.port_bits_per_s >= bundle.breakout * bundle.bits_per_s
            if enough and family.b_ends == max(bundle.breakout // near.ports, 1):
                yield from (_choice(family, near, module) for module in self._modules(family, far))

    def _forced(self, family: CableFamily, bundle: Bundle, far: Connector) -> Choice:
        """Take the family asked for with whatever modules there are; the rules judge whether it fits."""
        if not family.is_fibre:
            return _choice(family)
        near, end = self._modules(family, bundle.connector), self._modules(family, far)
        return _choice(family, near[0] if near else None, end[0] if end else None)

    def _modules(self, fibre: CableFamily, connector: Connector) -> list[Transceiver]:
        """List the modules that a fibre plugs into, for a cage."""
        return [
            module
            for module in self._inputs.transceivers
            if (module.medium, module.fibre, module.connector) == (fibre.medium, fibre.a_connector, connector)
        ]


def copper_fits(family: CableFamily, bundle: Bundle, far: Connector) -> bool:
    """Tell whether a copper family joins a cage to its far ends.

    ends and rates equal: b ends x legs an end x leg rate = legs of the cage x their rate, no end left out, and no far
    cage that another cage plugs into as well

    Parameters
    ----------
    family
        The cable family.
    bundle
        The cage.
    far
        Connector of the far ends.

    Returns
    -------
    bool
        Whether both connectors, the count of ends and the rates agree.

    References
    ----------
    As `cables_of`.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> from kvplan.core.design.hostlinks import host_bundles
    >>> from kvplan.core.design.machines import machines_of
    >>> bundle = host_bundles(INPUTS, machines_of(INPUTS, 1))[0]
    >>> [family.id for family in INPUTS.cables if copper_fits(family, bundle, "QSFP112")]
    ['mcp7y40', 'mca7j75']
    """
    connectors = family.a_connector == bundle.connector and family.b_connector == far
    carried = family.b_ends * family.legs_per_end * (family.leg_bits_per_s or 0.0)
    far_ends = bundle.breakout if family.legs_per_end == 1 else 1
    return (
        not bundle.shared
        and connectors
        and carried == bundle.breakout * bundle.bits_per_s
        and family.b_ends == far_ends
        and len(bundle.far_cages) <= far_ends
    )


def _bundle_cables(chooser: _Chooser, bundle: Bundle, reach: Reach, *, at_least_m: float) -> Iterator[Cable]:
    """Yield the cable of a cage: one of copper, or a fibre for each port of its module."""
    needed = _needed(bundle.device, bundle.legs, reach)
    choice = chooser.choose(bundle, max(needed, at_least_m))
    if choice is None or not choice.family.is_fibre:
        yield _cable(bundle, choice, bundle.legs, bundle.device + ":" + bundle.cage, needed)
        return
    ports = choice.near.ports if choice.near else 1
    for index, legs in enumerate(_by_port(bundle, ports)):
        label = f"{bundle.device}:{bundle.cage}.{index + 1}"
        yield _cable(bundle, choice, legs, label, _needed(bundle.device, legs, reach))


def _by_port(bundle: Bundle, ports: int) -> Iterator[tuple[Leg, ...]]:
    """Share the legs of a cage out to the fibre ports of its module; an undivided leg takes them all."""
    if bundle.breakout < ports:
        yield from (bundle.legs for _ in range(ports))
        return
    share = bundle.breakout // ports
    # The position of a leg in the cage decides its fibre, also where legs before it are not used.
    for port in range(ports):
        legs = bundle.legs[port * share : (port + 1) * share]
        if legs:
            yield legs


def _needed(device: str, legs: Iterable[Leg], reach: Reach) -> float:
    """Measure the way to the farthest end."""
    return max(reach.needed_m(device, leg.far.device) for leg in legs)


def _cable(bundle: Bundle, choice: Choice | None, legs: Sequence[Leg], label: str, needed_m: float) -> Cable:
    """Write a cable down."""
    length, part = _length(choice, needed_m)
    far: dict[tuple[str, str], list[Leg]] = {}
    for leg in legs:
        far.setdefault((leg.far.device, leg.far.cage), []).append(leg)
    return Cable(
        id=label,
        family=choice.family.id if choice else "",
        part_number=part,
        # Nothing joins the ends; a medium must be named all the same, and the rules say that the cable is missing.
        medium=choice.family.medium if choice else "passive-copper",
        length_m=length,
        needed_m=needed_m,
        network=bundle.network,
        a=CableEnd(
            device=bundle.device,
            cage=bundle.cage,
            ports=tuple(leg.port for leg in legs),
            connector=bundle.connector,
            transceiver=choice.near.id if choice and choice.near else "",
        ),
        b=tuple(
            CableEnd(
                device=device,
                cage=cage,
                ports=tuple(leg.far.port for leg in ends),
                connector=ends[0].far.connector,
                transceiver=choice.far.id if choice and choice.far else "",
            )
            for (device, cage), ends in far.items()
        ),
    )


def _length(choice: Choice | None, needed_m: float) -> tuple[float, str]:
    """Return the shortest length that covers the way, else the longest there is, with its part number."""
    if choice is None:
        return needed_m, ""
    lengths = sorted(choice.family.lengths_m)
    length = next((length for length in lengths if length >= needed_m), lengths[-1])
    return length, choice.family.lengths_m[length]
