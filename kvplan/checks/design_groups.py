"""What the rules of the design find, by kind: the ids of docs/design-rules.md in groups, one group a check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.checks.framework import Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

GROUPS: Final[dict[str, frozenset[str]]] = {
    "cables": frozenset(
        {
            "cable-missing",
            "cable-connector",
            "cable-length",
            "cable-lanes",
            "breakout-cage",
            "breakout-ports",
            "cage-plugs",
            "uplink-split",
            "distance-unknown",
        }
    ),
    "fabric": frozenset(
        {
            "storage-single-port",
            "single-port",
            "single-spine",
            "leaf-lost",
            "cages-left",
            "adaptive-routing-rate",
            "adaptive-routing-receivers",
            "plan-differs",
            "spines-fewer",
            "uplink-legs",
            "management-uplinks",
            "catalogue-differs",
        }
    ),
    "chassis": frozenset(
        {
            "pcie-slots",
            "pcie-slots-open",
            "pcie-lanes",
            "ocp-bays",
            "atx-lead",
            "drive-bays",
            "drive-form",
            "client-unknown",
        }
    ),
    "power": frozenset(
        {
            "psu-redundancy",
            "rack-power",
            "power-unknown",
        }
    ),
    "racks": frozenset(
        {
            "rack-limits-assumed",
            "racks-available",
            "rack-units",
            "rack-weight",
            "rack-lost",
            "rack-quorum",
        }
    ),
    "addresses": frozenset(
        {
            "prefix-public",
            "asn-public",
            "address-twice",
            "asn-range",
            "asn-shared",
        }
    ),
}
"""Ids by group; `prefix-small` is a check of its own, which says where the prefix stands."""


def passed_on(context: Context, group: str) -> Iterator[Found]:
    """Pass on the errors and warnings of a group; what is only worth knowing stays with the design.

    Parameters
    ----------
    context
        What is looked at.
    group
        Key of `GROUPS`.

    Yields
    ------
    Found
        With the severity and remedy of the finding.
    """
    for finding in context.design.findings:
        if finding.id in GROUPS[group] and finding.severity != "info":
            yield Found(
                f"{finding.id}: {finding.where}", finding.text, severity=finding.severity, remedy=finding.remedy
            )
