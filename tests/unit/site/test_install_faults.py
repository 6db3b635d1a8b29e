"""Rules over the installers' files: nothing is found in what is rendered, and each planted fault is."""

from __future__ import annotations

from typing import Any

import pytest
from designs import plan_of
from install_trees import CONTROL, GPU, GPU_META, STORAGE, found_after, found_in, installer_tree, servers_with
from sites import NEW, OLD, deployment_of, deployment_with, site_data

from kvplan.site.install import RULES, install_faults

SECOND_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAnotherAnotherAnotherAnotherAnotherAnothe second"
HASH = "$6$saltsalt$abcdefghijklmnopqrstuvwxyz0123456789"
PLACE = "{{ kv_secret_console_password_hash }}"
KICKSTART: dict[str, tuple[str, str, str]] = {
    "a serial that is not the Site's": ("KV-OSI-010", "boot_drive BOOTS0001A", "boot_drive BOOTS9999A"),
    "the same serial twice": ("KV-OSI-010", "boot_drive BOOTS0001B", "boot_drive BOOTS0001A"),
    "a drive not looked for": ("KV-OSI-010", "second=$(boot_drive BOOTS0001B 400 1000)\n", "second=nvme0n1\n"),
    "the serial of a data drive": ("KV-OSI-011", "\ncdrom\n", "\ncdrom\n# DATAS0001X\n"),
    "the serial of another machine": ("KV-OSI-011", "boot_drive BOOTS0001B", "boot_drive BOOTS0002B"),
    "a wider window": ("KV-OSI-012", "BOOTS0001A 400 1000", "BOOTS0001A 400 9000"),
    "a guard that takes the first match": ("KV-OSI-013", '"$count" -eq 1', '"$count" -ge 1'),
    "a guard that goes on after a failure": (
        "KV-OSI-013",
        "--log=/tmp/kvplan-pre.log\nset -euo pipefail\n",
        "--log=/x\n",
    ),
    "drives that are not compared": ("KV-OSI-014", 'two_drives "$first" "$second"\n', ""),
    "a drive compared with itself": ("KV-OSI-014", 'two_drives "$first" "$second"', 'two_drives "$first" "$first"'),
    "a password hash": ("KV-OSI-015", PLACE, HASH),
    "a reference to a secret": ("KV-OSI-015", PLACE, "vault:secrets/hosts.yml#console"),
    "a place for another secret": ("KV-OSI-016", "\ncdrom\n", "\ncdrom\n# {{ kv_secret_bmc }}\n"),
    "another machine's marker": ("KV-OSI-017", "serial=SNS0001\n", "serial=SNS0002\n"),
    "another Plan's marker": ("KV-OSI-017", "plan_sha256=", "plan_sha256=0"),
    "no serial console": ("KV-OSI-018", " console=ttyS1,115200n8", ""),
    "a section without an end": ("KV-OSI-020", "%end\n\n%packages", "\n%packages"),
    "a last section without an end": ("KV-OSI-020", "    fi\ndone\n%end\n", "    fi\ndone\n"),
    "an end without a section": ("KV-OSI-020", "\ncdrom\n", "\ncdrom\n%end\n"),
    "an open quotation": ("KV-OSI-020", "\nskipx\n", '\nskipx "\n'),
    "an unknown command": ("KV-OSI-021", "\nskipx\n", "\nauth --enableshadow\n"),
    "automatic partitions": ("KV-OSI-021", "\nskipx\n", "\nautopart --type=lvm\n"),
    "a command twice": ("KV-OSI-021", "\nskipx\n", "\nskipx\nlang de_DE.UTF-8\n"),
    "an unknown include": ("KV-OSI-022", "%include /tmp/kvplan-drives.ks", "%include /tmp/other.ks"),
    "a failure of %pre passed over": (
        "KV-OSI-023",
        "%pre --interpreter=/bin/bash --erroronfail",
        "%pre --interpreter=/bin/bash",
    ),
    "%pre under another shell": ("KV-OSI-023", "%pre --interpreter=/bin/bash", "%pre --interpreter=/bin/sh"),
    "no ignoredisk": ("KV-OSI-024", "ignoredisk --only-use=$first,$second\n", ""),
    "ignoredisk the other way round": (
        "KV-OSI-024",
        "ignoredisk --only-use=$first,$second",
        "ignoredisk --drives=nvme0n1",
    ),
    "a data drive that may be used": ("KV-OSI-024", "--only-use=$first,$second", "--only-use=$first,$second,nvme0n1"),
    "all drives cleared": ("KV-OSI-025", " --drives=$first,$second", ""),
    "a data drive cleared": ("KV-OSI-025", "--drives=$first,$second", "--drives=$first,nvme0n1"),
    "nothing cleared": ("KV-OSI-025", "clearpart --all --initlabel --disklabel=gpt --drives=$first,$second\n", ""),
    "a partition on any drive": ("KV-OSI-026", "part raid.31 --ondisk=$first ", "part raid.31 "),
    "a partition on a drive by name": ("KV-OSI-026", "part raid.31 --ondisk=$first", "part raid.31 --ondisk=nvme0n1"),
    "a mirror of one": ("KV-OSI-027", "--fstype=efi raid.11 raid.12", "--fstype=efi raid.11"),
    "a stripe": ("KV-OSI-027", "--device=system --level=RAID1", "--device=system --level=RAID0"),
    "an undefined member": ("KV-OSI-027", "RAID1 raid.31 raid.32", "RAID1 raid.31 raid.33"),
    "both halves on one drive": ("KV-OSI-027", "raid.22 --ondisk=$second", "raid.22 --ondisk=$first"),
    "a partition in no array": ("KV-OSI-028", "raid pv.01 --device=system --level=RAID1 raid.31 raid.32\n", ""),
    "a group on no array": ("KV-OSI-029", "volgroup system pv.01", "volgroup system pv.02"),
    "a volume in no group": ("KV-OSI-029", "logvol / --vgname=system", "logvol / --vgname=sys"),
    "no /boot/efi": ("KV-OSI-030", "raid /boot/efi --device=esp", "raid /boot/esp --device=esp"),
    "/boot/efi of the wrong kind": ("KV-OSI-030", "--fstype=efi", "--fstype=xfs"),
    "/ twice": ("KV-OSI-030", "logvol /var ", "logvol / "),
    "one firmware entry": ("KV-OSI-031", "efibootmgr --create", "true"),
    "two sources": ("KV-OSI-032", "\ncdrom\n", "\ncdrom\nurl --url=http://172.24.0.10/rhel\n"),
    "no source": ("KV-OSI-032", "\ncdrom\n", "\n"),
    "a graphical installation": ("KV-OSI-033", "text --non-interactive", "graphical"),
    "an installation that may ask": ("KV-OSI-033", "text --non-interactive", "text"),
    "a first boot that asks": ("KV-OSI-033", "firstboot --disable", "firstboot --enable"),
    "a medium left in": ("KV-OSI-033", "reboot --eject", "reboot"),
    "root's password": ("KV-OSI-034", "rootpw --lock", "rootpw --plaintext example"),
    "the user's password in clear": (
        "KV-OSI-034",
        f"--iscrypted --password='{PLACE}'",
        "--plaintext --password=example",
    ),
    "no password and no lock": ("KV-OSI-034", f" --iscrypted --password='{PLACE}'", ""),
    "no ssh key": ("KV-OSI-035", "\nsshkey --username=kvplan ", "\n# "),
    "a stranger's ssh key": ("KV-OSI-035", "\nfirewall ", f'\nsshkey --username=kvplan "{SECOND_KEY}"\nfirewall '),
    "another user": ("KV-OSI-035", "user --name=kvplan", "user --name=admin"),
    "a user who may not act as root": ("KV-OSI-035", "NOPASSWD: ALL", "ALL"),
    "another machine's name": ("KV-OSI-036", "--hostname=storage-001-adm", "--hostname=storage-002-adm"),
    "an address that is none": ("KV-OSI-037", "--ip=172.24.64.9", "--ip=172.24.64.999"),
    "another machine's address": ("KV-OSI-037", "--ip=172.24.64.9", "--ip=172.24.64.17"),
    "another mask": ("KV-OSI-037", "--netmask=255.252.0.0", "--netmask=255.255.0.0"),
    "another gateway": ("KV-OSI-037", "--gateway=172.24.0.1", "--gateway=172.24.0.254"),
    "a port by its name": ("KV-OSI-037", "--device=02:00:01:00:01:03", "--device=eth0"),
    "another name server": ("KV-OSI-037", "--nameserver=172.24.0.2", "--nameserver=172.24.0.9"),
    "DHCP": ("KV-OSI-037", "--bootproto=static", "--bootproto=dhcp"),
    "another time zone": ("KV-OSI-038", "timezone Etc/UTC", "timezone Etc/GMT"),
    "a time server missing": ("KV-OSI-038", "timesource --ntp-server=172.24.0.4\n", ""),
    "a licence not agreed to": ("KV-OSI-039", "eula --agreed\n", ""),
    "chrony missing": ("KV-OSI-040", "\nchrony\n", "\n"),
}
AUTOINSTALL: dict[str, tuple[str, str, str]] = {
    "a serial that is not the Site's": ("KV-OSI-010", "boot_drive BOOTC0001A", "boot_drive BOOTC9999A"),
    "the serial of another machine": ("KV-OSI-011", "*BOOTC0001A*", "*BOOTS0001A*"),
    "a wider window": ("KV-OSI-012", "BOOTC0001B 400 1000", "BOOTC0001B 4 1000"),
    "a guard that matches partitions": ("KV-OSI-013", "(nvme[0-9]+n[0-9]+|sd[a-z]+)$", "(nvme[0-9]+n[0-9]+|sd[a-z]+)"),
    "drives that are not compared": ("KV-OSI-014", 'two_drives "$first" "$second"', "true"),
    "a password hash": ("KV-OSI-015", PLACE, HASH),
    "a place for another secret": ("KV-OSI-016", PLACE, "{{ kv_secret_root }}"),
    "another machine's marker": ("KV-OSI-017", "name=gpu-0001\n", "name=gpu-0002\n"),
    "no serial console": ("KV-OSI-018", "ttyS1,115200n8", "ttyS0"),
    "no cloud-config": ("KV-OSI-050", "#cloud-config\n", "# cloud-config\n"),
    "no version": ("KV-OSI-050", "  version: 1\n", ""),
    "another version": ("KV-OSI-050", "  version: 1\n", "  version: 2\n"),
    "an unknown key": ("KV-OSI-050", "  shutdown: reboot", "  reboot: true\n  shutdown: reboot"),
    "an unknown entry": ("KV-OSI-050", "type: raid", "type: mirror"),
    "a MAC address that YAML counts in sixties": ("KV-OSI-050", '"02:00:02:00:01:02"', "10:20:30:40:50:59"),
    "a serial that YAML takes for a number": ("KV-OSI-050", '"*BOOTC0001A*"', "0123456"),
    "a user that YAML takes for a truth": ("KV-OSI-050", '- name: "kvplan"', "- name: on"),
    "no YAML": ("KV-OSI-050", "  ssh:\n", "  ssh: ]\n"),
    "a disk by path": ("KV-OSI-051", 'serial: "*BOOTC0001A*"', "path: /dev/nvme0n1"),
    "a disk by size": ("KV-OSI-051", 'serial: "*BOOTC0001A*"', "size: smallest"),
    "a disk by serial and path": (
        "KV-OSI-051",
        'serial: "*BOOTC0001A*"',
        'serial: "*BOOTC0001A*"\n          path: /dev/sda',
    ),
    "any disk": ("KV-OSI-051", 'match:\n          serial: "*BOOTC0001A*"\n        ', ""),
    "the same disk twice": ("KV-OSI-052", "*BOOTC0001B*", "*BOOTC0001A*"),
    "a pattern that matches anything": ("KV-OSI-052", "*BOOTC0001B*", "*"),
    "a layout of the installer's choice": ("KV-OSI-052", "    swap:\n", "    layout:\n      name: lvm\n    swap:\n"),
    "a pattern that nothing checks": ("KV-OSI-053", 'only_match BOOTC0001A "$first"\n', "true\n"),
    "a pattern checked against the other drive": (
        "KV-OSI-053",
        'only_match BOOTC0001A "$first"',
        'only_match BOOTC0001A "$second"',
    ),
    "a dangling volume": ("KV-OSI-054", "volume: boot\n", "volume: boots\n"),
    "a dangling member": ("KV-OSI-054", "- system-b\n", "- system-c\n"),
    "an id twice": ("KV-OSI-054", "id: esp-b\n", "id: esp-a\n"),
    "a volume group on a partition": (
        "KV-OSI-054",
        "devices:\n          - system\n",
        "devices:\n          - system-a\n",
    ),
    "one ESP without boot loader": (
        "KV-OSI-055",
        "flag: boot\n        grub_device: true",
        "flag: boot\n        grub_device: false",
    ),
    "one ESP alone": ("KV-OSI-055", "        flag: boot\n", ""),
    "the boot loader on a disk": (
        "KV-OSI-055",
        "wipe: superblock-recursive\n        grub_device: false",
        "wipe: superblock-recursive\n        grub_device: true",
    ),
    "an overwritten drive": ("KV-OSI-056", "wipe: superblock-recursive", "wipe: random"),
    "a drive that is not wiped": ("KV-OSI-056", "        wipe: superblock-recursive\n", ""),
    "a preserved partition": ("KV-OSI-056", "number: 3\n", "number: 3\n        preserve: true\n"),
    "a mirror of one": ("KV-OSI-057", "          - boot-b\n", ""),
    "a stripe": ("KV-OSI-057", "raidlevel: 1", "raidlevel: 0"),
    "both halves on one drive": ("KV-OSI-057", "- boot-b\n", "- boot-a\n"),
    "no /boot": ("KV-OSI-058", "path: /boot\n", "path: /boots\n"),
    "/ on one drive": ("KV-OSI-058", "volume: root\n", "volume: system-a\n"),
    "a script that goes on after a failure": (
        "KV-OSI-059",
        "        set -euo pipefail\n        install",
        "        install",
    ),
    "a script under another shell": ("KV-OSI-059", "- - bash\n", "- - sh\n"),
    "an installer that asks": ("KV-OSI-060", "interactive-sections: []", "interactive-sections: [storage]"),
    "a machine that stays off": ("KV-OSI-060", "shutdown: reboot", "shutdown: poweroff"),
    "a newer installer": (
        "KV-OSI-060",
        "refresh-installer:\n    update: false",
        "refresh-installer:\n    update: true",
    ),
    "ssh with passwords": ("KV-OSI-061", "allow-pw: false", "allow-pw: true"),
    "no ssh server": ("KV-OSI-061", "install-server: true", "install-server: false"),
    "a stranger's ssh key": (
        "KV-OSI-061",
        "ssh_authorized_keys:\n",
        f'ssh_authorized_keys:\n          - "{SECOND_KEY}"\n',
    ),
    "another account": ("KV-OSI-061", '- name: "kvplan"', '- name: "ubuntu"'),
    "a user who may not act as root": ("KV-OSI-061", "(ALL) NOPASSWD:ALL", "(ALL) ALL"),
    "the password in clear": ("KV-OSI-062", f'passwd: "{PLACE}"', "plain_text_passwd: example"),
    "a locked password": ("KV-OSI-062", "lock_passwd: false", "lock_passwd: true"),
    "another machine's name": ("KV-OSI-063", "gpu-0001-adm.kv.example", "gpu-0002-adm.kv.example"),
    "another machine's address": ("KV-OSI-064", "172.26.0.9/14", "172.26.0.17/14"),
    "DHCP": ("KV-OSI-064", "dhcp4: false", "dhcp4: true"),
    "another port": ("KV-OSI-064", "02:00:02:00:01:02", "02:00:02:00:02:02"),
    "another port's name": ("KV-OSI-064", "      mgmt1:\n", "      eth0:\n"),
    "another gateway": ("KV-OSI-064", 'via: "172.24.0.1"', 'via: "172.24.0.254"'),
    "another name server": ("KV-OSI-064", '- "172.24.0.2"', '- "172.24.0.9"'),
    "another time zone": ("KV-OSI-065", '"Etc/UTC"', '"Etc/GMT"'),
    "a time server missing": ("KV-OSI-065", '        - "172.24.0.4"\n', ""),
    "chrony missing": ("KV-OSI-066", "    - chrony\n", ""),
}


