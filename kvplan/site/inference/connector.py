"""How an engine is joined to its cache back end: the transfer configuration, and the files and variables beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kvplan.core.sizing.versions import release_key
from kvplan.site.inference.stack import GB, KVBM
from kvplan.site.yaml_out import yaml_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.inference.stack import Engine, Stack


def transfer_config(stack: Stack) -> dict[str, Any]:
    """Give the value of `--kv-transfer-config`.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    dict
        Connector, role, failure policy and, where the connector has some, its own keys.
    """
    connector, module = _connector(stack)
    extra = _extra(stack)
    return {
        "kv_connector": connector,
        **({"kv_connector_module_path": module} if module else {}),
        "kv_role": "kv_both",
        "kv_load_failure_policy": stack.text("failure_policy"),
        **({"kv_connector_extra_config": extra} if extra else {}),
    }


def _connector(stack: Stack) -> tuple[str, str]:
    """Name the connector and, where it is not vLLM's own, its module."""
    if stack.backend in KVBM:
        return "DynamoConnector", "kvbm.vllm_integration.connector"
    if stack.backend in ("vllm-fs", "llmd-fs"):
        return "OffloadingConnector", ""
    return ("LMCacheMPConnector" if stack.lmcache_server else "LMCacheConnectorV1"), ""


def _extra(stack: Stack) -> dict[str, Any]:
    """Give the connector's own keys."""
    chunk = stack.deployment.plan.request.chunk_tokens
    if stack.backend == "vllm-fs":
        return {
            "spec_name": "TieringOffloadingSpec",
            "cpu_bytes_to_use": stack.cpu_cache_gb * GB,
            "block_size": chunk,
            "eviction_policy": "lru",
            "secondary_tiers": [
                {
                    "type": "fs",
                    "root_dir": stack.cache_dir,
                    "n_read_threads": int(stack.number("fs_read_threads")),
                    "n_write_threads": int(stack.number("fs_write_threads")),
                }
            ],
        }
    if stack.backend == "llmd-fs":
        return {
            "spec_name": "SharedStorageOffloadingSpec",
            "spec_module_path": "llmd_fs_backend.spec",
            "shared_storage_path": stack.cache_dir,
            "block_size": chunk,
            "threads_per_gpu": int(stack.number("llmd_threads_per_gpu")),
        }
    if stack.lmcache_server:
        return {"lmcache.mp.host": "127.0.0.1", "lmcache.mp.port": stack.port("lmcache")}
    return {}


def backend_arguments(stack: Stack) -> Iterator[str]:
    """Yield the arguments of `dynamo.vllm` that the back end and the release decide.

    Parameters
    ----------
    stack
        The engines.

    Yields
    ------
    str
        Arguments; the hybrid manager is always told explicitly, because its default changed from release to release.
    """
    if stack.is_old:
        yield "--connector=none"
    yield f"--kv-transfer-config={json.dumps(transfer_config(stack), separators=(',', ':'))}"
    hybrid = stack.deployment.plan.request.hybrid_manager
    yield "--no-disable-hybrid-kv-cache-manager" if hybrid else "--disable-hybrid-kv-cache-manager"
    if stack.backend == "llmd-fs":
        yield "--distributed-executor-backend=mp"
    if stack.backend == "vllm-fs":
        yield "--kv-cache-metrics"
        if release_key(stack.deployment.site.versions.vllm) >= release_key(stack.text("retention_since_vllm")):
            yield f"--prefix-cache-retention-interval={stack.text('retention_interval')}"


def backend_environment(stack: Stack, engine: Engine) -> dict[str, str]:
    """Give the variables that the back end reads.

    A switch of KVBM is on as soon as it is set, whatever its value; one that is off is therefore left out.

    Parameters
    ----------
    stack
        The engines.
    engine
        The engine.

    Returns
    -------
    dict of str
        Values by name.
    """
    variables: dict[str, str] = {}
    if stack.uses_gds:
        variables["CUFILE_ENV_PATH_JSON"] = "/etc/kv/cufile.json"
    if stack.backend in ("lmcache-fs", "lmcache-gds") and not stack.lmcache_server:
        variables["LMCACHE_CONFIG_FILE"] = "/etc/kv/lmcache.yaml"
    if stack.backend in KVBM:
        variables |= _kvbm(stack, engine)
    return variables


