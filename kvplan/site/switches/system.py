"""What every switch has: its identity, its users, its default rules, and the services of the site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kvplan.site.secrets import placeholder

if TYPE_CHECKING:
    from kvplan.schema.site.place import NetworkSite
    from kvplan.site.deployment import Deployment, SwitchUnit
    from kvplan.site.switches.dialect import Dialect, Tree

MANAGEMENT_VRF: Final = "mgmt"
DEFAULT_USER: Final = "cumulus"
ADMIN_ROLE: Final = "system-admin"
DEFAULT_ACLS: Final = ("acl-default-dos", "acl-default-whitelist")
KEY_TYPES: Final = frozenset(
    ["ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"]
)
"""Types of ssh keys that NVUE takes."""

_CLASSES: Final[Any] = {
    "nvapply": {"action": "allow", "command-path": {"/": {"permission": "all"}}},
    "nvshow": {"action": "allow", "command-path": {"/": {"permission": "ro"}}},
    "sudo": {"action": "allow", "command-path": {"/": {"permission": "all"}}},
}
_ROLES: Final[Any] = {
    "nvue-admin": {"class": {"nvapply": {}}},
    "nvue-monitor": {"class": {"nvshow": {}}},
    ADMIN_ROLE: {"class": {"nvapply": {}, "sudo": {}}},
}


def identity(deployment: Deployment, switch: SwitchUnit, dialect: Dialect) -> Tree:
    """Name the switch, and keep what a switch has when it leaves its maker.

    A configuration that replaces another removes what it does not hold: so the factory's users, roles, API and rules
    against unwanted packets are all in it. The password of the factory's user, which everybody knows, is replaced.

    Parameters
    ----------
    deployment
        The Site's names and people.
    switch
        The switch.
    dialect
        How its release writes it.

    Returns
    -------
    dict
        The part below the root.
    """
    zone = deployment.site.network.timezone
    return {
        "system": {
            "hostname": switch.name,
            **({"date-time": {"timezone": zone}} if dialect.is_new else {"timezone": zone}),
            "aaa": {"class": _CLASSES, "role": _ROLES, "user": _users(deployment)},
            "api": {"state": "enabled"},
            "config": {"auto-save": dialect.auto_save},
            "control-plane": {"acl": {acl: {"inbound": {}} for acl in DEFAULT_ACLS}},
            "ssh-server": {"state": "enabled", "vrf": {MANAGEMENT_VRF: {}}},
        }
    }


def _users(deployment: Deployment) -> Tree:
    """Keep the factory's user beside the deployer's own account, both with the deployer's keys and password."""
    access = deployment.site.access
    keys = [key.split() for key in access.ssh_keys]
    known = [key for key in keys if key[0] in KEY_TYPES]
    authorized = {f"key-{number}": {"key": key[1], "type": key[0]} for number, key in enumerate(known, start=1)}
    user = {"role": ADMIN_ROLE, "password": placeholder("switch_password"), "ssh": {"authorized-key": authorized}}
    return {access.switch_user: user, DEFAULT_USER: user}


def services(deployment: Deployment, switch: SwitchUnit, dialect: Dialect) -> Tree:
    """Join the switch to the site's DNS, clock, log, SNMP and telemetry, all over the management VRF.

    Parameters
    ----------
    deployment
        The Site's services.
    switch
        The switch.
    dialect
        How its release writes it.

    Returns
    -------
    dict
        The part below the root, with `service` in it where the release has some of them there.
    """
    network = deployment.site.network
    seconds = int(deployment.setting("switch.lldp_interval_s"))
    parts = [_dns(network, dialect), _ntp(network, dialect), _syslog(network, dialect)]
    parts += [_snmp(network, switch, dialect), _lldp(seconds, dialect), _telemetry(network, dialect)]
    system = {key: value for is_system, part in parts if is_system for key, value in part.items()}
    service = {key: value for is_system, part in parts if not is_system for key, value in part.items()}
    return {"system": system} | ({"service": service} if service else {})


def _dns(network: NetworkSite, dialect: Dialect) -> tuple[bool, Tree]:
    """Name the DNS servers."""
    if dialect.has_system_dns:
        return True, {"dns": {"server": {server: {"vrf": MANAGEMENT_VRF} for server in network.dns}}}
    return False, {"dns": {MANAGEMENT_VRF: {"server": {server: {} for server in network.dns}}}}


def _ntp(network: NetworkSite, dialect: Dialect) -> tuple[bool, Tree]:
    """Name the time servers."""
    servers: Tree = {server: {"iburst": dialect.on} for server in network.ntp}
    if dialect.is_new:
        return True, {"ntp": {"state": "enabled", "vrf": MANAGEMENT_VRF, "server": servers}}
    return False, {"ntp": {MANAGEMENT_VRF: {"server": servers}}}


def _syslog(network: NetworkSite, dialect: Dialect) -> tuple[bool, Tree]:
    """Name the log servers."""
    servers: Tree = {server.host: {"port": server.port, "protocol": "udp"} for server in network.syslog}
    if not servers:
        return True, {}
    if dialect.has_system_syslog:
        return True, {"syslog": {"server": {host: {"vrf": MANAGEMENT_VRF} | to for host, to in servers.items()}}}
    return False, {"syslog": {MANAGEMENT_VRF: {"server": servers}}}


def _snmp(network: NetworkSite, switch: SwitchUnit, dialect: Dialect) -> tuple[bool, Tree]:
    """Let the SNMP v3 user read; the passwords are keys in NVUE, and placeholders here."""
    if network.snmp is None:
        return True, {}
    own = switch.device.management_address.partition("/")[0]
    authentication, privacy = placeholder("snmp_authentication"), placeholder("snmp_privacy")
    server = {
        **({"state": "enabled"} if dialect.has_system_snmp else {"enable": "on"}),
        "listening-address": {address: {"vrf": MANAGEMENT_VRF} for address in network.snmp_listen or (own,)},
        "username": {network.snmp.user: {"auth-sha": {authentication: {"encrypt-aes": {privacy: {}}}}}},
    }
    return dialect.has_system_snmp, {"snmp-server": server}


def _lldp(interval_s: int, dialect: Dialect) -> tuple[bool, Tree]:
    """Announce the switch to its neighbours, which the check of the cabling relies on."""
    state = {"state": "enabled"} if dialect.is_new else {}
    return dialect.is_new, {"lldp": {**state, "tx-interval": interval_s}}


def _telemetry(network: NetworkSite, dialect: Dialect) -> tuple[bool, Tree]:
    """Export the counters of the ports over OTLP."""
    if network.telemetry is None or not dialect.has_telemetry:
        return True, {}
    to = network.telemetry
    grpc = {"insecure": "enabled", "destination": {to.host: {"port": to.port}}}
    return True, {
        "telemetry": {
            **dialect.enabled,
            "interface-stats": {"export": {"state": "enabled"}},
            "export": {"vrf": MANAGEMENT_VRF, "otlp": {"state": "enabled", "grpc": grpc}},
        }
    }
