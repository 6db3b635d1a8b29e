"""The network budget: every stage a byte passes from drive to GPU, and the switches in between."""

from __future__ import annotations

from typing import Annotated

from kvplan.schema.base import Explained, Record


class Stage(Record):
    """One stage of the read path, summed over all its instances.

    `capacity_bytes_per_s` is line rate after packet overhead, `planned_bytes_per_s` what may be promised of it.
    `utilisation` judges reads and writes each alone. Where both share a direction (drives, storage NIC, leaf,
    uplink) `combined_utilisation` says what they come to at the same time.
    """

    name: str
    count: Annotated[int, Explained("count", "instances that carry the load side by side")]
    capacity_bytes_per_s: Annotated[float, Explained("B/s", "count x rate of one instance x usable share of the line")]
    planned_bytes_per_s: Annotated[
        float,
        Explained("B/s", "count x rate of one instance x planning factor", ("constants.network.planning_factor",)),
    ]
    read_traffic: Annotated[float, Explained("B/B", "bytes that pass the stage for each byte a client reads")]
    write_traffic: Annotated[float, Explained("B/B", "bytes that pass the stage for each byte a client writes")]
    load_bytes_per_s: Annotated[float, Explained("B/s", "read demand x read_traffic", ("demand.read_bytes_per_s",))]
    write_load_bytes_per_s: Annotated[
        float, Explained("B/s", "write demand x write_traffic", ("demand.write_bytes_per_s",))
    ]
    utilisation: Annotated[float, Explained("ratio", "load / planned; reads and writes run in opposite directions")]
    planned_write_bytes_per_s: Annotated[
        float | None, Explained("B/s", "as planned_bytes_per_s, for writes; absent where it is the same")
    ] = None
    combined_utilisation: Annotated[
        float | None,
        Explained("ratio", "read load / planned + write load / planned where both share a direction, else utilisation"),
    ] = None
    note: str = ""


class StagesState(Record):
    """The read path in one state: normal, or with something lost."""

    binding_stage: Annotated[str, Explained("name", "the stage that lets the least client bytes through, reading")]
    read_bytes_per_s: Annotated[
        float,
        Explained("B/s", "least of planned / read_traffic over the stages left; 0 if the code does not survive"),
    ]
    write_bytes_per_s: Annotated[
        float,
        Explained("B/s", "least of planned / write_traffic over the stages left; 0 if the code does not survive"),
    ]
    stages: tuple[Stage, ...]
    text: str = ""


class Degraded(Record):
    """The path with one thing lost."""

    drive: StagesState
    node: StagesState
    leaf: StagesState


class Fabric(Record):
    """Switch counts of a leaf-spine fabric; a cage is one 800G switch port, run as legs."""

    leaf_switches: int
    spine_switches: int
    super_spine_switches: int
    pods: int
    cages_down_per_leaf: int
    uplinks_per_leaf: int
    cages_per_switch: int
    cage_bits_per_s: float
    spine_cages_used: int
    inter_switch_cables: int
    oversubscription: float
    super_spine_needed: bool
    notes: tuple[str, ...] = ()

    @property
    def pairs(self) -> int:
        """Leaf pairs: two leaves each."""
        return self.leaf_switches // 2

    @property
    def spines_per_pod(self) -> int:
        """Spines of a pod; all of them in two tiers."""
        return self.spine_switches // self.pods


class NetworkBudget(Record):
    """The network section of a Plan."""

    stages: tuple[Stage, ...]
    binding_stage: Annotated[
        str,
        Explained("name", "the stage that lets the least client bytes through, reading", ("network.read_bytes_per_s",)),
    ]
    degraded: Degraded
    client_servers: Annotated[int, Explained("count", "ceil(gpus / gpus per server)", ("request.gpus",))]
    client_planned_bytes_per_s: Annotated[
        float,
        Explained(
            "B/s", "NICs x line rate x planning factor, one client server", ("constants.network.planning_factor",)
        ),
    ]
    leaf_switches: Annotated[
        int, Explained("count", "smallest even count whose cages hold all ports and uplinks", ("profile.nodes",))
    ]
    spine_switches: Annotated[
        int,
        Explained(
            "count",
            "fewest that hold the legs of all leaves, ceil(leaves x uplinks / cages) or more; in three tiers pods x "
            "uplinks per leaf",
            ("network.leaf_switches",),
        ),
    ]
    super_spine_switches: Annotated[
        int,
        Explained(
            "count",
            "0 while two tiers carry the leaves; else uplinks per leaf x super-spines that the pods of a plane need",
            ("network.spine_switches",),
        ),
    ]
    uplinks_per_leaf: Annotated[
        int,
        Explained(
            "cages",
            "ceil(leaf bandwidth down / (oversubscription x cage rate)), grown until its legs divide by the spines",
            ("request.oversubscription",),
        ),
    ]
    cages_down_per_leaf: Annotated[
        int, Explained("cages", "sum over port kinds of ceil(legs on a leaf / legs per cage)")
    ]
    spine_cages_used: Annotated[
        int, Explained("cages", "leaves x legs per spine / 2; in three tiers the leaves of a pod")
    ]
    inter_switch_cables: Annotated[int, Explained("count", "leaves x uplinks per leaf, plus cables to super-spines")]
    oversubscription: Annotated[float, Explained("ratio", "bandwidth down / bandwidth up of a leaf, as built")]
    super_spine_needed: bool
    read_bytes_per_s: Annotated[
        float, Explained("B/s", "least of planned / traffic per byte read over all stages, nothing lost")
    ]
    write_bytes_per_s: Annotated[
        float, Explained("B/s", "least of planned / traffic per byte written over all stages, nothing lost")
    ]
    notes: tuple[str, ...] = ()
