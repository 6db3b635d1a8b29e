"""Rules about BGP: numbers, neighbours, what a host may announce, and how fast a dead path is left."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from kvplan.site.rules import Break, rule
from kvplan.site.switches.reading import at, names_in, number_in
from kvplan.site.switches.routing import own_lengths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.design import Port
    from kvplan.site.switches.reading import Config, Scene


@rule("KV-SWT-036", "A router identifier is the switch's loopback, and no other switch's.")
def router_ids_are_their_own(scene: Scene) -> Iterator[Break]:
    """Find router identifiers that are not the loopback, or that two switches have."""
    ids: dict[str, str] = {}
    for config in scene.fabric:
        router_id = str(at(config.content, "router", "bgp", "router-id"))
        where = f"{config.path}: router.bgp.router-id"
        if router_id != config.switch.device.loopback.partition("/")[0]:
            yield Break(where, f"is {router_id}, the loopback {config.switch.device.loopback}")
        if ids.setdefault(router_id, config.name) != config.name:
            yield Break(where, f"is {router_id}, which {ids[router_id]} has too")


@rule("KV-SWT-037", "Autonomous system numbers are the design's; no two leaves share one.")
def numbers_are_the_designs(scene: Scene) -> Iterator[Break]:
    """Find autonomous system numbers that are not the design's, and leaves that share one."""
    leaves: dict[int, str] = {}
    for config in scene.fabric:
        own, wanted = _own_number(config), config.switch.device.asn
        where = f"{config.path}: router.bgp.autonomous-system"
        if own != wanted:
            yield Break(where, f"is {own}, the design {wanted}")
        if config.switch.role == "leaf" and leaves.setdefault(own, config.name) != config.name:
            yield Break(where, f"is {own}, which {leaves[own]} has too: leaves would refuse each other's routes")


def _own_number(config: Config) -> int:
    """Return the autonomous system number of a switch; 0 without."""
    return number_in(config.content, "router", "bgp", "autonomous-system")


@rule("KV-SWT-038", "BGP is on.")
def bgp_is_on(scene: Scene) -> Iterator[Break]:
    """Find switches that would not route."""
    for config in scene.fabric:
        if not config.is_on(at(config.content, "router", "bgp")) or not config.is_on(config.bgp):
            yield Break(f"{config.path}: router.bgp", "is not on, as a whole and in the default VRF")


@rule("KV-SWT-039", "Every leg has its BGP neighbour, and every neighbour its leg.")
def every_leg_has_its_neighbour(scene: Scene) -> Iterator[Break]:
    """Find legs without a neighbour, and neighbours without a leg."""
    for config in scene.fabric:
        wanted = {_neighbour_of(scene, port): port.name for port in config.legs}
        found = names_in(config.bgp, "neighbor")
        for neighbour in sorted(wanted.keys() - set(found)):
            where = f"{config.path}: interface.{wanted[neighbour]}"
            yield Break(where, f"has no neighbour {neighbour}: no route would pass there")
        for neighbour in sorted(set(found) - wanted.keys()):
            yield Break(f"{config.path}: bgp.neighbor.{neighbour}", "is at the end of no cable")


def _neighbour_of(scene: Scene, port: Port) -> str:
    """Name the neighbour on a leg: a host by its address, a switch by the port."""
    return _address(scene.deployment.port[port.peer_device, port.peer_port]) if port.address else port.name


def _address(host: Port) -> str:
    """Return the address of a host's port without its length."""
    return host.address.partition("/")[0]


@rule("KV-SWT-040", "A host's number is the one that its switch expects.")
def hosts_have_their_number(scene: Scene) -> Iterator[Break]:
    """Find neighbours whose number is not that of the host at the other end."""
    for config, _, host in scene.host_legs:
        address, wanted = _address(host), scene.deployment.devices[host.device].asn
        found = _remote(config, address)
        if address in names_in(config.bgp, "neighbor") and found != wanted:
            where = f"{config.path}: bgp.neighbor.{address}"
            yield Break(where, f"is expected to be {found or 'any'}, and {host.device} is {wanted}")


def _remote(config: Config, neighbour: str) -> Any:
    """Return the number that a neighbour must have: its own entry's, or its group's."""
    entry = at(config.bgp, "neighbor", neighbour)
    group = at(entry, "peer-group")
    own = at(entry, "remote-as")
    return own or (at(config.bgp, "peer-group", group, "remote-as") if isinstance(group, str) else {})


