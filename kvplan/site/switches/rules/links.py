"""Rules about the two ends of a cable: frame size, speed, prefix, and addresses that nobody else has."""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Interface, NetmaskValueError
from typing import TYPE_CHECKING, Final

from kvplan.site.rules import Break, rule
from kvplan.site.switches.ports import GIGABIT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.switches.reading import Config, Scene

_LEG_LENGTH: Final = 31


@rule("KV-SWT-028", "Both ends of a cable between switches take frames of the Site's size.")
def frame_sizes_are_equal(scene: Scene) -> Iterator[Break]:
    """Find cables between switches whose ends differ in their frame size, and ports that differ from the Site."""
    wanted = scene.deployment.site.network.fabric_mtu_bytes
    for config, port, far in scene.links:
        own = config.mtu(port.name)
        if far and own != far.mtu(port.peer_port):
            text = f"takes {own} B, {far.name} {port.peer_port} at the other end {far.mtu(port.peer_port)} B"
            yield Break(f"{config.path}: interface.{port.name}.link.mtu", text)
    for config, port in scene.legs:
        if port.name in config.interfaces and config.mtu(port.name) != wanted:
            text = f"is {config.mtu(port.name)} B, the Site's fabric {wanted} B"
            yield Break(f"{config.path}: interface.{port.name}.link.mtu", text)


@rule("KV-SWT-029", "No host sends frames that its switch drops.")
def hosts_send_no_larger_frames(scene: Scene) -> Iterator[Break]:
    """Find legs whose host may send frames that the switch drops."""
    sent = scene.deployment.site.network.host_mtu_bytes
    for config, port, host in scene.host_legs:
        if config.mtu(port.name) < sent:
            text = f"takes {config.mtu(port.name)} B, and {host.device} {host.name} sends up to {sent} B"
            remedy = "set network.host_mtu_bytes no larger than network.fabric_mtu_bytes"
            yield Break(f"{config.path}: interface.{port.name}.link.mtu", text, remedy)


@rule("KV-SWT-030", "Both ends of a cable run at one speed.")
def speeds_are_equal(scene: Scene) -> Iterator[Break]:
    """Find ports that run at another speed than the other end."""
    for config, port in scene.legs:
        far = scene.deployment.port[port.peer_device, port.peer_port]
        own, wanted = config.gbit_per_s(port.name, scene.cage_gbit_per_s), far.bits_per_s / GIGABIT
        if port.name in config.interfaces and own != wanted:
            text = f"runs at {own:g} Gbit/s, {far.device} {far.name} at the other end at {wanted:g} Gbit/s"
            yield Break(f"{config.path}: interface.{port.name}.link", text)


@rule("KV-SWT-031", "A leg and its host are the two ends of a /31.")
def legs_share_their_prefix(scene: Scene) -> Iterator[Break]:
    """Find legs whose two ends are not the two addresses of one /31."""
    for config, port, host in scene.host_legs:
        found = config.addresses(port.name)
        own, far = _interface(found[0]) if len(found) == 1 else None, _interface(host.address)
        if own is None or far is None:
            text = f"has the addresses {found}, its host {host.address!r}: one each is wanted"
            yield Break(f"{config.path}: interface.{port.name}", text)
        elif own.network != far.network or own.ip == far.ip or own.network.prefixlen != _LEG_LENGTH:
            text = f"has {own}, and {host.device} {host.name} has {far}: they are not the two ends of a /31"
            yield Break(f"{config.path}: interface.{port.name}", text)


def _interface(text: str) -> IPv4Interface | None:
    """Read an address with its length."""
    try:
        return IPv4Interface(text)
    except (AddressValueError, NetmaskValueError, ValueError):
        return None


@rule("KV-SWT-032", "No address and no prefix is on two ports.")
def addresses_are_unique(scene: Scene) -> Iterator[Break]:
    """Find addresses that two ports have, and prefixes of ports of the fabric that two have."""
    owners: dict[str, str] = {}
    for config, name, address in _held(scene):
        here, where = f"{config.name} {name}", f"{config.path}: interface.{name}"
        ip, prefix = str(address.ip), "" if config.vrf(name) else str(address.network)
        if owners.setdefault(ip, here) != here:
            yield Break(where, f"has {ip}, which {owners[ip]} has too")
        elif prefix and owners.setdefault(prefix, here) != here:
            yield Break(where, f"is in {prefix}, which {owners[prefix]} is in too")


def _held(scene: Scene) -> Iterator[tuple[Config, str, IPv4Interface]]:
    """Yield every address with its port."""
    ports = ((config, name) for config in scene.configs.values() for name in config.interfaces)
    for config, name in ports:
        for address in filter(None, map(_interface, config.addresses(name))):
            yield config, name, address


@rule("KV-SWT-033", "The loopback of a switch is the design's.")
def loopbacks_are_their_own(scene: Scene) -> Iterator[Break]:
    """Find loopbacks that the design does not have."""
    for config in scene.fabric:
        wanted = [config.switch.device.loopback]
        if config.addresses("lo") != wanted:
            yield Break(f"{config.path}: interface.lo", f"has {config.addresses('lo')}, the design {wanted}")


@rule("KV-SWT-034", "Links between switches have no address.")
def links_between_switches_are_unnumbered(scene: Scene) -> Iterator[Break]:
    """Find links between switches with addresses, which the underlay has no use for."""
    for config, port, _ in scene.links:
        if config.addresses(port.name):
            yield Break(f"{config.path}: interface.{port.name}", f"has {config.addresses(port.name)}")


@rule("KV-SWT-035", "Ports of the fabric are in the default VRF.")
def ports_are_in_the_default_vrf(scene: Scene) -> Iterator[Break]:
    """Find ports of the fabric in another VRF, where neither routes nor adaptive routing reach."""
    for config, port in scene.legs:
        if config.vrf(port.name):
            text = f"is in VRF {config.vrf(port.name)}, the fabric in the default one"
            yield Break(f"{config.path}: interface.{port.name}", text)
