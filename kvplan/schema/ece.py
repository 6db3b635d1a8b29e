"""Results of the erasure-code geometry: capacity, fault tolerance, limits, rebuild, endurance."""

from __future__ import annotations

from typing import Annotated, Literal

from kvplan.schema.base import Explained, Record


class Limit(Record):
    """One limit judged: what is needed against what there is.

    `margin` is have / need - 1, so -0.25 means a quarter short; infinite margins (nothing needed) are absent. Where the
    rule bounds from above (`bound` is `most`), `need` is what the candidate takes and `have` the most that is allowed.
    """

    name: str
    need: Annotated[float, Explained("unit", "what the request or the rule asks for, in the limit's own unit")]
    have: Annotated[float, Explained("unit", "what the candidate offers, in the limit's own unit")]
    unit: str
    margin: Annotated[float | None, Explained("ratio", "have / need - 1")]
    holds: bool
    bound: Literal["least", "most"] = "least"
    severity: Literal["error", "warning"] = "error"
    text: str = ""
    source: str = ""

    @property
    def title(self) -> str:
        """The name as people read it."""
        return self.name.replace("_", " ")


class Alternative(Record):
    """Another code or node count, and what it would change."""

    erasure_code: str
    nodes: Annotated[int, Explained("count", "node count the alternative asks for")]
    node_failures: Annotated[int, Explained("count", "floor(p / s)")]
    further_device_failures: Annotated[int, Explained("count", "p - node_failures x s")]
    code_efficiency: Annotated[float, Explained("ratio", "d / (d + p)")]
    text: str


class FaultTolerance(Record):
    """How many failures a stripe survives in the worst case, computed from strips per node."""

    strips_per_node: Annotated[
        int, Explained("count", "s = ceil((d + p) / n), n = nodes of the smallest recovery group", ("profile.nodes",))
    ]
    node_failures: Annotated[int, Explained("count", "floor(p / s)", ("profile.fault_tolerance.strips_per_node",))]
    further_device_failures: Annotated[
        int,
        Explained(
            "count",
            "p - node_failures x s",
            ("profile.fault_tolerance.strips_per_node", "profile.fault_tolerance.node_failures"),
        ),
    ]
    ibm_recommended: Annotated[bool, Explained("yes/no", "whether IBM's own table names the code for the node count")]
    ibm_codes: tuple[str, ...]
    alternatives: tuple[Alternative, ...]


class Rebuild(Record):
    """Lower bounds of rebuild time: the storage network is the limit, all drives full."""

    drive_s: Annotated[
        float,
        Explained(
            "s",
            "drive_bytes x (d + 1) x (n - 1)/n / (n x storage NIC bytes/s x share), n = nodes of the recovery group",
            ("profile.drive_bytes", "profile.nodes", "constants.rebuild.network_share"),
        ),
    ]
    node_s: Annotated[
        float,
        Explained(
            "s",
            "drives_per_node x drive_bytes x (d + 1) / (n x storage NIC bytes/s x share); the lost NIC is out too",
            ("profile.drives_per_node", "profile.drive_bytes", "profile.nodes", "constants.rebuild.network_share"),
        ),
    ]


class Endurance(Record):
    """What the drives' rated endurance allows, spread evenly over all drives."""

    rated_drive_writes_per_day: Annotated[float, Explained("1/day", "from the drive's catalogue row")]
    allowed_write_bytes_per_s: Annotated[
        float,
        Explained(
            "B/s",
            "raw_bytes x rated writes per day / 86,400 s x d / (d + p) / write amplification",
            (
                "profile.raw_bytes",
                "profile.endurance.rated_drive_writes_per_day",
                "profile.code_efficiency",
                "constants.endurance.write_amplification",
            ),
        ),
    ]
    demanded_drive_writes_per_day: Annotated[
        float,
        Explained(
            "1/day",
            "write rate x (d + p)/d x write amplification x 86,400 s / raw_bytes",
            ("demand.write_bytes_per_s", "profile.code_efficiency", "profile.raw_bytes"),
        ),
    ]


class Geometry(Record):
    """Capacity of an erasure code over nodes and drives, before file-system metadata.

    `spare_pdisks` is the sum over all recovery groups; `usable_bytes` is 0 when no stripe can be laid out.
    """

    nodes: int
    drives_per_node: int
    drive_bytes: int
    erasure_code: str
    block_bytes: int
    raw_bytes: int
    usable_bytes: int
    code_efficiency: float
    usable_fraction: float
    recovery_groups: int
    nodes_per_recovery_group: tuple[int, ...]
    pdisks_per_recovery_group: tuple[int, ...]
    spare_pdisks: int
    spare_pdisks_per_recovery_group: tuple[int, ...] = ()
    partition_bytes: int
    checksum_granularity_bytes: int
    fault_tolerance: FaultTolerance
    limits: tuple[Limit, ...]