@rule("KV-SWT-066", "A host is a numbered neighbour, with routes of IPv4.")
def hosts_are_numbered(scene: Scene) -> Iterator[Break]:
    """Find hosts whose session would not come up, or would carry no route."""
    for config, _, host in scene.host_legs:
        entry = at(config.bgp, "neighbor", _address(host))
        where = f"{config.path}: bgp.neighbor.{_address(host)}"
        if at(entry, "type") != "numbered":
            yield Break(where, f"is not numbered, and {host.device} is by its address")
        if not config.is_on(at(entry, "address-family", "ipv4-unicast")):
            yield Break(where, f"exchanges no routes of IPv4 with {host.device}")


@rule("KV-SWT-041", "Switches at the two ends of a cable take each other's number.")
def switches_take_each_other(scene: Scene) -> Iterator[Break]:
    """Find links between switches on which one end would refuse the other's number."""
    for config, port, far in scene.links:
        wanted = _remote(config, port.name)
        number = _own_number(far) if far else 0
        is_external = wanted == "external" and number != _own_number(config)
        if far and not is_external and wanted != number:
            text = f"takes {wanted or 'nobody'}, and {far.name} at the other end is {number}"
            yield Break(f"{config.path}: bgp.neighbor.{port.name}", text)
        if at(config.bgp, "neighbor", port.name, "type") != "unnumbered":
            yield Break(f"{config.path}: bgp.neighbor.{port.name}", "is not unnumbered")


@rule("KV-SWT-042", "A host may announce its loopback and nothing else.")
def hosts_announce_their_loopback_only(scene: Scene) -> Iterator[Break]:
    """Find hosts that could announce anything but their own loopback."""
    for config, _, host in scene.host_legs:
        permitted = _permitted(config, _address(host))
        wanted = scene.deployment.devices[host.device].loopback
        if permitted != [wanted]:
            text = f"may announce {', '.join(permitted) or 'anything'}, and {host.device} has {wanted} alone"
            yield Break(f"{config.path}: bgp.neighbor.{_address(host)}", text)


def _permitted(config: Config, neighbour: str) -> list[str]:
    """List what the list of a neighbour permits, with the range of lengths where it has one."""
    entry = at(config.bgp, "neighbor", neighbour, "address-family", "ipv4-unicast", "policy", "inbound")
    rules = at(config.content, "router", "policy", "prefix-list", str(at(entry, "prefix-list")), "rule")
    matches = [at(rules, number, "match") for number in names_in(rules) if at(rules, number, "action") == "permit"]
    return [" ".join((prefix, *names_in(match, prefix))) for match in matches for prefix in names_in(match)]


@rule("KV-SWT-043", "BFD watches every neighbour with the timers that hosts have.")
def dead_neighbours_are_noticed(scene: Scene) -> Iterator[Break]:
    """Find groups of neighbours without BFD, or with other timers than hosts have."""
    wanted = {
        "detect-multiplier": scene.setting("bfd_multiplier"),
        "min-rx-interval": scene.setting("bfd_interval_ms"),
        "min-tx-interval": scene.setting("bfd_interval_ms"),
    }
    groups = ((config, group) for config in scene.fabric for group in names_in(config.bgp, "peer-group"))
    for config, group in groups:
        timers = _timers(config, at(config.bgp, "peer-group", group, "bfd"))
        if any(at(timers, name) != value for name, value in wanted.items()):
            text = f"has the BFD timers {timers or 'of none'}, hosts {wanted}"
            yield Break(f"{config.path}: bgp.peer-group.{group}.bfd", text)


def _timers(config: Config, bfd: Any) -> Any:
    """Return the timers of a group: its profile's, or its own; empty where BFD is off."""
    if not config.dialect.is_new:
        return bfd if config.is_on(bfd) else {}
    profiles = at(config.content, "router", "bfd")
    return at(profiles, "profile", str(at(bfd, "profile"))) if config.is_on(profiles) else {}


@rule("KV-SWT-044", "Every neighbour is of a group that exists.")
def neighbours_are_grouped(scene: Scene) -> Iterator[Break]:
    """Find neighbours of a group that does not exist."""
    neighbours = ((config, name) for config in scene.fabric for name in names_in(config.bgp, "neighbor"))
    for config, name in neighbours:
        group = at(config.bgp, "neighbor", name, "peer-group")
        if group not in names_in(config.bgp, "peer-group"):
            yield Break(f"{config.path}: bgp.neighbor.{name}", f"is of the group {group}, which is none")


