"""Rules about the switch itself: how it is managed, who logs in, and which services it uses."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final

from kvplan.site.rules import Break, rule
from kvplan.site.secrets import PLACEHOLDER
from kvplan.site.switches.dialect import known_release
from kvplan.site.switches.reading import at, names_in
from kvplan.site.switches.system import ADMIN_ROLE, DEFAULT_ACLS, DEFAULT_USER, MANAGEMENT_VRF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kvplan.site.switches.reading import Config, Scene

_PASSWORDS: Final = ("password", "hashed-password")


@rule("KV-SWT-008", "The management port eth0 is in the management VRF.")
def eth0_is_in_the_management_vrf(scene: Scene) -> Iterator[Break]:
    """Find switches whose management port would route between the fabric and the management network."""
    for config in scene.configs.values():
        vrf = config.vrf("eth0")
        if vrf != MANAGEMENT_VRF:
            yield Break(f"{config.path}: interface.eth0", f"is in VRF {vrf or 'default'!r}, not {MANAGEMENT_VRF!r}")


@rule("KV-SWT-009", "A switch is reached where the design has it.")
def management_address_is_right(scene: Scene) -> Iterator[Break]:
    """Find switches that would not be reached where the design has them."""
    gateway = scene.deployment.site.network.management_gateway
    for config in scene.fabric:
        wanted = [config.switch.device.management_address]
        if config.addresses("eth0") != wanted:
            yield Break(f"{config.path}: interface.eth0", f"has {config.addresses('eth0')}, the design {wanted}")
        if config.gateways("eth0") != ([gateway] if gateway else []):
            yield Break(f"{config.path}: interface.eth0", f"leaves by {config.gateways('eth0')}, not {gateway}")


@rule("KV-SWT-010", "The factory's rules for packets to the switch itself are kept.")
def default_rules_are_kept(scene: Scene) -> Iterator[Break]:
    """Find switches that would lose the factory's rules against unwanted packets."""
    for config, acl in product(scene.configs.values(), DEFAULT_ACLS):
        if acl not in names_in(config.content, "system", "control-plane", "acl"):
            text = f"lacks {acl}, which replacing the configuration would remove"
            yield Break(f"{config.path}: system.control-plane.acl", text)


@rule("KV-SWT-011", "The accounts of factory and deployer are kept, with their role.")
def users_are_kept(scene: Scene) -> Iterator[Break]:
    """Find configurations that would remove the factory's or the deployer's account, or take its rights."""
    wanted = dict.fromkeys((DEFAULT_USER, scene.deployment.site.access.switch_user))
    for config, user in product(scene.configs.values(), wanted):
        if at(config.content, "system", "aaa", "user", user, "role") != ADMIN_ROLE:
            text = f"lacks the role {ADMIN_ROLE}: replacing the configuration would lock the deployer out"
            yield Break(f"{config.path}: system.aaa.user.{user}", text)


@rule("KV-SWT-063", "No account keeps the password of the factory.")
def passwords_are_replaced(scene: Scene) -> Iterator[Break]:
    """Find accounts that keep a password that everybody knows, for the configuration gives them no other."""
    for config in scene.configs.values():
        users = at(config.content, "system", "aaa", "user")
        for user in sorted({DEFAULT_USER, *names_in(users)}):
            if not any(at(users, user, key) for key in _PASSWORDS):
                yield Break(f"{config.path}: system.aaa.user.{user}", "gets no password: that of the factory stays")


@rule("KV-SWT-012", "The deployer's keys are on every switch.")
def deployer_has_a_key(scene: Scene) -> Iterator[Break]:
    """Find switches that the deployer could not log in to by key, and keys that NVUE has no type for."""
    user = scene.deployment.site.access.switch_user
    wanted = {key.split()[1] for key in scene.deployment.site.access.ssh_keys}
    for config in scene.configs.values():
        keys = at(config.content, "system", "aaa", "user", user, "ssh", "authorized-key")
        held = {str(at(keys, name, "key")) for name in names_in(keys)}
        if lost := len(wanted - held):
            text = f"lacks {lost} of the Site's keys; NVUE takes ssh-ed25519, ssh-rsa and ecdsa keys"
            where = f"{config.path}: system.aaa.user.{user}.ssh"
            yield Break(where, text, severity="warning" if held else "error")


@rule("KV-SWT-013", "No configuration holds a secret in clear.")
def secrets_are_placeholders(scene: Scene) -> Iterator[Break]:
    """Find passwords that are written out."""
    for config in scene.configs.values():
        for place, secret in _secrets(config):
            if not PLACEHOLDER.fullmatch(str(secret)):
                remedy = "name the secret by a reference in the Site, and change it: it has been written to a file"
                yield Break(f"{config.path}: {place}", "holds a secret in clear", remedy)


def _secrets(config: Config) -> Iterator[tuple[str, Any]]:
    """Yield every place of a secret with what is there."""
    users = at(config.content, "system", "aaa", "user")
    for user, key in product(names_in(users), _PASSWORDS):
        if key in names_in(users, user):
            yield f"system.aaa.user.{user}.{key}", at(users, user, key)
    for root in ("system", "service"):
        server = at(config.content, root, "snmp-server")
        yield from ((f"{root}.snmp-server.readonly-community", name) for name in names_in(server, "readonly-community"))
        yield from ((f"{root}.snmp-server.username", name) for name in _snmp_secrets(at(server, "username")))


