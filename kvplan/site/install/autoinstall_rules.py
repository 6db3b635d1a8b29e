"""Rules over an autoinstall file as it was read back: drives and layout, then access, network and conduct."""

from __future__ import annotations

from collections import Counter
from ipaddress import ip_address, ip_interface
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from kvplan.site.install.autoinstall import (
    Action,
    Autoinstall,
    Disk,
    Format,
    LogicalVolume,
    Mount,
    Partition,
    Raid,
    VolumeGroup,
)
from kvplan.site.install.files import CONSOLE_PASSWORD
from kvplan.site.install.seen import Seen, file_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

SeenAutoinstall: TypeAlias = Seen[Autoinstall]
ActionT = TypeVar("ActionT", bound=Action)
_WIPES: Final = (None, "superblock", "superblock-recursive")
_MIRROR: Final = 1
_MIRRORED: Final = 2
_NEEDED: Final = ("chrony", "efibootmgr", "lvm2", "mdadm")
_BUILDS_ON: Final[dict[type[Action], tuple[type[Action], ...]]] = {
    Partition: (Disk,),
    Raid: (Partition,),
    VolumeGroup: (Raid,),
    LogicalVolume: (VolumeGroup,),
    Format: (Partition, Raid, LogicalVolume),
    Mount: (Format,),
}


def _of(seen: SeenAutoinstall, kind: type[ActionT]) -> list[ActionT]:
    """List the entries of a kind."""
    return [action for action in seen.parsed.storage.config if isinstance(action, kind)]


def _by_id(seen: SeenAutoinstall) -> dict[str, Action]:
    """Find entries by id."""
    return {action.id: action for action in seen.parsed.storage.config}


@file_rule("KV-OSI-051", "Disks are matched by serial number and by nothing else.")
def _matched(seen: SeenAutoinstall) -> Iterator[str]:
    """See that disks are recognised by serial number and by nothing else."""
    for disk in _of(seen, Disk):
        given = disk.match.model_dump(exclude_none=True) if disk.match else {}
        if set(given) != {"serial"} or disk.path or disk.serial:
            yield f"disk {disk.id} is not matched by its serial number alone"


@file_rule("KV-OSI-052", "The disks are the two boot drives, each once.")
def _serials(seen: SeenAutoinstall) -> Iterator[str]:
    """See that the disks are the two boot drives, each once."""
    matched = sorted(disk.match.serial or "" for disk in _of(seen, Disk) if disk.match)
    wanted = sorted(f"*{serial}*" for serial in seen.boot_serials)
    if matched != wanted:
        yield f"disks are matched as {', '.join(matched) or 'none'}, should be {', '.join(wanted)}"
    if seen.parsed.storage.layout is not None:
        yield "storage.layout lets the installer choose a disk"


@file_rule("KV-OSI-053", "The pattern for each boot drive is seen to match no other drive.")
def _patterns(seen: SeenAutoinstall) -> Iterator[str]:
    """See that the guard looks for other drives that the patterns would match."""
    for variable, drive in seen.sought.items():
        if f'\nonly_match {drive.serial} "${variable}"\n' not in f"{seen.before}\n":
            yield f"nothing sees that the pattern for {drive.serial} matches one drive alone"
    data = seen.server.site.data_drives
    for serial in seen.server.site.boot_drives.serials:
        for other in (*seen.server.site.boot_drives.serials, *(data.serials if data else ())):
            if serial in other and serial != other:
                yield f"the pattern for {serial} also matches {other}, so the installation will be refused"


@file_rule("KV-OSI-054", "Ids are unique, and each entry builds on one before it.")
def _ids(seen: SeenAutoinstall) -> Iterator[str]:
    """See that ids are unique, and that each entry builds on one before it of a kind that it can build on."""
    known: dict[str, Action] = {}
    for action in seen.parsed.storage.config:
        if action.id in known:
            yield f"id {action.id} stands twice"
        for needed in action.needs:
            if needed not in known:
                yield f"{action.id} builds on {needed}, which does not stand before it"
            elif not isinstance(known[needed], _BUILDS_ON[type(action)]):
                yield f"{action.id} cannot build on {needed}, which is a {known[needed].type}"
        known[action.id] = action


