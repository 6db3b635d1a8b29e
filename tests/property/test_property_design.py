"""Any fleet can be racked and cabled: no port twice, no cage overfull, nothing on top of something else."""

from __future__ import annotations

from collections import Counter

from designs import built, plan_of
from hypothesis import given, settings
from hypothesis import strategies as st

from kvplan.api import design
from kvplan.core.design.inventory import cages_used
from kvplan.schema.build import BuildOptions

FLEETS = st.tuples(
    st.integers(3, 40), st.integers(1, 600), st.sampled_from(["rtx-pro-6000", "h100", "l40s", "gb200", "rtx-6000-ada"])
)
OPTIONS = st.fixed_dictionaries(
    {
        "fabric": st.fixed_dictionaries(
            {
                "min_spines": st.integers(1, 9),
                "oversubscription": st.sampled_from([None, 1.0, 1.7, 3.0]),
                "uplink_legs": st.sampled_from(["2x400G", "1x800G"]),
            }
        ),
        "cabling": st.fixed_dictionaries({"medium": st.sampled_from(["auto", "optics"])}),
        "management": st.fixed_dictionaries({"host_ports": st.integers(0, 2), "control_nodes": st.integers(0, 3)}),
        "racks": st.fixed_dictionaries({"units": st.integers(24, 52), "reserved_units": st.integers(0, 4)}),
    }
)


@given(fleet=FLEETS, options=OPTIONS)
@settings(max_examples=60)
def test_any_fleet_is_racked_and_cabled(fleet: tuple[int, int, str], options: dict[str, object]) -> None:
    nodes, gpus, gpu = fleet
    plan = plan_of(64, gpus, nodes=nodes, gpu=gpu, profile="large-16", erasure_code="4+2P", beyond_max=True)
    made = design(plan, BuildOptions.model_validate(options))
    ports = Counter((port.device, port.name) for port in made.ports)
    assert max(ports.values()) == 1
    places = Counter(
        (device.rack, device.position_u + unit) for device in made.devices for unit in range(device.rack_units)
    )
    assert max(places.values()) == 1
    assert all(unit >= 1 for _, unit in places)
    used = Counter({device: len(cages) for device, cages in cages_used(made).items()})
    fabric = [device.name for device in made.devices if device.role in {"leaf", "spine", "super-spine"}]
    assert max(used[name] for name in fabric) <= plan.parts.switch.cages
    assert sum(device.role == "client" for device in made.devices) == plan.network.client_servers
    assert all(cable.length_m >= cable.needed_m for cable in made.cables)
    assert not {finding.id for finding in made.findings} & {
        "cage-plugs",
        "cable-lanes",
        "cable-connector",
        "address-twice",
    }


@given(less=st.integers(3, 30), more=st.integers(0, 30))
@settings(max_examples=20)
def test_growth_keeps_every_machines_addresses(less: int, more: int) -> None:
    def addresses(nodes: int) -> dict[tuple[str, str], str]:
        plan = plan_of(64, 64, nodes=nodes, profile="large-16", erasure_code="4+2P")
        return {
            (port.device, port.name): port.address
            for port in design(plan).ports
            if port.device.startswith(("storage", "gpu"))
        }

    small, large = addresses(less), addresses(less + more)
    assert {key: large[key] for key in small} == small


def test_more_oversubscription_takes_no_more_cables() -> None:
    counts = [
        sum(cable.network == "uplink" for cable in built(64, fabric={"oversubscription": ratio}).cables)
        for ratio in (1.0, 2.0, 4.0)
    ]
    assert counts == sorted(counts, reverse=True)
