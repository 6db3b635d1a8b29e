"""How engines are laid out, which ports they get, and which services they need."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from inference_cases import BACKENDS, CONTROL, ENV, NEW, OLD, UNIT, case, faults, ids, rendered
from sites import deployment_with, site_data

from kvplan.site.inference.container import word
from kvplan.site.inference.reading import words_of
from kvplan.site.inference.stack import Stack

if TYPE_CHECKING:
    from kvplan.site.deployment import Deployment


def _set(deployment: Deployment, **values: str | int | bool) -> Deployment:
    """Give settings other values."""
    changed = {
        f"inference.{name}": deployment.settings[f"inference.{name}"].model_copy(update={"value": value})
        for name, value in values.items()
    }
    return replace(deployment, settings={**deployment.settings, **changed})


@pytest.mark.parametrize("tp", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("backend", BACKENDS)
def test_no_port_is_used_twice_in_any_layout(backend: str, tp: int) -> None:
    stack = Stack(case(backend, plan_tp=tp, gpus_per_server=16, router="kv"))
    ports = [(row.host, row.port) for row in stack.port_rows]
    assert len(ports) == len(set(ports))
    assert all(1024 <= port < 32_768 for _, port in ports)
    assert len(stack.engines) == 4 * 16 // tp
    assert {gpu for engine in stack.engines[: 16 // tp] for gpu in engine.gpus} == set(range(16))


def test_engines_are_pinned_near_their_gpus() -> None:
    nodes = [engine.numa for engine in Stack(case()).engines[:4]]
    assert nodes == [(0,), (0,), (1,), (1,)]


def test_services_answer_where_the_site_says() -> None:
    assert Stack(case()).services == case().control[0].daemon_address
    inference = {**site_data(case().plan)["inference"], "services_address": "172.24.0.20"}
    elsewhere = deployment_with(8, inference=inference)
    assert "ETCD_ENDPOINTS=http://172.24.0.20:2379\n" in rendered(elsewhere)[ENV]
    assert ids(faults(elsewhere)) == set()


def test_without_etcd_there_is_no_unit_of_it() -> None:
    tree = rendered(_set(case(), discovery="file"))
    assert f"{CONTROL}/systemd/system/kv-etcd.service" not in tree
    assert "ETCD_ENDPOINTS" not in tree[ENV]
    assert ids(faults(_set(case(), discovery="file"))) == set()


def test_requests_through_nats_need_it() -> None:
    by_nats = _set(case("vllm-fs", NEW), request_plane="nats")
    assert f"{CONTROL}/systemd/system/kv-nats.service" in rendered(by_nats)
    assert ids(faults(by_nats)) == set()


def test_switches_that_are_off_are_left_out_or_told_where_they_have_a_value() -> None:
    filtered = rendered(_set(case("kvbm-disk", OLD), kvbm_disk_offload_filter=True))[ENV]
    assert "DYN_KVBM_DISABLE_DISK_OFFLOAD_FILTER" not in filtered
    buffered = rendered(_set(case("kvbm-g4", OLD), kvbm_g4_o_direct=False))[ENV]
    assert "DYN_KVBM_REMOTE_DISK_O_DIRECT=false\n" in buffered


def test_context_is_the_models_own_where_it_fits() -> None:
    assert Stack(case()).max_model_len == 131_072
    plan = case().plan
    small = plan.model_copy(update={"hbm": plan.hbm.model_copy(update={"kv_bytes_per_gpu": 10**9})})
    assert Stack(replace(case(), plan=small)).max_model_len == plan.request.context_tokens
    assert "--max-model-len=131072" in rendered(case())[UNIT]


@pytest.mark.parametrize("text", ["--a=b", '{"a": "b"}', "x 'y' \"z\"", "--b=${C}", ""])
def test_words_come_back_as_they_were_quoted(text: str) -> None:
    assert words_of(f"first {word(text)} last") == ("first", text, "last")