def _kvbm(stack: Stack, engine: Engine) -> dict[str, str]:
    """Give the variables of Dynamo's block manager."""
    variables = {
        "DYN_KVBM_LEADER_ZMQ_HOST": "127.0.0.1",
        "DYN_KVBM_LEADER_ZMQ_PUB_PORT": str(engine.ports["kvbm-pub"]),
        "DYN_KVBM_LEADER_ZMQ_ACK_PORT": str(engine.ports["kvbm-ack"]),
        "DYN_KVBM_LEADER_WORKER_INIT_TIMEOUT_SECS": str(stack.start_timeout_s),
        "DYN_KVBM_METRICS": "true",
        "DYN_KVBM_METRICS_PORT": str(engine.ports["kvbm-metrics"]),
    }
    if stack.cpu_cache_gb:
        variables["DYN_KVBM_CPU_CACHE_GB"] = str(stack.cpu_cache_gb)
    return variables | (_kvbm_disk(stack) if stack.backend == "kvbm-disk" else _kvbm_g4(stack))


def _kvbm_disk(stack: Stack) -> dict[str, str]:
    """Give the variables of the private disk cache; the allocator is unknown to the old releases."""
    variables = {"DYN_KVBM_DISK_CACHE_GB": str(stack.disk_cache_gb), "DYN_KVBM_DISK_CACHE_DIR": stack.cache_dir}
    if not stack.deployment.setting("inference.kvbm_disk_offload_filter"):
        variables["DYN_KVBM_DISABLE_DISK_OFFLOAD_FILTER"] = "true"
    if not stack.is_old:
        variables["DYN_KVBM_DISK_ALLOCATOR_TYPE"] = stack.text("kvbm_disk_allocator")
    return variables


def _kvbm_g4(stack: Stack) -> dict[str, str]:
    """Give the variables of the branch with shared files, whose switches have a value."""
    return {
        "DYN_KVBM_REMOTE_STORAGE_TYPE": "disk",
        "DYN_KVBM_REMOTE_DISK_PATH": stack.cache_dir,
        "DYN_KVBM_REMOTE_DISK_USE_GDS": stack.text("kvbm_g4_gds").lower(),
        "DYN_KVBM_REMOTE_DISK_O_DIRECT": stack.text("kvbm_g4_o_direct").lower(),
        "DYN_KVBM_REMOTE_DISK_FD_CACHE_MAX_ENTRIES": stack.text("kvbm_g4_open_files"),
        "DYN_KVBM_G4_PIPELINE_CHUNK_SIZE": stack.text("kvbm_g4_chunk"),
    }


def lmcache_yaml(stack: Stack) -> str:
    """Write the configuration of an LMCache that runs inside the engines.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    str
        YAML as `LMCACHE_CONFIG_FILE` names it.
    """
    gds = stack.backend == "lmcache-gds"
    shared: dict[str, Any] = (
        {"gds_path": stack.cache_dir, "cufile_buffer_size": int(stack.number("lmcache_cufile_buffer_mb"))}
        if gds
        else {"remote_url": f"fs://localhost:0{stack.cache_dir}", "remote_serde": "naive"}
    )
    return yaml_text(
        {
            "chunk_size": stack.deployment.plan.request.chunk_tokens,
            "local_cpu": not gds,
            **({} if gds else {"max_local_cpu_size": stack.cpu_cache_gb}),
            "save_decode_cache": False,
            "save_unfull_chunk": False,
            "pre_caching_hash_algorithm": stack.text("lmcache_hash_algorithm"),
            **shared,
        }
    )


def lmcache_arguments(stack: Stack) -> tuple[str, ...]:
    """Give the command of the LMCache server of a GPU server, which all its engines share.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    tuple of str
        Words of the command.
    """
    adapter = {"type": "fs", "base_path": stack.cache_dir}
    return (
        "lmcache",
        "server",
        f"--l1-size-gb={stack.cpu_cache_gb * stack.fits}",
        "--eviction-policy=LRU",
        f"--chunk-size={stack.deployment.plan.request.chunk_tokens}",
        f"--port={stack.port('lmcache')}",
        f"--http-port={stack.port('lmcache_http')}",
        f"--l2-adapter={json.dumps(adapter, separators=(',', ':'))}",
    )


def cufile_json(stack: Stack, addresses: tuple[str, ...]) -> str:
    """Write the configuration of cuFile for a GPU server.

    Parameters
    ----------
    stack
        The engines.
    addresses
        The server's own addresses in the fabric, which cuFile and Storage Scale must agree on.

    Returns
    -------
    str
        JSON as `CUFILE_ENV_PATH_JSON` names it; falling back to reads through host memory is not allowed.
    """
    data = {
        "properties": {
            "max_direct_io_size_kb": int(stack.number("cufile_max_direct_io_kb")),
            "max_device_cache_size_kb": int(stack.number("cufile_device_cache_kb")),
            "per_buffer_cache_size_kb": int(stack.number("cufile_per_buffer_kb")),
            "io_batchsize": int(stack.number("cufile_batch")),
            "allow_compat_mode": False,
            "rdma_dev_addr_list": list(addresses),
        }
    }
    return f"{json.dumps(data, indent=2)}\n"
