"""Adapters: firmware settings, which outlive the disk and change with the power only, and RoCE on each port."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kvplan.twin.programs.node.place import SHARED, STATE, Refused, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.twin.programs.node.place import Node

BUS = f"{STATE}/pci"
CLASS = "/sys/class/infiniband"
_SET = f"{STATE}/roce.json"
_WORDS = {
    "LINK_TYPE": ("?", "IB", "ETH"),
    "INTERNAL_CPU_MODEL": ("SEPARATED_HOST", "EMBEDDED_CPU"),
    "INTERNAL_CPU_OFFLOAD_ENGINE": ("ENABLED", "DISABLED"),
    "_EN": ("False", "True"),
    "_ENABLED": ("False", "True"),
}
"""Words for the values of keys, by how the key begins or ends."""
FACTORY = {
    "ATS_ENABLED": 0,
    "INTERNAL_CPU_MODEL": 1,
    "INTERNAL_CPU_OFFLOAD_ENGINE": 0,
    "NUM_OF_VFS": 16,
    "PCI_WR_ORDERING": 0,
    "SRIOV_EN": 1,
}
"""Values that an adapter leaves the factory with, where they are not those of the plan."""


def settings_of(node: Node) -> str:
    """Return the file of what differs from how adapters were delivered."""
    return f"{SHARED}/adapters/{node.name}.json"


class Firmware:
    """Settings of one adapter, now and after the next power cycle."""

    def __init__(self, node: Node, adapter: str) -> None:
        self.node, self.adapter = node, adapter
        self._all: dict[str, Any] = node.document(settings_of(node), {})
        held = self._all.setdefault(adapter, {})
        self.delivered: dict[str, int] = {"NUM_OF_VFS": 16, **node.facts["adapters"][adapter]}
        self.now: dict[str, int] = held.setdefault("now", {})
        self.next: dict[str, int] = held.setdefault("next", {})

    def row(self, key: str) -> tuple[int, int, int]:
        """Return factory's, present and next value of a key."""
        now = self.now.get(key, self.delivered[key])
        return FACTORY.get(key, self.delivered[key]), now, self.next.get(key, now)

    def put(self, key: str, value: int) -> None:
        """Set a key for the next start with new power."""
        self.next[key] = value
        self.node.keep(settings_of(self.node), self._all)

    def powered(self) -> None:
        """Take what was set, as an adapter does when it gets power."""
        self.now.update(self.next)
        self.next.clear()
        self.node.keep(settings_of(self.node), self._all)


def powered(node: Node) -> None:
    """Let every adapter take what was set."""
    for adapter in node.facts["adapters"]:
        if node.document(settings_of(node), {}).get(adapter, {}).get("next"):
            Firmware(node, adapter).powered()


def mlxconfig(node: Node, args: list[str]) -> int:
    """Show or set the settings of an adapter."""
    options = [arg for arg in args if arg not in ("-y", "--yes", "-e", "--enable_verbosity")]
    if options[:1] not in (["-d"], ["--dev"]) or len(options) < 3:  # noqa: PLR2004 - option, device and verb
        message = "-E- Device is not specified"
        raise Refused(message, 3)
    firmware = Firmware(node, port_of(node, options[1])["adapter"])
    match options[2:]:
        case ["q" | "query", *keys]:
            return _query(firmware, options[1], keys)
        case ["s" | "set", *pairs]:
            for pair in pairs:
                key, _, value = pair.partition("=")
                firmware.put(key, _number(firmware, key, value))
        case ["r" | "reset"]:
            for key in firmware.delivered:
                firmware.put(key, firmware.row(key)[0])
        case _:
            message = f"-E- Unknown command: {options[2]}"
            raise Refused(message, 3)
    said("", "Applying... Done!", "-I- Please reboot machine to load new configurations.")
    return 0


