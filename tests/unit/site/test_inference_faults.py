"""Faults planted in the rendered files of engines and services are found by their rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from inference_cases import (
    CONTROL,
    ENV,
    HOST,
    LAST_KVBM,
    NEW,
    OLD,
    UNIT,
    case,
    deployed,
    faults,
    ids,
    planted,
    rendered,
)

from kvplan import Request, size
from kvplan.api import deployment
from kvplan.site.inference import RULES

if TYPE_CHECKING:
    from kvplan.site.deployment import Deployment

PORTS, PROMETHEUS, BOARD = "inference/ports.csv", "inference/prometheus.yml", "inference/dashboard.json"
FRONTEND = f"{CONTROL}/systemd/system/kv-frontend.service"
SECOND_UNIT, SECOND_ENV = UNIT.replace("engine-0", "engine-1"), ENV.replace("engine-0", "engine-1")


@pytest.mark.parametrize(
    ("rules", "path", "old", "new"),
    [
        ("001 019 025", SECOND_ENV, "DYN_SYSTEM_PORT=8082", "DYN_SYSTEM_PORT=8081"),
        ("001 025", PORTS, "gpu-0001,1,request,20301", "gpu-0001,1,request,20300"),
        ("001 025", ENV, "DYN_KVBM_METRICS_PORT=6880", "DYN_KVBM_METRICS_PORT=20800"),
        ("002", PORTS, "gpu-0001,0,kvbm-consolidator,21800", "gpu-0001,0,kvbm-consolidator,57001"),
        ("002", PORTS, "gpu-0001,0,kvbm-consolidator,21800", "gpu-0001,0,kvbm-consolidator,1191"),
        ("002", PORTS, "gpu-0001,0,kvbm-consolidator,21800", "gpu-0001,0,kvbm-consolidator,60999"),
        ("002", PORTS, "control-1,,frontend,8000", "control-1,,frontend,80"),
        ("003", SECOND_UNIT, "nvidia.com/gpu=1", "nvidia.com/gpu=0"),
        ("003", SECOND_UNIT, "nvidia.com/gpu=1", "nvidia.com/gpu=9"),
        ("003 004", UNIT, "    --device=nvidia.com/gpu=0 \\\n", ""),
        ("004 028", SECOND_UNIT, "--tensor-parallel-size=1", "--tensor-parallel-size=2"),
        ("005", UNIT, "--cpuset-mems=0", "--cpuset-mems=2"),
        ("005", UNIT, "    --cpuset-mems=0 \\\n", ""),
        ("005", UNIT, "/node/node0/cpulist", "/node/node1/cpulist"),
        ("005", UNIT, "    --cpuset-cpus=${KV_CPUS} \\\n", ""),
        ("006 010 028", SECOND_UNIT, '"kv_role":"kv_both",', '"kv_role":"kv_both",,'),
        ("006 028", SECOND_UNIT, '"kv_role"', '"kv_rool":1,"kv_role"'),
        ("006 028", SECOND_UNIT, '"kv_both"', '"kv_producer"'),
        ("006 028", SECOND_UNIT, '"recompute"}', '"recompute","kv_connector_extra_config":{"spec_name":"x"}}'),
        ("007 028", SECOND_UNIT, "DynamoConnector", "LMCacheConnectorV1"),
        ("007 028", SECOND_UNIT, "kvbm.vllm_integration.connector", "kvbm.connector"),
        ("008", UNIT, "--connector=none", "--connector=kvbm"),
        ("008", UNIT, "    --connector=none \\\n", ""),
        ("008", ENV, "DYN_STORE_KV=etcd", "DYN_DISCOVERY_BACKEND=etcd"),
        ("009", ENV, "PYTHONHASHSEED=0\n", ""),
        ("009", SECOND_ENV, "PYTHONHASHSEED=0", "PYTHONHASHSEED=1"),
        ("010 028", SECOND_UNIT, ',"kv_load_failure_policy":"recompute"', ""),
        ("010 028", SECOND_UNIT, '"recompute"', '"fail"'),
        ("011", UNIT, "    --disable-hybrid-kv-cache-manager \\\n", ""),
        ("011 012", UNIT, "--disable-hybrid", "--no-disable-hybrid"),
        ("014", ENV, "REMOTE_DISK_PATH=/kvfs/kvcache", "REMOTE_DISK_PATH=/tmp"),
        ("014", ENV, "REMOTE_DISK_PATH=/kvfs/kvcache", "REMOTE_DISK_PATH=/kvfs/kvcache2"),
        ("015", UNIT, "StartLimitIntervalSec=0\n", "RequiresMountsFor=/kvfs/kvcache\nStartLimitIntervalSec=0\n"),
        ("015", UNIT, "After=network-online.target gpfs.service\n", "After=network-online.target\n"),
        ("015", UNIT, "ExecStartPre=/usr/bin/mountpoint --quiet /kvfs\n", ""),
        ("015", UNIT, "    --volume=/kvfs/kvcache:/kvfs/kvcache:rslave \\\n", ""),
        ("016", UNIT, "TimeoutStartSec=1800", "TimeoutStartSec=90"),
        ("016", UNIT, "--health-start-period=1800s", "--health-start-period=60s"),
        ("016", ENV, "INIT_TIMEOUT_SECS=1800", "INIT_TIMEOUT_SECS=120"),
        ("016", UNIT, "Restart=on-failure", "Restart=no"),
        ("017", UNIT, "LimitMEMLOCK=infinity", "LimitMEMLOCK=64M"),
        ("017", UNIT, "--ulimit=memlock=-1:-1", "--ulimit=memlock=65536:65536"),
        ("017", UNIT, "LimitNOFILE=1048576", "LimitNOFILE=1024"),
        ("018 028", SECOND_UNIT, "vllm-runtime:0.9.0", "vllm-runtime:latest"),
        ("018", f"{CONTROL}/systemd/system/kv-etcd.service", "etcd:3.6.1", "registry:5000/etcd"),
        ("020", BOARD, "vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
        ("020", BOARD, "vllm:", "other:"),
        ("020", BOARD, '"panels"', '"panes"'),
        ("021", ENV, "ETCD_ENDPOINTS=http://172.25.128.9:2379", "ETCD_ENDPOINTS=http://localhost:2379"),
        ("021", ENV, "DYN_REQUEST_PLANE=tcp", "DYN_REQUEST_PLANE=nats"),
        ("030", UNIT, '"enable_kv_cache_events":false', '"enable_kv_cache_events":true'),
        ("023 038", ENV, "HF_HUB_OFFLINE=1", "HF_TOKEN=hf_abcdefghijklmnopqrstuv"),
        ("023", ENV, "ETCD_ENDPOINTS=http://", "ETCD_ENDPOINTS=http://root:secret@"),
        ("023", FRONTEND, "--network=host", "--network=host --env=API_KEY=abc"),
        ("023 038", f"{CONTROL}/kv/frontend.env", "HF_HUB_OFFLINE=1", "X=vault:secrets/hosts.yml#token"),
        ("025", ENV, "VLLM_NIXL_SIDE_CHANNEL_PORT=20500", "VLLM_NIXL_SIDE_CHANNEL_PORT=20600"),
        ("025", PORTS, "gpu-0001,0,kvbm-consolidator", "gpu-0001,7,kvbm-consolidator"),
        ("026", ENV, "DYN_KVBM_CPU_CACHE_GB=22\n", ""),
        ("026", ENV, "DYN_KVBM_CPU_CACHE_GB=22\n", "DYN_KVBM_CPU_CACHE_GB=5\n"),
        ("028", SECOND_UNIT, "--model=/models/gpt-oss-120b", "--model=openai/gpt-oss-120b"),
        ("028", SECOND_UNIT, "--kv-cache-dtype=auto", "--kv-cache-dtype=fp8"),
        ("028 031", SECOND_UNIT, "--block-size=16", "--block-size=32"),
        ("009 019 021 026 032", UNIT, "--env-file=/etc/kv/engine-0.env", "--env-file=/etc/kv/engine-9.env"),
        ("033", ENV, "DYN_KVBM_METRICS=true", "DYN_KVBM_METRICS=false"),
        ("033", ENV, "DYN_KVBM_METRICS=true", "DYN_KVBM_METRICS=true\nDYN_KVBM_DISABLE_CPU_CACHE_LOOKUP=0"),
        ("034", UNIT, "--ipc=host", "--ipc=private"),
        ("034", UNIT, "    --network=host \\\n", ""),
        ("034", UNIT, "    --device=/dev/infiniband \\\n", ""),
        ("035", UNIT, "--user=2000:2000", "--user=0:0"),
        ("035", FRONTEND, "    --user=2000:2000 \\\n", ""),
        ("036", FRONTEND, "--router-mode=round-robin", "--router-mode=random"),
        ("038", ENV, "HF_HUB_OFFLINE=1", "HF_HUB_OFFLINE=0"),
        ("038", ENV, "ENCODINGS_BASE=/models/gpt-oss-120b/tiktoken", "ENCODINGS_BASE=/models/tiktoken"),
        ("038", f"{CONTROL}/kv/frontend.env", "TIKTOKEN_ENCODINGS_BASE=", "TIKTOKEN_BASE="),
        ("038", FRONTEND, "    --volume=/models/gpt-oss-120b:/models/gpt-oss-120b:ro \\\n", ""),
    ],
)
def test_planted_fault_is_found(rules: str, path: str, old: str, new: str) -> None:
    assert planted(case(), path, old, new) == set(rules.split())


@pytest.mark.parametrize(
    ("rules", "backend", "dynamo", "path", "old", "new"),
    [
        ("006 014 028", "vllm-fs", NEW, UNIT, '"root_dir"', '"rootdir"'),
        ("006 028", "vllm-fs", NEW, UNIT, '"type":"fs"', '"type":"nfs"'),
        ("006 028", "llmd-fs", OLD, UNIT, '"threads_per_gpu"', '"threads"'),
        ("006 028", "lmcache-fs", NEW, UNIT, '"lmcache.mp.port"', '"lmcache.port"'),
        ("006 007 028", "lmcache-fs", NEW, UNIT, "LMCacheMPConnector", "LMCacheConnectorV1"),
        ("006 007 028", "lmcache-fs", OLD, UNIT, "LMCacheConnectorV1", "LMCacheMPConnector"),
        ("008", "vllm-fs", NEW, UNIT, "dynamo.vllm", "dynamo.vllm --connector=none"),
        ("008", "vllm-fs", NEW, ENV, "DYN_DISCOVERY_BACKEND", "DYN_STORE_KV"),
        ("008", "kvbm-disk", OLD, ENV, "DYN_KVBM_METRICS=", "DYN_KVBM_DISK_ALLOCATOR_TYPE=x\nDYN_KVBM_METRICS="),
        ("011", "vllm-fs", NEW, UNIT, "    --no-disable-hybrid-kv-cache-manager \\\n", ""),
        ("011 012", "lmcache-gds", NEW, UNIT, "--disable-hybrid", "--no-disable-hybrid"),
        ("014 028", "vllm-fs", NEW, UNIT, '"root_dir":"/kvfs/kvcache"', '"root_dir":"/var/cache"'),
        ("014 028", "llmd-fs", OLD, UNIT, '"shared_storage_path":"/kvfs/kvcache"', '"shared_storage_path":"/kvfs"'),
        ("014", "lmcache-gds", OLD, f"{HOST}/kv/lmcache.yaml", "/kvfs/kvcache", "/scratch"),
        ("014", "lmcache-fs", OLD, f"{HOST}/kv/lmcache.yaml", "localhost:0/kvfs/kvcache", "localhost:0/scratch"),
        ("014", "kvbm-disk", OLD, ENV, "CACHE_DIR=/kvfs/kvcache", "CACHE_DIR=/tmp"),
        ("016", "kvbm-disk", OLD, UNIT, "TimeoutStartSec=2600", "TimeoutStartSec=1800"),
        ("020", "vllm-fs", NEW, BOARD, "vllm:kv_offload_tiering_read_bytes_total", "kvbm_onboard_blocks_d2d"),
        ("026 028", "vllm-fs", NEW, UNIT, '"cpu_bytes_to_use":22000000000', '"cpu_bytes_to_use":1'),
        ("026", "lmcache-fs", OLD, f"{HOST}/kv/lmcache.yaml", "local_cpu: true", "local_cpu: false"),
        ("014 026 031", "lmcache-fs", OLD, f"{HOST}/kv/lmcache.yaml", "local_cpu: true", "local_cpu: ["),
        ("026", "lmcache-fs", NEW, f"{HOST}/systemd/system/kv-lmcache.service", "--l1-size-gb=88", "--l1-size-gb=8"),
        ("027", "kvbm-disk", OLD, ENV, "DISK_CACHE_GB=8000", "DISK_CACHE_GB=0"),
        ("016 027", "kvbm-disk", OLD, ENV, "DISK_CACHE_GB=8000", "DISK_CACHE_GB=8000000000"),
        ("028 031", "vllm-fs", NEW, UNIT, '"block_size":256', '"block_size":64'),
        ("031", "lmcache-gds", OLD, f"{HOST}/kv/lmcache.yaml", "chunk_size: 256", "chunk_size: 64"),
        ("037", "kvbm-disk", OLD, f"{HOST}/kv/cufile.json", '"10.68.0.1"', '"10.68.0.9"'),
        ("037", "kvbm-disk", OLD, f"{HOST}/kv/cufile.json", "false", "true"),
        ("037", "lmcache-gds", NEW, f"{HOST}/kv/cufile.json", "rdma_dev_addr_list", "addresses"),
        ("037", "lmcache-gds", NEW, UNIT, "    --device=nvidia.com/gds=all \\\n", ""),
        ("037", "lmcache-gds", NEW, ENV, "CUFILE_ENV_PATH_JSON=/etc/kv/cufile.json\n", ""),
        ("033", "kvbm-disk", OLD, ENV, "OFFLOAD_FILTER=true", "OFFLOAD_FILTER=false"),
    ],
)
def test_fault_of_a_back_end_is_found(rules: str, backend: str, dynamo: str, path: str, old: str, new: str) -> None:
    assert planted(case(backend, dynamo), path, old, new) == set(rules.split())


def _without(path: str, whole: Deployment) -> set[str]:
    tree = rendered(whole)
    del tree[path]
    return ids(faults(whole, tree))


@pytest.mark.parametrize(
    ("rules", "path"),
    [
        ("032 003 025", UNIT),
        ("032 009", ENV),
        ("021", f"{CONTROL}/systemd/system/kv-etcd.service"),
        ("036", FRONTEND),
        ("019", PROMETHEUS),
        ("020", BOARD),
        ("025", PORTS),
        ("019", f"{CONTROL}/kv/prometheus.yml"),
    ],
)
def test_missing_file_is_found(rules: str, path: str) -> None:
    assert set(rules.split()) <= _without(path, case())


def test_nats_is_needed_by_a_router_by_kv() -> None:
    assert "021" in _without(f"{CONTROL}/systemd/system/kv-nats.service", case(router="kv"))
    assert planted(case(router="kv"), UNIT, '"enable_kv_cache_events":true', '"enable_kv_cache_events":false') == {
        "030"
    }


def test_idle_service_is_told_as_information() -> None:
    tree = rendered(case())
    path = f"{CONTROL}/systemd/system/kv-nats.service"
    tree[path] = rendered(case(router="kv"))[path]
    (found,) = (finding for finding in faults(case(), tree) if finding.id == "KV-INF-022")
    assert (found.severity, found.where) == ("info", path)


def test_scrape_target_that_is_missing_or_strange_is_found() -> None:
    tree = {path: text.replace('- "172.26.0.9:8082"', '- "172.26.0.9:9"') for path, text in rendered(case()).items()}
    texts = [finding.text for finding in faults(case(), tree) if finding.id == "KV-INF-019"]
    assert texts == [
        "job engines does not read 172.26.0.9:8082",
        "job engines reads 172.26.0.9:9, where nothing answers",
    ]


def test_engine_beyond_the_layout_is_found() -> None:
    tree = rendered(case())
    path = UNIT.replace("engine-0", "engine-8")
    tree[path] = tree[UNIT]
    assert {"003", "032"} <= ids(faults(case(), tree))


def test_unit_that_runs_no_container_is_no_engine() -> None:
    tree = rendered(case()) | {f"{HOST}/systemd/system/kv-roce.service": "[Service]\nExecStart=/usr/sbin/ethtool\n"}
    assert ids(faults(case(), tree)) == set()


def test_placeholder_is_no_secret() -> None:
    assert planted(case(), ENV, "HF_HUB_OFFLINE=1", "HF_HUB_OFFLINE=1\nHF_TOKEN={{ kv_secret_token }}") == set()


def test_router_by_kv_with_lmcache_is_a_warning() -> None:
    (found,) = faults(case("lmcache-fs", NEW, router="kv"))
    assert (found.id, found.severity) == ("KV-INF-030", "warning")


def test_gpus_that_no_engine_uses_are_found() -> None:
    texts = [finding.text for finding in faults(_tp(2, gpus_per_server=3)) if finding.id == "KV-INF-003"]
    assert texts == ["no engine uses GPU 2"] * 4


def test_engine_larger_than_a_server_is_found() -> None:
    assert {"003", "004"} <= ids(faults(_tp(4, gpus_per_server=2)))


def test_engine_over_two_numa_nodes_is_pinned_to_both() -> None:
    wide = _tp(4, gpus_per_server=4)
    assert ids(faults(wide)) == set()
    unit = rendered(wide)[UNIT]
    assert "--cpuset-mems=0,1" in unit
    assert "cat /sys/devices/system/node/node0/cpulist /sys/devices/system/node/node1/cpulist | paste -s -d ," in unit
    assert "GPU 0, 1, 2, 3" in unit
    assert "gpu-0001,0,nixl,20503" in rendered(wide)[PORTS]


def _tp(tp: int, **engines: Any) -> Deployment:
    return case(plan_tp=tp, **engines)


def test_disk_caches_beyond_the_quota_are_found() -> None:
    assert "027" in ids(faults(case("kvbm-disk", OLD, disk_cache_gb=10**6)))


def test_small_host_memory_is_a_warning() -> None:
    found = [finding for finding in faults(case("vllm-fs", NEW, cpu_cache_gb=4)) if finding.id == "KV-INF-026"]
    assert {finding.severity for finding in found} == {"warning"}
    assert len(found) == 16


def test_site_without_a_control_node_is_found() -> None:
    site = case().site
    servers = tuple(server for server in site.servers if not server.name.startswith("control"))
    alone = deployment(case().plan, site.model_copy(update={"servers": servers}))
    assert "036" in ids(faults(alone))
    assert not any(path.startswith("hosts/control") for path in rendered(alone))


def test_lmcache_without_a_configuration_is_found() -> None:
    tree = rendered(case("lmcache-gds", OLD)) | {f"{HOST}/kv/lmcache.yaml": "- nothing\n"}
    assert {"014", "031"} <= ids(faults(case("lmcache-gds", OLD), tree))


@pytest.mark.parametrize(
    ("model", "backend", "dynamo", "severities"),
    [
        ("moonshotai/Kimi-K2-Instruct", "kvbm-disk", LAST_KVBM, []),
        ("deepseek-ai/DeepSeek-V3.2", "kvbm-disk", LAST_KVBM, ["error"]),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", "lmcache-gds", NEW, ["error"]),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", "vllm-fs", NEW, []),
    ],
)
def test_model_that_a_back_end_cannot_store_is_found(
    model: str, backend: str, dynamo: str, severities: list[str]
) -> None:
    found = [finding for finding in faults(_serving(model, backend, dynamo)) if finding.id == "KV-INF-013"]
    assert [finding.severity for finding in found] == severities


def test_recurrent_layers_need_the_hybrid_manager() -> None:
    without = _serving("Qwen/Qwen3-Next-80B-A3B-Instruct", "vllm-fs", NEW, hybrid_manager=False)
    (found,) = (finding for finding in faults(without) if finding.id == "KV-INF-013")
    assert found.where == "plan.request.hybrid_manager"


def _serving(model: str, backend: str, dynamo: str, **request: Any) -> Deployment:
    wanted = {"model": model, "context_tokens": 32_000, "gpus": 128, "tp": 8, "software": "current", **request}
    plan = size(Request.model_validate({**wanted, "cache_backend": backend}))
    return deployed(plan, dynamo, gpus_per_server=8)


def test_each_rule_has_a_sentence() -> None:
    assert list(RULES) == [f"KV-INF-{number:03}" for number in range(1, 39)]
    assert all(sentence.endswith(".") and sentence[0].isupper() for sentence in RULES.values())
