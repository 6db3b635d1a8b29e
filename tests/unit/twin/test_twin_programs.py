"""Programs of simulated nodes: what is set is shown afterwards, what the real ones refuse is refused."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from sites import deployment_of

from kvplan.site.render import rendered_tree
from kvplan.twin.programs import contents, installed
from kvplan.twin.programs.node import commands, kernels, keyfiles, neighbours, starting
from kvplan.twin.programs.node.place import FACTS, ROOT, SHARED, Node, Refused
from kvplan.twin.programs.shipping import LIBRARY, library, script

if TYPE_CHECKING:
    from pathlib import Path

    from kvplan.twin.rack.plan import Face

STORAGE, GPU = "storage-001", "gpu-0001"
TREE = rendered_tree(deployment_of(8))


def files_of(name: str) -> dict[str, str]:
    """Return what lies on the disk of a server."""
    deployment = deployment_of(8)
    return installed(deployment, next(server for server in deployment.servers if server.name == name))


class Bench:
    """A node below a directory, whose other programs are recorded, but for `ip`, which has the ports as delivered."""

    def __init__(self, root: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        for path, text in files_of(name).items():
            self.write(path, text)
        monkeypatch.setenv(ROOT, str(root))
        monkeypatch.setattr(Node, "run", self._run)
        self.ran: list[str] = []
        self.addresses: dict[str, list[str]] = {"lo": ["127.0.0.1/8"]}
        for port in self.facts["ports"]:
            self.addresses[port["name"]] = []

    @property
    def facts(self) -> dict[str, Any]:
        """What the machine was delivered as."""
        return dict(json.loads((self.root / FACTS.lstrip("/")).read_text(encoding="utf-8")))

    def write(self, path: str, text: str, mode: int = 0o600) -> None:
        """Write a file of the node."""
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        place.chmod(mode)

    def _run(self, *argv: str, stdin: str = "", check: bool = True) -> str:  # noqa: ARG002 - as the real one
        """Stand for a program of the node."""
        if argv[:2] == ("ip", "-json"):
            macs = {port["name"]: port["mac"] for port in self.facts["ports"]}
            rows = [
                {"ifname": name, "address": macs.get(name, ""), "addr_info": [_address(text) for text in held]}
                for name, held in self.addresses.items()
            ]
            return json.dumps(rows)
        self.ran += stdin.splitlines() if stdin else [" ".join(argv)]
        for line in stdin.splitlines():
            self._obey(line.split())
        return ""

    def _obey(self, words: list[str]) -> None:
        """Keep the addresses that a line of `ip` sets."""
        match words:
            case ["address", "replace", address, "dev", device]:
                self.addresses[device].append(address)
            case ["address", "del", address, "dev", device]:
                self.addresses[device].remove(address)
            case ["address", "flush", "dev", device, *_]:
                self.addresses[device].clear()


def _address(text: str) -> dict[str, Any]:
    """Write an address as `ip -json` does."""
    local, _, length = text.partition("/")
    return {"local": local, "prefixlen": int(length), "scope": "global"}


@pytest.fixture
def storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, STORAGE, monkeypatch)


def lay_network(bench: Bench) -> None:
    """Lay the profiles of the tree, as the role does, in the place of the installer's."""
    (bench.root / "etc/NetworkManager/system-connections/eno1.nmconnection").unlink()
    for path, text in TREE.items():
        if path.startswith(f"hosts/{STORAGE}/etc/NetworkManager/"):
            bench.write(path.removeprefix(f"hosts/{STORAGE}"), text)


def test_the_installer_s_profile_is_up_until_another_takes_its_place(storage: Bench) -> None:
    assert commands.main(["NetworkManager"]) == 0
    assert storage.addresses["mgmt1"] == ["172.24.64.9/14"]
    assert storage.addresses["storage1p0"] == []

    lay_network(storage)
    assert storage.addresses["storage1p0"] == []  # nobody told it yet
    assert commands.main(["nmcli", "connection", "reload"]) == 0

    assert storage.addresses["mgmt1"] == ["172.24.64.9/14"]
    assert storage.addresses["lo"] == ["127.0.0.1/8", "10.72.16.1/32", "::1/128"]
    assert storage.addresses["storage1p0"] == ["10.66.0.1/31"]
    assert "link set storage1p0 mtu 9000 up" in storage.ran
    assert "rule add priority 102 from 10.66.0.1/32 table 102" in storage.ran
    assert "route replace 10.72.0.0/19 via 10.66.0.0 dev storage1p0 proto static table 102" in storage.ran
    assert not any("default" in line and "storage1p0" in line for line in storage.ran)


def test_bringing_a_connection_up_again_leaves_its_addresses_alone(storage: Bench) -> None:
    lay_network(storage)
    commands.main(["NetworkManager"])
    storage.ran.clear()

    assert commands.main(["nmcli", "connection", "up", "mgmt1"]) == 0

    assert not any(line.startswith("address") for line in storage.ran)


