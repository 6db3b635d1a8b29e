"""What the tier still delivers with a drive, a node, a leaf, a spine or a power feed lost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

from kvplan.core.design.machines import adapters_of
from kvplan.core.design.power import client_box, storage_box, switch_box
from kvplan.core.network.segments import UPLINK
from kvplan.schema.design import FailureState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.design.inputs import DesignInputs
    from kvplan.core.design.power import Box
    from kvplan.schema.network import Fabric, NetworkBudget, Stage, StagesState

StateName = Literal["normal", "drive", "node", "leaf", "spine", "feed"]


def failure_states(inputs: DesignInputs, fabric: Fabric) -> tuple[FailureState, ...]:
    """Work out the bandwidth left in each state.

    share = client bytes read in the state / client bytes read with nothing lost

    Parameters
    ----------
    inputs
        The Plan, whose network budget holds the stages of the path.
    fabric
        The switches as designed.

    Returns
    -------
    tuple of FailureState
        Normal, then drive, node, leaf, spine and feed lost [B/s].

    References
    ----------
    The Plan's network budget for drive, node and leaf; spine: the uplink stage with one spine fewer.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> from kvplan.core.design.machines import fabric_of_design
    >>> [(state.name, round(state.read_share, 2)) for state in failure_states(INPUTS, fabric_of_design(INPUTS))]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('normal', 1.0), ('drive', 1.0), ('node', 0.55), ('leaf', 0.0), ('spine', 0.0), ('feed', 1.0)]
    """
    network = inputs.plan.network
    lost = network.degraded
    return (
        _state(network, "normal", "nothing", _left(network)),
        _state(network, "drive", "one drive", _left(lost.drive), lost.drive.text),
        _state(network, "node", "one storage node", _left(lost.node), lost.node.text),
        _state(network, "leaf", "one leaf switch", _left(lost.leaf), lost.leaf.text),
        _spine(inputs, fabric),
        _feed(inputs),
    )


def runs_on_one_feed(box: Box) -> bool:
    """Tell whether the supplies on one of the two feeds carry a device alone.

    power that the supplies on one feed carry >= highest power, both at the wall

    Parameters
    ----------
    box
        The device: power [W], supplies and their rating [W].

    Returns
    -------
    bool
        True also where the rating is not known.

    References
    ----------
    Derived for supplies that are shared out evenly to two feeds.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> runs_on_one_feed(storage_box(INPUTS)), runs_on_one_feed(client_box(INPUTS))
    (True, False)
    """
    return box.one_feed_w is None or box.one_feed_w >= box.power_max_w


def _state(network: NetworkBudget, name: StateName, lost: str, left: Left, text: str = "") -> FailureState:
    """Write a state down beside the normal one."""
    normal = network.read_bytes_per_s
    return FailureState(
        name=name,
        lost=lost,
        read_bytes_per_s=left.read_bytes_per_s,
        write_bytes_per_s=left.write_bytes_per_s,
        read_share=left.read_bytes_per_s / normal if normal else 0.0,
        binding_stage=left.binding_stage,
        text=text,
    )


class Left(NamedTuple):
    """Client bytes that are still read and written [B/s], and the stage that binds."""

    read_bytes_per_s: float
    write_bytes_per_s: float
    binding_stage: str


def _left(budget: NetworkBudget | StagesState) -> Left:
    """Take the rates of a state that the Plan holds."""
    return Left(budget.read_bytes_per_s, budget.write_bytes_per_s, budget.binding_stage)


def _spine(inputs: DesignInputs, fabric: Fabric) -> FailureState:
    """Take one spine away: its share of the uplinks goes, and with the only one all that crosses the leaves."""
    network = inputs.plan.network
    in_pod = fabric.spine_switches // fabric.pods
    if in_pod > 1:
        left = _without_uplinks(network.stages, 1 - 1 / in_pod)
        return _state(network, "spine", f"one of {in_pod} spine switches", left)
    storage = next(entry for entry in adapters_of(inputs, "storage") if entry.network == "storage")
    one_pair = fabric.leaf_switches == 2  # noqa: PLR2004 - the two leaves of a pair
    if storage.ports > 1 and one_pair:
        rest = _without_uplinks([stage for stage in network.stages if stage.name != UPLINK], 1.0)
        text = "each rail goes on by itself, as long as clients use addresses of their own rail"
        return _state(network, "spine", "the only spine switch", rest, text)
    text = "the leaves are cut off from each other, and storage nodes with them: nothing is served until it is replaced"
    return _state(network, "spine", "the only spine switch", Left(0.0, 0.0, UPLINK), text)


def _without_uplinks(stages: Sequence[Stage], share: float) -> Left:
    """Find what binds when only a share of the uplinks is left."""
    read = [(_limit(stage.planned_bytes_per_s, stage.read_traffic, stage, share), stage.name) for stage in stages]
    write = [
        _limit(stage.planned_write_bytes_per_s or stage.planned_bytes_per_s, stage.write_traffic, stage, share)
        for stage in stages
    ]
    rate, name = min(read, key=lambda pair: pair[0])
    return Left(rate, min(write), name)


def _limit(planned: float, traffic: float, stage: Stage, share: float) -> float:
    """Return the client bytes that a stage lets through."""
    left = planned * (share if stage.name == UPLINK else 1.0)
    return left / traffic if traffic else math.inf


def _feed(inputs: DesignInputs) -> FailureState:
    """Take one of the two power feeds away."""
    network = inputs.plan.network
    tier = {"storage nodes": storage_box(inputs), "switches": switch_box(inputs, inputs.plan.parts.switch)}
    down = [name for name, box in tier.items() if not runs_on_one_feed(box)]
    if down:
        text = f"the supplies on one feed do not carry the {' and '.join(down)}"
        return _state(network, "feed", "one power feed", Left(0.0, 0.0, "power"), text)
    text = (
        "storage nodes and switches run on"
        if runs_on_one_feed(client_box(inputs))
        else "storage nodes and switches run on; GPU servers draw more than their supplies on one feed carry, "
        "so their power must be capped or they stop"
    )
    return _state(network, "feed", "one power feed", _left(network), text)
