"""A workload becomes the simulation that sizing had in mind."""

from __future__ import annotations

import pytest
from workload_cases import BURST, H200, preset

from kvplan.core.fleet.arrivals import Shares, shared_out
from kvplan.core.fleet.jobs import Arrival
from kvplan.core.fleet.served_workload import simulated_workload
from kvplan.core.sizing.workload_demand import workload_load
from kvplan.schema.simulating import SimulationRequest

GPUS = 16
ONE = [Arrival(float(at), 10_000) for at in range(20_000)]


@pytest.mark.parametrize("name", ["chat", "rag", "agent", "docqa", "batch"])
def test_means_are_those_of_sizing(name: str) -> None:
    workload = preset(name)
    load, found = workload_load(workload, GPUS, H200, BURST), simulated_workload(workload, H200, GPUS)
    assert found["requests_per_s"] == pytest.approx(load.requests_per_s)
    assert found["prompt_tokens"] == pytest.approx(load.prompt_tokens, abs=0.5)
    assert found["hit_share"] == pytest.approx(load.hit_share)
    assert found["routing"] == workload.routing
    assert SimulationRequest(**found).prompt_sigma == found["prompt_sigma"]


@pytest.mark.parametrize(
    "changes",
    [
        {"local_hit_share": 0.9, "routing": "sticky"},
        {"local_hit_share": 0.9, "routing": "random"},
        {"local_hit_share": 0.9, "routing": "random", "shared_share": 0.3},
        {"g4_share": 0.4, "routing": "sticky"},
        {"g4_share": 0.4, "routing": "random"},
        {"g2_bytes_per_gpu": 2e11, "routing": "sticky"},
        {"g2_bytes_per_gpu": 2e11, "routing": "random"},
    ],
)
def test_as_many_hits_come_from_the_tier_as_sizing_says(changes: dict[str, object]) -> None:
    workload = preset("chat", **changes)
    wanted = workload_load(workload, GPUS, H200, BURST).g4_share
    found = simulated_workload(workload, H200, GPUS)
    shares = Shares(1.0, found["tier_share"], shared_share=found["shared_share"])
    jobs = shared_out(ONE, shares, GPUS, sticky=found["routing"] == "sticky", seed=1)
    assert sum(job.tier_tokens > 0 for job in jobs) / len(jobs) == pytest.approx(wanted, abs=0.01)


def test_a_share_that_somebody_names_is_divided_by_routing() -> None:
    workload = preset("chat", g4_share=0.4, routing="random", shared_share=0.0)
    assert simulated_workload(workload, H200, GPUS)["shared_share"] == 1.0
    assert simulated_workload(workload, H200, GPUS, tier_share_given=True)["shared_share"] == 0.0


def test_gap_and_room_are_there_only_where_they_are_given() -> None:
    bare = simulated_workload(preset("chat", reuse_gap_s=100.0), H200, GPUS)
    assert bare["reuse_gap_s"] == 100.0
    assert "local_tokens" not in bare
    roomy = simulated_workload(preset("chat", g1_bytes_per_gpu=73_728e3, g3_bytes_per_gpu=73_728e3), H200, GPUS)
    assert roomy["local_tokens"] == 2_000
