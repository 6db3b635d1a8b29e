"""Lossless RoCE: classes, headroom, buffers and shares of bandwidth; one class cannot starve the other."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Final

from kvplan.site.switches.ports import fabric_ports

if TYPE_CHECKING:
    from kvplan.site.deployment import Deployment, SwitchUnit
    from kvplan.site.switches.dialect import Dialect, Tree

EVERY_PORT: Final = "default-global"
"""Name of the profile that holds for every port."""
OTHER_CLASS: Final = 0
"""Traffic class of all that is neither RDMA nor a notification of congestion."""
TRAFFIC_CLASSES: Final = 8
"""How many classes there are, and how many priorities."""


def longest_cable_m(deployment: Deployment, switch: SwitchUnit) -> int:
    """Return the length of the longest cable of a switch, rounded up to a metre.

    Parameters
    ----------
    deployment
        The cable schedule.
    switch
        The switch.

    Returns
    -------
    int
        Metres; 1 for a switch without cables.
    """
    cables = (deployment.cables[name] for port in fabric_ports(switch) for name in port.cables)
    return ceil(max((cable.length_m for cable in cables), default=1))


def traffic_classes(roce: int, cnp: int) -> dict[int, int]:
    """Give each priority its traffic class.

    Parameters
    ----------
    roce
        Priority of RDMA.
    cnp
        Priority of notifications of congestion.

    Returns
    -------
    dict of int
        Classes by priority: of these two their own, of all others one.

    Examples
    --------
    >>> traffic_classes(3, 6)
    {0: 0, 1: 0, 2: 0, 3: 3, 4: 0, 5: 0, 6: 6, 7: 0}
    """
    own = (roce, cnp)
    return {priority: priority if priority in own else OTHER_CLASS for priority in range(TRAFFIC_CLASSES)}


def lossless(deployment: Deployment, switch: SwitchUnit, dialect: Dialect) -> Tree:
    """Carry RDMA without loss, and everything else in a class of its own.

    Headroom for the frames that are under way when a pause is sent follows from the longest cable. The shares of
    buffer and bandwidth keep a noisy neighbour in one class from the other; the watchdog ends a storm of pauses.

    Parameters
    ----------
    deployment
        Settings and cables.
    switch
        The switch.
    dialect
        How its release writes it.

    Returns
    -------
    dict
        The part below `qos`.
    """
    number = {name: int(deployment.setting(f"switch.{name}")) for name in _NUMBERS}
    roce, cnp = number["roce_priority"], number["cnp_priority"]
    return {
        "roce": {**dialect.enabled, "mode": "lossless"},
        "mapping": {EVERY_PORT: {"trust": "both", "dscp": _classes(number)}},
        "egress-queue-mapping": {
            EVERY_PORT: {
                "switch-priority": {
                    str(priority): {"traffic-class": traffic_class}
                    for priority, traffic_class in traffic_classes(roce, cnp).items()
                }
            }
        },
        "egress-scheduler": {EVERY_PORT: {"traffic-class": _shares(number)}},
        "traffic-pool": {
            "default-lossy": {"memory-percent": number["lossy_pool_percent"]},
            "roce-lossless": {"memory-percent": number["lossless_pool_percent"]},
        },
        "pfc": {
            EVERY_PORT: {
                "cable-length": longest_cable_m(deployment, switch),
                "switch-priority": {str(roce): {}},
                "rx": "enable",
                "tx": "enable",
            }
        },
        "pfc-watchdog": {
            "polling-interval": number["pfc_watchdog_interval_ms"],
            "robustness": number["pfc_watchdog_intervals"],
        },
    }


_NUMBERS: Final = (
    "roce_priority", "roce_dscp", "cnp_priority", "cnp_dscp", "roce_bandwidth_percent", "other_bandwidth_percent",
    "lossy_pool_percent", "lossless_pool_percent", "pfc_watchdog_interval_ms", "pfc_watchdog_intervals",
)  # fmt: skip


def _classes(number: dict[str, int]) -> Tree:
    """Map the code points of RDMA and of notifications to their priorities."""
    pairs = ((number[f"{kind}_dscp"], number[f"{kind}_priority"]) for kind in ("roce", "cnp"))
    return {str(dscp): {"switch-priority": priority} for dscp, priority in pairs}


def _shares(number: dict[str, int]) -> Tree:
    """Share bandwidth between RDMA and the rest, with nothing for unused classes; notifications go first."""
    used = {
        OTHER_CLASS: number["other_bandwidth_percent"],
        number["roce_priority"]: number["roce_bandwidth_percent"],
    }
    shares: Tree = {str(index): {"mode": "dwrr", "bw-percent": used.get(index, 0)} for index in range(TRAFFIC_CLASSES)}
    return shares | {str(number["cnp_priority"]): {"mode": "strict"}}