@pytest.mark.parametrize(("nodes", "cumulus"), [(4, OLD), (4, NEW), (8, NEW), (16, OLD)])
def test_nothing_is_wrong_with_what_is_rendered(nodes: int, cumulus: str) -> None:
    assert found_in(deployment_of(nodes, cumulus)) == []


@pytest.mark.parametrize("fault", KICKSTART)
def test_a_fault_in_a_kickstart_file_is_found(fault: str) -> None:
    rule, old, new = KICKSTART[fault]
    found = found_after(STORAGE, old, new)
    assert rule in {finding.id for finding in found}
    assert {finding.where for finding in found} == {STORAGE}


@pytest.mark.parametrize("fault", AUTOINSTALL)
def test_a_fault_in_an_autoinstall_file_is_found(fault: str) -> None:
    rule, old, new = AUTOINSTALL[fault]
    found = found_after(GPU, old, new, count=1)
    assert rule in {finding.id for finding in found}
    assert {finding.where for finding in found} == {GPU}


def test_a_missing_guard_is_found() -> None:
    text = installer_tree()[CONTROL]
    head, _, rest = text.partition("  early-commands:\n")
    _, _, tail = rest.partition("  locale:")
    tree = {**installer_tree(), CONTROL: f"{head}  early-commands: []\n  locale:{tail}"}
    found = {finding.id for finding in install_faults(deployment_of(8), tree)}
    assert found == {"KV-OSI-010", "KV-OSI-013", "KV-OSI-014", "KV-OSI-059"}


