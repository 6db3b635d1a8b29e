"""The rendered steps, run one after the other on simulated machines: from nothing to a mounted file system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scale_racks import GPFS, Rack

from kvplan.twin.scale.world import machine, power_off, power_on, reinstall

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module", params=["compact", "reference", "joined"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Rack:
    """Give a rack on which every step ran."""
    rack = Rack(tmp_path_factory.mktemp("rack"), request.param)
    rack.build()
    return rack


def test_every_machine_has_the_file_system_mounted(built: Rack) -> None:
    held = built.state["machines"].values()

    assert all(each["daemon"] and each["mounts"] == ["kvfs"] for each in held)


def test_log_groups_are_twice_the_servers_and_one(built: Rack) -> None:
    out = built.ok("mmvdisk", "recoverygroup", "list", "--recovery-group", "rg1", "--log-group", "-Y")

    assert len(out.splitlines()) - 1 == 2 * len(built.storage) + 1


def test_what_was_stored_is_what_runs(built: Rack) -> None:
    out = built.ok("mmdiag", "--config", node=built.storage[1]["name"])

    assert " ! maxblocksize 16777216" in out
    assert " ! enforceFilesetQuotaOnRoot 1" in out


def test_every_reading_of_the_steps_works(built: Rack) -> None:
    for step in built.steps():
        for argv in (argv for argv in step["reads"] if argv[0].startswith(GPFS)):
            for node in built.where(step):
                assert built.ok(*argv, node=node)


def test_capacity_is_near_that_of_the_plan(built: Rack) -> None:
    total = [line for line in built.ok("mmdf", "kvfs", "-Y").splitlines() if line.startswith("mmdf:fsTotal:0")]
    data, parity = (4, 2) if len(built.storage) == 4 else (8, 2)

    usable = int(total[0].split(":")[6]) * 1024
    raw = len(built.storage) * 16 * 7680 * 10**9
    assert 0.85 < usable / (raw * data / (data + parity)) < 1


def test_policy_steps_run_on_the_smaller_rack(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build()

    for step in rack.steps("policy/install.yaml"):
        rack.do(step)

    assert "kv-evict" in rack.ok("mmlscallback", "kv-evict", "-Y")
    assert "RULE 'kv-evict' DELETE" in rack.ok("mmlspolicy", "kvfs", "-L")
    assert "Chose to delete" in rack.ok(
        "mmapplypolicy", "kvfs", "-P", "/etc/kvplan/scale/policy/evict.policy", "-I", "test", "-N", "kvservers"
    )


def test_a_plan_of_more_nodes_grows_the_group(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build()
    fresh = machine("storage-005", ["storage-005-kv.kv.example"], "10.0.0.5", 16)
    with rack.store.changed() as state:
        state["machines"]["storage-005"] = fresh
    node = "storage-005-kv.kv.example"

    rack.ok("mmaddnode", "-N", node)
    rack.ok("mmchlicense", "server", "--accept", "-N", node)
    rack.ok("mmchnodeclass", "kvservers", "add", "-N", node)
    rack.ok("ecedrivemapping", "--mode", "nvme", "--slotrange", "1", "16", "--force", node="storage-005")
    rack.ok("mmstartup", "-N", node)
    rack.ok("mmvdisk", "server", "configure", "-N", node, "--pagepool", "137438953472", "--recycle", "one")
    rack.ok("mmvdisk", "recoverygroup", "add", "--recovery-group", "rg1", "-N", node)
    assert "not complete" in rack.refused("mmvdisk", "recoverygroup", "add", "--recovery-group", "rg1", "-N", node)
    rack.ok("mmvdisk", "recoverygroup", "add", "--recovery-group", "rg1", "--complete-node-add")

    listed = rack.ok("mmvdisk", "recoverygroup", "list", "--recovery-group", "rg1", "--log-group", "-Y")
    assert len(listed.splitlines()) - 1 == 11
    assert "rebalance" in rack.ok(
        "mmvdisk", "recoverygroup", "list", "--recovery-group", "rg1", "--declustered-array", "-Y"
    )


def test_quorum_is_lost_and_found(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("nodeclass")
    quorum = [node["machine"] for node in rack.state["clusters"]["kvstore.kv.example"]["nodes"] if node["quorum"]]

    with rack.store.changed() as state:
        for name in quorum[1:]:
            power_off(state, name)
    assert ":arbitrating:" in rack.ok("mmgetstate", "-Y")
    assert ":unknown:" in rack.ok("mmgetstate", "-a", "-Y")
    with rack.store.changed() as state:
        for name in quorum[1:]:
            power_on(state, name)
    assert ":arbitrating:" not in rack.ok("mmgetstate", "-a", "-Y")


def test_less_than_half_is_no_quorum(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "reference")
    rack.build("nodeclass")
    quorum = [node["machine"] for node in rack.state["clusters"]["kvstore.kv.example"]["nodes"] if node["quorum"]]

    with rack.store.changed() as state:
        for name in quorum[-4:]:
            power_off(state, name)

    assert len(quorum) == 7
    assert ":active:" not in rack.ok("mmgetstate", "-a", "-Y")


def test_what_is_set_for_a_node_beats_its_class_and_that_beats_all(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("nodeclass")
    for target, value in (("", "1"), ("kvservers", "2"), ("storage-002-kv.kv.example", "3")):
        rack.ok("mmchconfig", f"maxMBpS={value}", *(["-N", target] if target else []))
    rack.ok("mmshutdown", "-a")
    rack.ok("mmstartup", "-a")

    assert " ! maxMBpS 3" in rack.ok("mmdiag", "--config", node="storage-002")
    assert " ! maxMBpS 2" in rack.ok("mmdiag", "--config", node="storage-003")


def test_a_node_that_was_reinstalled_must_first_be_taken_out(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("nodeclass")
    name = rack.storage[3]["name"]
    with rack.store.changed() as state:
        reinstall(state, name)

    assert "6027-1382" in rack.refused("mmlscluster", "-Y", node=name)
    assert "already belong" in rack.refused("mmaddnode", "-N", f"{name}-kv.kv.example")
    rack.ok("mmdelnode", "-N", f"{name}-kv.kv.example")
    rack.ok("mmaddnode", "-N", f"{name}-kv.kv.example")


def test_a_machine_that_dies_leaves_a_group_half_made(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("recovery-group")
    create = ("mmvdisk", "recoverygroup", "create", "--recovery-group", "rg1", "--node-class", "nc1")
    rack.store.plant({"command": " ".join(create), "crash_after": 0, "times": 1})

    assert rack.mm(*create)[0] == 137
    delete = ("mmvdisk", "recoverygroup", "delete", "--recovery-group", "rg1", "--confirm")
    assert "ROOTLOGHOME not found" in rack.refused(*delete)
    assert "already exists" in rack.refused(*create)
    rack.ok(*delete, "-p")
    assert "already in use: pdisk of rg1 found" in rack.refused(*create)
    rack.ok(*create, "-v", "no")


def test_logs_that_were_cut_short_are_completed(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("recovery-group")
    create = ("mmvdisk", "recoverygroup", "create", "--recovery-group", "rg1", "--node-class", "nc1")
    rack.store.plant({"command": " ".join(create), "crash_after": 4, "times": 1})
    logs = ("mmvdisk", "recoverygroup", "list", "--recovery-group", "rg1", "--log-group", "-Y")

    assert rack.mm(*create)[0] == 137
    assert 1 < len(rack.ok(*logs).splitlines()) - 1 < 9
    rack.ok("mmvdisk", "recoverygroup", "create", "--complete-log-format")
    assert len(rack.ok(*logs).splitlines()) - 1 == 9


def test_everything_can_be_torn_down_in_order(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("fileset")
    vdisk = ("mmvdisk", "vdiskset")

    assert "in use by file system" in rack.refused(*vdisk, "delete", "--vdisk-set", "vs1")
    assert "is mounted" in rack.refused("mmvdisk", "filesystem", "delete", "--file-system", "kvfs")
    rack.ok("mmumount", "kvfs", "-a")
    rack.ok("mmvdisk", "filesystem", "delete", "--file-system", "kvfs")
    rack.ok(*vdisk, "delete", "--vdisk-set", "vs1")
    group = ("mmvdisk", "recoverygroup", "delete", "--recovery-group", "rg1", "--confirm")
    assert "is in use by vdisk set 'vs1'" in rack.refused(*group)
    rack.ok(*vdisk, "undefine", "--vdisk-set", "vs1", "--confirm")
    assert "must be confirmed" in rack.refused(*group[:-1])
    assert "in use by recovery group" in rack.refused("mmvdisk", "server", "unconfigure", "--node-class", "nc1")
    rack.ok(*group)
    assert "unconfigure" in rack.refused("mmvdisk", "nodeclass", "delete", "--node-class", "nc1")
    rack.ok("mmvdisk", "server", "unconfigure", "--node-class", "nc1")
    rack.ok("mmvdisk", "nodeclass", "delete", "--node-class", "nc1")


def test_columns_follow_the_release(tmp_path: Path) -> None:
    older, newer = Rack(tmp_path / "old", "compact", "5.1.9.0"), Rack(tmp_path / "new", "compact")
    for rack in (older, newer):
        rack.build("nodeclass")

    assert "daemonNodeName" not in older.ok("mmgetstate", "-a", "-Y")
    assert "daemonNodeName" in newer.ok("mmgetstate", "-a", "-Y")
    assert "lastcheck" not in older.ok("mmhealth", "node", "show", "-Y")
    assert "lastcheck" in newer.ok("mmhealth", "node", "show", "-Y")


def test_time_passes_while_logs_are_formatted(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("recovery-group")
    before = rack.state["elapsed_s"]

    out = rack.ok("mmvdisk", "recoverygroup", "create", "--recovery-group", "rg1", "--node-class", "nc1")

    assert rack.state["elapsed_s"] - before == 9 * 30
    assert "Formatting log vdisk 9 of 9" in out


def test_health_of_servers_of_other_makers_is_degraded_by_their_parts(built: Rack) -> None:
    out = built.ok("mmhealth", "cluster", "show", "-Y")

    assert out.count(":Event:0:") == len(built.storage)
    assert "ess_config_mismatch" in out


def test_suspended_server_is_shown_and_resumed(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "reference")
    rack.build("fileset")
    change = ("mmvdisk", "recoverygroup", "change", "--recovery-group", "rg1")
    node = "storage-008-kv.kv.example"

    rack.ok(*change, "--suspend", node, "--window", "60")
    assert "is suspended already" in rack.refused(*change, "--suspend", node)
    assert node in rack.ok("mmvdisk", "recoverygroup", "list", "-Y")
    assert "rebuild-1r" in rack.ok("mmvdisk", "rg", "list", "--recovery-group", "rg1", "--declustered-array", "-Y")
    rack.ok(*change, "--resume", node)
    rack.ok(*change, "--log-group", "root", "--active", "storage-002-kv.kv.example")
    rack.ok(*change, "--version", "LATEST")
    assert ":storage-002-kv.kv.example:no:" in rack.ok("mmvdisk", "recoverygroup", "list", "-Y")
