"""What a switch's rendered configuration becomes for FRR and the kernel, in both dialects."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from sites import NEW, OLD, deployment_of

from kvplan.site.switches import switch_files
from kvplan.twin.rack.frr import PortSetting, applied, frr_of, ports_of

if TYPE_CHECKING:
    from pathlib import Path

DIALECTS = pytest.mark.parametrize("cumulus", [OLD, NEW])


@cache
def rendered(cumulus: str) -> dict[str, Any]:
    files = switch_files(deployment_of(8, cumulus))
    return {
        str(file.path): applied(yaml.safe_load(str(file.text))) for file in files if str(file.path).endswith(".yaml")
    }


def settings(cumulus: str, switch: str) -> Any:
    return rendered(cumulus)[f"switches/{switch}.yaml"]


@DIALECTS
def test_a_leaf_filters_each_host_and_announces_its_own_routes_only(cumulus: str) -> None:
    text = frr_of(settings(cumulus, "leaf-001a"))
    for line in (
        "hostname leaf-001a",
        "ip prefix-list own-routes seq 10 permit 10.72.0.0/20 ge 32 le 32",
        "ip prefix-list from-storage-001 seq 10 permit 10.72.16.1/32",
        "route-map own-routes permit 10",
        " match ip address prefix-list own-routes",
        "router bgp 4200001001",
        " bgp router-id 10.72.4.1",
        " bgp bestpath as-path multipath-relax",
        " neighbor underlay remote-as external",
        " neighbor swp59s0 interface peer-group underlay",
        " neighbor 10.64.0.1 remote-as 4200100001",
        " neighbor 10.64.0.1 peer-group hosts",
        "  redistribute connected route-map own-routes",
        "  maximum-paths 128",
        "  neighbor 10.64.0.1 prefix-list from-storage-001 in",
    ):
        assert line in text.splitlines(), line
    hosts = re.findall(r"^ neighbor (10\.\S+) peer-group hosts$", text, re.MULTILINE)
    assert hosts == re.findall(r"^  neighbor (10\.\S+) prefix-list from-\S+ in$", text, re.MULTILINE)
    assert len(hosts) == 16


def test_dead_neighbours_are_noticed_alike_in_both_dialects() -> None:
    new = frr_of(settings(NEW, "leaf-001a"))
    assert "bfd\n profile fabric\n  detect-multiplier 3\n  receive-interval 300\n  transmit-interval 300\n exit" in new
    assert " neighbor underlay bfd profile fabric\n" in new
    old = frr_of(settings(OLD, "leaf-001a"))
    assert " neighbor underlay bfd 3 300 300\n" in old
    assert "profile" not in old


def test_the_dialects_differ_in_bfd_alone() -> None:
    def rest(cumulus: str) -> list[str]:
        text = re.sub(r"^bfd\n.*?^exit\n", "", frr_of(settings(cumulus, "spine-001")), flags=re.MULTILINE | re.DOTALL)
        return [line for line in text.splitlines() if " bfd " not in line]

    assert rest(OLD) == rest(NEW)


@DIALECTS
def test_ports_have_mtu_and_addresses(cumulus: str) -> None:
    ports = ports_of(settings(cumulus, "leaf-001a"))
    assert ports["lo"] == PortSetting(None, ("10.72.4.1/32",))
    assert ports["swp1s0"] == PortSetting(9216, ("10.64.0.0/31",))
    assert ports["swp59s0"] == PortSetting(9216, ())
    assert not {"eth0", "swp1"} & ports.keys()  # there without a configuration; a cage that is split


@DIALECTS
@pytest.mark.parametrize("switch", ["leaf-001a", "leaf-001b", "spine-001"])
@pytest.mark.skipif(not shutil.which("vtysh"), reason="FRR is not installed")
def test_frr_reads_it(cumulus: str, switch: str, tmp_path: Path) -> None:
    file = tmp_path / "frr.conf"
    file.write_text(frr_of(settings(cumulus, switch)), encoding="utf-8")
    done = subprocess.run(["vtysh", "-C", "-f", file], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    file.write_text(frr_of(settings(cumulus, switch)).replace("maximum-paths", "most-paths"), encoding="utf-8")
    assert subprocess.run(["vtysh", "-C", "-f", file], capture_output=True, check=False).returncode != 0


def test_what_is_switched_off_is_not_written() -> None:
    nvue: dict[str, Any] = {
        "router": {"bgp": {"autonomous-system": 1, "router-id": "10.0.0.1"}},
        "vrf": {"default": {"router": {"bgp": {"state": "enabled", "address-family": {"ipv4-unicast": {}}}}}},
    }
    assert "redistribute" not in frr_of(nvue)
    assert "maximum-paths" not in frr_of(nvue)
    nvue["vrf"]["default"]["router"]["bgp"]["state"] = "disabled"
    assert "router bgp" not in frr_of(nvue)


def test_policies_of_groups_and_neighbours_without_group() -> None:
    policy = {"address-family": {"ipv4-unicast": {"policy": {"outbound": {"route-map": "few"}}}}}
    bgp = {
        "state": "enabled",
        "address-family": {"ipv4-unicast": {"redistribute": {"connected": {"enable": "on"}}}},
        "peer-group": {"all": {"remote-as": "external", **policy}},
        "neighbor": {"10.0.0.2": {"type": "numbered", "remote-as": 2}, "swp1": {"type": "unnumbered", "remote-as": 3}},
    }
    common = {"bgp": {"autonomous-system": 1, "router-id": "10.0.0.1"}}
    text = frr_of({"router": common, "vrf": {"default": {"router": {"bgp": bgp}}}})
    assert text[text.index("router bgp") :].splitlines() == [
        "router bgp 1",
        " bgp router-id 10.0.0.1",
        " neighbor all peer-group",
        " neighbor all remote-as external",
        " neighbor 10.0.0.2 remote-as 2",
        " neighbor swp1 interface",
        " neighbor swp1 remote-as 3",
        " address-family ipv4 unicast",
        "  redistribute connected",
        "  neighbor all route-map few out",
        " exit-address-family",
        "exit",
    ]


def test_a_route_map_may_deny_everything() -> None:
    maps = {"route-map": {"none": {"rule": {"10": {"action": {"deny": {}}, "match": {"type": "ipv4"}}}}}}
    assert frr_of({"router": {"policy": maps}}).endswith("route-map none deny 10\nexit\n")


@pytest.mark.parametrize("document", [[], [{"header": {}}], [{"set": {}}, {"set": {}}], "text", None])
def test_what_is_no_configuration_is_refused(document: object) -> None:
    with pytest.raises(ValueError, match="must have one `set`"):
        applied(document)


def test_settings_alone_are_taken_as_they_are() -> None:
    assert applied({"interface": {}}) == {"interface": {}}
