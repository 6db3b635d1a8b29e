"""Rules about what engines take of their host: ports, GPUs, NUMA nodes, mounts, limits, images."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from kvplan.site.inference.reading import PORTS, Rendered, Unit, fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.design import Finding

_RENDER: Final = "Render the tree again; where the Site was meant to differ, change it there."
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


def port_twice(rendered: Rendered) -> Iterator[Finding]:
    """001: a host uses a port once; environment files count beside the table."""
    used = Counter((row.host, row.port) for row in rendered.ports)
    for (host, port), count in used.items():
        if count > 1:
            yield fault("001", PORTS, f"{host} uses port {port} {count} times", _RENDER)
    users: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for unit, variable, port in _port_variables(rendered):
        users[unit.host, port].append(f"{variable} of {unit.name}")
    for (host, port), names in users.items():
        if len(names) > 1:
            yield fault("001", f"hosts/{host}", f"port {port} is that of {', '.join(names)}", _RENDER)


def _port_variables(rendered: Rendered) -> Iterator[tuple[Unit, str, int]]:
    """Yield every variable that holds a port."""
    for unit in rendered.engines:
        for name, value in rendered.environment(unit).items():
            if name in _VARIABLES and value.isdecimal():
                yield unit, name, int(value)


def port_in_reserved_range(rendered: Rendered) -> Iterator[Finding]:
    """002: ports are those of services: not ephemeral, not Storage Scale's."""
    stack = rendered.stack
    first, last = (int(stack.number(f"ephemeral_{end}")) for end in ("first", "last"))
    taken = [_range(part) for part in stack.text("reserved_ports").split(",")]
    spans = [*taken, range(first, last + 1), range(_FIRST_USER_PORT), range(_LAST_USER_PORT + 1, 1 << 17)]
    for row in rendered.ports:
        if any(row.port in span for span in spans):
            text = f"{row.host}: port {row.port} ({row.purpose}) is ephemeral, reserved, or no port of a service"
            yield fault("002", PORTS, text, f"Choose one from {_FIRST_USER_PORT} to {first - 1}.")


def _range(text: str) -> range:
    """Read `1191` or `60000-61000`."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def ports_not_in_table(rendered: Rendered) -> Iterator[Finding]:
    """025: the ports of environment files are those of the table, and the table has no engine without files."""
    table = {(row.host, row.engine, row.purpose): row.port for row in reversed(rendered.ports)}
    for unit, variable, port in _port_variables(rendered):
        purpose = _VARIABLES[variable]
        if table.get((unit.host, str(unit.number), purpose)) != port:
            where = rendered.environment_path(unit)
            yield fault("025", where, f"{variable}={port} is not what {PORTS} says of {purpose}", _RENDER)
    known = {(unit.host, str(unit.number)) for unit in rendered.engines}
    for host, engine in sorted({(row.host, row.engine) for row in rendered.ports if row.engine} - known):
        yield fault("025", PORTS, f"there is no engine {engine} on {host}", _RENDER)


def gpu_twice_or_unused(rendered: Rendered) -> Iterator[Finding]:
    """003: each GPU of a server belongs to exactly one engine."""
    held: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for unit in rendered.engines:
        held[unit.host].update(unit.gpus)
    wanted = {str(gpu) for gpu in range(rendered.stack.layout.gpus_per_server)}
    for server in rendered.deployment.clients:
        gpus, where = held[server.name], f"hosts/{server.name}"
        twice = sorted(gpu for gpu, count in gpus.items() if count > 1)
        if twice:
            yield fault("003", where, f"GPU {', '.join(twice)} belongs to two engines", _RENDER)
        if missing := sorted(wanted - set(gpus), key=int):
            remedy = "Choose a tensor parallelism that divides the GPUs of a server."
            yield fault("003", where, f"no engine uses GPU {', '.join(missing)}", remedy)
        if beyond := sorted(set(gpus) - wanted):
            yield fault("003", where, f"there is no GPU {', '.join(beyond)}", _RENDER)


def tensor_parallelism(rendered: Rendered) -> Iterator[Finding]:
    """004: an engine has as many GPUs as its tensor parallelism, which is the Plan's."""
    planned = rendered.stack.tp
    if planned > rendered.stack.layout.gpus_per_server:
        text = f"an engine needs {planned} GPUs, a server has {rendered.stack.layout.gpus_per_server}"
        yield fault("004", "inference.engines.gpus_per_server", text, "Plan with a smaller tensor parallelism.")
    for unit in rendered.engines:
        size = unit.argument("--tensor-parallel-size")
        if size != str(planned) or len(unit.gpus) != planned:
            text = f"tensor parallelism {size or 'none'} on {len(unit.gpus)} GPU, planned are {planned}"
            yield fault("004", unit.path, text, _RENDER)


def numa_pin(rendered: Rendered) -> Iterator[Finding]:
    """005: an engine is pinned to NUMA nodes that exist, with the processors of the same nodes."""
    nodes = {str(node) for node in range(rendered.stack.layout.numa_nodes)}
    for unit in rendered.engines:
        pinned = set("".join(unit.options.get("--cpuset-mems", ())).split(","))
        if not pinned <= nodes:
            text = f"memory of NUMA node {', '.join(sorted(pinned - nodes)) or 'none'} is asked for"
            yield fault("005", unit.path, text, f"The nodes are {', '.join(sorted(nodes))}.")
            continue
        read = set(re.findall(r"/node/node(\d+)/cpulist", " ".join(unit.settings.get("ExecStartPre", ()))))
        if read != pinned or "${KV_CPUS}" not in unit.options.get("--cpuset-cpus", ()):
            yield fault("005", unit.path, "processors are not those of the NUMA node of its memory", _RENDER)