@pytest.mark.parametrize(
    ("old", "new"), [("gpu-0001-adm", "gpu-0002-adm"), ("instance-id: ", "instance: "), ('"gpu-0001-', '"gpu-0002-')]
)
def test_a_fault_in_the_meta_data_is_found(old: str, new: str) -> None:
    assert [finding.id for finding in found_after(GPU_META, old, new)] == ["KV-OSI-067"]


def test_a_missing_and_a_stray_file_are_found() -> None:
    tree = dict(installer_tree())
    tree["install/storage-999.ks"] = tree.pop(STORAGE)
    found = [(finding.id, finding.where) for finding in install_faults(deployment_of(8), tree)]
    assert found == [("KV-OSI-001", STORAGE), ("KV-OSI-002", "install/storage-999.ks")]


def test_other_parts_of_the_tree_are_passed_over() -> None:
    assert not list(install_faults(deployment_of(8), {**installer_tree(), "switches/leaf-01.yaml": ""}))


@pytest.mark.parametrize(
    ("path", "line", "configured"),
    [
        (STORAGE, "\nfrr\n", "hosts/storage-001/etc/frr/frr.conf"),
        (STORAGE, "\nlldpd\n", "hosts/storage-001/etc/lldpd.d/kv.conf"),
        (GPU, "\n    - frr\n", "hosts/gpu-0001/etc/frr/frr.conf"),
        (GPU, "\n    - lldpd\n", "hosts/gpu-0001/etc/lldpd.d/kv.conf"),
        (CONTROL, "\n    - lldpd\n", "hosts/control-1/etc/lldpd.d/kv.conf"),
    ],
)
def test_a_program_that_is_configured_and_not_installed_is_found(path: str, line: str, configured: str) -> None:
    tree = {**installer_tree(), configured: ""}
    assert list(install_faults(deployment_of(8), tree)) == []
    assert line in tree[path]
    tree[path] = tree[path].replace(line, "\n")
    assert [(f.id, f.where) for f in install_faults(deployment_of(8), tree)] == [("KV-OSI-068", path)]


