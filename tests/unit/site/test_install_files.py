"""Installer files as they are written: golden ones, what depends on the Site, and what other parsers say of them."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from designs import plan_of
from install_trees import CONTROL, GPU, GPU_META, STORAGE, installer_tree, servers_with, tree_of_deployment
from pykickstart.parser import KickstartParser
from pykickstart.version import makeVersion
from sites import deployment_of, deployment_with, site_data

from kvplan.site.install import install_files
from kvplan.site.tree import PRIVATE, READABLE, tree_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PLAN_HASH = "0" * 64
PLACE = "{{ kv_secret_console_password_hash }}"


def section(name: str) -> dict[str, Any]:
    """Return a section of the Site of 8 nodes as plain data, to be changed."""
    data: dict[str, Any] = site_data(plan_of(8))[name]
    return data


def autoinstall_of(text: str) -> dict[str, Any]:
    """Read an autoinstall file."""
    data: dict[str, Any] = yaml.safe_load(text)["autoinstall"]
    return data


def parsed_by_pykickstart(text: str) -> Any:
    """Read a Kickstart file by Red Hat's own parser, with what %pre would include put in."""
    included = re.search(r"<<EOF\n(.*?)EOF\n", text, re.DOTALL)
    assert included
    lines = included[1].replace("$first", "nvme1n1").replace("$second", "nvme3n1")
    parser = KickstartParser(makeVersion("RHEL9"))
    parser.readKickstartFromString(text.replace("%include /tmp/kvplan-drives.ks\n", lines))
    return parser.handler


@pytest.mark.parametrize("path", [STORAGE, GPU, GPU_META, CONTROL])
def test_files_are_as_reviewed(path: str, golden: Callable[[str, str], None]) -> None:
    # the Plan's hash covers the whole catalogue, which grows beside these files
    text = installer_tree()[path].replace(deployment_of(8).plan_sha256, PLAN_HASH)
    text = text.replace(deployment_of(8).plan_sha256[:12], PLAN_HASH[:12])
    golden(f"site/{path}", text)


def test_every_server_has_its_files() -> None:
    deployment = deployment_of(8)
    expected = {f"install/{server.name}.ks" for server in deployment.storage}
    for server in (*deployment.clients, *deployment.control):
        expected |= {f"install/{server.name}/user-data", f"install/{server.name}/meta-data"}
    assert set(tree_of(install_files(deployment))) == expected


def test_equal_input_gives_equal_bytes() -> None:
    assert list(install_files(deployment_of(8))) == list(install_files(deployment_of(8)))


def test_files_that_take_a_password_are_private() -> None:
    modes = {file.path: file.mode for file in install_files(deployment_of(8))}
    assert (modes[STORAGE], modes[GPU], modes[GPU_META]) == (PRIVATE, PRIVATE, READABLE)
    assert installer_tree()[STORAGE].count(PLACE) == 1
    assert autoinstall_of(installer_tree()[GPU])["user-data"]["users"][0]["passwd"] == PLACE


def test_without_a_password_the_account_is_locked() -> None:
    access = {**section("access"), "console_password_hash": None}
    files = {file.path: file for file in install_files(deployment_with(8, access=access))}
    assert files[STORAGE].mode == files[GPU].mode == READABLE
    assert "\nuser --name=kvplan --groups=wheel --lock\n" in files[STORAGE].text
    user = autoinstall_of(files[GPU].text)["user-data"]["users"][0]
    assert user["lock_passwd"] is True
    assert "passwd" not in user


def test_no_reference_to_a_secret_is_written() -> None:
    access = {
        **section("access"),
        "private_key": "file:canary/private",
        "switch_password": "vault:canary/switch",
        "console_password_hash": "env:CANARY_CONSOLE",
    }
    for text in tree_of_deployment(deployment_with(8, access=access)).values():
        assert "canary" not in text.lower()
        assert "KV_BMC" not in text


@pytest.mark.parametrize(
    ("repo", "line"),
    [
        (None, "cdrom"),
        ("http://172.24.0.10:8080/rhel", "url --url=http://172.24.0.10:8080/rhel"),
        ("/run/install/repo", "url --url=file:///run/install/repo"),
    ],
)
def test_rhel_is_installed_from_where_the_site_says(repo: str | None, line: str) -> None:
    text = tree_of_deployment(deployment_with(8, images={**section("images"), "rhel_repo": repo}))[STORAGE]
    assert f"\n{line}\n" in text
    parsed_by_pykickstart(text)


def test_the_licence_is_agreed_to_only_when_somebody_accepted_it() -> None:
    assert "\neula --agreed\n" in installer_tree()[STORAGE]
    assert "eula" not in tree_of_deployment(deployment_with(8, licences=[]))[STORAGE]


def test_without_a_gateway_there_is_no_default_route() -> None:
    tree = tree_of_deployment(deployment_with(8, network={**section("network"), "management_gateway": None}))
    assert " --nodefroute " in tree[STORAGE]
    assert "--gateway" not in tree[STORAGE]
    assert "routes" not in autoinstall_of(tree[GPU])["network"]["ethernets"]["mgmt1"]
    parsed_by_pykickstart(tree[STORAGE])