def mount_required(rendered: Rendered) -> Iterator[Finding]:
    """015: a unit that uses the cache waits for the file system, and does not start without it."""
    mount, cache = rendered.stack.mount, rendered.stack.cache_dir
    for unit in rendered.units:
        if not any(volume.startswith(f"{cache}:") for volume in unit.options.get("--volume", ())):
            if unit.number >= 0:
                yield fault("015", unit.path, f"{cache} is not given to the container", _RENDER)
            continue
        required = unit.settings.get("RequiresMountsFor", ())
        if not any(path == mount or path.startswith(f"{mount}/") for path in required):
            yield fault("015", unit.path, f"the unit does not require {mount}", _RENDER)
        checks = unit.settings.get("ExecStartPre", ())
        if not any(check.endswith(f"mountpoint --quiet {mount}") for check in checks):
            text = f"without a check the engine fills the boot drive where {mount} is not mounted"
            yield fault("015", unit.path, text, _RENDER)


def timeouts(rendered: Rendered) -> Iterator[Finding]:
    """016: an engine has the time that weights, graphs and the allocation of its disk cache take."""
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
                yield fault("016", unit.path, text, f"Allow {needed:.0f} s at least.")
        if unit.one("Restart") != "on-failure":
            yield fault("016", unit.path, "the engine is not started again after a failure", "Set Restart=on-failure.")


def _whole(text: str) -> int:
    """Read a whole number; 0 where it is none."""
    return int(text) if text.isdecimal() else 0


def limits(rendered: Rendered) -> Iterator[Finding]:
    """017: locked memory is not limited, and enough files may be open, in the unit and in the container."""
    files = int(rendered.stack.number("nofile"))
    for unit in rendered.engines:
        container = dict(limit.partition("=")[::2] for limit in unit.options.get("--ulimit", ()))
        if unit.one("LimitMEMLOCK") != "infinity" or container.get("memlock") != "-1:-1":
            text = "locked memory is limited, so buffers cannot be registered for RDMA"
            yield fault("017", unit.path, text, "Set LimitMEMLOCK=infinity and --ulimit=memlock=-1:-1.")
        open_files = (unit.one("LimitNOFILE"), container.get("nofile", "").partition(":")[0])
        if any(_whole(value) < files for value in open_files):
            yield fault("017", unit.path, f"fewer than {files} files may be open", f"Set both limits to {files}.")


def host_namespaces(rendered: Rendered) -> Iterator[Finding]:
    """034: engines share network and memory segments with their host, for RDMA and for peers among GPUs."""
    for unit in rendered.engines:
        for option in ("--network", "--ipc"):
            if unit.options.get(option) != ("host",):
                yield fault("034", unit.path, f"{option} is not host", f"Set {option}=host.")
        if "/dev/infiniband" not in unit.options.get("--device", ()):
            yield fault("034", unit.path, "the container has no RDMA devices", "Add --device=/dev/infiniband.")


def user(rendered: Rendered) -> Iterator[Finding]:
    """035: containers run as the Site's user, who owns the cache, and never as root."""
    layout = rendered.stack.layout
    for unit in rendered.units:
        if unit.options.get("--user") != (f"{layout.uid}:{layout.gid}",):
            text = f"the container runs as {''.join(unit.options.get('--user', ())) or 'the user of its image'}"
            yield fault("035", unit.path, text, f"Set --user={layout.uid}:{layout.gid}.")


def image_tag(rendered: Rendered) -> Iterator[Finding]:
    """018: an image names a release or a digest, so that every host runs the same."""
    for unit in rendered.units:
        tag = unit.image.rpartition("/")[2].partition(":")[2]
        if "@sha256:" not in unit.image and tag in ("", "latest"):
            text = f"{unit.image} names no release"
            yield fault("018", unit.path, text, "Name a tag other than latest, or a digest.")


def engine_files(rendered: Rendered) -> Iterator[Finding]:
    """032: every engine of the layout has a unit and an environment file, and there are no others."""
    wanted = {(engine.server.name, engine.number) for engine in rendered.stack.engines}
    there = {(unit.host, unit.number): unit for unit in rendered.engines}
    for host, number in sorted(wanted - set(there)):
        yield fault("032", f"hosts/{host}", f"engine {number} has no unit", _RENDER)
    for host, number in sorted(set(there) - wanted):
        yield fault("032", there[host, number].path, f"there is no engine {number} on {host}", _RENDER)
    for unit in there.values():
        if not rendered.environment(unit):
            yield fault("032", unit.path, "its environment file is missing", _RENDER)


def gpudirect(rendered: Rendered) -> Iterator[Finding]:
    """037: with GPUDirect Storage, cuFile knows the host's own addresses and may not fall back without a word."""
    if not rendered.stack.uses_gds:
        return
    own = {server.name: {port.address for port in server.fabric} for server in rendered.deployment.clients}
    for host, addresses in own.items():
        where = f"hosts/{host}/etc/kv/cufile.json"
        if wrong := _cufile_fault(rendered.tree.get(where, ""), addresses):
            yield fault("037", where, wrong, _RENDER)
    for unit in rendered.engines:
        path = rendered.environment(unit).get("CUFILE_ENV_PATH_JSON", "")
        volumes, devices = unit.options.get("--volume", ()), unit.options.get("--device", ())
        if f"{path}:{path}:ro" not in volumes or "nvidia.com/gds=all" not in devices:
            yield fault("037", unit.path, "the container lacks cuFile's configuration or devices", _RENDER)


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