def test_control_nodes_route_nothing() -> None:
    assert "    - frr\n" not in installer_tree()[CONTROL]


def test_a_window_that_the_layout_does_not_fit_is_found() -> None:
    found = found_in(deployment_with(8, servers=servers_with("storage-001", boot_drives={"least_gb": 64})))
    assert [(finding.id, finding.where) for finding in found] == [
        ("KV-OSI-003", "servers[storage-001].boot_drives.least_gb")
    ]
    assert "the layout takes 106 GB" in found[0].text


def test_servers_without_a_management_port_are_found() -> None:
    found = found_in(deployment_with(8, build={"management": {"host_ports": 0}}))
    assert {finding.id for finding in found} == {"KV-OSI-004"}
    assert len(found) == len(deployment_of(8).storage) + len(deployment_of(8).clients)


def test_a_data_drive_that_is_also_a_boot_drive_is_found() -> None:
    servers = servers_with("storage-001", data_drives={"serials": ["BOOTS0001A"]})
    assert {finding.id for finding in found_in(deployment_with(8, servers=servers))} == {"KV-OSI-011"}


def test_a_serial_that_is_part_of_another_is_found() -> None:
    servers = servers_with("gpu-0001", boot_drives={"serials": ["BOOT1", "BOOT12"]})
    found = found_in(deployment_with(8, servers=servers))
    assert [(finding.id, finding.where) for finding in found] == [("KV-OSI-053", GPU)]


