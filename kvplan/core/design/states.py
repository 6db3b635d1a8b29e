"""What the tier still delivers with a drive, a node, a leaf, a spine or a power feed lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kvplan.core.design.power import client_box, storage_box, switch_box
from kvplan.core.ece.codes import parse_code
from kvplan.core.network.degraded import LoadedPath, degraded, state
from kvplan.core.network.segments import UPLINK
from kvplan.core.network.sides import ClientSide, StorageSide
from kvplan.core.sizing.inputs import calibration_of
from kvplan.schema.design import FailureState

if TYPE_CHECKING:
    from kvplan.core.design.inputs import DesignInputs
    from kvplan.schema.design import StateName
    from kvplan.schema.network import Fabric, StagesState
    from kvplan.schema.plan import Plan


class Left(NamedTuple):
    """Client bytes that are still read and written [B/s], and the stage that binds."""

    read_bytes_per_s: float
    write_bytes_per_s: float
    binding_stage: str


def failure_states(inputs: DesignInputs, fabric: Fabric) -> tuple[FailureState, ...]:
    """Work out the bandwidth left in each state, through the switches as they are built.

    share = client bytes read in the state / client bytes read with nothing lost

    Parameters
    ----------
    inputs
        The Plan: both ends of the path, calibrations and demand.
    fabric
        The switches as designed.

    Returns
    -------
    tuple of FailureState
        Normal, then drive, node, leaf, spine and feed lost [B/s].

    References
    ----------
    `kvplan.core.network.degraded`, as the Plan's own network budget; spine: the same path with one spine a pod fewer.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> from kvplan.core.design.machines import fabric_of_design
    >>> [(state.name, round(state.read_share, 2)) for state in failure_states(INPUTS, fabric_of_design(INPUTS))]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('normal', 1.0), ('drive', 1.0), ('node', 0.55), ('leaf', 0.0), ('spine', 0.0), ('feed', 1.0)]
    """
    path = path_of(inputs.plan, fabric)
    normal, lost = _left(state(path)), degraded(path)
    return (
        _state(normal, "normal", "nothing", normal),
        _state(normal, "drive", "one drive", _left(lost.drive), lost.drive.text),
        _state(normal, "node", "one storage node", _left(lost.node), lost.node.text),
        _state(normal, "leaf", "one leaf switch", _left(lost.leaf), lost.leaf.text),
        _spine(path, normal),
        _feed(inputs, normal),
    )


def path_of(plan: Plan, fabric: Fabric) -> LoadedPath:
    """Put the path from drive to GPU together again from a Plan, with other switches between its ends.

    nodes of a recovery group = nodes div recovery groups, the smallest group

    Parameters
    ----------
    plan
        The Plan with its parts, calibrations and demand.
    fabric
        The switches.

    Returns
    -------
    LoadedPath
        Both ends, the switches and the demand [B/s].

    References
    ----------
    As `kvplan.core.network.budget`.

    Examples
    --------
    >>> from kvplan.reference import INPUTS, PLAN
    >>> from kvplan.core.design.machines import fabric_of_design
    >>> state(path_of(PLAN, fabric_of_design(INPUTS))).read_bytes_per_s == PLAN.network.read_bytes_per_s
    True
    """
    parts, profile, demand = plan.parts, plan.profile, plan.demand
    storage = StorageSide(
        nodes=profile.nodes,
        nodes_in_group=profile.nodes // profile.recovery_groups,
        drives_per_node=profile.drives_per_node,
        drive=parts.drive,
        server=parts.server,
        client_nic=parts.client_nic,
        client_nics=parts.client_nics,
        storage_nic=parts.storage_nic,
        storage_nics=parts.storage_nics,
        code=parse_code(profile.erasure_code),
    )
    client = ClientSide(gpus=plan.request.gpus, gpu=parts.gpu, nic=parts.gpu_nic, tp=plan.request.tp)
    calibration = calibration_of(plan.constants)
    return LoadedPath(storage, client, fabric, calibration, demand.read_bytes_per_s, demand.write_bytes_per_s)


def _left(found: StagesState) -> Left:
    """Take the rates of a state."""
    return Left(found.read_bytes_per_s, found.write_bytes_per_s, found.binding_stage)


def _state(normal: Left, name: StateName, lost: str, left: Left, text: str = "") -> FailureState:
    """Write a state down beside the normal one."""
    read = normal.read_bytes_per_s
    return FailureState(
        name=name,
        lost=lost,
        read_bytes_per_s=left.read_bytes_per_s,
        write_bytes_per_s=left.write_bytes_per_s,
        read_share=left.read_bytes_per_s / read if read else 0.0,
        binding_stage=left.binding_stage,
        text=text,
    )


def _spine(path: LoadedPath, normal: Left) -> FailureState:
    """Take one spine away: its share of the uplinks goes, and with the only one all that crosses the leaves."""
    fabric = path.fabric
    in_pod = fabric.spines_per_pod
    if in_pod > 1:
        # One a pod: data lies evenly over the pods, so the pod that is hit sets the pace.
        fewer = fabric.model_copy(update={"spine_switches": fabric.spine_switches - fabric.pods})
        where = " of its pod" if fabric.pods > 1 else ""
        text = f"{in_pod - 1} of {in_pod} parts of the uplinks{where} are left"
        left = _left(state(path._replace(fabric=fewer)))
        return _state(normal, "spine", f"one of {in_pod} spine switches{where}", left, text)
    one_pair = fabric.pairs == 1
    if path.storage.storage_ports > 1 and one_pair:
        text = "each rail goes on by itself, as long as clients use addresses of their own rail"
        return _state(normal, "spine", "the only spine switch", normal, text)
    text = "the leaves are cut off from each other, and storage nodes with them: nothing is served until it is replaced"
    return _state(normal, "spine", "the only spine switch", Left(0.0, 0.0, UPLINK), text)


def _feed(inputs: DesignInputs, normal: Left) -> FailureState:
    """Take one of the two power feeds away."""
    tier = {"storage nodes": storage_box(inputs), "switches": switch_box(inputs, inputs.plan.parts.switch)}
    down = [name for name, box in tier.items() if not box.runs_on_one_feed]
    if down:
        text = f"the supplies on one feed do not carry the {' and '.join(down)}"
        return _state(normal, "feed", "one power feed", Left(0.0, 0.0, "power"), text)
    text = (
        "storage nodes and switches run on"
        if client_box(inputs).runs_on_one_feed
        else "storage nodes and switches run on; GPU servers draw more than their supplies on one feed carry, "
        "so their power must be capped or they stop"
    )
    return _state(normal, "feed", "one power feed", normal, text)
