"""Rules about what engines take of their host: ports, GPUs, NUMA nodes, mounts, limits, images."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from kvplan.site.inference.reading import PORTS, Rendered, Unit
from kvplan.site.rules import Break, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIRST_USER_PORT, _LAST_USER_PORT = 1024, 49_151
_VARIABLES: Final = {
    "DYN_SYSTEM_PORT": "system",
    "DYN_TCP_RPC_PORT": "request",
    "DYN_VLLM_KV_EVENT_PORT": "kv-events",
    "VLLM_NIXL_SIDE_CHANNEL_PORT": "nixl",
    "DYN_KVBM_LEADER_ZMQ_PUB_PORT": "kvbm-pub",
    "DYN_KVBM_LEADER_ZMQ_ACK_PORT": "kvbm-ack",
    "DYN_KVBM_METRICS_PORT": "kvbm-metrics",
}
"""Variables that hold a port, and the purpose under which the table has it."""


@rule("KV-INF-001", "A host uses a port once; environment files count beside the table.")
def _port_twice(rendered: Rendered) -> Iterator[Break]:
    used = Counter((row.host, row.port) for row in rendered.ports)
    for (host, port), count in used.items():
        if count > 1:
            yield Break(PORTS, f"{host} uses port {port} {count} times")
    users: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for unit, variable, port in _port_variables(rendered):
        users[unit.host, port].append(f"{variable} of {unit.name}")
    for (host, port), names in users.items():
        if len(names) > 1:
            yield Break(f"hosts/{host}", f"port {port} is that of {', '.join(names)}")


def _port_variables(rendered: Rendered) -> Iterator[tuple[Unit, str, int]]:
    """Yield every variable that holds a port."""
    for unit in rendered.engines:
        for name, value in rendered.environment(unit).items():
            if name in _VARIABLES and value.isdecimal():
                yield unit, name, int(value)


@rule("KV-INF-002", "Ports are those of services: not ephemeral, not Storage Scale's.")
def _port_in_reserved_range(rendered: Rendered) -> Iterator[Break]:
    stack = rendered.stack
    first, last = (int(stack.number(f"ephemeral_{end}")) for end in ("first", "last"))
    taken = [_range(part) for part in stack.text("reserved_ports").split(",")]
    spans = [*taken, range(first, last + 1), range(_FIRST_USER_PORT), range(_LAST_USER_PORT + 1, 1 << 17)]
    for row in rendered.ports:
        if any(row.port in span for span in spans):
            text = f"{row.host}: port {row.port} ({row.purpose}) is ephemeral, reserved, or no port of a service"
            yield Break(PORTS, text, f"Choose one from {_FIRST_USER_PORT} to {first - 1}.")


def _range(text: str) -> range:
    """Read `1191` or `60000-61000`."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


@rule("KV-INF-025", "The ports of environment files are those of the table, and the table has no engine without files.")
def _ports_not_in_table(rendered: Rendered) -> Iterator[Break]:
    table = {(row.host, row.engine, row.purpose): row.port for row in reversed(rendered.ports)}
    for unit, variable, port in _port_variables(rendered):
        purpose = _VARIABLES[variable]
        if table.get((unit.host, str(unit.number), purpose)) != port:
            where = rendered.environment_path(unit)
            yield Break(where, f"{variable}={port} is not what {PORTS} says of {purpose}")
    known = {(unit.host, str(unit.number)) for unit in rendered.engines}
    for host, engine in sorted({(row.host, row.engine) for row in rendered.ports if row.engine} - known):
        yield Break(PORTS, f"there is no engine {engine} on {host}")


@rule("KV-INF-003", "Each GPU of a server belongs to exactly one engine.")
def _gpu_twice_or_unused(rendered: Rendered) -> Iterator[Break]:
    held: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for unit in rendered.engines:
        held[unit.host].update(unit.gpus)
    wanted = {str(gpu) for gpu in range(rendered.stack.layout.gpus_per_server)}
    for server in rendered.deployment.clients:
        gpus, where = held[server.name], f"hosts/{server.name}"
        twice = sorted(gpu for gpu, count in gpus.items() if count > 1)
        if twice:
            yield Break(where, f"GPU {', '.join(twice)} belongs to two engines")
        if missing := sorted(wanted - set(gpus), key=int):
            remedy = "Choose a tensor parallelism that divides the GPUs of a server."
            yield Break(where, f"no engine uses GPU {', '.join(missing)}", remedy)
        if beyond := sorted(set(gpus) - wanted):
            yield Break(where, f"there is no GPU {', '.join(beyond)}")