def port_of(node: Node, device: str) -> dict[str, Any]:
    """Find the port of a device on the bus, or of an interface's name."""
    for port in node.facts["ports"]:
        if device in (port.get("pci"), port.get("pci", "?").removeprefix("0000:"), port["name"]) and "adapter" in port:
            return dict(port)
    message = f"-E- Failed to open device: {device}. No such file or directory"
    raise Refused(message, 3)


def _query(firmware: Firmware, device: str, keys: list[str]) -> int:
    """Print the table of settings."""
    said("", "Device #1:", "----------", "", f"Device:             {device}", "")
    said(f"{'Configurations:':<45}{'Default':<20}{'Current':<20}Next Boot")
    for key in keys or sorted(firmware.delivered):
        if key not in firmware.delivered:
            message = f"-E- The Device doesn't support {key} parameter"
            raise Refused(message, 3)
        row = firmware.row(key)
        words = [_worded(key, value) for value in row]
        star = "*" if len(set(row)) > 1 else " "
        said(f"{star}       {key:<37}{words[0]:<20}{words[1]:<20}{words[2]}")
    return 0


def _words_of(key: str) -> tuple[str, ...]:
    """Return the words for the values of a key."""
    return next((words for part, words in _WORDS.items() if key.startswith(part) or key.endswith(part)), ())


def _worded(key: str, value: int) -> str:
    """Write a value with its word."""
    words = _words_of(key)
    return f"{words[value]}({value})" if 0 <= value < len(words) else str(value)


def _number(firmware: Firmware, key: str, value: str) -> int:
    """Read a value, which may be a word."""
    if key not in firmware.delivered:
        message = f"-E- Unknown Parameter: {key}"
        raise Refused(message, 3)
    words = _words_of(key)
    if value in words:
        return words.index(value)
    if not value.isdigit() or (words and int(value) >= len(words)):
        message = f"-E- Failed to parse parameter value: {value}"
        raise Refused(message, 3)
    return int(value)


def rdma(node: Node, args: list[str]) -> int:
    """Show or rename RDMA devices."""
    match args:
        case ["dev"] | ["dev", "show"] | ["link"] | ["link", "show"]:
            said(*(f"{index}: {name}: node_type ca fw 28.43" for index, (_, name) in enumerate(_rdma_devices(node))))
            return 0
        case ["dev", "set", old, "name", new]:
            held = {name: pci for pci, name in _rdma_devices(node)}
            if old not in held or new in held:
                message = f"error: {'Device or resource busy' if new in held else 'No such device'}"
                raise Refused(message, 255)
            for directory in (f"{BUS}/{held[old]}/infiniband", CLASS):
                if node.path(f"{directory}/{old}").exists():
                    node.path(f"{directory}/{old}").rename(node.path(f"{directory}/{new}"))
            return 0
    message = f'Unknown command "{" ".join(args)}".'
    raise Refused(message, 1)


def _rdma_devices(node: Node) -> Iterator[tuple[str, str]]:
    """List RDMA devices: their place on the bus and their names."""
    for path in sorted(node.path(BUS).glob("*/infiniband/*")):
        yield path.parent.parent.name, path.name


def mlnx_qos(node: Node, args: list[str]) -> int:
    """Set or show how a port tells classes of traffic apart."""
    options = _options(args, {"-i": "interface"})
    port = _known_port(node, options.pop("interface", ""))
    held = node.document(_SET, {})
    if (pfc := options.get("pfc")) and not re.fullmatch(r"[01](,[01]){7}", pfc):
        message = f"Invalid PFC configuration: {pfc}"
        raise Refused(message)
    if options.get("trust", "dscp") not in ("dscp", "pcp"):
        message = "Invalid trust state"
        raise Refused(message)
    held.setdefault(port, {}).update(options)
    node.keep(_SET, held)
    mine = held[port]
    said(
        f"Priority trust state: {mine.get('trust', 'pcp')}",
        f"Cable len: {mine.get('cable_len', 7)}",
        "PFC configuration:",
    )
    said(
        "\tpriority    " + "   ".join("01234567"),
        "\tenabled     " + "   ".join(mine.get("pfc", "0,0,0,0,0,0,0,0").split(",")),
    )
    return 0


