"""Every check over everything that is rendered: silent where nothing is wrong, at no loss where something is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from checking import clean_data, context_with
from site_changes import at, put, without
from sites import NEW, OLD

from kvplan.checks.framework import Context
from kvplan.checks.registry import all_checks
from kvplan.checks.runner import examine
from kvplan.site.render import rendered_tree

if TYPE_CHECKING:
    from kvplan.schema.checking import CheckReport

FAULTS: dict[str, tuple[Any, set[str]]] = {
    "frames that switches drop": (put("network.fabric_mtu_bytes", 1500), {"KV-NET-017", "KV-HST-013"}),
    "a MAC address on two machines": (at("gpu-0001", "macs.mgmt1", "02:00:01:00:01:03"), {"KV-SIT-006", "KV-HST-005"}),
    "a licence that nobody accepted": (without("licences", "storage-scale"), {"KV-SIT-029", "KV-SCL-035"}),
    "all memory for the pagepool": (put("storage.pagepool_gib", 512), {"KV-CAP-016", "KV-SCL-018"}),
    "a switch before the first dialect": (at("leaf-001a", "cumulus", "5.8.0"), {"KV-VER-019", "KV-REL-001"}),
    "a boot drive twice": (at("storage-001", "boot_drives.serials", ["A1", "A1"]), {"KV-SIT-009", "KV-OSI-010"}),
}
"""A fault, and by which checks of Plan and Site and of rendered files it is found."""


def examined(change: Any = None, nodes: int = 8) -> CheckReport:
    """Run every check over a Site with a change."""
    deployment = context_with(change, nodes).deployment
    return examine(Context(deployment, lambda: rendered_tree(deployment)), all_checks(), plan="plan.json")


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [4, 8, 16])
@pytest.mark.parametrize("cumulus", [OLD, NEW])
def test_nothing_is_wrong_with_a_clean_site(nodes: int, cumulus: str) -> None:
    def change(data: dict[str, Any]) -> None:
        for switch in data["switches"]:
            switch["cumulus"] = cumulus

    report = examined(change, nodes)
    assert [finding for finding in report.findings if finding.severity == "error"] == []
    assert report.run == tuple(check.id for check in all_checks())


@pytest.mark.parametrize(("change", "ids"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_found_before_and_after_rendering(change: Any, ids: set[str]) -> None:
    assert ids <= {finding.id for finding in examined(change).findings if finding.severity == "error"}


def test_every_machine_may_be_missing() -> None:
    for name in (entry["name"] for entry in clean_data()["servers"]):
        assert examined(without("servers", name)).held_up_by == ("KV-SIT-001",)
