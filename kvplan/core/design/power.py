"""What each box draws at the wall, and weighs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.core.design.inputs import DesignInputs
    from kvplan.schema.cabling import Enclosure
    from kvplan.schema.hardware import Nic, Server, Switch

FEEDS: Final = 2
"""Power feeds of a rack; the supplies of a device are shared out to both."""


class Box(NamedTuple):
    """A kind of device as racking sees it: model, height, power at the wall [W], supplies and weight [kg]."""

    model: str
    rack_units: int
    power_typical_w: float
    power_max_w: float
    enclosure: Enclosure

    @property
    def one_feed_w(self) -> float | None:
        """Power at the wall that the supplies on one of the two feeds carry [W]; None where their rating is unknown."""
        enclosure = self.enclosure
        if enclosure.psu_w is None:
            return None
        return enclosure.psu_count // FEEDS * enclosure.psu_w / enclosure.psu_efficiency

    @property
    def runs_on_one_feed(self) -> bool:
        """Whether the supplies on one feed carry the device alone; so it is held where their rating is unknown."""
        return self.one_feed_w is None or self.one_feed_w >= self.power_max_w


def storage_box(inputs: DesignInputs) -> Box:
    """Work out a storage node.

    P = (base + drives x drive + adapters + optics in every port) / efficiency of the supplies

    Parameters
    ----------
    inputs
        The Plan's parts and the enclosures.

    Returns
    -------
    Box
        Power at the wall [W] and weight [kg]; typical power is the enclosure's share of the highest.

    References
    ----------
    Data sheets of the parts; the base load is the enclosure's row.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> round(storage_box(INPUTS).power_max_w)
    1134
    """
    parts = inputs.plan.parts
    drives = inputs.plan.profile.drives_per_node * (parts.drive.power_w or 0.0)
    cards = [parts.client_nic] * parts.client_nics + [parts.storage_nic] * parts.storage_nics
    return _server_box(inputs, parts.server, drives + _adapters_w(inputs, cards))


def client_box(inputs: DesignInputs) -> Box:
    """Work out a client server.

    P = (base + GPUs x GPU + adapters + optics in every port) / efficiency of the supplies

    Parameters
    ----------
    inputs
        The Plan's parts and the enclosures.

    Returns
    -------
    Box
        Power at the wall [W] and weight [kg].

    References
    ----------
    As `storage_box`.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> round(client_box(INPUTS).power_max_w)
    3370
    """
    parts = inputs.plan.parts
    gpus = parts.gpu.gpus_per_server * (parts.gpu.power_w or 0.0)
    return _server_box(
        inputs, parts.client_server, gpus + _adapters_w(inputs, [parts.gpu_nic] * parts.gpu.nics_per_server)
    )


def control_box(inputs: DesignInputs) -> Box:
    """Work out a control node.

    P = base / efficiency of the supplies

    Parameters
    ----------
    inputs
        The control node's row and the enclosures.

    Returns
    -------
    Box
        Power at the wall [W] and weight [kg].

    References
    ----------
    As `storage_box`.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> control_box(INPUTS).rack_units
    1
    """
    return _server_box(inputs, inputs.control_server, 0.0)


def switch_box(inputs: DesignInputs, switch: Switch) -> Box:
    """Work out a switch without its optics; the highest power is that with a module in every cage.

    P = typical power of the row, P max = its bound

    Parameters
    ----------
    inputs
        The enclosures.
    switch
        Catalogue row of the switch.

    Returns
    -------
    Box
        Power at the wall [W] and weight [kg].

    References
    ----------
    The switch's row; where it has no bound, the supplies that carry the load alone stand for it.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> box = switch_box(INPUTS, INPUTS.plan.parts.switch)
    >>> box.power_typical_w, box.power_max_w
    (940.0, 2028.0)
    """
    enclosure = _enclosure(inputs, switch.id)
    # Without a bound in its row, a switch is held to draw what it may draw from one feed.
    alone = Box(switch.id, switch.rack_units, 0.0, 0.0, enclosure).one_feed_w or 0.0
    most = switch.power_max_w or alone
    return Box(switch.id, switch.rack_units, switch.power_typical_w or most * enclosure.typical_share, most, enclosure)


def _server_box(inputs: DesignInputs, server: Server, load_w: float) -> Box:
    """Build the box of a server from the load in it beside its own."""
    enclosure = _enclosure(inputs, server.id)
    most = ((enclosure.base_power_w or 0.0) + load_w) / enclosure.psu_efficiency
    return Box(server.id, server.rack_units, most * enclosure.typical_share, most, enclosure)


def _adapters_w(inputs: DesignInputs, cards: Iterable[Nic]) -> float:
    """Sum up adapters with the strongest module that each port may hold."""
    return sum((card.power_w or 0.0) + card.ports * _module_w(inputs, card) for card in cards)


def _module_w(inputs: DesignInputs, card: Nic) -> float:
    """Return the highest power of a module that fits a card's port."""
    return max((module.power_w for module in inputs.transceivers if module.connector == card.connector), default=0.0)


def _enclosure(inputs: DesignInputs, model: str) -> Enclosure:
    """Return the enclosure of a device, or say that the tables lack it."""
    if model not in inputs.enclosures:
        raise InputError.single(
            where="enclosures",
            what=f"there is no row for {model!r}, so neither its power nor its weight is known",
            allowed="a row with that id in an `enclosures.yaml` of your own",
            hint=did_you_mean(model, inputs.enclosures),
        )
    return inputs.enclosures[model]
