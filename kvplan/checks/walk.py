"""How checks walk a Site: machines that the design has too, values that must not repeat, addresses in use."""

from __future__ import annotations

from ipaddress import IPv4Network, ip_address
from typing import TYPE_CHECKING, NamedTuple

from kvplan.checks.framework import Found
from kvplan.schema.roles import SWITCH_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kvplan.checks.framework import Context
    from kvplan.inputs.loc import Loc
    from kvplan.schema.design import Device
    from kvplan.schema.roles import Role
    from kvplan.schema.site.machines import ServerSite, SwitchSite


class Entry(NamedTuple):
    """A value that nobody else may have, whose it is, and where the Site says it."""

    value: str
    owner: str
    loc: Loc | None = None


def repeated(entries: Iterable[Entry], noun: str) -> Iterator[Found]:
    """Report every entry whose value an earlier one has, however it is capitalised.

    >>> [found.what for found in repeated([Entry("A1", "x"), Entry("a1", "y")], "serial number")]
    ['serial number a1 is that of x too']
    """
    first: dict[str, Entry] = {}
    for entry in entries:
        known = first.setdefault(entry.value.casefold(), entry)
        if known is not entry:
            yield Found(entry.owner, f"{noun} {entry.value} is that of {known.owner} too", entry.loc)


def servers(context: Context, *roles: Role) -> Iterator[tuple[Loc, ServerSite, Device]]:
    """Yield the Site's servers that the design has, with their paths; of some roles, or of all."""
    devices = context.deployment.devices
    for index, server in enumerate(context.site.servers):
        device = devices.get(server.name)
        if device is not None and device.role in (roles or ("storage", "client", "control")):
            yield ("servers", index), server, device


def switches(context: Context) -> Iterator[tuple[Loc, SwitchSite, Device]]:
    """Yield the Site's switches that the design has, with their paths."""
    devices = context.deployment.devices
    for index, switch in enumerate(context.site.switches):
        device = devices.get(switch.name)
        if device is not None and device.role in SWITCH_ROLES:
            yield ("switches", index), switch, device


def management(context: Context) -> IPv4Network:
    """Return the prefix of the management network."""
    return IPv4Network(context.site.build.addresses.management)


def machine_addresses(context: Context) -> dict[str, str]:
    """Say whose each address is: of controllers as the Site has it, of all else as the design has it."""
    controllers = {server.bmc.address: f"controller of {server.name}" for server in context.site.servers}
    return controllers | design_addresses(context)


def design_addresses(context: Context) -> dict[str, str]:
    """Say whose each address of the design is, controllers of servers left out."""
    owners = {}
    for device in context.design.devices:
        if device.role in SWITCH_ROLES:
            owners[_bare(device.management_address)] = device.name
        if device.loopback:
            owners[_bare(device.loopback)] = device.name
    for port in context.design.ports:
        if port.address and port.kind != "controller":
            owners[_bare(port.address)] = f"{port.device} {port.name}"
    return owners


def site_services(context: Context) -> Iterator[Entry]:
    """Yield the addresses that the Site gives to services of its own; names of hosts are left out."""
    network = context.site.network
    named = [(text, ("network", "dns", index)) for index, text in enumerate(network.dns)]
    named += [(text, ("network", "ntp", index)) for index, text in enumerate(network.ntp)]
    named += [(service.host, ("network", "syslog", index)) for index, service in enumerate(network.syslog)]
    entries: list[Entry] = [Entry(text, str(loc[1]).upper(), loc) for text, loc in named]
    if network.telemetry:
        entries.append(Entry(network.telemetry.host, "telemetry", ("network", "telemetry")))
    entries.append(Entry(context.site.media.address, "media server", ("media", "address")))
    entries += [
        Entry(extra.address, extra.name, ("extra_names", i)) for i, extra in enumerate(context.site.extra_names)
    ]
    return (entry for entry in entries if _is_address(entry.value))


def plain(text: str) -> str:
    """Reduce a model to its letters and digits, for labels are written in many ways.

    >>> plain("SN-5600 ")
    'sn5600'
    """
    return "".join(char for char in text.casefold() if char.isalnum())


def same_release(one: str, other: str) -> bool:
    """Tell whether two versions agree as far as both are written.

    >>> same_release("24.04.3", "24.04"), same_release("9.6", "9.5")
    (True, False)
    """
    parts = zip(one.split("."), other.split("."), strict=False)
    return all(left == right for left, right in parts)


def _bare(address: str) -> str:
    """Drop the length of the prefix."""
    return address.partition("/")[0]


def _is_address(text: str) -> bool:
    """Tell an address from a name."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