def cma_roce_tos(node: Node, args: list[str]) -> int:
    """Set or show the traffic class of connections that the connection manager makes."""
    options = _options(args, {"-d": "device", "-t": "tos", "-p": "port"})
    device = options.get("device", "")
    if device not in [name for _, name in _rdma_devices(node)]:
        message = f"Failed to open device {device}"
        raise Refused(message)
    held = node.document(_SET, {})
    if "tos" in options:
        held.setdefault(device, {})["tos"] = options["tos"]
        node.keep(_SET, held)
    said(held.get(device, {}).get("tos", "0"))
    return 0


def mlxreg(node: Node, args: list[str]) -> int:
    """Set or show a register of an adapter."""
    options = _options([arg for arg in args if arg not in ("--yes", "-y")], {"-d": "device"})
    port = port_of(node, options.get("device", ""))
    held = node.document(_SET, {})
    if options.get("reg_name") != "ROCE_ACCL":
        message = f"-E- Can't find access register name: {options.get('reg_name')}"
        raise Refused(message, 2)
    mine = held.setdefault(port["pci"], {})
    if "set" in options:
        mine.update(pair.split("=", 1) for pair in options["set"].split(","))
        node.keep(_SET, held)
    said("Sending access register...", *(f"{key:<40}| {value}" for key, value in sorted(mine.items())))
    return 0


def setpci(node: Node, args: list[str]) -> int:
    """Set or show a register of the bus; `VALUE:MASK` changes the bits of the mask."""
    options, words = {}, []
    rest = iter(args)
    for arg in rest:
        if arg == "-s":
            options["device"] = next(rest, "")
        else:
            words.append(arg)
    port = port_of(node, options.get("device", ""))
    held = node.document(_SET, {})
    mine = held.setdefault(port["pci"], {})
    for word in words:
        register, is_set, value = word.partition("=")
        old = int(mine.get(register, "2936"), 16)
        if not is_set:
            said(f"{old:04x}")
            continue
        bits, _, mask = value.partition(":")
        covered = int(mask or "ffff", 16)
        mine[register] = f"{(old & ~covered) | (int(bits, 16) & covered):04x}"
        node.keep(_SET, held)
    return 0


def ethtool(node: Node, args: list[str]) -> int:
    """Show what a port is."""
    name = args[-1] if args else ""
    port = next((port for port in node.facts["ports"] if port["name"] == name), None)
    if port is None:
        message = f"netlink error: No such device\nethtool: {name}"
        raise Refused(message, 75)
    match args[:-1]:
        case ["-P"] | ["--show-permaddr"]:
            said(f"Permanent address: {port['mac']}")
        case ["-i"] | ["--driver"]:
            said("driver: " + ("mlx5_core" if "adapter" in port else "ixgbe"), f"bus-info: {port.get('pci', '')}")
        case []:
            speed = port.get("speed_mbit_per_s", 1000)
            said(f"Settings for {name}:", f"\tSpeed: {speed}Mb/s", "\tDuplex: Full", "\tLink detected: yes")
        case _:
            message = "netlink error: Operation not supported"
            raise Refused(message, 95)
    return 0


def _options(args: list[str], short: dict[str, str]) -> dict[str, str]:
    """Read options, long ones with or without an equals sign."""
    found, rest = {}, iter(args)
    for arg in rest:
        name, equals, value = arg.partition("=")
        key = short.get(name, name.removeprefix("--"))
        found[key] = value if equals else next(rest, "")
    return found


def _known_port(node: Node, name: str) -> str:
    """Refuse an interface that no adapter has."""
    if not any(port["name"] == name and "adapter" in port for port in node.facts["ports"]):
        message = f"Interface {name} does not exist"
        raise Refused(message)
    return name
