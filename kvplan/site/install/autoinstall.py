"""The model of an autoinstall file, strict about keys and types: what YAML turned into something else is refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from kvplan.schema.base import Record


def _hyphened(name: str) -> str:
    """Write a field's name as the installer's own keys are written."""
    return name.replace("_", "-")


class _Strict(Record):
    """A mapping whose values have exactly the types named."""

    model_config = ConfigDict(strict=True)


class _Hyphened(_Strict):
    """A mapping whose keys are written with hyphens."""

    model_config = ConfigDict(alias_generator=_hyphened)


class Match(_Strict):
    """How a disk is recognised."""

    serial: str | None = None
    path: str | None = None
    model: str | None = None
    vendor: str | None = None
    size: str | None = None
    ssd: bool | None = None
    id_path: str | None = None


class _Action(_Strict):
    """An entry of the storage configuration."""

    id: str
    preserve: bool = False
    wipe: str | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        """The ids of the entries that it builds on."""
        return ()


class Disk(_Action):
    """A disk."""

    type: Literal["disk"]
    match: Match | None = None
    path: str | None = None
    serial: str | None = None
    ptable: Literal["gpt"]
    grub_device: bool = False


class Partition(_Action):
    """A partition of a disk."""

    type: Literal["partition"]
    device: str
    number: int
    size: int
    flag: Literal["boot"] | None = None
    grub_device: bool = False

    @property
    def needs(self) -> tuple[str, ...]:
        """Its disk."""
        return (self.device,)


class Raid(_Action):
    """An array."""

    type: Literal["raid"]
    name: str
    raidlevel: int
    devices: list[str]

    @property
    def needs(self) -> tuple[str, ...]:
        """Its members."""
        return tuple(self.devices)


class VolumeGroup(_Action):
    """A volume group."""

    type: Literal["lvm_volgroup"]
    name: str
    devices: list[str]

    @property
    def needs(self) -> tuple[str, ...]:
        """Its physical volumes."""
        return tuple(self.devices)


class LogicalVolume(_Action):
    """A logical volume."""

    type: Literal["lvm_partition"]
    volgroup: str
    name: str
    size: int

    @property
    def needs(self) -> tuple[str, ...]:
        """Its volume group."""
        return (self.volgroup,)


class Format(_Action):
    """A file system."""

    type: Literal["format"]
    volume: str
    fstype: Literal["fat32", "ext4", "xfs"]

    @property
    def needs(self) -> tuple[str, ...]:
        """What it is made on."""
        return (self.volume,)


class Mount(_Action):
    """A mount point."""

    type: Literal["mount"]
    device: str
    path: str

    @property
    def needs(self) -> tuple[str, ...]:
        """The file system."""
        return (self.device,)


Action = Annotated[Disk | Partition | Raid | VolumeGroup | LogicalVolume | Format | Mount, Field(discriminator="type")]


class Swap(_Strict):
    """The swap file."""

    size: int


class Storage(_Strict):
    """The layout of the drives, entry by entry; `layout` lets the installer choose."""

    config: list[Action] = Field(default_factory=list)
    layout: dict[str, Any] | None = None
    swap: Swap | None = None


class MacMatch(_Strict):
    """How a port is recognised."""

    macaddress: str


class Route(_Strict):
    """A route."""

    to: str
    via: str


class NameServers(_Strict):
    """Who resolves names."""

    addresses: list[str]
    search: list[str]


class Ethernet(_Hyphened):
    """A port."""

    match: MacMatch
    set_name: str
    dhcp4: bool
    dhcp6: bool
    addresses: list[str]
    routes: list[Route] = Field(default_factory=list)
    nameservers: NameServers


class Network(_Strict):
    """The network during and after the installation."""

    version: Literal[2]
    ethernets: dict[str, Ethernet]


class Ssh(_Hyphened):
    """The ssh server."""

    install_server: bool
    allow_pw: bool


class User(_Strict):
    """An account."""

    name: str
    groups: list[str]
    shell: str
    sudo: str
    lock_passwd: bool
    passwd: str | None = None
    plain_text_passwd: str | None = None
    ssh_authorized_keys: list[str] = Field(default_factory=list)


class Ntp(_Strict):
    """Who gives the time."""

    enabled: bool
    ntp_client: Literal["chrony"]
    servers: list[str]


class UserData(_Strict):
    """What cloud-init does when the installed system first starts."""

    hostname: str
    fqdn: str
    prefer_fqdn_over_hostname: bool
    disable_root: bool
    users: list[User]
    ntp: Ntp


class Keyboard(_Strict):
    """The keyboard."""

    layout: str


class Refresh(_Strict):
    """Whether the installer looks for a newer one."""

    update: bool


class Source(_Strict):
    """Which system is installed."""

    id: str
    search_drivers: bool


class Apt(_Strict):
    """Where packages come from."""

    geoip: bool
    fallback: str


class Autoinstall(_Hyphened):
    """The whole configuration."""

    version: Literal[1]
    interactive_sections: list[str]
    early_commands: list[list[str]]
    locale: str
    keyboard: Keyboard
    timezone: str
    refresh_installer: Refresh
    source: Source
    apt: Apt
    network: Network
    storage: Storage
    ssh: Ssh
    packages: list[str]
    user_data: UserData
    late_commands: list[list[str]]
    shutdown: str


class AutoinstallFile(_Strict):
    """The file: cloud-init's configuration with the installer's in it."""

    autoinstall: Autoinstall


class MetaData(_Hyphened):
    """The seed's other file."""

    instance_id: str
    local_hostname: str
