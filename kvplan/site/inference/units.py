"""Units and environment files of engines: each one container, run by podman under systemd."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from kvplan.site.inference.connector import backend_arguments, backend_environment, lmcache_arguments
from kvplan.site.inference.container import container_unit, environment, offline, probe, runtime, user

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.site.inference.stack import Engine, Stack

_DTYPES: Final = {"bf16": "auto", "fp16": "auto"}
"""KV dtypes that are the model's own, which vLLM calls `auto`."""


def engine_unit(stack: Stack, engine: Engine) -> str:
    """Write the unit of an engine.

    Parameters
    ----------
    stack
        The engines.
    engine
        The engine.

    Returns
    -------
    str
        The unit; it is active once the engine says that it is healthy.
    """
    gpus = ", ".join(map(str, engine.gpus))
    return container_unit(
        stack,
        name=engine.unit,
        description=f"KV inference engine {engine.number} on GPU {gpus}",
        after=("gpfs.service", *(("kv-lmcache.service",) * stack.lmcache_server)),
        requires=("kv-lmcache.service",) * stack.lmcache_server,
        paths=(stack.layout.model_path, stack.cache_dir),
        start_s=stack.start_timeout_s,
        numa=engine.numa,
        options=_engine_options(stack, engine),
        command=_engine_command(stack, engine),
    )


def lmcache_unit(stack: Stack) -> str:
    """Write the unit of the LMCache server that the engines of a GPU server share.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    str
        The unit.
    """
    check = probe(stack, stack.port("lmcache_http"), "/healthcheck")
    gpus = range(stack.fits * stack.tp)
    return container_unit(
        stack,
        name="kv-lmcache",
        description="LMCache server of all engines on this host",
        after=("gpfs.service",),
        paths=(stack.cache_dir,),
        start_s=int(stack.number("start_timeout_s")),
        options=(
            "--sdnotify=healthy",
            *check,
            *_devices(stack, gpus),
            *user(stack, "kv-lmcache"),
            *(f"--env=PYTHONHASHSEED={stack.layout.hash_seed}", "--env=HOME=/var/cache/kv-lmcache"),
            _volume(stack),
        ),
        command=(stack.layout.image, *lmcache_arguments(stack)),
    )


def engine_environment(stack: Stack, engine: Engine) -> str:
    """Write the environment of an engine.

    Parameters
    ----------
    stack
        The engines.
    engine
        The engine.

    Returns
    -------
    str
        One variable a line, as podman reads it.
    """
    ports = engine.ports
    variables = {
        "PYTHONHASHSEED": str(stack.layout.hash_seed),
        **offline(stack),
        "HOME": f"/var/cache/{engine.unit}",
        **runtime(stack),
        "DYN_SYSTEM_PORT": str(ports["system"]),
        "DYN_TCP_RPC_HOST": engine.server.admin_address,
        "DYN_TCP_RPC_PORT": str(ports["request"]),
        "VLLM_NIXL_SIDE_CHANNEL_PORT": str(ports["nixl"]),
        **({"DYN_VLLM_KV_EVENT_PORT": str(ports["kv-events"])} if stack.kv_events else {}),
        **backend_environment(stack, engine),
    }
    return environment(f"engine {engine.number} of {engine.server.name}, read by {engine.unit}.service", variables)


def _engine_options(stack: Stack, engine: Engine) -> tuple[str, ...]:
    """Give podman's options of an engine."""
    model = stack.layout.model_path
    files = ("cufile.json",) * stack.uses_gds
    if stack.backend in ("lmcache-fs", "lmcache-gds") and not stack.lmcache_server:
        files = (*files, "lmcache.yaml")
    return (
        "--sdnotify=healthy",
        *probe(stack, engine.ports["system"], "/health"),
        *("--cpuset-cpus=${KV_CPUS}", f"--cpuset-mems={','.join(map(str, engine.numa))}"),
        *_devices(stack, engine.gpus),
        *user(stack, engine.unit),
        f"--env-file=/etc/kv/engine-{engine.number}.env",
        f"--volume={model}:{model}:ro",
        _volume(stack),
        *("--volume=/run/udev:/run/udev:ro", *(f"--volume=/etc/kv/{file}:/etc/kv/{file}:ro" for file in files)),
    )


def _engine_command(stack: Stack, engine: Engine) -> tuple[str, ...]:
    """Give image and command of an engine."""
    request = stack.deployment.plan.request
    events: dict[str, object] = {"enable_kv_cache_events": stack.kv_events}
    if stack.kv_events:
        port = engine.ports["kv-events"]
        events |= {"publisher": "zmq", "endpoint": f"tcp://*:{port}", "topic": "kv-events"}
    return (
        *(stack.layout.image, "python3", "-m", "dynamo.vllm"),
        *(f"--model={stack.layout.model_path}", f"--served-model-name={stack.layout.served_name}"),
        *(f"--tensor-parallel-size={stack.tp}", f"--max-model-len={stack.max_model_len}"),
        f"--gpu-memory-utilization={request.gpu_memory_utilisation:g}",
        f"--kv-cache-dtype={_DTYPES.get(request.kv_dtype, request.kv_dtype)}",
        *(f"--block-size={request.block_tokens}", f"--prefix-caching-hash-algo={stack.text('hash_algorithm')}"),
        *backend_arguments(stack),
        f"--kv-events-config={json.dumps(events, separators=(',', ':'))}",
    )


def _devices(stack: Stack, gpus: Iterable[int]) -> tuple[str, ...]:
    """Give the devices of an engine: its GPUs, the RDMA adapters and, for GPUDirect Storage, its own."""
    gds = ("--device=nvidia.com/gds=all",) * stack.uses_gds
    return (*(f"--device=nvidia.com/gpu={gpu}" for gpu in gpus), *gds, "--device=/dev/infiniband")


def _volume(stack: Stack) -> str:
    """Give the cache's own directory to a container; a file system that is mounted later is seen too."""
    return f"--volume={stack.cache_dir}:{stack.cache_dir}:rslave"
