"""The Site that is made up for a rehearsal, and what a rehearsal changes of one."""

from __future__ import annotations

import pytest
from designs import plan_of
from sites import KEY, site_of

from kvplan.api import deployment
from kvplan.catalogue.loader import load_catalogue
from kvplan.checks.framework import Context
from kvplan.checks.registry import own_checks
from kvplan.checks.runner import examine
from kvplan.rehearsal.adapted import PREFIX, adapted
from kvplan.rehearsal.invented import invented_site
from kvplan.site.secrets import secret_references


@pytest.mark.parametrize(("nodes", "cumulus"), [(4, "5.11.1"), (8, "5.15.0"), (16, "5.15.0")])
def test_no_check_finds_an_error_in_what_is_made_up(nodes: int, cumulus: str) -> None:
    plan = plan_of(nodes)
    site = invented_site(plan, load_catalogue().software(plan.request.software), cumulus=cumulus)
    assert {switch.cumulus for switch in site.switches} == {cumulus}
    offline = [check for check in own_checks() if check.needs == "offline"]
    found = examine(Context(deployment(plan, site)), offline, plan="").findings
    assert [finding for finding in found if finding.severity == "error"] == []
    serials = [serial for server in site.servers if server.data_drives for serial in server.data_drives.serials]
    assert len(set(serials)) == len(serials) == nodes * plan.profile.drives_per_node


def test_a_rehearsal_changes_keys_secrets_and_packages_of_a_site() -> None:
    site = site_of(plan_of(8))
    packages = site.packages.model_copy(update={"rpm_repo": "http://172.24.0.10:8081/rpm_repo"})
    made = adapted(site, "key", KEY, packages.model_dump(mode="json"))
    references = secret_references(made.site)
    assert references.pop("private_key") == "file:key"
    assert references == {name: f"env:{PREFIX}{name.upper()}" for name in made.secrets}
    assert made.environment == {f"{PREFIX}{name.upper()}": value for name, value in made.secrets.items()}
    assert len({*made.secrets.values()}) == len(made.secrets) == 4 + len(site.servers)
    before, after = site.model_dump(), made.site.model_dump()
    for data in (before, after):
        data["packages"] = data["access"] = data["network"]["snmp"] = None
        for server in data["servers"]:
            server["bmc"]["password"] = None
    assert after == before
    assert made.site.access.user == site.access.user
