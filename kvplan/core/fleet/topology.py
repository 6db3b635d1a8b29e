"""The network of a Plan as links: the NICs of the GPU servers, and what all engines share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from kvplan.core.arithmetic import ceil_div
from kvplan.core.fleet.flows import Epoch, Paths
from kvplan.core.network.segments import (
    CLIENT_NIC,
    DRIVE_PCIE,
    DRIVES,
    LEAF,
    STORAGE_CLIENT_NIC,
    STORAGE_NIC,
    UPLINK,
)
from kvplan.core.prediction.contention import read_beside_writes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.schema.network import Stage
    from kvplan.schema.plan import Plan

Placement = Literal["striped", "node"]
Lost = Literal["drive", "node", "leaf", "nothing"]
_IN_NODES: Final = frozenset({DRIVES, DRIVE_PCIE, STORAGE_NIC, STORAGE_CLIENT_NIC})
_BOTH_WAYS: Final = frozenset({DRIVES, STORAGE_NIC, LEAF, UPLINK})
"""Stages in which reads and writes take from the same capacity."""
_LEAST_SHARE: Final = 0.5
"""What reads keep of a stage that writes would fill: both want all of it, and get half each [1]."""


@dataclass(frozen=True, slots=True)
class Topology:
    """Which way each fetch goes.

    `engines_in_group` engines stand behind the same NICs; of `storage_nodes` each is a link of its own where a prompt
    lies on one of them, and none where prompts are striped over all.
    """

    engines: int
    engines_in_group: int
    storage_nodes: int
    stream_bytes_per_s: float

    @property
    def groups(self) -> int:
        """Groups of engines behind the same NICs."""
        return ceil_div(self.engines, self.engines_in_group)

    def kind(self, engine: int, node: int) -> int:
        """Return the class of a fetch of an engine; the node matters only where prompts lie on one.

        >>> Topology(8, 4, 0, 50e9).kind(5, 3), Topology(8, 4, 8, 50e9).kind(5, 3)
        (1, 11)
        """
        group = engine // self.engines_in_group
        return group * self.storage_nodes + node if self.storage_nodes else group

    def shared_bytes_per_s(self, state: Epoch) -> float:
        """Return what all engines share in a state of the links [B/s]."""
        shared, *nodes = state.capacities_bytes_per_s[self.groups :]
        return min(shared, sum(nodes)) if nodes else shared

    def paths(self) -> Paths:
        """Return the links of each class: the NICs of its group, what all share, and the storage node if it is one.

        >>> Topology(8, 4, 0, 50e9).paths().of_class
        ((0, 2), (1, 2))
        """
        shared = self.groups
        ways = [
            (group, shared, *((shared + 1 + node,) if self.storage_nodes else ()))
            for group in range(self.groups)
            for node in range(self.storage_nodes or 1)
        ]
        return Paths(tuple(ways), self.stream_bytes_per_s)


def topology(
    plan: Plan, *, engines: int | None = None, placement: Placement = "striped", stream_bytes_per_s: float | None = None
) -> Topology:
    """Take the way of the fetches from a Plan.

    Parameters
    ----------
    plan
        The Plan.
    engines
        Engines [engines]; those of the Plan when absent. More of them stand in further servers of the same kind.
    placement
        Whether prompts are striped over all storage nodes, as erasure coding does, or each lies on one.
    stream_bytes_per_s
        The most that one engine reads [B/s]; what its links carry when absent.

    Returns
    -------
    Topology
        Groups of engines and what one fetch takes at most.

    Notes
    -----
    An engine that spans servers has their NICs for itself.

    References
    ----------
    The Plan's `network` and `buys.engine_read_bytes_per_s`.

    Examples
    --------
    >>> from kvplan.reference import PLAN
    >>> found = topology(PLAN)
    >>> found.engines, found.engines_in_group, found.groups, round(found.stream_bytes_per_s / 1e9, 1)
    (16, 4, 4, 57.2)
    """
    gpus_in_server = ceil_div(plan.request.gpus, plan.network.client_servers)
    return Topology(
        engines=engines or max(plan.hbm.engines, 1),
        engines_in_group=max(gpus_in_server // plan.request.tp, 1),
        storage_nodes=plan.profile.nodes if placement == "node" else 0,
        stream_bytes_per_s=min(stream_bytes_per_s or math.inf, plan.buys.engine_read_bytes_per_s),
    )


def epoch(plan: Plan, way: Topology, lost: Lost, start_s: float, write_bytes_per_s: float) -> Epoch:
    r"""Return what the links carry with something lost.

    .. math:: C = \min_s \frac{P_s}{t_s} \max(1 - w / W_s, 1/2)

    Parameters
    ----------
    plan
        The Plan, of which the stages P_s [B/s] and their traffic t_s [1] are taken as they are with that loss.
    way
        Groups of engines and storage nodes.
    lost
        What is lost.
    start_s
        From when on [s].
    write_bytes_per_s
        New context written meanwhile, w [B/s]; W_s is what the stage writes while nothing is read [B/s].

    Returns
    -------
    Epoch
        Capacities [B/s]: one for each group of engines, that of the stages all share, and one a storage node if prompts
        lie on one. All 0 where the code does not survive the loss.

    Notes
    -----
    Stages that carry reads and writes in opposite directions lose nothing to writes. Rates are planned ones.

    References
    ----------
    The Plan's `network.stages` and `network.degraded`.

    Examples
    --------
    >>> from kvplan.reference import PLAN
    >>> way = topology(PLAN)
    >>> both = [epoch(PLAN, way, lost, 0.0, 0.0).capacities_bytes_per_s for lost in ("nothing", "node")]
    >>> [round(capacities[-1] / 1e9) for capacities in both], round(both[0][0] / 1e9)
    ([315, 174], 80)
    """
    state = None if lost == "nothing" else getattr(plan.network.degraded, lost)
    stages: Sequence[Stage] = plan.network.stages if state is None else state.stages
    if state is not None and not state.read_bytes_per_s:
        return Epoch(start_s, (0.0,) * (way.groups + 1 + way.storage_nodes))
    nics = plan.network.client_planned_bytes_per_s * max(ceil_div(plan.request.tp, _gpus_in_server(plan)), 1)
    left = _planned(stages, CLIENT_NIC) / _planned(plan.network.stages, CLIENT_NIC)
    inside = min(_reads(stage, write_bytes_per_s) for stage in stages if stage.name in _IN_NODES)
    between = min(_reads(stage, write_bytes_per_s) for stage in stages if stage.name in {LEAF, UPLINK})
    if not way.storage_nodes:
        return Epoch(start_s, (*(nics * left,) * way.groups, min(inside, between)))
    return Epoch(start_s, (*(nics * left,) * way.groups, between, *(inside / way.storage_nodes,) * way.storage_nodes))


def _gpus_in_server(plan: Plan) -> int:
    """Return the GPUs of one client server."""
    return ceil_div(plan.request.gpus, plan.network.client_servers)


def _planned(stages: Sequence[Stage], name: str) -> float:
    """Return the planned rate of a stage [B/s]."""
    return next(stage.planned_bytes_per_s for stage in stages if stage.name == name)


def _reads(stage: Stage, write_bytes_per_s: float) -> float:
    """Return the client bytes that a stage lets through for reading beside writes [B/s]."""
    if not stage.read_traffic:
        return math.inf
    reads = stage.planned_bytes_per_s / stage.read_traffic
    if stage.name not in _BOTH_WAYS or not stage.write_traffic:
        return reads
    writes = (stage.planned_write_bytes_per_s or stage.planned_bytes_per_s) / stage.write_traffic
    return max(read_beside_writes(reads, write_bytes_per_s, writes, 1.0), _LEAST_SHARE * reads)