@rule("KV-INF-004", "An engine has as many GPUs as its tensor parallelism, which is the Plan's.")
def _tensor_parallelism(rendered: Rendered) -> Iterator[Break]:
    planned = rendered.stack.tp
    if planned > rendered.stack.layout.gpus_per_server:
        text = f"an engine needs {planned} GPUs, a server has {rendered.stack.layout.gpus_per_server}"
        yield Break("inference.engines.gpus_per_server", text, "Plan with a smaller tensor parallelism.")
    for unit in rendered.engines:
        size = unit.argument("--tensor-parallel-size")
        if size != str(planned) or len(unit.gpus) != planned:
            text = f"tensor parallelism {size or 'none'} on {len(unit.gpus)} GPU, planned are {planned}"
            yield Break(unit.path, text)


@rule("KV-INF-005", "An engine is pinned to NUMA nodes that exist, with the processors of the same nodes.")
def _numa_pin(rendered: Rendered) -> Iterator[Break]:
    nodes = {str(node) for node in range(rendered.stack.layout.numa_nodes)}
    for unit in rendered.engines:
        pinned = set("".join(unit.options.get("--cpuset-mems", ())).split(","))
        if not pinned <= nodes:
            text = f"memory of NUMA node {', '.join(sorted(pinned - nodes)) or 'none'} is asked for"
            yield Break(unit.path, text, f"The nodes are {', '.join(sorted(nodes))}.")
            continue
        read = set(re.findall(r"/node/node(\d+)/cpulist", " ".join(unit.settings.get("ExecStartPre", ()))))
        if read != pinned or "${KV_CPUS}" not in unit.options.get("--cpuset-cpus", ()):
            yield Break(unit.path, "processors are not those of the NUMA node of its memory")


@rule("KV-INF-015", "A unit that uses the cache waits for the file system, and does not start without it.")
def _mount_required(rendered: Rendered) -> Iterator[Break]:
    mount, cache = rendered.stack.mount, rendered.stack.cache_dir
    for unit in rendered.units:
        if not any(volume.startswith(f"{cache}:") for volume in unit.options.get("--volume", ())):
            if unit.number >= 0:
                yield Break(unit.path, f"{cache} is not given to the container")
            continue
        required = unit.settings.get("RequiresMountsFor", ())
        if any(path == mount or path.startswith(f"{mount}/") for path in required):
            text = f"{mount} is required, which fails for good where the daemon is slower than the unit"
            yield Break(unit.path, text)
        if "gpfs.service" not in " ".join(unit.settings.get("After", ())).split():
            yield Break(unit.path, "the unit does not start after gpfs.service")
        checks = unit.settings.get("ExecStartPre", ())
        if not any(check.endswith(f"mountpoint --quiet {mount}") for check in checks):
            text = f"without a check the engine fills the boot drive where {mount} is not mounted"
            yield Break(unit.path, text)


@rule("KV-INF-016", "An engine has the time that weights, graphs and the allocation of its disk cache take.")
def _timeouts(rendered: Rendered) -> Iterator[Break]:
    stack = rendered.stack
    for unit in rendered.engines:
        disk_gb = _whole(rendered.environment(unit).get("DYN_KVBM_DISK_CACHE_GB", "0"))
        needed = stack.number("start_timeout_s") + disk_gb / stack.number("preallocation_gb_per_s")
        given = {
            "TimeoutStartSec": unit.one("TimeoutStartSec"),
            "--health-start-period": unit.options.get("--health-start-period", ("",))[-1].removesuffix("s"),
        }
        if any(name.startswith("DYN_KVBM") for name in rendered.environment(unit)):
            name = "DYN_KVBM_LEADER_WORKER_INIT_TIMEOUT_SECS"
            given[name] = rendered.environment(unit).get(name, "")
        for name, value in given.items():
            if value != "infinity" and _whole(value) < needed:
                text = f"{name} is {value or 'absent'}, starting may take {needed:.0f} s"
                yield Break(unit.path, text, f"Allow {needed:.0f} s at least.")
        if unit.one("Restart") != "on-failure":
            yield Break(unit.path, "the engine is not started again after a failure", "Set Restart=on-failure.")


def _whole(text: str) -> int:
    """Read a whole number; 0 where it is none."""
    return int(text) if text.isdecimal() else 0


@rule("KV-INF-017", "Locked memory is not limited, and enough files may be open, in the unit and in the container.")
def _limits(rendered: Rendered) -> Iterator[Break]:
    files = int(rendered.stack.number("nofile"))
    for unit in rendered.engines:
        container = dict(limit.partition("=")[::2] for limit in unit.options.get("--ulimit", ()))
        if unit.one("LimitMEMLOCK") != "infinity" or container.get("memlock") != "-1:-1":
            text = "locked memory is limited, so buffers cannot be registered for RDMA"
            yield Break(unit.path, text, "Set LimitMEMLOCK=infinity and --ulimit=memlock=-1:-1.")
        open_files = (unit.one("LimitNOFILE"), container.get("nofile", "").partition(":")[0])
        if any(_whole(value) < files for value in open_files):
            yield Break(unit.path, f"fewer than {files} files may be open", f"Set both limits to {files}.")


