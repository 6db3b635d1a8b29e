"""Modules for Storage Scale fail with the tool's own words and with what helps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mm_modules import call
from scale_racks import Rack

if TYPE_CHECKING:
    from pathlib import Path

Case = tuple[str, dict[str, Any], str, dict[str, Any], str, str, str]
NODES = [f"storage-00{number}-kv.kv.example" for number in range(1, 5)]
CLUSTER = "kvstore.kv.example"
MEMBERS = [
    {"daemon": node, "designation": "quorum-manager", "admin": node.replace("-kv.", "-adm.", 1)} for node in NODES
]
CREATE: dict[str, Any] = {"name": CLUSTER, "nodes": MEMBERS}
GROUP: dict[str, Any] = {"name": "rg1", "node_class": "nc1", "nodes": NODES}
SERVER = {
    "state": "configured",
    "node_class": "nc1",
    "drives": 16,
    "pagepool_bytes": 1 << 37,
    "max_block_bytes": 1 << 24,
}
INSPECT = {"state": "inspected", "node": NODES[1], "drives": 16}
SET = {"name": "vs1", "recovery_group": "rg1", "code": "4+2p", "block_size": "4m", "set_size": "95%",
       "checksum_granularity": "32k"}  # fmt: skip
SYSTEM = {"name": "kvfs", "vdisk_sets": ["vs1"], "mount_point": "/kvfs"}
FILESET = {"file_system": "kvfs", "name": "kvcache", "path": "/kvfs/kvcache", "inode_limit": 39221312,
           "preallocated_inodes": 1000000}  # fmt: skip


@pytest.fixture(scope="module")
def racks() -> dict[str, Rack]:
    """Give the racks that were built so far, by the step before which they stopped."""
    return {}


def drive(**fields: Any) -> dict[str, Any]:
    """Return what is wrong with the first drive of the second machine."""
    return {"drive": fields}


# step before which the rack stands, wrong with storage-002, module, arguments, what it says, what helps, machine
CASES: list[Case] = [
    ("cluster", {"leftover": "old"}, "mm_cluster", CREATE, "6027-1598", "mmdelnode", ""),
    ("cluster", {"ssh": False}, "mm_cluster", CREATE, "ssh: connect", "without a question", ""),
    ("cluster", {"reverse": "b.kv.example"}, "mm_cluster", CREATE, "the cluster keeps", "/etc/hosts", ""),
    ("cluster", {}, "mm_license", {"kind": "server", "accept": True, "nodes": NODES}, "6027-1382", "Run it on a", ""),
    ("licence", {}, "mm_cluster", {**CREATE, "name": "other"}, "already belong to", "mmdelnode", ""),
    ("licence", {}, "mm_license", {"kind": "server", "accept": False, "nodes": NODES}, "must be accepted", "", ""),
    ("licence", {}, "mm_license", {"kind": "server", "accept": True, "nodes": ["x"]}, "Incorrect node name x",
     "mmlscluster -Y", ""),
    ("licence", {}, "mm_state", {"nodes": NODES}, "not properly licensed", "designate licences", ""),
    ("configure", {"gpl": False}, "mm_state", {"nodes": NODES}, "mmfs26", "mmbuildgpl", ""),
    ("configure", {}, "mm_config", {"parameters": [{"parameter": "wrong", "value": "1"}]}, "Unknown attribute", "", ""),
    ("nodeclass", {}, "mm_config", {"parameters": [{"parameter": "maxblocksize", "value": "16M", "restart": True}]},
     "cannot be changed while GPFS is running", "mmvdisk server configure", ""),
    ("server-configure", drive(signature="LVM2_member"), "mmvdisk_server", INSPECT,
     "/dev/nvme0n1 (serial storage-002-D01) is already in use: LVM2_member", "wipefs", "storage-002"),
    ("server-configure", drive(write_cache=True), "mmvdisk_server", INSPECT, "write cache is enabled",
     "nvme set-feature", "storage-002"),
    ("server-configure", {}, "mmvdisk_server", {**INSPECT, "drives": 24}, "24 are planned",
     "data_drives of the Site",
     "storage-002"),
    ("server-configure", {}, "mmvdisk_server", {**INSPECT, "drives": 2, "serials": ["storage-002-D01", "S9"]},
     "missing: S9", "correct its serial", "storage-002"),
    ("slot-map", drive(slot=30), "mmvdisk_server", {"state": "mapped", "drives": 16, "slots": [1, 16]},
     "15 of 16 drives are mapped", "ecedrivemapping", "storage-002"),
    ("server-configure", drive(size_gb=1000), "mmvdisk_server", SERVER, "needs attention", "compare", ""),
    ("server-configure", {"daemon": False}, "mmvdisk_server", SERVER, "shows unavailable", "compare", ""),
    ("server-configure", {"memory_gib": 512}, "mmvdisk_server", SERVER, "same amount of memory", "DIMMs", ""),
    ("server-configure", {"gnr": False}, "mmvdisk_server", SERVER, "lacks the package gpfs.gnr", "Edition", ""),
    ("recovery-group", {}, "mmvdisk_server", {**SERVER, "pagepool_bytes": 1 << 30}, "an update never lowers it",
     "", ""),
    ("recovery-group", {"slot_map": 0}, "mmvdisk_recoverygroup", GROUP, "Slot location is missing", "ecedrivemapping",
     ""),
    ("recovery-group", drive(signature="pdisk of old"), "mmvdisk_recoverygroup", GROUP, "pdisk of old",
     "drive by drive", ""),
    ("recovery-group", {"running": {}}, "mmvdisk_recoverygroup", GROUP, "must be restarted", "one by one", ""),
    ("recovery-group", {"daemon": False}, "mmvdisk_recoverygroup", GROUP, "is not active", "", ""),
    ("recovery-group", {}, "mmvdisk_nodeclass", {"name": "nc1", "nodes": NODES[:3]}, "must be made anew", "", ""),
    ("vdisk-define", drive(state="dead"), "mmvdisk_recoverygroup", GROUP, "pdisk n002p001 is dead", "", ""),
    ("vdisk-define", {}, "mmvdisk_vdiskset", {**SET, "block_size": "16m"}, "6027-1887", "Plan a block size", ""),
    ("vdisk-define", {}, "mmvdisk_vdiskset", {**SET, "checksum_granularity": "8k"}, "checksum granularity", "32k", ""),
    ("vdisk-define", {}, "mmvdisk_vdiskset", {**SET, "set_size": "490T"}, "not enough space", "without redundancy", ""),
    ("vdisk-create", {}, "mmvdisk_vdiskset", {**SET, "code": "4+3p"}, "raidCode is 4+2p, not 4+3p", "", ""),
    ("vdisk-create", {}, "mmvdisk_filesystem", SYSTEM, "is not created", "", ""),
    ("mount", {}, "mmvdisk_filesystem", {**SYSTEM, "mount_point": "/other"}, "defaultMountPoint is /kvfs", "", ""),
    ("mount", {}, "mm_mount", {"file_system": "nofs", "nodes": NODES}, "6027-1388", "Create the file system", ""),
    ("mount", {"daemon": False}, "mm_mount", {"file_system": "kvfs", "nodes": NODES}, "6027-665", "quorum nodes", ""),
    ("mount", {}, "mm_fileset", FILESET, "is not mounted on this node", "", ""),
    ("quota", {}, "mm_fileset", {**FILESET, "path": "/kvfs/b"}, "is linked at /kvfs/kvcache, not /kvfs/b", "", ""),
    ("quota", {}, "mm_policy", {"file_system": "kvfs", "path": "/no/such"}, "Cannot read the rules", "", ""),
    ("quota", {"daemon": False}, "mm_health", {}, "storage-002-kv.kv.example is down", "", ""),
    ("quota", drive(state="failing"), "mm_health", {}, "pdisk n002p001 of storage-002-kv.kv.example is failing", "",
     ""),
    ("quota", drive(state="failing"), "mm_health", {}, "recovery group rg1 needs service", "", ""),
    ("quota", drive(state="failing"), "mm_health", {}, "DA1 of rg1: rebuild-1r", "", ""),
    ("quota", drive(state="failing"), "mm_state", {"state": "restarted", "nodes": NODES, "timeout": 0},
     "needs service", "", ""),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[f"{case[2]}-{case[4][:40]}" for case in CASES])
def test_failure(racks: dict[str, Rack], tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    step, wrong, module, args, said, helps, on = case
    if step not in racks:
        racks[step] = Rack(tmp_path_factory.mktemp("rack"), "compact")
        racks[step].build(step)
    rack = racks[step]
    before = rack.state
    with rack.machine("storage-002") as machine:
        fields = dict(wrong)
        machine["drives"][0].update(fields.pop("drive", {}))
        machine.update(fields)
    if module == "mm_state":
        args = {"timeout": 0, "poll": 0, **args}

    result = call(rack, module, on=on, **args)

    rack.put(before)
    assert result["failed"], result
    assert said in result["message"]
    assert helps in result["remedy"]
    assert bool(helps) == bool(result["remedy"])
    assert result["msg"].startswith(result["message"])


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Give the pauses that modules made; none is really made."""
    held: list[float] = []
    monkeypatch.setattr("ansible.module_utils.mm_task.time.sleep", held.append)
    return held


