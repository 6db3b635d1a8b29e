"""What is written for engines and services: golden files, every back end in every line of releases, and systemd."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from designs import plan_of
from inference_cases import (
    BACKENDS,
    CONTROL,
    ENV,
    HOST,
    LAST_KVBM,
    NEW,
    OLD,
    REFUSED,
    UNIT,
    VERSIONS,
    case,
    deployed,
    faults,
    ids,
    rendered,
)
from sites import deployment_of

from kvplan.site.inference import inference_files
from kvplan.site.inference.reading import unit_of
from kvplan.site.inference.transfer import EXTRA, Transfer
from kvplan.site.tree import READABLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GOLDEN = {"redbook": ("kvbm-g4", OLD), "newest": ("vllm-fs", NEW)}
SHOWN = (
    *("inference/ports.csv", "inference/prometheus.yml", "inference/dashboard.json", "inference/README.md", UNIT, ENV),
    *(f"{CONTROL}/systemd/system/kv-{name}.service" for name in ("etcd", "frontend", "prometheus", "grafana")),
    f"{CONTROL}/kv/frontend.env",
    f"{CONTROL}/kv/grafana/datasources/prometheus.yaml",
    f"{CONTROL}/kv/grafana/dashboards/provider.yaml",
)


@pytest.mark.parametrize("path", SHOWN)
@pytest.mark.parametrize("name", GOLDEN)
def test_golden(golden: Callable[[str, str], None], name: str, path: str) -> None:
    golden(f"site/inference/{name}/{path}", rendered(case(*GOLDEN[name]))[path])


@pytest.mark.parametrize(
    ("name", "backend", "dynamo", "path"),
    [
        ("lmcache-fs.yaml", "lmcache-fs", OLD, f"{HOST}/kv/lmcache.yaml"),
        ("lmcache-gds.yaml", "lmcache-gds", OLD, f"{HOST}/kv/lmcache.yaml"),
        ("kv-lmcache.service", "lmcache-fs", NEW, f"{HOST}/systemd/system/kv-lmcache.service"),
        ("cufile.json", "kvbm-disk", LAST_KVBM, f"{HOST}/kv/cufile.json"),
        ("kvbm-disk.env", "kvbm-disk", LAST_KVBM, ENV),
        ("llmd-fs.service", "llmd-fs", OLD, UNIT),
    ],
)
def test_golden_of_other_back_ends(
    golden: Callable[[str, str], None], name: str, backend: str, dynamo: str, path: str
) -> None:
    golden(f"site/inference/others/{name}", rendered(case(backend, dynamo))[path])


def test_golden_with_router_by_kv(golden: Callable[[str, str], None]) -> None:
    tree = rendered(case(router="kv"))
    for path in (f"{CONTROL}/systemd/system/kv-nats.service", ENV, f"{CONTROL}/kv/frontend.env"):
        golden(f"site/inference/router-kv/{path}", tree[path])


@pytest.mark.parametrize("dynamo", VERSIONS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_every_back_end_is_free_of_faults_or_refused(backend: str, dynamo: str) -> None:
    found = ids(faults(case(backend, dynamo)))
    assert found == ({"024"} if (backend, dynamo) in REFUSED else set())


@pytest.mark.parametrize("dynamo", VERSIONS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_transfer_configuration_has_known_keys_only(backend: str, dynamo: str) -> None:
    unit = unit_of(UNIT, "gpu-0001", "kv-engine-0", rendered(case(backend, dynamo))[UNIT])
    transfer = Transfer.model_validate_json(unit.argument("--kv-transfer-config"))
    record = EXTRA[backend, transfer.kv_connector]
    assert transfer.kv_load_failure_policy == "recompute"
    assert bool(transfer.kv_connector_extra_config) == bool(record.model_fields)
    if record.model_fields:
        record.model_validate(transfer.kv_connector_extra_config)


def test_old_release_takes_no_connector_of_its_own() -> None:
    assert "--connector=none" in rendered(case("llmd-fs", OLD))[UNIT]
    assert "--connector" not in rendered(case("kvbm-disk", LAST_KVBM))[UNIT]


def test_allocator_is_told_only_to_releases_that_know_it() -> None:
    assert "DYN_KVBM_DISK_ALLOCATOR_TYPE" not in rendered(case("kvbm-disk", OLD))[ENV]
    assert "DYN_KVBM_DISK_ALLOCATOR_TYPE=open-direct\n" in rendered(case("kvbm-disk", LAST_KVBM))[ENV]


def test_hybrid_manager_is_always_told() -> None:
    assert "\n    --disable-hybrid-kv-cache-manager" in rendered(case("kvbm-disk", LAST_KVBM))[UNIT]
    assert "\n    --no-disable-hybrid-kv-cache-manager" in rendered(case("vllm-fs", NEW))[UNIT]


def test_retention_interval_is_told_only_to_releases_that_know_it() -> None:
    assert "--prefix-cache-retention-interval=0" in rendered(case("vllm-fs", NEW))[UNIT]
    assert "--prefix-cache-retention-interval" not in rendered(case("vllm-fs", LAST_KVBM))[UNIT]


def test_only_gpt_oss_has_a_vocabulary_apart_from_its_tokenizer() -> None:
    told = "TIKTOKEN_ENCODINGS_BASE=/models/gpt-oss-120b/tiktoken\n"
    tree = rendered(case())
    assert told in tree[ENV]
    assert told in tree[f"{CONTROL}/kv/frontend.env"]
    other = rendered(
        deployed(plan_of(4, model="qwen3-32b", context_tokens=32_768, cache_backend="vllm-fs", software="current"), NEW)
    )
    assert not [path for path, text in other.items() if "TIKTOKEN" in text and not path.endswith("README.md")]


def test_nats_runs_only_where_events_go_through_it() -> None:
    path = f"{CONTROL}/systemd/system/kv-nats.service"
    assert path not in rendered(case())
    assert path in rendered(case(router="kv"))
    newest = rendered(case("vllm-fs", NEW, router="kv"))
    assert path not in newest
    assert "DYN_EVENT_PLANE=zmq\n" in newest[ENV]
    assert '"endpoint":"tcp://*:20080"' in newest[UNIT]


def test_disk_cache_without_a_size_is_a_share_of_the_tier_and_bounded() -> None:
    assert "DYN_KVBM_DISK_CACHE_GB=8000\n" in rendered(case("kvbm-disk", OLD))[ENV]
    asked = rendered(case("kvbm-disk", OLD, disk_cache_gb=500, cpu_cache_gb=30))
    assert "DYN_KVBM_DISK_CACHE_GB=500\n" in asked[ENV]
    assert "DYN_KVBM_CPU_CACHE_GB=30\n" in asked[ENV]
    assert "TimeoutStartSec=1850\n" in asked[UNIT]


def test_readme_says_what_the_back_end_does_not_do() -> None:
    disk = rendered(case("kvbm-disk", OLD))["inference/README.md"]
    assert "It does not share" in disk
    assert "It does not survive a restart" in disk
    shared = rendered(case("vllm-fs", NEW))["inference/README.md"]
    assert "It does not share" not in shared
    assert "It does not evict" in shared
    for lmcache in (case("lmcache-fs", OLD), case("lmcache-fs", NEW)):
        page = rendered(lmcache)["inference/README.md"]
        assert "It does not evict" in page
        assert "leave a grace time" in page
    assert "Its registry evicts" in rendered(case("kvbm-g4", OLD))["inference/README.md"]


def test_dashboard_is_what_grafana_reads() -> None:
    tree = rendered(case("llmd-fs", OLD))
    board: dict[str, Any] = json.loads(tree["inference/dashboard.json"])
    assert tree[f"{CONTROL}/kv/grafana/dashboards/kv-cache.json"] == tree["inference/dashboard.json"]
    assert [panel["title"] for panel in board["panels"]][:5] == [
        "Hit rate",
        "Read bandwidth of the tier",
        "Write bandwidth of the tier",
        "Time to first token",
        "Evictions",
    ]
    assert 'transfer_type="SHARED_STORAGE_to_GPU"' in board["panels"][1]["targets"][0]["expr"]
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]}
    assert len(places) == len(board["panels"]) == len({panel["id"] for panel in board["panels"]})


def test_prometheus_reads_every_engine_once() -> None:
    jobs = yaml.safe_load(rendered(deployment_of(8))["inference/prometheus.yml"])["scrape_configs"]
    targets = [target for job in jobs for config in job["static_configs"] for target in config["targets"]]
    assert len(targets) == len(set(targets)) == 2 * 16 + 2
    tree = rendered(deployment_of(8))
    assert tree[f"{CONTROL}/kv/prometheus.yml"] == tree["inference/prometheus.yml"]


def test_bytes_are_equal_for_equal_input() -> None:
    assert list(inference_files(case("vllm-fs", NEW))) == list(inference_files(case("vllm-fs", NEW)))
    assert {file.mode for file in inference_files(case())} == {READABLE}


@pytest.mark.parametrize(("answer", "gone"), [("exit 1", True), ("exit 0", False), (None, False)])
def test_memory_that_another_engine_may_use_is_left(tmp_path: Path, answer: str | None, *, gone: bool) -> None:
    (stop,) = [line for line in rendered(case("vllm-fs", NEW))[UNIT].splitlines() if "vllm_offload_" in line]
    script = stop.partition("-c '")[2].removesuffix("'").replace("$$", "$")
    script = re.sub(r"/\S*/(?=vllm_offload_)", f"{tmp_path}/", script)
    (tmp_path / "vllm_offload_1").touch()
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "rm").symlink_to(shutil.which("rm") or "/bin/rm")
    if answer:
        (tools / "fuser").write_text(f"#!/bin/sh\n{answer}\n", encoding="utf-8")
        (tools / "fuser").chmod(0o755)
    subprocess.run(["/bin/sh", "-c", script], env={"PATH": str(tools)}, capture_output=True, check=False)
    assert (tmp_path / "vllm_offload_1").exists() is not gone


def test_a_path_of_storage_scale_is_looked_at_and_never_required() -> None:
    unit = rendered(case(model_path="/kvfs/models/gpt-oss-120b"))[UNIT]
    assert "RequiresMountsFor" not in unit
    assert "ExecStartPre=/usr/bin/mountpoint --quiet /kvfs\n" in unit
    assert "RequiresMountsFor=/models/gpt-oss-120b\n" in rendered(case())[UNIT]


def test_the_page_says_what_a_layout_and_a_back_end_want() -> None:
    pages = {
        name: rendered(held)["inference/README.md"]
        for name, held in {"four": case("vllm-fs", NEW, plan_tp=4), "one": case("vllm-fs", NEW), "g4": case()}.items()
    }
    assert [name for name in pages if "NCCL_P2P_DISABLE=1" in pages[name]] == ["four"]
    assert [name for name in pages if "`df /dev/shm` must show" in pages[name]] == ["four", "one"]
    assert [name for name in pages if "DYN_REGISTRY_*`) come with the image" in pages[name]] == ["g4"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_units_pass_systemd_analyze(tmp_path: Path) -> None:
    units = []
    for index, (backend, dynamo, router) in enumerate(
        [("vllm-fs", NEW, "kv"), ("lmcache-fs", NEW, "random"), ("kvbm-disk", OLD, "kv")]
    ):
        directory = tmp_path / str(index)
        directory.mkdir()
        for path, text in rendered(case(backend, dynamo, router=router)).items():
            if path.startswith((HOST, CONTROL)) and path.endswith(".service"):
                unit = directory / path.rpartition("/")[2]
                unit.write_text(_with_stubs(text), encoding="utf-8")
                units.append(unit)
    assert len(units) == 3 * 4 + 1 + 3 * 4 + 1
    assert _complaints(units) == ""
    broken = units[0].with_name("kv-broken.service")
    broken.write_text(units[0].read_text(encoding="utf-8").replace("Type=notify", "Type=notice\nRestrat=no"))
    assert "Restrat" in _complaints([broken])


def _with_stubs(text: str) -> str:
    """Put a program that is everywhere in the place of those that only the hosts have."""
    return text.replace("/usr/bin/podman", "/bin/true").replace("/usr/bin/mountpoint", "/bin/true")


def _complaints(units: list[Path]) -> str:
    """Return what systemd has to say about units, beside what concerns this machine."""
    done = subprocess.run(
        ["systemd-analyze", "verify", "--recursive-errors=no", "--man=no", *map(str, units)],
        capture_output=True,
        text=True,
        check=False,
    )
    return "\n".join(line for line in done.stderr.splitlines() if "kv-" in line)


@pytest.mark.slow
def test_largest_system_is_written_without_fault() -> None:
    largest = deployment_of(256)
    tree = rendered(largest)
    assert ids(faults(largest, tree)) == set()
    assert sum(path.endswith(".env") for path in tree) == 512 * 4 + 1