def test_a_connection_that_goes_takes_its_rules_along(storage: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    lay_network(storage)
    commands.main(["NetworkManager"])
    storage.ran.clear()

    assert commands.main(["nmcli", "connection", "down", "storage1p0"]) == 0
    assert commands.main(["nmcli", "device", "status"]) == 0

    assert "rule del priority 102 from 10.66.0.1/32 table 102" in storage.ran
    assert storage.addresses["storage1p0"] == []
    shown = capsys.readouterr().out
    assert re.search(r"(?m)^storage1p0 +ethernet +disconnected +--$", shown)
    assert re.search(r"(?m)^mgmt1 +ethernet +connected +mgmt1$", shown)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["connection", "up", "none"], 10, "unknown connection 'none'"),
        (["connection", "up", "elsewhere"], 4, "No suitable device found"),
        (["connection", "down", "elsewhere"], 10, "not an active connection"),
        (["connection", "up", "readable"], 10, "unknown connection 'readable'"),
        (["connection", "sideways"], 2, "not understood"),
    ],
)
def test_network_manager_refuses(
    storage: Bench, capsys: pytest.CaptureFixture[str], words: list[str], code: int, said: str
) -> None:
    directory = "etc/NetworkManager/system-connections"
    other = "[connection]\nid={}\ntype=ethernet\n[ethernet]\nmac-address=02:ff:ff:ff:ff:ff\n"
    storage.write(f"{directory}/elsewhere.nmconnection", other.format("elsewhere"))
    storage.write(f"{directory}/readable.nmconnection", other.format("readable"), 0o644)
    commands.main(["NetworkManager"])

    assert commands.main(["nmcli", *words]) == code
    assert said in capsys.readouterr().err


