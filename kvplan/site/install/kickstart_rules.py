"""Rules over a Kickstart file as it was read back: drives and layout, then access, network and conduct."""

from __future__ import annotations

from collections import Counter
from ipaddress import IPv4Interface, ip_address, ip_interface
from typing import TYPE_CHECKING, Final, TypeAlias

from kvplan.site.install.files import CONSOLE_PASSWORD, install_source
from kvplan.site.install.kickstart import Kickstart
from kvplan.site.install.seen import Seen, file_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

SeenKickstart: TypeAlias = Seen[Kickstart]
SOURCES: Final = ("cdrom", "harddrive", "hmc", "liveimg", "nfs", "ostreesetup", "url")
_ONCE: Final = frozenset({
    "bootloader", "clearpart", "eula", "firewall", "firstboot", "ignoredisk", "keyboard", "lang", "network", "reboot",
    "rootpw", "selinux", "services", "skipx", "text", "timezone", "user", "zerombr",
})  # fmt: skip
_SEVERAL: Final = frozenset({"logvol", "part", "raid", "sshkey", "timesource", "volgroup"})
_ASKING: Final = ("autostep", "cmdline", "graphical", "interactive", "rdp", "vnc")
_NEEDED: Final = ("chrony", "efibootmgr", "lvm2", "mdadm", "openssh-server", "sudo")
_MIRRORED: Final = 2


@file_rule("KV-OSI-020", "Every line is read, and every section has its %end.")
def _sections(seen: SeenKickstart) -> Iterator[str]:
    """Pass on what could not be read."""
    yield from seen.parsed.faults


@file_rule("KV-OSI-021", "Only expected commands stand in the file, and no single command stands twice.")
def _commands(seen: SeenKickstart) -> Iterator[str]:
    """Name commands that are not expected, and such as stand more than once."""
    counts = Counter(command.name for command in seen.parsed.commands)
    for name, count in counts.items():
        if name not in _ONCE | _SEVERAL | set(SOURCES) | set(_ASKING):
            yield f"{name} is no command that belongs in this file"
        elif count > 1 and name not in _SEVERAL:
            yield f"{name} stands {count} times"


@file_rule("KV-OSI-022", "Every included file is written by %pre.")
def _includes(seen: SeenKickstart) -> Iterator[str]:
    """Name included files that %pre does not write."""
    for path in seen.parsed.missing_includes:
        yield f"{path} is included, but %pre does not write it"


@file_rule("KV-OSI-023", "%pre runs under bash, and its failure ends the installation.")
def _pre(seen: SeenKickstart) -> Iterator[str]:
    """See that %pre runs under bash, and that its failure ends the installation."""
    sections = [section for section in seen.parsed.sections if section.name == "%pre"]
    if not sections:
        yield "there is no %pre"
    for section in sections:
        if "--erroronfail" not in section.options:
            yield "%pre lacks --erroronfail, so the installation goes on when it fails"
        if section.options.get("--interpreter") != "/bin/bash":
            yield "%pre does not run under /bin/bash"


@file_rule("KV-OSI-024", "ignoredisk --only-use confines the installer to the two boot drives.")
def _ignoredisk(seen: SeenKickstart) -> Iterator[str]:
    """See that the installer is confined to the boot drives."""
    confined = seen.parsed.named("ignoredisk")
    if not confined:
        yield "ignoredisk is missing, so the installer may use every drive"
    for command in confined:
        if set(command.options) != {"--only-use"} or set(command.listed("--only-use")) != seen.boot_serials:
            yield "ignoredisk does not confine the installer to the two boot drives by --only-use"


@file_rule("KV-OSI-025", "clearpart clears exactly the two boot drives.")
def _clearpart(seen: SeenKickstart) -> Iterator[str]:
    """See that only the boot drives are cleared."""
    clearing = seen.parsed.named("clearpart")
    if not clearing:
        yield "clearpart is missing, so an earlier system on the boot drives stops the installation"
    for command in clearing:
        if "--drives" not in command.options:
            yield "clearpart names no drives, so it clears them all"
        elif set(command.listed("--drives")) != seen.boot_serials:
            yield "clearpart does not clear exactly the two boot drives"


@file_rule("KV-OSI-026", "Every partition is put on a boot drive by name.")
def _partitions(seen: SeenKickstart) -> Iterator[str]:
    """See that every partition is put on a boot drive by name."""
    for command in seen.parsed.named("part", "partition"):
        if command.options.get("--ondisk") not in seen.boot_serials:
            yield f"partition {' '.join(command.words)} is not put on a boot drive"


