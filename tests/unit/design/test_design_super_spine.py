"""Beyond what two tiers carry: pods of leaves and spines under planes of super-spines."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import pytest
from designs import plan_of

from kvplan.api import design
from kvplan.core.design.inventory import cages_used

if TYPE_CHECKING:
    from kvplan.schema.design import Design

pytestmark = pytest.mark.slow


@cache
def _large() -> Design:
    """Sixteen thousand GPUs in servers of four, which takes more than 128 leaves."""
    return design(plan_of(64, 16_384))


def test_counts() -> None:
    switches, network = _large().switches, plan_of(64, 16_384).network
    assert switches.leaves > 128
    assert switches.super_spines == network.super_spine_switches > 0
    assert switches.spines == switches.pods * switches.uplinks_per_leaf
    assert network.super_spine_needed


def test_every_leaf_reaches_every_spine_of_its_pod_and_no_other() -> None:
    peers: dict[str, set[str]] = {}
    for port in _large().ports:
        if port.network == "uplink" and port.device.startswith("leaf"):
            peers.setdefault(port.device, set()).add(port.peer_device)
    pods = Counter(frozenset(found) for found in peers.values())
    assert len(pods) == _large().switches.pods
    assert all(len(pod) == _large().switches.uplinks_per_leaf for pod in pods)
    assert len(set().union(*pods)) == _large().switches.spines


def test_super_spines_join_the_same_position_of_every_pod() -> None:
    planes: dict[str, set[int]] = {}
    uplinks = _large().switches.uplinks_per_leaf
    for port in _large().ports:
        if port.network == "super-uplink" and port.device.startswith("core"):
            planes.setdefault(port.device, set()).add((int(port.peer_device[-3:]) - 1) % uplinks)
    assert len(planes) == _large().switches.super_spines
    assert all(len(plane) == 1 for plane in planes.values())


def test_no_cage_is_used_twice() -> None:
    ports = Counter((port.device, port.name) for port in _large().ports)
    assert max(ports.values()) == 1
    cages = cages_used(_large())
    fabric = [device.name for device in _large().devices if device.role in {"leaf", "spine", "super-spine"}]
    assert max(len(cages[name]) for name in fabric) <= 64


def test_spines_of_a_pod_share_a_number() -> None:
    spines = [device for device in _large().devices if device.role == "spine"]
    assert len({device.asn for device in spines}) == _large().switches.pods