def test_a_server_without_a_management_port_gets_no_files() -> None:
    deployment = deployment_with(8, build={"management": {"host_ports": 0}})
    assert {file.path.split("/")[1] for file in install_files(deployment)} == {"control-1"}


def test_the_serial_console_is_the_kernels_own() -> None:
    tree = tree_of_deployment(deployment_with(8, console={"port": "ttyAMA0", "baud": 57_600}))
    assert 'bootloader --append="console=tty0 console=ttyAMA0,57600n8"' in tree[STORAGE]
    assert 'GRUB_CMDLINE_LINUX="console=tty0 console=ttyAMA0,57600n8 iommu=pt"' in tree[GPU]


def test_only_gpu_servers_keep_their_kernel_and_let_adapters_pass_through() -> None:
    tree = installer_tree(8)
    control = tree["install/control-1/user-data"]
    for words in ("iommu=pt", 'Unattended-Upgrade::Package-Blacklist { "linux-"; };'):
        assert words in tree[GPU]
        assert words not in control


@pytest.mark.parametrize("nodes", [4, 8, 16])
def test_pykickstart_reads_every_kickstart_file(nodes: int) -> None:
    deployment, tree = deployment_of(nodes), installer_tree(nodes)
    for server in deployment.storage:
        handler = parsed_by_pykickstart(tree[f"install/{server.name}.ks"])
        assert handler.ignoredisk.onlyuse == handler.clearpart.drives == ["nvme1n1", "nvme3n1"]
        assert {part.disk for part in handler.partition.partitions} == {"nvme1n1", "nvme3n1"}
        assert [(raid.mountpoint, raid.level, len(raid.members)) for raid in handler.raid.raidList] == [
            ("/boot/efi", "RAID1", 2),
            ("/boot", "RAID1", 2),
            ("pv.01", "RAID1", 2),
        ]
        assert [entry.hostname for entry in handler.network.network] == [server.names.admin_fqdn]
        assert handler.packages.environment == "minimal-environment"


@pytest.mark.parametrize("nodes", [4, 8, 16])
def test_yaml_keeps_what_looks_like_something_else_as_text(nodes: int) -> None:
    for server in (*deployment_of(nodes).clients, *deployment_of(nodes).control):
        data = autoinstall_of(installer_tree(nodes)[f"install/{server.name}/user-data"])
        port = data["network"]["ethernets"]["mgmt1"]
        assert port["match"]["macaddress"] == server.management[0].mac
        assert [disk["match"]["serial"] for disk in data["storage"]["config"] if disk["type"] == "disk"] == [
            f"*{serial}*" for serial in server.site.boot_drives.serials
        ]


def test_serials_of_digits_alone_stay_text() -> None:
    servers = servers_with(
        "gpu-0001", boot_drives={"serials": ["0123456", "1234e10"]}, macs={"mgmt1": "10:20:30:40:50:59"}
    )
    data = autoinstall_of(tree_of_deployment(deployment_with(8, servers=servers))[GPU])
    serials = [disk["match"]["serial"] for disk in data["storage"]["config"] if disk["type"] == "disk"]
    assert serials == ["*0123456*", "*1234e10*"]
    assert data["network"]["ethernets"]["mgmt1"]["match"]["macaddress"] == "10:20:30:40:50:59"


def scripts() -> dict[str, str]:
    """Return the scripts of a storage node and a GPU server."""
    bodies = re.findall(r"^%p(?:re|ost) [^\n]*\n(.*?)^%end$", installer_tree()[STORAGE], re.MULTILINE | re.DOTALL)
    data = autoinstall_of(installer_tree()[GPU])
    commands = [*data["early-commands"], *data["late-commands"]]
    return {f"script-{index}": body for index, body in enumerate([*bodies, *(command[-1] for command in commands)])}


@pytest.mark.parametrize("name", sorted(scripts()))
def test_bash_accepts_the_scripts(name: str) -> None:
    done = subprocess.run(["bash", "-n"], input=scripts()[name], text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_there_are_three_scripts_of_rhel_and_two_of_ubuntu() -> None:
    assert len(scripts()) == 5


@pytest.mark.skipif(shutil.which("cloud-init") is None, reason="cloud-init is not installed")
@pytest.mark.slow
def test_cloud_init_accepts_the_seed_and_what_it_leaves_to_first_boot(tmp_path: Path) -> None:
    seed, first_boot = tmp_path / "user-data", tmp_path / "first-boot"
    seed.write_text(installer_tree()[GPU], encoding="utf-8")
    user_data = yaml.safe_dump(autoinstall_of(installer_tree()[GPU])["user-data"])
    first_boot.write_text(f"#cloud-config\n{user_data}", encoding="utf-8")
    for path in (seed, first_boot):
        done = subprocess.run(
            ["cloud-init", "schema", "--config-file", str(path)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Valid" in done.stdout


@pytest.mark.slow
def test_256_nodes_are_written() -> None:
    deployment = deployment_of(256)
    assert len(deployment.servers) > 256
    tree = tree_of_deployment(deployment)
    assert len(tree) > 256