def test_a_lock_that_goes_away_is_waited_for(tmp_path: Path, pauses: list[float]) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("nodeclass")
    rack.store.plant({"command": "mmchconfig", "rc": 7, "stderr": "mmchconfig: 6027-1227 Locked.", "times": 2})

    result = call(rack, "mm_config", parameters=[{"parameter": "autoload", "value": "no"}])

    assert (result["failed"], result["changed"], pauses) == (False, True, [5, 15])


def test_a_command_that_hangs_on_a_question_is_ended(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.store.plant({"command": "mmcrcluster", "rc": 124, "stderr": ""})

    result = call(rack, "mm_cluster", **CREATE, timeout=60)

    assert result["message"] == "mmcrcluster did not end within 60 s: ssh may wait for an answer"
    assert "without a question" in result["remedy"]


def test_a_lock_that_stays_is_told_with_its_command(tmp_path: Path, pauses: list[float]) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("nodeclass")
    rack.store.plant({"command": "mmchconfig", "rc": 7, "stderr": "mmchconfig: 6027-1227 The file is locked."})

    result = call(rack, "mm_config", parameters=[{"parameter": "autoload", "value": "no"}])

    assert (result["rc"], result["command"]) == (7, "mmchconfig autoload=no -i")
    assert "Another mm command runs" in result["remedy"]
    assert len(pauses) == 3


def test_a_group_that_never_got_its_root_log_is_told(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("recovery-group")
    create = "mmvdisk recoverygroup create --recovery-group rg1"
    rack.store.plant({"command": create, "crash_after": 0, "times": 1})
    rack.mm(*create.split(), "--node-class", "nc1")

    result = call(rack, "mmvdisk_recoverygroup", **GROUP)

    assert "ROOTLOGHOME not found" in result["message"]
    assert "half made" in result["remedy"]


def test_a_column_that_another_release_lacks_fails_loudly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("nodeclass")
    told = rack.mm

    def renamed(*argv: str, node: str = "") -> tuple[int, str, str]:
        code, out, err = told(*argv, node=node)
        return code, out.replace(":daemonNodeName:", ":nodeNameOfDaemon:"), err

    monkeypatch.setattr(rack, "mm", renamed)

    message = call(rack, "mm_health")["message"]

    assert "mmlscluster: section 'clusterNode' has no column daemonNodeName" in message
    assert "nodeNameOfDaemon" in message


def test_commands_that_are_not_there_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rack = Rack(tmp_path, "compact")

    def missing(*_argv: str, **_more: str) -> tuple[int, str, str]:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(rack, "mm", missing)

    assert call(rack, "mm_health")["message"] == "mmgetstate is not installed: No such file or directory"
    assert not call(rack, "mm_cluster", check=True, **CREATE)["failed"]


def test_a_limit_tells_a_command_that_is_not_there(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.store.plant({"command": "mm", "rc": 127, "stderr": "timeout: failed to run command"})

    assert call(rack, "mm_cluster", **CREATE)["message"] == "mmlscluster is not installed"
    assert call(rack, "mm_cluster", check=True, **CREATE)["changed"]
