"""Units and environment files of engines and services: each one container, run by podman under systemd."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from kvplan.site.inference.connector import backend_arguments, backend_environment, lmcache_arguments
from kvplan.site.templating import rendered

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.site.inference.stack import Engine, Stack

_BARE: Final = re.compile(r"[A-Za-z0-9_@/.,:=+${}-]+")
_DTYPES: Final = {"bf16": "auto", "fp16": "auto"}
"""KV dtypes that are the model's own, which vLLM calls `auto`."""
_STOP_MARGIN_S: Final = 10
"""Podman kills a container before systemd would kill the unit, so that the container's state is cleaned up."""


def word(argument: str) -> str:
    r"""Quote a word for a command line of systemd.

    Parameters
    ----------
    argument
        The word; variables are left to be replaced.

    Returns
    -------
    str
        The word, in quotes where it needs some.

    Examples
    --------
    >>> word("--name=kv"), word('{"a":1}'), word("a 'b'")
    ('--name=kv', '\'{"a":1}\'', '"a \'b\'"')
    """
    if _BARE.fullmatch(argument):
        return argument
    return json.dumps(argument) if "'" in argument else f"'{argument}'"


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
    return _unit(
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
    probe = _probe(stack, stack.port("lmcache_http"), "/healthcheck")
    gpus = range(stack.fits * stack.tp)
    return _unit(
        stack,
        name="kv-lmcache",
        description="LMCache server of all engines on this host",
        after=("gpfs.service",),
        paths=(stack.cache_dir,),
        start_s=int(stack.number("start_timeout_s")),
        options=("--sdnotify=healthy", *probe, *_devices(stack, gpus), *_user(stack, "kv-lmcache"), _volume(stack)),
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
        "HF_HUB_OFFLINE": "1",
        "HOME": f"/var/cache/{engine.unit}",
        **_runtime(stack),
        "DYN_SYSTEM_PORT": str(ports["system"]),
        "DYN_TCP_RPC_HOST": engine.server.admin_address,
        "DYN_TCP_RPC_PORT": str(ports["request"]),
        "VLLM_NIXL_SIDE_CHANNEL_PORT": str(ports["nixl"]),
        **({"DYN_VLLM_KV_EVENT_PORT": str(ports["kv-events"])} if stack.kv_events else {}),
        **backend_environment(stack, engine),
    }
    return _environment(f"engine {engine.number} of {engine.server.name}, read by {engine.unit}.service", variables)


def frontend_unit(stack: Stack) -> str:
    """Write the unit of the frontend.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    str
        The unit; it is active once the process answers, with or without engines.
    """
    needed = ("kv-etcd.service",) * stack.needs_etcd + ("kv-nats.service",) * stack.needs_nats
    model = stack.layout.model_path
    probe = _probe(stack, stack.layout.frontend_port, "/live")
    return _unit(
        stack,
        name="kv-frontend",
        description="Frontend: OpenAI API and router",
        after=needed,
        requires=needed,
        paths=(model,),
        options=(
            "--sdnotify=healthy",
            *probe,
            *_user(stack, "kv-frontend"),
            "--env-file=/etc/kv/frontend.env",
            f"--volume={model}:{model}:ro",
        ),
        command=(
            *(stack.layout.image, "python3", "-m", "dynamo.frontend"),
            *("--http-host=0.0.0.0", f"--http-port={stack.layout.frontend_port}"),
            f"--router-mode={stack.layout.router}",
        ),
    )


def frontend_environment(stack: Stack) -> str:
    """Write the environment of the frontend.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    str
        One variable a line.
    """
    variables = {"PYTHONHASHSEED": str(stack.layout.hash_seed), "HF_HUB_OFFLINE": "1", "HOME": "/var/cache/kv-frontend"}
    return _environment("the frontend, read by kv-frontend.service", variables | _runtime(stack))


def etcd_unit(stack: Stack) -> str:
    """Write the unit of etcd, through which engines are found.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    str
        The unit.
    """
    clients = f"http://{stack.services}:{stack.port('etcd')}"
    peers = f"http://127.0.0.1:{stack.port('etcd_peer')}"
    return _service(
        stack,
        "kv-etcd",
        "etcd: which engines there are",
        stack.deployment.site.inference.etcd_image,
        (
            *("etcd", "--name=kv", "--data-dir=/data"),
            *(f"--listen-client-urls={clients}", f"--advertise-client-urls={clients}"),
            *(f"--listen-peer-urls={peers}", f"--initial-advertise-peer-urls={peers}", f"--initial-cluster=kv={peers}"),
        ),
    )


def nats_unit(stack: Stack) -> str:
    """Write the unit of NATS, which carries events of engines to the router.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    str
        The unit.
    """
    return _service(
        stack,
        "kv-nats",
        "NATS: events of engines",
        stack.deployment.site.inference.nats_image,
        (
            *("--jetstream", "--store_dir=/data", f"--addr={stack.services}"),
            *(f"--port={stack.port('nats')}", f"--http_port={stack.port('nats_monitor')}"),
        ),
    )


def prometheus_unit(stack: Stack) -> str:
    """Write the unit of Prometheus.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    str
        The unit.
    """
    return _service(
        stack,
        "kv-prometheus",
        "Prometheus: metrics of engines and services",
        stack.deployment.site.inference.prometheus_image,
        (
            *("--config.file=/etc/kv/prometheus.yml", "--storage.tsdb.path=/data"),
            f"--storage.tsdb.retention.time={stack.text('retention_days')}d",
            f"--web.listen-address={stack.services}:{stack.port('prometheus')}",
        ),
        "--volume=/etc/kv/prometheus.yml:/etc/kv/prometheus.yml:ro",
    )


def grafana_unit(stack: Stack) -> str:
    """Write the unit of Grafana: dashboards for reading, no accounts, hence no password.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    str
        The unit.
    """
    variables = {
        "GF_SERVER_HTTP_ADDR": stack.services,
        "GF_SERVER_HTTP_PORT": str(stack.port("grafana")),
        "GF_PATHS_DATA": "/data",
        "GF_PATHS_PROVISIONING": "/etc/kv/grafana",
        "GF_AUTH_ANONYMOUS_ENABLED": "true",
        "GF_AUTH_ANONYMOUS_ORG_ROLE": "Viewer",
        "GF_AUTH_DISABLE_LOGIN_FORM": "true",
        "GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION": "true",
    }
    return _service(
        stack,
        "kv-grafana",
        "Grafana: the dashboard of the cache",
        stack.deployment.site.inference.grafana_image,
        (),
        *(f"--env={name}={value}" for name, value in variables.items()),
        "--volume=/etc/kv/grafana:/etc/kv/grafana:ro",
    )


def _engine_options(stack: Stack, engine: Engine) -> tuple[str, ...]:
    """Give podman's options of an engine."""
    model = stack.layout.model_path
    files = ("cufile.json",) * stack.uses_gds
    if stack.backend in ("lmcache-fs", "lmcache-gds") and not stack.lmcache_server:
        files = (*files, "lmcache.yaml")
    return (
        "--sdnotify=healthy",
        *_probe(stack, engine.ports["system"], "/health"),
        *("--cpuset-cpus=${KV_CPUS}", f"--cpuset-mems={','.join(map(str, engine.numa))}"),
        *_devices(stack, engine.gpus),
        *_user(stack, engine.unit),
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


def _runtime(stack: Stack) -> dict[str, str]:
    """Give the variables by which Dynamo's processes find each other."""
    variables = {
        "DYN_STORE_KV" if stack.is_old else "DYN_DISCOVERY_BACKEND": stack.text("discovery"),
        "DYN_REQUEST_PLANE": stack.text("request_plane"),
        "DYN_EVENT_PLANE": stack.event_plane if stack.kv_events else "zmq",
    }
    if stack.needs_etcd:
        variables["ETCD_ENDPOINTS"] = f"http://{stack.services}:{stack.port('etcd')}"
    if stack.needs_nats:
        variables["NATS_SERVER"] = f"nats://{stack.services}:{stack.port('nats')}"
    return variables


def _environment(what: str, variables: dict[str, str]) -> str:
    """Write an environment file."""
    return "".join((f"# Environment of {what}.\n", *(f"{name}={value}\n" for name, value in variables.items())))


def _probe(stack: Stack, port: int, path: str) -> tuple[str, ...]:
    """Give the options of a health check: whether a page answers, asked from inside the container."""
    page = f"http://127.0.0.1:{port}{path}"
    return (
        f"--health-cmd=python3 -c 'import urllib.request as r; r.urlopen(\"{page}\")'",
        f"--health-interval={stack.text('health_interval_s')}s",
        f"--health-start-period={stack.start_timeout_s}s",
    )


def _devices(stack: Stack, gpus: Iterable[int]) -> tuple[str, ...]:
    """Give the devices of an engine: its GPUs, the RDMA adapters and, for GPUDirect Storage, its own."""
    gds = ("--device=nvidia.com/gds=all",) * stack.uses_gds
    return (*(f"--device=nvidia.com/gpu={gpu}" for gpu in gpus), *gds, "--device=/dev/infiniband")


def _user(stack: Stack, name: str) -> tuple[str, ...]:
    """Give the user of a container and its home, which podman hands over to that user."""
    home = f"/var/cache/{name}"
    return f"--user={stack.layout.uid}:{stack.layout.gid}", f"--volume={home}:{home}:U"


def _volume(stack: Stack) -> str:
    """Give the cache's own directory to a container; a file system that is mounted later is seen too."""
    return f"--volume={stack.cache_dir}:{stack.cache_dir}:rslave"


def _service(stack: Stack, name: str, description: str, image: str, command: tuple[str, ...], *options: str) -> str:
    """Write the unit of a service of the control node, which keeps its data on the local disk."""
    data = (f"--user={stack.layout.uid}:{stack.layout.gid}", f"--volume=/var/lib/{name}:/data:U")
    return _unit(
        stack,
        name=name,
        description=description,
        options=("--sdnotify=conmon", *data, *options),
        command=(image, *command),
        keeps_data=True,
    )


def _unit(  # noqa: PLR0913 - what differs between units, by name
    stack: Stack,
    *,
    name: str,
    description: str,
    options: tuple[str, ...],
    command: tuple[str, ...],
    after: tuple[str, ...] = (),
    requires: tuple[str, ...] = (),
    paths: tuple[str, ...] = (),
    start_s: int | None = None,
    numa: tuple[int, ...] = (),
    keeps_data: bool = False,
) -> str:
    """Fill the template that all units share."""
    stop_s = int(stack.number("stop_timeout_s"))
    files = stack.text("nofile")
    general = (
        *(f"--name={name}", "--replace", "--rm", "--detach", "--cgroups=split"),
        *("--network=host", "--ipc=host", "--pids-limit=-1"),
        *("--ulimit=memlock=-1:-1", f"--ulimit=nofile={files}:{files}"),
    )
    return rendered(
        "inference/container.service.j2",
        name=name,
        description=description,
        after=after,
        requires=requires,
        paths=paths,
        mount=stack.mount if stack.cache_dir in paths else "",
        numa=numa,
        keeps_data=keeps_data,
        words=[word(argument) for argument in (*general, *options, *command)],
        start_s=start_s or int(stack.number("start_timeout_s")),
        stop_s=stop_s,
        kill_s=stop_s - _STOP_MARGIN_S,
        restart_s=int(stack.number("restart_s")),
        memlock=stack.text("memlock"),
        nofile=files,
        clears_memory=stack.backend == "vllm-fs" and bool(numa),
    )
