"""The start of a node: its kernel, its adapters with their drivers, and what the kernel's files say of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kvplan.twin.programs.node import adapters, kernels
from kvplan.twin.programs.node.place import SHARED, STATE

if TYPE_CHECKING:
    from kvplan.twin.programs.node.place import Node

_POWER = "KVPLAN_POWERED"
_CORE = "/proc/sys/net/core"
_PARAMETERS = {
    "netdev_budget": 300,
    "netdev_max_backlog": 1000,
    "optmem_max": 131072,
    "rmem_default": 212992,
    "rmem_max": 212992,
    "wmem_default": 212992,
    "wmem_max": 212992,
}
"""Parameters of the kernel that are those of the machine, or not there, in a network namespace of one's own."""
_LAYERS = f"{STATE}/sys"
_TOKEN = f"{SHARED}/adapters/power"


def start(node: Node, _args: list[str]) -> int:
    """Start the machine that this node is."""
    power(node)
    kernels.start(node)
    memory(node)
    parameters(node)
    devices(node)
    ports(node)
    storage(node)
    return 0


def power(node: Node) -> None:
    """Let adapters take what was set, if this start came with new power: a restart alone does not do it."""
    environment = node.text("/proc/1/environ")
    found = re.search(rf"{_POWER}=([^\0]*)", environment)
    token, file = found.group(1) if found else "", f"{_TOKEN}-{node.name}"
    if token != node.text(file):
        adapters.powered(node)
        node.write(file, token)


def memory(node: Node) -> None:
    """Let /proc/meminfo tell the memory that the machine was delivered with."""
    total = int(node.facts["memory_gib"] * 2**20 * 0.985)  # the kernel keeps a little for itself
    lines = []
    for line in node.text("/proc/meminfo").splitlines():
        key = line.partition(":")[0]
        lines.append(f"{key}:{total:>16} kB" if key in ("MemTotal", "MemFree", "MemAvailable") else line)
    node.write(f"{STATE}/meminfo", "\n".join(lines) + "\n")
    node.run("mount", "--bind", str(node.path(f"{STATE}/meminfo")), str(node.path("/proc/meminfo")))


def parameters(node: Node) -> None:
    """Give the node the parameters of the network that a container lacks, as it has all others: its own."""
    real, own = f"{STATE}/parameters/real", f"{STATE}/parameters/own"
    for directory in (real, own):
        node.path(directory).mkdir(parents=True, exist_ok=True)
    node.run("mount", "--bind", str(node.path(_CORE)), str(node.path(real)))
    for path in sorted(node.path(real).iterdir()):
        if path.name not in _PARAMETERS:
            node.path(f"{own}/{path.name}").symlink_to(f"{real}/{path.name}")
    for name, value in _PARAMETERS.items():
        node.write(f"{own}/{name}", f"{value}\n")
    node.run("mount", "--bind", str(node.path(own)), str(node.path(_CORE)))


def devices(node: Node) -> None:
    """Let systemd know the ports as devices, for in a container nobody announces them."""
    node.run("udevadm", "trigger", "--subsystem-match=net", "--action=add")
    node.run("udevadm", "settle", "--timeout=20", check=False)


def ports(node: Node) -> None:
    """Lay over each port's directory what its adapter and the driver that is loaded show there."""
    upper = f"{_LAYERS}/class/upper"
    node.path(f"{upper}/infiniband").mkdir(parents=True, exist_ok=True)
    loaded = node.text(kernels.LOADED)
    has_driver = loaded != "inbox"
    for index, port in enumerate(held for held in node.facts["ports"] if "adapter" in held):
        if node.path(f"/sys/class/net/{port['name']}").exists():
            _port(node, port, f"mlx5_{index}", with_driver=has_driver)
    _lay(node, "class", "/sys/class")
    node.write(f"{_LAYERS}/module/upper/mlx5_core/srcversion", loaded + "\n")
    _lay(node, "module", "/sys/module")


def _port(node: Node, port: dict[str, Any], device: str, *, with_driver: bool) -> None:
    """Show a port: its place on the bus, its speed, and what the vendor's driver adds."""
    upper = f"{_LAYERS}/{port['name']}/upper"
    bus = f"{adapters.BUS}/{port['pci']}"
    node.path(f"{bus}/infiniband/{device}").mkdir(parents=True, exist_ok=True)
    node.write(f"{upper}/speed", f"{port['speed_mbit_per_s']}\n")
    node.path(f"{upper}/device").unlink(missing_ok=True)
    node.path(f"{upper}/device").symlink_to(bus)
    if with_driver:
        for half in ("roce_np", "roce_rp"):
            for priority in range(8):
                node.write(f"{upper}/ecn/{half}/enable/{priority}", "1\n")
        node.write(f"{upper}/ecn/roce_np/cnp_dscp", "48\n")
        node.write(f"{upper}/ecn/roce_np/cnp_802p_prio", "6\n")
        node.write(f"{_LAYERS}/class/upper/infiniband/{device}/tc/1/traffic_class", "\n")
    else:
        node.path(f"{_LAYERS}/class/upper/infiniband/{device}").mkdir(parents=True, exist_ok=True)
    _lay(node, port["name"], f"/sys/devices/virtual/net/{port['name']}")


def _lay(node: Node, name: str, place: str) -> None:
    """Lay a layer over a directory of the kernel's."""
    layer = node.path(f"{_LAYERS}/{name}")
    (layer / "upper").mkdir(parents=True, exist_ok=True)
    (layer / "work").mkdir(exist_ok=True)
    options = f"lowerdir={node.path(place)},upperdir={layer}/upper,workdir={layer}/work"
    node.run("mount", "-t", "overlay", "kv-sys", "-o", options, str(node.path(place)))


def storage(node: Node) -> None:
    """Let a machine with data drives list them: they are simulated where the state of all nodes is."""
    program = node.path(f"{SHARED}/commands")
    link = node.path("/usr/local/bin/lsblk")
    if node.facts.get("drives") and program.exists() and not link.is_symlink():
        link.symlink_to(program)


def dmidecode(node: Node, args: list[str]) -> int:
    """Say what the firmware says of the machine."""
    known = {
        "system-serial-number": node.facts["serial"],
        "system-product-name": node.facts["model"],
        "system-manufacturer": "Supermicro",
    }
    if args[:1] in (["-s"], ["--string"]) and args[1:2] and args[1] in known:
        print(known[args[1]])  # noqa: T201 - a program's output
        return 0
    print("Invalid string keyword")  # noqa: T201 - a program's output
    return 2