@rule("KV-INF-034", "Engines share network and memory segments with their host, for RDMA and for peers among GPUs.")
def _host_namespaces(rendered: Rendered) -> Iterator[Break]:
    for unit in rendered.engines:
        for option in ("--network", "--ipc"):
            if unit.options.get(option) != ("host",):
                yield Break(unit.path, f"{option} is not host", f"Set {option}=host.")
        if "/dev/infiniband" not in unit.options.get("--device", ()):
            yield Break(unit.path, "the container has no RDMA devices", "Add --device=/dev/infiniband.")


@rule("KV-INF-035", "Containers run as the Site's user, who owns the cache, and never as root.")
def _user(rendered: Rendered) -> Iterator[Break]:
    layout = rendered.stack.layout
    for unit in rendered.units:
        if unit.options.get("--user") != (f"{layout.uid}:{layout.gid}",):
            text = f"the container runs as {''.join(unit.options.get('--user', ())) or 'the user of its image'}"
            yield Break(unit.path, text, f"Set --user={layout.uid}:{layout.gid}.")


@rule("KV-INF-018", "An image names a release or a digest, so that every host runs the same.")
def _image_tag(rendered: Rendered) -> Iterator[Break]:
    for unit in rendered.units:
        tag = unit.image.rpartition("/")[2].partition(":")[2]
        if "@sha256:" not in unit.image and tag in ("", "latest"):
            text = f"{unit.image} names no release"
            yield Break(unit.path, text, "Name a tag other than latest, or a digest.")


@rule("KV-INF-038", "Engines and frontend find all of the model in their container, and fetch nothing.")
def _offline(rendered: Rendered) -> Iterator[Break]:
    frontends = (unit for unit in rendered.units if unit.name == "kv-frontend")
    for unit in (*rendered.engines, *frontends):
        told = rendered.environment(unit)
        where = f"hosts/{unit.host}{unit.options.get('--env-file', ('',))[-1]}"
        if told and told.get("HF_HUB_OFFLINE") != "1":
            yield Break(where, "does not keep the process from the internet", "Set HF_HUB_OFFLINE=1.")
        vocabulary = PurePosixPath(told.get("TIKTOKEN_ENCODINGS_BASE", ""))
        mounted = [volume.split(":")[1] for volume in unit.options.get("--volume", ()) if ":" in volume]
        if told and rendered.stack.is_gpt_oss and not any(vocabulary.is_relative_to(path) for path in mounted):
            yield Break(where, "the vocabulary of gpt-oss is not in the container", "Set TIKTOKEN_ENCODINGS_BASE.")


@rule("KV-INF-032", "Every engine of the layout has a unit and an environment file, and there are no others.")
def _engine_files(rendered: Rendered) -> Iterator[Break]:
    wanted = {(engine.server.name, engine.number) for engine in rendered.stack.engines}
    there = {(unit.host, unit.number): unit for unit in rendered.engines}
    for host, number in sorted(wanted - set(there)):
        yield Break(f"hosts/{host}", f"engine {number} has no unit")
    for host, number in sorted(set(there) - wanted):
        yield Break(there[host, number].path, f"there is no engine {number} on {host}")
    for unit in there.values():
        if not rendered.environment(unit):
            yield Break(unit.path, "its environment file is missing")


@rule(
    "KV-INF-037", "With GPUDirect Storage, cuFile knows the host's own addresses and may not fall back without a word."
)
def _gpudirect(rendered: Rendered) -> Iterator[Break]:
    if not rendered.stack.uses_gds:
        return
    own = {server.name: {port.address for port in server.fabric} for server in rendered.deployment.clients}
    for host, addresses in own.items():
        where = f"hosts/{host}/etc/kv/cufile.json"
        if wrong := _cufile_fault(rendered.tree.get(where, ""), addresses):
            yield Break(where, wrong)
    for unit in rendered.engines:
        path = rendered.environment(unit).get("CUFILE_ENV_PATH_JSON", "")
        volumes, devices = unit.options.get("--volume", ()), unit.options.get("--device", ())
        if f"{path}:{path}:ro" not in volumes or "nvidia.com/gds=all" not in devices:
            yield Break(unit.path, "the container lacks cuFile's configuration or devices")


def _cufile_fault(text: str, addresses: set[str]) -> str:
    """Say what is wrong with a configuration of cuFile."""
    try:
        properties = json.loads(text)["properties"]
        listed, falls_back = set(properties["rdma_dev_addr_list"]), properties["allow_compat_mode"]
    except (json.JSONDecodeError, KeyError, TypeError):
        return "is no configuration of cuFile"
    if listed != addresses:
        return f"lists {', '.join(sorted(listed)) or 'nothing'}, the host has {', '.join(sorted(addresses))}"
    return "allow_compat_mode lets reads go through host memory without a word" if falls_back else ""