@file_rule("KV-OSI-027", "Every array mirrors two partitions on different drives.")
def _mirrors(seen: SeenKickstart) -> Iterator[str]:
    """See that each array mirrors two partitions on different drives."""
    drives = {command.target: command.options.get("--ondisk", "") for command in seen.parsed.named("part")}
    for command in seen.parsed.named("raid"):
        target, members = command.target, command.words[1:]
        if command.options.get("--level", "").upper() not in ("RAID1", "1"):
            yield f"array {target} is no RAID1"
        if len(members) != _MIRRORED:
            yield f"array {target} has {len(members)} members instead of {_MIRRORED}"
        for member in members:
            if member not in drives:
                yield f"array {target} names {member}, which is no partition"
        if len({drives.get(member) for member in members}) != len(members):
            yield f"array {target} has members on the same drive"


@file_rule("KV-OSI-028", "Every partition is a member of one array.")
def _members(seen: SeenKickstart) -> Iterator[str]:
    """See that each partition is a member of one array."""
    used = Counter(member for command in seen.parsed.named("raid") for member in command.words[1:])
    for command in seen.parsed.named("part"):
        if used[command.target] != 1:
            yield f"partition {command.target} is in {used[command.target]} arrays instead of one"


@file_rule("KV-OSI-029", "Volume groups lie on arrays, and logical volumes in volume groups.")
def _volumes(seen: SeenKickstart) -> Iterator[str]:
    """See that volume groups lie on arrays, and logical volumes in volume groups."""
    arrays = {command.target for command in seen.parsed.named("raid") if command.target.startswith("pv.")}
    groups = {command.target: command.words[1:] for command in seen.parsed.named("volgroup")}
    used = [name for names in groups.values() for name in names]
    for name in sorted(set(used) - arrays):
        yield f"physical volume {name} is not on an array"
    for name in sorted(arrays - set(used)):
        yield f"physical volume {name} is in no volume group"
    for command in seen.parsed.named("logvol"):
        if (group := command.options.get("--vgname", "")) not in groups:
            yield f"logical volume {command.target} is in volume group {group or 'nowhere'}, which there is not"


@file_rule("KV-OSI-030", "/, /boot and /boot/efi are mounted once each.")
def _mounts(seen: SeenKickstart) -> Iterator[str]:
    """See that the system is mounted from mirrored storage, each mount point once."""
    mounted = Counter(
        command.target for command in seen.parsed.named("raid", "logvol", "part") if command.target.startswith("/")
    )
    for path in ("/", "/boot", "/boot/efi"):
        if mounted[path] != 1:
            yield f"{path} is mounted {mounted[path]} times instead of once"
    for command in seen.parsed.named("raid"):
        if command.target == "/boot/efi" and command.options.get("--fstype") != "efi":
            yield "/boot/efi is no EFI system partition"


@file_rule("KV-OSI-031", "Firmware is told of the EFI system partition on either drive.")
def _second_entry(seen: SeenKickstart) -> Iterator[str]:
    """See that firmware is told of the EFI system partition on either drive."""
    if "efibootmgr --create" not in seen.after or "slaves/*" not in seen.after:
        yield "no %post adds a firmware entry for each EFI system partition"


@file_rule("KV-OSI-032", "There is one installation source, and it is the Site's.")
def _source(seen: SeenKickstart) -> Iterator[str]:
    """See that there is one source to install from, the Site's."""
    wanted = install_source(seen.deployment)
    sources = [command.name for command in seen.parsed.named(*SOURCES)]
    if len(sources) != 1 or f"\n{wanted}\n" not in seen.text:
        yield f"installation sources are {', '.join(sources) or 'none'}; should be {wanted!r} alone"


@file_rule("KV-OSI-033", "Nothing is asked, and the machine restarts without its medium.")
def _conduct(seen: SeenKickstart) -> Iterator[str]:
    """See that nothing is asked, and that the machine restarts without its medium."""
    for command in seen.parsed.named(*_ASKING):
        yield f"{command.name} waits for somebody"
    if not any("--non-interactive" in command.options for command in seen.parsed.named("text")):
        yield "text --non-interactive is missing"
    if not any("--disable" in command.options for command in seen.parsed.named("firstboot")):
        yield "firstboot is not disabled"
    if not any("--eject" in command.options for command in seen.parsed.named("reboot")):
        yield "reboot --eject is missing, so the machine waits, or installs itself again"