def test_a_missing_mac_address_is_found() -> None:
    servers: list[dict[str, Any]] = site_data(plan_of(8))["servers"]
    for server in servers:
        del server["macs"]["mgmt1"]
    found = found_in(deployment_with(8, servers=servers))
    assert {(finding.id, finding.where) for finding in found} >= {("KV-OSI-037", STORAGE), ("KV-OSI-064", GPU)}
    assert {finding.id for finding in found} == {"KV-OSI-037", "KV-OSI-064"}


def test_a_gateway_outside_the_management_network_is_found() -> None:
    network = {**site_data(plan_of(8))["network"], "management_gateway": "192.168.1.1"}
    found = found_in(deployment_with(8, network=network))
    assert {finding.id for finding in found} == {"KV-OSI-037", "KV-OSI-064"}


def test_a_licence_that_nobody_accepted_is_found() -> None:
    tree = installer_tree()
    found = list(install_faults(deployment_with(8, licences=[]), tree))
    assert {finding.id for finding in found} == {"KV-OSI-039"}


def test_every_rule_says_what_it_checks_and_is_seen_to_find_something() -> None:
    planted = {rule for rule, _, _ in (*KICKSTART.values(), *AUTOINSTALL.values())}
    assert planted | {"KV-OSI-001", "KV-OSI-002", "KV-OSI-003", "KV-OSI-004", "KV-OSI-067", "KV-OSI-068"} == set(RULES)
    assert all(text.endswith(".") for text in RULES.values())
    assert list(RULES) == sorted(RULES)
