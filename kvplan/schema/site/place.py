"""The place: networks, names, people who log in, and what watches."""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

from pydantic import Field

from kvplan.schema.base import Record
from kvplan.schema.site.forms import Address, Day, Domain, Host, Name, Plain, PublicKey, SecretRef, Timezone, User
from kvplan.schema.site.machines import Service

Licence = Literal["storage-scale", "doca", "gpu-driver", "rhel", "ubuntu", "cumulus", "dynamo", "dcms"]
LICENCES: Final[tuple[Licence, ...]] = get_args(Licence)
"""What somebody must accept before it is installed or used."""


class SnmpUser(Record):
    """An SNMP v3 user, who reads only."""

    user: User
    authentication: SecretRef
    privacy: SecretRef


class NetworkSite(Record):
    """The site's own services, and the frame sizes of the fabric [B].

    `fabric_mtu_bytes` is set on every switch port, `host_mtu_bytes` on every adapter of the fabric.
    """

    domain: Domain
    dns: Annotated[tuple[Address, ...], Field(min_length=1)]
    ntp: Annotated[tuple[Host, ...], Field(min_length=1)]
    syslog: tuple[Service, ...] = ()
    snmp: SnmpUser | None = None
    snmp_listen: tuple[Address, ...] = ()
    telemetry: Service | None = None
    management_gateway: Address | None = None
    timezone: Timezone = "Etc/UTC"
    fabric_mtu_bytes: Annotated[int, Field(ge=1500, le=9216)] = 9216
    host_mtu_bytes: Annotated[int, Field(ge=1500, le=9216)] = 9000


class NamesSite(Record):
    """What is appended to a machine's name for its admin and daemon name; the inventory name has nothing appended."""

    admin_suffix: Annotated[str, Field(pattern=r"^(-[a-z0-9]+)?$")] = "-adm"
    daemon_suffix: Annotated[str, Field(pattern=r"^(-[a-z0-9]+)?$")] = "-kv"


class AccessSite(Record):
    """Who logs in: the deployer's account with public keys, and where its private key and the passwords are."""

    user: User = "kvplan"
    ssh_keys: Annotated[tuple[PublicKey, ...], Field(min_length=1)]
    private_key: SecretRef
    switch_user: User = "cumulus"
    switch_password: SecretRef
    console_password_hash: SecretRef | None = None


class MediaServer(Record):
    """Where controllers fetch boot media from: an address and port that the management network reaches."""

    address: Address
    port: Annotated[int, Field(ge=1, le=65_535)] = 8080


class LicenceAcceptance(Record):
    """A licence that somebody accepted: what, who, when. Nothing is accepted silently."""

    what: Licence
    accepted_by: Plain
    date: Day


class ExtraName(Record):
    """A further host that every machine must know by name."""

    name: Name
    address: Address