@file_rule("KV-OSI-034", "Root is locked, and no password stands in the file.")
def _passwords(seen: SeenKickstart) -> Iterator[str]:
    """See that root is locked, and that the user's password is a place for a hash or locked."""
    if [command.options for command in seen.parsed.named("rootpw")] != [{"--lock": ""}]:
        yield "root's password is not locked"
    for command in seen.parsed.named("user"):
        password = command.options.get("--password")
        if password is None:
            if "--lock" not in command.options:
                yield "the user has neither a password nor a lock"
        elif password != CONSOLE_PASSWORD or "--iscrypted" not in command.options:
            yield "the user's password stands in the file"


@file_rule("KV-OSI-035", "The deployer's account has the Site's ssh keys and may act as root.")
def _keys(seen: SeenKickstart) -> Iterator[str]:
    """See that the deployer's account exists and has the Site's keys."""
    access = seen.deployment.site.access
    if [command.options.get("--name") for command in seen.parsed.named("user")] != [access.user]:
        yield f"there is no user {access.user}"
    given = {
        command.target for command in seen.parsed.named("sshkey") if command.options.get("--username") == access.user
    }
    if given != set(access.ssh_keys):
        yield f"{access.user} has {len(given)} ssh keys, which are not the {len(access.ssh_keys)} of the Site"
    if f"{access.user} ALL=(ALL) NOPASSWD: ALL" not in seen.after:
        yield f"{access.user} may not act as root"


@file_rule("KV-OSI-036", "The host name is the machine's admin name.")
def _hostname(seen: SeenKickstart) -> Iterator[str]:
    """See that the machine takes its admin name."""
    names = [command.options.get("--hostname", "") for command in seen.parsed.named("network")]
    if names != [seen.server.names.admin_fqdn]:
        yield f"the host name is {', '.join(names) or 'missing'}, should be {seen.server.names.admin_fqdn}"


@file_rule("KV-OSI-037", "The management port and its address are the designed ones.")
def _network(seen: SeenKickstart) -> Iterator[str]:
    """See that the management port is the designed one, with its designed address."""
    port = seen.server.management[0]
    site = seen.deployment.site.network
    for command in seen.parsed.named("network"):
        options = command.options
        if options.get("--bootproto") != "static":
            yield "the management address is not static"
        if not port.mac or options.get("--device") != port.mac or options.get("--bindto") != "mac":
            yield f"the management port is not named by its MAC address {port.mac}".rstrip()
        try:
            address = ip_interface(f"{options.get('--ip')}/{options.get('--netmask')}")
        except ValueError as error:
            yield f"the management address is wrong: {error}"
            continue
        if address != IPv4Interface(port.port.address):
            yield f"the management address is {address}, should be {port.port.address}"
        if options.get("--gateway") != site.management_gateway:
            yield f"the gateway is {options.get('--gateway')}, should be {site.management_gateway}"
        elif site.management_gateway and ip_address(site.management_gateway) not in address.network:
            yield f"the gateway {site.management_gateway} is not in {address.network}"
        if command.listed("--nameserver") != site.dns:
            yield f"name servers are {options.get('--nameserver')}, should be {', '.join(site.dns)}"


@file_rule("KV-OSI-038", "Time zone and time servers are the Site's.")
def _time(seen: SeenKickstart) -> Iterator[str]:
    """See that the clock has the Site's zone and servers."""
    site = seen.deployment.site.network
    if [(command.words, "--utc" in command.options) for command in seen.parsed.named("timezone")] != [
        ((site.timezone,), True)
    ]:
        yield f"the time zone is not {site.timezone} with a clock in UTC"
    servers = tuple(command.options.get("--ntp-server", "") for command in seen.parsed.named("timesource"))
    if servers != site.ntp:
        yield f"time servers are {', '.join(servers) or 'none'}, should be {', '.join(site.ntp)}"


@file_rule("KV-OSI-039", "The licence is agreed to exactly when the Site accepts it.")
def _licence(seen: SeenKickstart) -> Iterator[str]:
    """See that the licence is agreed to exactly when somebody accepted it."""
    accepted = any(licence.what == "rhel" for licence in seen.deployment.site.licences)
    agreed = any("--agreed" in command.options for command in seen.parsed.named("eula"))
    if agreed and not accepted:
        yield "the licence is agreed to, but nobody accepted it in the Site"
    if accepted and not agreed:
        yield "the licence is not agreed to, so the system asks when it first starts"


@file_rule("KV-OSI-040", "What the machine is reached and started with is installed.")
def _packages(seen: SeenKickstart) -> Iterator[str]:
    """See that what the machine is reached and started with is installed."""
    chosen = set(seen.parsed.script("%packages").split())
    for name in _NEEDED:
        if name not in chosen:
            yield f"package {name} is not installed"