def _snmp_secrets(users: Any) -> Iterator[str]:
    """Yield the passwords of SNMP users, which are keys below the kind of each."""
    kinds = [at(users, user, kind) for user in names_in(users) for kind in names_in(users, user)]
    passwords = ((kind, password) for kind in kinds for password in names_in(kind))
    for kind, password in passwords:
        yield password
        yield from (secret for cipher in names_in(kind, password) for secret in names_in(kind, password, cipher))


def _compared(scene: Scene, what: str, wanted: Iterable[str], ways: Iterable[str]) -> Iterator[Break]:
    """Find switches that use other servers than the Site names, wherever their release has them."""
    expected = sorted(wanted)
    for config in scene.configs.values():
        found = sorted(name for way in ways for name in names_in(config.content, *way.split("/")))
        if found != expected:
            text = f"uses {', '.join(found) or 'none'} for {what}, the Site {', '.join(expected) or 'none'}"
            yield Break(config.path, text)


@rule("KV-SWT-014", "Switches ask the Site's DNS servers.")
def dns_is_the_sites(scene: Scene) -> Iterator[Break]:
    """Find switches that ask other name servers."""
    ways = ("system/dns/server", f"service/dns/{MANAGEMENT_VRF}/server")
    yield from _compared(scene, "DNS", scene.deployment.site.network.dns, ways)


@rule("KV-SWT-015", "Switches take their clock from the Site's NTP servers.")
def ntp_is_the_sites(scene: Scene) -> Iterator[Break]:
    """Find switches with another clock."""
    ways = ("system/ntp/server", f"service/ntp/{MANAGEMENT_VRF}/server")
    yield from _compared(scene, "NTP", scene.deployment.site.network.ntp, ways)


@rule("KV-SWT-016", "Switches log to the Site's servers.")
def syslog_is_the_sites(scene: Scene) -> Iterator[Break]:
    """Find switches that log elsewhere or nowhere."""
    ways = ("system/syslog/server", f"service/syslog/{MANAGEMENT_VRF}/server")
    yield from _compared(scene, "syslog", (to.host for to in scene.deployment.site.network.syslog), ways)


@rule("KV-SWT-067", "The ports of log servers are such as the release takes.")
def syslog_ports_are_taken(scene: Scene) -> Iterator[Break]:
    """Find ports of log servers that the schema of a release refuses, and with it the whole configuration."""
    most = scene.setting("service_syslog_highest_port")
    servers = [to for to in scene.deployment.site.network.syslog if to.port > most]
    old = (config for config in scene.configs.values() if not config.dialect.has_system_syslog)
    for config, to in product(old, servers):
        text = f"logs to port {to.port} of {to.host}: Cumulus Linux {config.switch.site.cumulus} takes {most} at most"
        first = known_release(scene.deployment, "system_syslog_from")
        yield Break(config.path, text, f"let the log server listen on a lower port, or run {first} or later")


@rule("KV-SWT-017", "Only the Site's SNMP user reads, and over the management VRF.")
def snmp_is_the_sites(scene: Scene) -> Iterator[Break]:
    """Find switches whose counters the Site's watcher cannot read, or others can."""
    snmp = scene.deployment.site.network.snmp
    ways = ("system/snmp-server/username", "service/snmp-server/username")
    yield from _compared(scene, "the SNMP user", (snmp.user,) if snmp else (), ways)
    for config, root in product(scene.configs.values(), ("system", "service")):
        listening = at(config.content, root, "snmp-server", "listening-address")
        for address in (name for name in names_in(listening) if at(listening, name, "vrf") != MANAGEMENT_VRF):
            yield Break(config.path, f"SNMP listens on {address} outside the VRF {MANAGEMENT_VRF}")


@rule("KV-SWT-018", "Counters are exported to where the Site says.")
def telemetry_is_the_sites(scene: Scene) -> Iterator[Break]:
    """Find switches that export their counters elsewhere, and releases that cannot."""
    to = scene.deployment.site.network.telemetry
    for config in scene.configs.values():
        found = names_in(config.content, "system", "telemetry", "export", "otlp", "grpc", "destination")
        wanted = [to.host] if to else []
        if found == wanted:
            continue
        if config.dialect.has_telemetry:
            yield Break(config.path, f"exports telemetry to {found}, the Site names {wanted}")
        else:
            text = f"Cumulus Linux {config.switch.site.cumulus} has no export over OTLP"
            yield Break(config.path, text, "run 5.10 or later where counters are wanted", severity="warning")


@rule("KV-SWT-019", "Switches announce themselves by LLDP.")
def lldp_is_on(scene: Scene) -> Iterator[Break]:
    """Find switches whose cabling could not be checked."""
    for config in scene.configs.values():
        root = "system" if config.dialect.is_new else "service"
        lldp = at(config.content, root, "lldp")
        if not at(lldp, "tx-interval") or (config.dialect.is_new and at(lldp, "state") != "enabled"):
            yield Break(f"{config.path}: {root}.lldp", "is off or has no interval; cables are checked by it")
