"""Files of hosts in the hands of the tools that read them: systemd, netplan, and bash with stubs of other programs."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from sites import deployment_of

from kvplan.site.hostnet import host_files
from kvplan.site.tree import File, tree_of

if TYPE_CHECKING:
    from pathlib import Path

SBIN = "hosts/_common/storage/usr/local/sbin"
PORT, PCI = "client1p0", "0000:81:00.0"
ACCELERATION = "roce_adp_retrans_en=0x0,roce_tx_window_en=0x0,roce_slow_restart_en=0x0"
STUB = '#!/bin/bash\nprintf "%s\\n" "${0##*/} $*" >>"$KV_ROOT/calls"\n'


@pytest.fixture(scope="module")
def tree() -> dict[str, File]:
    return tree_of(host_files(deployment_of(8)))


@pytest.fixture
def host(tree: dict[str, File], tmp_path: Path) -> Path:
    """Lay out a root with one port, and stubs of the programs that would drive it."""
    device = tmp_path / "sys/devices" / PCI
    (device / "infiniband/rocep129s0f0").mkdir(parents=True)
    net = tmp_path / "sys/class/net" / PORT
    for folder in ("ecn/roce_np/enable", "ecn/roce_rp/enable"):
        (net / folder).mkdir(parents=True)
    (net / "device").symlink_to(device)
    (tmp_path / f"sys/class/infiniband/mlx5_{PORT}/tc/1").mkdir(parents=True)
    for folder, name in (("kv-roce", f"{PORT}.env"), ("kv-nic", "client1.conf")):
        source = "_common/storage" if folder == "kv-nic" else "storage-001"
        (tmp_path / "etc" / folder).mkdir(parents=True)
        (tmp_path / "etc" / folder / name).write_text(tree[f"hosts/{source}/etc/{folder}/{name}"].text)
    for name in ("udevadm", "rdma", "mlnx_qos", "cma_roce_tos", "mlxreg", "setpci", "sleep"):
        _stub(tmp_path, name, STUB)
    return tmp_path


def _stub(root: Path, name: str, text: str) -> None:
    path = root / "stubs" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def _run(tree: dict[str, File], host: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{host / 'stubs'}:/usr/bin:/bin", "KV_ROOT": str(host)}
    command = ["bash", "-c", tree[f"{SBIN}/{script}"].text, script, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("script", ["kv-roce", "kv-nic-check"])
def test_scripts_are_bash(tree: dict[str, File], script: str) -> None:
    assert subprocess.run(["bash", "-n"], input=tree[f"{SBIN}/{script}"].text, text=True, check=True).returncode == 0


def test_roce_is_set_up_as_the_values_say(tree: dict[str, File], host: Path) -> None:
    done = _run(tree, host, "kv-roce", PORT)
    assert done.returncode == 0, done.stderr
    assert (host / "calls").read_text().splitlines() == [
        "udevadm settle --timeout=30",
        "rdma dev set rocep129s0f0 name mlx5_client1p0",
        "mlnx_qos -i client1p0 --trust=dscp --pfc=0,0,0,1,0,0,0,0 --cable_len=3",
        "cma_roce_tos -d mlx5_client1p0 -t 106",
        f"mlxreg -d {PCI} --reg_name ROCE_ACCL --set {ACCELERATION} --yes",
        f"setpci -s {PCI} CAP_EXP+8.w=5000:7000",
    ]
    net = host / "sys/class/net" / PORT / "ecn"
    written = ("roce_np/enable/3", "roce_rp/enable/3", "roce_np/cnp_dscp", "roce_np/cnp_802p_prio")
    assert [(net / name).read_text() for name in written] == ["1\n", "1\n", "48\n", "6\n"]
    assert (host / "sys/class/infiniband/mlx5_client1p0/tc/1/traffic_class").read_text() == "106\n"


def test_a_named_rdma_device_is_not_named_again(tree: dict[str, File], host: Path) -> None:
    devices = host / "sys/devices" / PCI / "infiniband"
    (devices / "rocep129s0f0").rename(devices / "mlx5_client1p0")
    assert _run(tree, host, "kv-roce", PORT).returncode == 0
    assert "rdma " not in (host / "calls").read_text()


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        ("etc/kv-roce/client1p0.env", "is missing"),
        ("sys/class/net/client1p0", "there is no such interface"),
        ("sys/devices/0000:81:00.0/infiniband", "has no RDMA device"),
        ("sys/class/net/client1p0/ecn/roce_rp/enable", "cannot write 1 to"),
    ],
)
def test_roce_says_what_is_missing(tree: dict[str, File], host: Path, broken: str, text: str) -> None:
    (host / broken).rename(host / "aside")
    done = _run(tree, host, "kv-roce", PORT)
    assert done.returncode == 1
    assert text in done.stderr


def test_roce_stops_when_a_program_fails(tree: dict[str, File], host: Path) -> None:
    _stub(host, "mlnx_qos", "#!/bin/bash\nexit 9\n")
    assert _run(tree, host, "kv-roce", PORT).returncode == 9
    assert "cma_roce_tos" not in (host / "calls").read_text()


def _answer(host: Path, **changed: str) -> None:
    """Let mlxconfig answer with the wanted values, but for those changed: `current next`, or empty for none."""
    wanted = dict(
        line.split("=") for line in (host / "etc/kv-nic/client1.conf").read_text().splitlines() if line[:1] != "#"
    )
    rows = {key: f"{value} NAME({value})" for key, value in wanted.items()} | changed
    table = "".join(f"*       {key}    DEFAULT(0)    {row}\n" for key, row in rows.items() if row)
    head = f"Device #1:\n----------\nDevice: {PCI}\n\nConfigurations:   Default  Current  Next Boot\n"
    _stub(host, "mlxconfig", f'{STUB}cat <<"END"\n{head}{table}END\n')


@pytest.mark.parametrize(
    ("changed", "code", "text"),
    [
        ({}, 0, "all adapters are as wanted"),
        ({"LINK_TYPE_P1": "IB(1) IB(1)"}, 1, f"mlxconfig -d {PCI} set LINK_TYPE_P1=2"),
        ({"INTERNAL_CPU_OFFLOAD_ENGINE": "ENABLED(0) DISABLED(1)"}, 2, "a full power cycle is due"),
        ({"CNP_DSCP_P2": ""}, 3, "CNP_DSCP_P2 is not known"),
        ({"LINK_TYPE_P1": "1 1", "SRIOV_EN": "True(1) False(0)"}, 1, "SRIOV_EN becomes False(0) after a power cycle"),
        ({"SRIOV_EN": "", "LINK_TYPE_P1": "1 1"}, 3, "set LINK_TYPE_P1=2"),
    ],
)
def test_adapters_are_compared(
    tree: dict[str, File], host: Path, changed: dict[str, str], code: int, text: str
) -> None:
    _answer(host, **changed)
    done = _run(tree, host, "kv-nic-check")
    assert (done.returncode, done.stderr) == (code, "")
    assert text in done.stdout
    assert (host / "calls").read_text() == f"mlxconfig -d {PCI} -e query\n"


def test_an_adapter_that_does_not_answer_cannot_be_judged(tree: dict[str, File], host: Path) -> None:
    _stub(host, "mlxconfig", "#!/bin/bash\nexit 1\n")
    done = _run(tree, host, "kv-nic-check", "client1", "storage1")
    assert done.returncode == 3
    assert done.stdout.splitlines() == [
        f"client1p0: mlxconfig cannot read {PCI}",
        "storage1: no port of it is there",
    ]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not here")
def test_systemd_takes_the_units(tree: dict[str, File], tmp_path: Path) -> None:
    common = "hosts/_common/storage/etc/systemd/system"
    unit = tree[f"{common}/kv-roce@.service"].text
    path = tmp_path / "kv-roce@client1p0.service"
    path.write_text(unit.replace("/usr/local/sbin/kv-roce", "/bin/true"))
    frr = tmp_path / "frr.service"
    drop_in = tree[f"{common}/frr.service.d/kv.conf"].text
    # as FRR's own unit has it: in front of the network, so that what it waits for must not stand behind it
    own = "[Unit]\nWants=network.target\nAfter=network-pre.target\nBefore=network.target\n"
    frr.write_text(f"{own}{drop_in}\n[Service]\nExecStart=/bin/true\n")
    for name, order in (("", "Before=network.target"), ("-wait-online", "Before=network-online.target")):
        manager = tmp_path / f"NetworkManager{name}.service"
        manager.write_text(f"[Unit]\n{order}\n[Service]\nExecStart=/bin/true\n")
    done = subprocess.run(
        ["systemd-analyze", "verify", path, frr],
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("netplan"), reason="netplan is not here")
def test_netplan_takes_its_files(tree: dict[str, File], tmp_path: Path) -> None:
    path = tmp_path / "etc/netplan/90-kv.yaml"
    path.parent.mkdir(parents=True)
    path.touch(0o600)
    for server in ("control-1", "gpu-0001", "gpu-0004"):
        path.write_text(tree[f"hosts/{server}/etc/netplan/90-kv.yaml"].text)
        command = ["netplan", "generate", "--root-dir", str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    made = tmp_path / "run/systemd/network"
    leg = (made / "10-netplan-nic1p0.network").read_text()
    assert "Address=10.68.0.49/31" in leg
    assert "From=10.68.0.49/32\nTable=101" in leg
    assert "Name=mgmt1" in (made / "10-netplan-mgmt1.link").read_text()


@pytest.mark.skipif(not shutil.which("vtysh"), reason="FRR is not here")
@pytest.mark.parametrize("server", ["storage-001", "gpu-0001"])
def test_frr_takes_its_configuration(tree: dict[str, File], tmp_path: Path, server: str) -> None:
    path = tmp_path / "frr.conf"
    path.write_text(tree[f"hosts/{server}/etc/frr/frr.conf"].text)
    done = subprocess.run(["vtysh", "-C", "-f", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not here")
@pytest.mark.parametrize("script", ["kv-roce", "kv-nic-check"])
def test_shellcheck_has_nothing_to_say(tree: dict[str, File], script: str) -> None:
    text = tree[f"{SBIN}/{script}"].text
    done = subprocess.run(["shellcheck", "-"], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