@rule("KV-SWT-045", "All equal paths are used.")
def all_paths_are_used(scene: Scene) -> Iterator[Break]:
    """Find switches that would leave equal paths unused."""
    for config in scene.fabric:
        ignores = at(config.bgp, "path-selection", "multipath", "aspath-ignore")
        paths = number_in(config.bgp, "address-family", "ipv4-unicast", "multipaths", "ebgp")
        most = max(Counter(port.network for port in config.links).values(), default=0)
        if ignores != config.dialect.on:
            yield Break(f"{config.path}: bgp.path-selection", "uses one of the paths whose numbers differ")
        if paths < most:
            text = f"uses {paths} paths at most, and {most} links are equal"
            remedy = "use fewer, faster links, or a release that takes more paths"
            yield Break(f"{config.path}: bgp.address-family", text, remedy, severity="warning")


@rule("KV-SWT-046", "A switch announces its own prefixes by a list.")
def only_own_routes_are_announced(scene: Scene) -> Iterator[Break]:
    """Find switches that announce whatever is connected to them."""
    for config in scene.fabric:
        connected = at(config.bgp, "address-family", "ipv4-unicast", "redistribute", "connected")
        name = str(at(connected, "route-map"))
        rules = at(config.content, "router", "policy", "route-map", name, "rule")
        lists = [at(rules, number, "match", "ip-prefix-list") for number in names_in(rules)]
        known = names_in(config.content, "router", "policy", "prefix-list")
        if not config.is_on(connected) or not lists or any(listed not in known for listed in lists):
            text = "does not announce its own prefixes by a list that exists"
            yield Break(f"{config.path}: bgp.address-family.redistribute", text)


@rule("KV-SWT-061", "Each rule of a list of prefixes has one prefix: a switch keeps one for each number.")
def rules_have_one_prefix(scene: Scene) -> Iterator[Break]:
    """Find rules of which a switch would keep one prefix and forget the others."""
    for config in scene.fabric:
        lists = at(config.content, "router", "policy", "prefix-list")
        rules = ((name, number) for name in names_in(lists) for number in names_in(lists, name, "rule"))
        for name, number in rules:
            prefixes = names_in(lists, name, "rule", number, "match")
            if len(prefixes) != 1:
                where = f"{config.path}: router.policy.prefix-list.{name}.rule.{number}"
                yield Break(where, f"has {len(prefixes)} prefixes, and a switch keeps one: {', '.join(prefixes)}")


@rule("KV-SWT-062", "A switch announces every range of loopbacks of switches and of legs of hosts, and nothing else.")
def own_routes_are_complete(scene: Scene) -> Iterator[Break]:
    """Find ranges that the list of own routes lacks, and others that it has."""
    wanted = {prefix: f"/{length}" for prefix, length in own_lengths(scene.deployment).items()}
    for config in scene.fabric:
        found = _own_lengths(config)
        for prefix in sorted(wanted.keys() | found.keys()):
            if found.get(prefix) != wanted.get(prefix):
                text = f"permits {found.get(prefix, 'nothing')} of {prefix}, not {wanted.get(prefix, 'nothing')}"
                yield Break(f"{config.path}: router.policy.prefix-list", text)


def _own_lengths(config: Config) -> dict[str, str]:
    """List the ranges that the lists of own routes permit, with the lengths of prefixes in each."""
    connected = at(config.bgp, "address-family", "ipv4-unicast", "redistribute", "connected")
    policy = at(config.content, "router", "policy")
    entries = at(policy, "route-map", str(at(connected, "route-map")), "rule")
    lists = [str(at(entries, number, "match", "ip-prefix-list")) for number in names_in(entries)]
    rules = [at(policy, "prefix-list", name, "rule") for name in lists]
    permits = [at(each, number) for each in rules for number in names_in(each)]
    matches = [at(permit, "match") for permit in permits if at(permit, "action") == "permit"]
    return {prefix: _lengths(at(match, prefix)) for match in matches for prefix in names_in(match)}


def _lengths(bounds: Any) -> str:
    """Write the length of prefixes that is permitted, or the two that bound it."""
    least, most = (f"/{at(bounds, name)}" for name in ("min-prefix-len", "max-prefix-len"))
    return least if least == most else f"{least} to {most}"
