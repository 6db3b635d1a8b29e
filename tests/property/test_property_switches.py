from __future__ import annotations

from collections import Counter
from ipaddress import ip_interface, ip_network
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sites import deployment_of, deployment_with, site_data
from switchtrees import parsed, texts

from kvplan.site.switches import switch_faults

if TYPE_CHECKING:
    from kvplan.schema.design import Port
    from kvplan.site.deployment import Deployment

VERSIONS = ["5.9.2", "5.11.1", "5.13.0", "5.14.0", "5.15.0", "5.18.0"]
RANGES = [
    "storage_client_a", "storage_client_b", "storage_a", "storage_b", "client_a", "client_b",
    "switch_loopbacks", "storage_loopbacks", "client_loopbacks",
]  # fmt: skip


@st.composite
def builds(draw: st.DrawFn) -> dict[str, Any]:
    """Draw build options: how uplinks run, how many, and where addresses begin."""
    first = draw(st.integers(0, 100))
    ranges = {name: f"10.{2 * (first + index)}.0.0/15" for index, name in enumerate(RANGES)}
    base = draw(st.integers(1, 4_000_000_000))
    fabric = {
        "uplink_legs": draw(st.sampled_from(["2x400G", "1x800G"])),
        "oversubscription": draw(st.sampled_from([None, 1, 1.5, 2, 3, 4])),
        "min_spines": draw(st.integers(1, 3)),
        "adaptive_routing": draw(st.booleans()),
    }
    numbers = {"spine_asn": base, "leaf_asn": base + 1_000, "host_asn": base + 100_000}
    cabling = {"medium": draw(st.sampled_from(["auto", "optics"])), "slack_m": draw(st.sampled_from([0, 1.5, 5]))}
    management = {"uplinks_per_switch": draw(st.integers(1, 4)), "control_nodes": draw(st.integers(0, 3))}
    return {"fabric": fabric, "cabling": cabling, "management": management, "addresses": {**ranges, **numbers}}


@st.composite
def deployments(draw: st.DrawFn) -> Deployment:
    """Draw a deployment of 4, 8 or 16 nodes."""
    nodes = draw(st.sampled_from([4, 8, 16]))
    network = site_data(deployment_of(8).plan)["network"]
    fabric_mtu = draw(st.integers(1500, 9216))
    sizes = {"fabric_mtu_bytes": fabric_mtu, "host_mtu_bytes": draw(st.integers(1500, fabric_mtu))}
    return deployment_with(
        nodes, build=draw(builds()), network={**network, **sizes}, cumulus=draw(st.sampled_from(VERSIONS))
    )


class Ends:
    """What rendered files say of each port, read without kvplan's own reader."""

    def __init__(self, deployed: Deployment) -> None:
        self.deployed = deployed
        self.content = {
            path.removeprefix("switches/").removesuffix(".yaml"): parsed(text)
            for path, text in texts(deployed).items()
            if path.endswith(".yaml")
        }

    def port(self, device: str, name: str) -> Any:
        return self.content[device]["interface"][name]

    def addresses(self, device: str, name: str) -> list[str]:
        port = self.port(device, name)
        return list({**port.get("ip", {}).get("address", {}), **port.get("ipv4", {}).get("address", {})})

    def gbit_per_s(self, port: Port) -> float:
        breakout = self.content[port.device]["interface"].get(port.cage, {}).get("link", {}).get("breakout", {})
        legs = int(next(iter(breakout), "1x").removesuffix("x"))
        share = self.deployed.plan.parts.switch.cage_bits_per_s / 1e9 / legs
        stated = self.port(port.device, port.name)["link"].get("speed")
        assert stated in (None, f"{share:g}G")
        return share

    def number(self, device: str) -> int:
        return int(self.content[device]["router"]["bgp"]["autonomous-system"])

    def neighbours(self, device: str) -> Any:
        return self.content[device]["vrf"]["default"]["router"]["bgp"]["neighbor"]


@pytest.mark.slow
@settings(max_examples=15)
@given(deployed=deployments())
def test_the_two_ends_of_every_cable_agree(deployed: Deployment) -> None:
    ends = Ends(deployed)
    for switch in deployed.fabric_switches:
        for port in switch.ports:
            if port.kind != "fabric":
                continue
            far = deployed.port[port.peer_device, port.peer_port]
            own = ends.port(port.device, port.name)
            assert ends.gbit_per_s(port) * 1e9 == far.bits_per_s
            neighbours = ends.neighbours(switch.name)
            if far.device in ends.content:
                assert own["link"]["mtu"] == ends.port(far.device, far.name)["link"]["mtu"]
                assert ends.number(switch.name) != ends.number(far.device)
                assert neighbours[port.name]["type"] == "unnumbered"
            else:
                assert own["link"]["mtu"] >= deployed.site.network.host_mtu_bytes
                address, host = ip_interface(ends.addresses(switch.name, port.name)[0]), ip_interface(far.address)
                assert set(address.network.hosts()) == {address.ip, host.ip}
                assert neighbours[str(host.ip)]["remote-as"] == deployed.devices[far.device].asn


@pytest.mark.slow
@settings(max_examples=15)
@given(deployed=deployments())
def test_addresses_are_unique_and_every_port_is_used_once(deployed: Deployment) -> None:
    ends = Ends(deployed)
    held = [
        ip_interface(address)
        for device, content in ends.content.items()
        for name in content["interface"]
        for address in ends.addresses(device, name)
    ]
    hosts = [
        ip_interface(port.address) for port in deployed.design.ports if port.address and port.device not in ends.content
    ]
    assert max(Counter(address.ip for address in held + hosts).values()) == 1
    legs = [address.network for address in held if address.network.prefixlen == 31]
    assert len(legs) == len(set(legs))
    management = ip_network(deployed.site.build.addresses.management)
    assert not any(management.overlaps(leg) for leg in legs)
    for switch in deployed.fabric_switches:
        names = {port.name for port in switch.ports}
        cages = {port.cage for port in switch.ports if port.cage_legs > 1}
        assert set(ends.content[switch.name]["interface"]) == names | cages | {"lo"}
        fabric = sum(port.kind == "fabric" for port in switch.ports)
        assert len(ends.neighbours(switch.name)) == fabric


@pytest.mark.slow
@settings(max_examples=15)
@given(deployed=deployments())
def test_no_rule_finds_an_error_in_what_is_rendered(deployed: Deployment) -> None:
    errors = [finding for finding in switch_faults(deployed, texts(deployed)) if finding.severity == "error"]
    assert errors == []
