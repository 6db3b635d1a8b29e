"""Addresses: inside their prefixes, unique, and the same for a device however far the design grows."""

from __future__ import annotations

from ipaddress import IPv4Interface, IPv4Network

import pytest
from designs import SIZES, built, design_for, findings, plan_of

from kvplan.api import design
from kvplan.schema.build import AddressRanges

NODES = sorted(SIZES)
RANGES = AddressRanges()


def _addresses(nodes: int) -> dict[tuple[str, str], str]:
    made = design_for(nodes)
    ports = {(port.device, port.name): port.address for port in made.ports if port.address}
    return ports | {(device.name, "lo"): device.loopback for device in made.devices if device.loopback}


@pytest.mark.parametrize("nodes", NODES)
def test_no_address_is_given_twice(nodes: int) -> None:
    given = [address.partition("/")[0] for address in _addresses(nodes).values()]
    assert len(set(given)) == len(given)


@pytest.mark.parametrize("nodes", NODES)
def test_both_ends_of_a_leg_share_a_31_of_their_rail(nodes: int) -> None:
    ports = {(port.device, port.name): port for port in design_for(nodes).ports}
    for port in ports.values():
        if port.network in {"storage-client", "storage", "client"}:
            here, there = IPv4Interface(port.address), IPv4Interface(ports[port.peer_device, port.peer_port].address)
            assert here.network == there.network
            assert here.network.prefixlen == 31
            prefix = IPv4Network(getattr(RANGES, f"{port.network.replace('-', '_')}_{port.rail}"))
            assert here.ip in prefix


@pytest.mark.parametrize(("small", "large"), [(4, 16), (8, 16), (16, 64), (64, 256)])
def test_growth_renumbers_no_machine(small: int, large: int) -> None:
    """Adapters, controllers and loopbacks of a machine keep their addresses; only switch ports may move."""
    before, after = _addresses(small), _addresses(large)
    machines = [key for key in before if key[0].startswith(("storage", "gpu", "control"))]
    assert {("storage-001", "bmc"), ("storage-001", "client1p0"), ("storage-001", "lo")} <= set(machines)
    assert {key: after[key] for key in machines} == {key: before[key] for key in machines}


@pytest.mark.parametrize(("small", "large"), [(8, 16), (16, 256)])
def test_growth_keeps_numbers_of_switches(small: int, large: int) -> None:
    def numbered(nodes: int) -> dict[str, tuple[str, int | None]]:
        return {device.name: (device.loopback, device.asn) for device in design_for(nodes).devices if device.loopback}

    before, after = numbered(small), numbered(large)
    assert {name: after[name] for name in before} == before


def test_autonomous_system_numbers() -> None:
    asns = {device.name: device.asn for device in design_for(64).devices}
    assert asns["spine-001"] == asns["spine-002"] == RANGES.spine_asn + 1
    leaves = [asn for name, asn in asns.items() if name.startswith("leaf")]
    assert len(set(leaves)) == len(leaves) == design_for(64).switches.leaves


def test_ranges_say_what_is_used() -> None:
    used = {entry.name: (entry.used, entry.reach, entry.capacity) for entry in design_for(8).addresses}
    assert used["storage_client_a"] == (8, 7 * 4 + 1, 2048)
    assert used["storage_a"] == (4, 6 * 4 + 1, 2048)
    assert used["client_b"] == (4, 3 * 8 + 1, 65536)
    assert used["management_storage"][0] == 8 * 3
    assert all(taken <= reach <= capacity for taken, reach, capacity in used.values())


def test_a_prefix_that_is_too_small_is_an_error() -> None:
    small = built(8, addresses={"client_a": "10.68.0.0/28", "management": "172.24.0.0/23"})
    names = {finding.where.partition(" ")[0] for finding in findings(small, "prefix-small")}
    assert names == {"client_a", "management_storage"}


def test_prefixes_of_the_sites_own() -> None:
    moved = built(8, addresses={"storage_a": "192.168.0.0/24"})
    first = next(port for port in moved.ports if (port.device, port.name) == ("storage-001", "storage1p0"))
    assert first.address == "192.168.0.1/31"
    assert not findings(moved, "prefix-small")


def test_addresses_do_not_depend_on_the_leaf() -> None:
    one, two = design(plan_of(8)), design(plan_of(8, 1024))
    assert one.switches.pairs < two.switches.pairs
    address = {(port.device, port.name): port.address for port in two.ports}
    for port in one.ports:
        if port.device.startswith("storage"):
            assert address[port.device, port.name] == port.address