@file_rule("KV-OSI-055", "The boot loader is put on an EFI system partition on each disk.")
def _boot_devices(seen: SeenAutoinstall) -> Iterator[str]:
    """See that there is an EFI system partition on each disk, which the boot loader is put on, and nowhere else."""
    esps = [partition for partition in _of(seen, Partition) if partition.flag == "boot"]
    if sorted(esp.device for esp in esps) != sorted(disk.id for disk in _of(seen, Disk)):
        yield "there is not one EFI system partition on each disk"
    formats = {entry.volume: entry.fstype for entry in _of(seen, Format)}
    for esp in esps:
        if not esp.grub_device or formats.get(esp.id) != "fat32":
            yield f"{esp.id} is no fat32 partition that the boot loader is put on"
    loaders = {disk.id for disk in _of(seen, Disk) if disk.grub_device}
    loaders |= {partition.id for partition in _of(seen, Partition) if partition.grub_device}
    for name in sorted(loaders - {esp.id for esp in esps}):
        yield f"the boot loader is put on {name}, which is no EFI system partition"


@file_rule("KV-OSI-056", "Disks are wiped by their superblocks, and nothing is preserved.")
def _wiped(seen: SeenAutoinstall) -> Iterator[str]:
    """See that disks lose what they held, by their superblocks, and that nothing is kept."""
    for action in seen.parsed.storage.config:
        if action.preserve:
            yield f"{action.id} is preserved, so an earlier system decides the layout"
        if action.wipe not in _WIPES:
            yield f"{action.id} is wiped by {action.wipe}, which overwrites the drive"
    for disk in _of(seen, Disk):
        if disk.wipe is None:
            yield f"{disk.id} is not wiped, so an earlier array or volume group stops the installation"


@file_rule("KV-OSI-057", "Every array mirrors two partitions on different disks.")
def _mirrors(seen: SeenAutoinstall) -> Iterator[str]:
    """See that each array mirrors two partitions on different disks."""
    entries = _by_id(seen)
    for raid in _of(seen, Raid):
        if raid.raidlevel != _MIRROR:
            yield f"array {raid.id} is no RAID1"
        disks = {entry.device for name in raid.devices if isinstance(entry := entries.get(name), Partition)}
        if len(raid.devices) != _MIRRORED or len(disks) != _MIRRORED:
            yield f"array {raid.id} does not mirror two partitions on different disks"


@file_rule("KV-OSI-058", "/, /boot and /boot/efi are mounted once each, from mirrored storage but for the last.")
def _mounts(seen: SeenAutoinstall) -> Iterator[str]:
    """See that the system is mounted from the right storage, each mount point once."""
    entries = _by_id(seen)
    mounted = Counter(mount.path for mount in _of(seen, Mount))
    for path in ("/", "/boot", "/boot/efi"):
        if mounted[path] != 1:
            yield f"{path} is mounted {mounted[path]} times instead of once"
    for mount in _of(seen, Mount):
        volume = getattr(entries.get(mount.device), "volume", "")
        if mount.path != "/boot/efi" and isinstance(entries.get(volume), Partition):
            yield f"{mount.path} is mounted from {volume}, which is not mirrored"


@file_rule("KV-OSI-059", "Scripts run under bash, and stop at the first failure.")
def _scripts(seen: SeenAutoinstall) -> Iterator[str]:
    """See that scripts run under bash, and stop at the first failure."""
    for stage, commands in (("early", seen.parsed.early_commands), ("late", seen.parsed.late_commands)):
        for command in commands:
            if command[:2] != ["bash", "-c"] or not command[-1].startswith("set -euo pipefail\n"):
                yield f"a command of {stage}-commands does not run under bash -c with set -euo pipefail"
        if not commands:
            yield f"{stage}-commands are missing"


@file_rule("KV-OSI-060", "Nothing is asked, and the machine restarts.")
def _conduct(seen: SeenAutoinstall) -> Iterator[str]:
    """See that nothing is asked, and that the machine restarts."""
    if seen.parsed.interactive_sections:
        yield f"the installer asks for {', '.join(seen.parsed.interactive_sections)}"
    if seen.parsed.shutdown != "reboot":
        yield f"the machine does not restart, but goes to {seen.parsed.shutdown}"
    if seen.parsed.refresh_installer.update:
        yield "the installer looks for a newer one"