def test_nothing_is_done_while_network_manager_does_not_run(storage: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.main(["nmcli", "connection", "reload"]) == 8
    assert "not running" in capsys.readouterr().err
    assert storage.ran == []


def test_every_profile_of_the_tree_is_understood() -> None:
    texts = {path: text for path, text in TREE.items() if path.endswith(".nmconnection")}
    assert texts
    for path, text in texts.items():
        profile = keyfiles.parsed(text, path)
        assert profile.id == path.rpartition("/")[2].removesuffix(".nmconnection")
        assert keyfiles.addresses(profile)


def test_a_setting_of_an_adapter_holds_after_new_power_only(storage: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    pci = next(port["pci"] for port in storage.facts["ports"] if port["name"] == "client1p0")

    def row() -> list[str]:
        assert commands.main(["mlxconfig", "-d", pci, "-e", "query"]) == 0
        line = next(line for line in capsys.readouterr().out.splitlines() if "SRIOV_EN" in line)
        return line.replace("*", "").split()[-2:]

    assert row() == ["False(0)", "False(0)"]
    assert commands.main(["mlxconfig", "--yes", "-d", pci, "set", "SRIOV_EN=1"]) == 0
    capsys.readouterr()
    assert row() == ["False(0)", "True(1)"]

    storage.write("proc/1/environ", "A=1\0KVPLAN_POWERED=1\0")
    starting.power(Node())
    assert row() == ["True(1)", "True(1)"]
    commands.main(["mlxconfig", "--yes", "-d", pci, "set", "SRIOV_EN=False"])
    capsys.readouterr()
    starting.power(Node())  # the same power: a restart
    assert row() == ["True(1)", "False(0)"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-d", "0000:17:00.0", "set", "NO_SUCH=1"], "Unknown Parameter: NO_SUCH"),
        (["-d", "0000:17:00.0", "set", "LINK_TYPE_P1=7"], "Failed to parse parameter value"),
        (["-d", "0000:99:00.0", "query"], "Failed to open device"),
        (["query"], "Device is not specified"),
    ],
)
def test_mlxconfig_refuses(storage: Bench, capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    assert commands.main(["mlxconfig", *words]) == 3
    assert said in capsys.readouterr().err
    assert not (storage.root / SHARED.lstrip("/")).exists()


def test_an_adapter_may_be_delivered_otherwise(storage: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    storage.write(f"{SHARED}/adapters/{STORAGE}.json", json.dumps({"client1": {"now": {"SRIOV_EN": 1}}}))

    commands.main(["mlxconfig", "-d", "0000:17:00.1", "query", "SRIOV_EN"])

    assert "True(1)" in capsys.readouterr().out


def test_the_kernel_that_starts_is_the_one_that_was_set(storage: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    planned = "5.14.0-570.12.1.el9_6.x86_64"
    for release in ("5.14.0-570.9.1.el9_6.x86_64", "5.14.0-611.1.1.el9_7.x86_64"):
        storage.write(f"/boot/vmlinuz-{release}", "")

    commands.main(["grubby", "--default-kernel"])
    assert "611.1.1" in capsys.readouterr().out
    assert commands.main(["grubby", f"--set-default=/boot/vmlinuz-{planned}"]) == 0
    assert commands.main(["grubby", "--set-default=/boot/vmlinuz-1"]) == 1
    kernels.start(Node())

    assert kernels.default(Node()) == planned
    assert (storage.root / "run/kvplan-twin/kernel").read_text(encoding="utf-8") == planned


def test_a_driver_that_was_installed_is_loaded_at_the_next_start(
    storage: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    kernels.start(Node())
    for path, held in contents("rhel")["doca-ofed"].files.items():
        storage.write(path, str(held))

    assert commands.main(["modinfo", "-F", "srcversion", "mlx5_core"]) == 0
    found = capsys.readouterr().out.strip()
    assert Node().text(kernels.LOADED) == "inbox" != found
    kernels.start(Node())
    assert Node().text(kernels.LOADED) == found


def test_tuned_takes_profiles_that_it_has(storage: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.main(["tuned-adm", "active"]) == 2
    commands.main(["tuned", "--no-wait"])
    assert commands.main(["tuned-adm", "profile", "no-such"]) == 1
    assert commands.main(["tuned-adm", "profile", "throughput-performance"]) == 0
    capsys.readouterr()

    assert commands.main(["tuned-adm", "active"]) == 0
    assert capsys.readouterr().out == "Current active profile: throughput-performance\n"


def test_chrony_follows_the_servers_it_read_as_long_as_one_answers(
    storage: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    assert commands.main(["chronyc", "waitsync", "1", "0", "0", "0"]) == 1
    storage.write("/etc/chrony.conf", TREE["hosts/_common/storage/etc/chrony.conf"], 0o644)
    commands.main(["chronyd", "--no-wait"])
    running = json.loads((storage.root / "run/chrony/chronyd.json").read_text(encoding="utf-8"))
    (storage.root / f"proc/{running['pid']}").mkdir(parents=True)

    assert commands.main(["chronyc", "waitsync", "1", "0", "0", "0"]) == 0
    assert "refid: AC180003" in capsys.readouterr().out
    storage.write(f"{SHARED}/faults/silent-time-servers.json", json.dumps({STORAGE: running["servers"]}))
    assert commands.main(["chronyc", "-n", "waitsync", "2", "0", "0", "0"]) == 1
    storage.write("/etc/chrony.conf", "sever 10.0.0.1\n", 0o644)
    assert commands.main(["chronyd", "--no-wait"]) == 1
    assert "Invalid directive at line 1" in capsys.readouterr().err


def test_a_neighbour_is_told_by_the_name_of_the_configuration(storage: Bench) -> None:
    for path, text in TREE.items():
        if path.startswith(f"hosts/{STORAGE}/etc/lldpd.d/"):
            storage.write(path.removeprefix(f"hosts/{STORAGE}"), text)

    data = neighbours.frame("02:00:01:00:01:00", "client1p0", neighbours.name_of(Node()))

    assert data[:6] == bytes.fromhex("0180c200000e")
    assert neighbours.heard(data) == {"name": STORAGE, "port": "client1p0"}


@pytest.mark.parametrize("name", [STORAGE, GPU, "control-1"])
def test_a_disk_holds_what_the_installer_writes_down(name: str) -> None:
    deployment = deployment_of(8)
    held = files_of(name)
    answers = TREE[f"install/{name}.ks" if name == STORAGE else f"install/{name}/user-data"]

    for line in held["/etc/kvplan/installed"].splitlines():
        assert line in answers
    assert f"plan_sha256={deployment.plan_sha256}" in held["/etc/kvplan/installed"]
    assert ("/usr/bin/nmcli" in held) == (name == STORAGE)
    assert ("/etc/netplan/50-cloud-init.yaml" in held) == (name != STORAGE)


def test_adapters_are_delivered_as_planned() -> None:
    for name, role in ((STORAGE, "storage"), (GPU, "client")):
        for adapter, delivered in json.loads(files_of(name)[FACTS])["adapters"].items():
            wanted = TREE[f"hosts/_common/{role}/etc/kv-nic/{adapter}.conf"]
            assert {f"{key}={value}" for key, value in delivered.items()} == {
                line for line in wanted.splitlines() if not line.startswith("#")
            }


@pytest.mark.parametrize("face", ["rhel", "ubuntu"])
def test_every_script_names_a_program_that_there_is(face: Face) -> None:
    texts = [str(text) for held in contents(face).values() for text in held.files.values()]
    texts += files_of(STORAGE).values() if face == "rhel" else files_of(GPU).values()
    named = {match for text in texts for match in re.findall(rf"(?m)^exec .* {LIBRARY} (\S+)", text)}

    assert named
    assert named <= commands.PROGRAMS.keys()


def test_what_is_shipped_runs_without_kvplan(tmp_path: Path) -> None:
    for path, text in library().items():
        place = tmp_path / path.removeprefix(LIBRARY).lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    assert script("nmcli").startswith("#!/bin/sh\n")

    done = subprocess.run(
        [sys.executable, "-I", "-S", str(tmp_path), "nmcli", "connection", "reload"],
        env={ROOT: str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (8, "Error: NetworkManager is not running.\n")


def test_a_program_that_fails_is_named(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"^false: 1$"):
        Node(tmp_path).run("false")
    assert Node(tmp_path).run("false", check=False) == ""