@file_rule("KV-OSI-061", "The machine is reached over ssh by the Site's keys alone.")
def _ssh(seen: SeenAutoinstall) -> Iterator[str]:
    """See that the machine is reached over ssh by key alone, with the Site's keys."""
    access = seen.deployment.site.access
    ssh = seen.parsed.ssh
    if not ssh.install_server or ssh.allow_pw:
        yield "the ssh server is missing, or takes passwords"
    users = {user.name: user for user in seen.parsed.user_data.users}
    if set(users) != {access.user}:
        yield f"accounts are {', '.join(users) or 'none'}, should be {access.user} alone"
    for user in users.values():
        if set(user.ssh_authorized_keys) != set(access.ssh_keys):
            count = len(user.ssh_authorized_keys)
            yield f"{user.name} has {count} ssh keys, which are not the {len(access.ssh_keys)} of the Site"
        if user.sudo != "ALL=(ALL) NOPASSWD:ALL":
            yield f"{user.name} may not act as root"


@file_rule("KV-OSI-062", "No password stands in the file, and it is locked unless the Site has one.")
def _passwords(seen: SeenAutoinstall) -> Iterator[str]:
    """See that passwords are places for a hash or locked."""
    for user in seen.parsed.user_data.users:
        if user.plain_text_passwd is not None or user.passwd not in (None, CONSOLE_PASSWORD):
            yield f"the password of {user.name} stands in the file"
        if user.lock_passwd == seen.password_expected:
            yield f"the password of {user.name} is {'locked' if user.lock_passwd else 'not locked'}"


@file_rule("KV-OSI-063", "The host name is the machine's admin name.")
def _hostname(seen: SeenAutoinstall) -> Iterator[str]:
    """See that the machine takes its admin name."""
    data, names = seen.parsed.user_data, seen.server.names
    if (data.hostname, data.fqdn) != (names.admin, names.admin_fqdn) or not data.prefer_fqdn_over_hostname:
        yield f"the host name is {data.fqdn}, should be {names.admin_fqdn}"


@file_rule("KV-OSI-064", "The management port and its address are the designed ones.")
def _network(seen: SeenAutoinstall) -> Iterator[str]:
    """See that the management port is the designed one, with its designed address."""
    port = seen.server.management[0]
    site = seen.deployment.site.network
    if list(seen.parsed.network.ethernets) != ["mgmt1"]:
        yield "the management port is not mgmt1 alone"
    for ethernet in seen.parsed.network.ethernets.values():
        if not port.mac or ethernet.match.macaddress != port.mac or ethernet.set_name != "mgmt1":
            yield f"the management port is not named by its MAC address {port.mac}".rstrip()
        if ethernet.dhcp4 or ethernet.dhcp6 or ethernet.addresses != [port.port.address]:
            yield f"the management address is {', '.join(ethernet.addresses)}, should be {port.port.address} alone"
        wanted = [("default", site.management_gateway)] if site.management_gateway else []
        if [(route.to, route.via) for route in ethernet.routes] != wanted:
            yield f"the gateway is not {site.management_gateway}"
        elif wanted and ip_address(str(site.management_gateway)) not in ip_interface(port.port.address).network:
            yield f"the gateway {site.management_gateway} is not in the network of {port.port.address}"
        if tuple(ethernet.nameservers.addresses) != site.dns:
            yield f"name servers are {', '.join(ethernet.nameservers.addresses)}, should be {', '.join(site.dns)}"


@file_rule("KV-OSI-065", "Time zone and time servers are the Site's.")
def _time(seen: SeenAutoinstall) -> Iterator[str]:
    """See that the clock has the Site's zone and servers."""
    site = seen.deployment.site.network
    if seen.parsed.timezone != site.timezone:
        yield f"the time zone is {seen.parsed.timezone}, should be {site.timezone}"
    if tuple(seen.parsed.user_data.ntp.servers) != site.ntp or not seen.parsed.user_data.ntp.enabled:
        yield f"time servers are {', '.join(seen.parsed.user_data.ntp.servers)}, should be {', '.join(site.ntp)}"


@file_rule("KV-OSI-066", "What the machine is started with is installed.")
def _packages(seen: SeenAutoinstall) -> Iterator[str]:
    """See that what the machine is started with is installed."""
    for name in _NEEDED:
        if name not in seen.parsed.packages:
            yield f"package {name} is not installed"
