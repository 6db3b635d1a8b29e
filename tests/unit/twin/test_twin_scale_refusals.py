"""What the simulated commands refuse, and the faults that are planted in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scale_racks import Rack

if TYPE_CHECKING:
    from pathlib import Path

RG = "mmvdisk recoverygroup create --recovery-group rg1 --node-class nc1"
DEFINE = "mmvdisk vdiskset define --vdisk-set v2 --recovery-group rg1 --set-size 10%"
CONFIGURE = "mmvdisk server configure --node-class nc1"
NODE = "storage-002-kv.kv.example"


@pytest.fixture(scope="module")
def racks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rack]:
    """Give the racks that were built so far, by the step before which they stopped."""
    return {}


def rack_at(racks: dict[str, Rack], tmp: pytest.TempPathFactory, step: str) -> Rack:
    """Return a rack as it is before a step; its state is put back after each use."""
    if step not in racks:
        racks[step] = Rack(tmp.mktemp("rack"), "compact")
        racks[step].build(step)
    return racks[step]


# before step, command, what is said
ORDER = [
    ("cluster", "mmlscluster -Y", "6027-1382 This node does not belong to a GPFS cluster"),
    ("cluster", "mmvdisk nodeclass list -Y", "6027-1382"),
    ("cluster", "mmcrcluster -N /no/such -C c", "Host name /no/such not known"),
    ("cluster", "mmcrcluster -N storage-002 -C c", "There are no quorum nodes"),
    ("cluster", "mmcrcluster -N storage-002:quorum -C c", "must be in the list of nodes"),
    ("licence", "mmcrcluster -N /etc/kvplan/scale/nodes.stanza -C other", "6027-1598"),
    ("licence", "mmstartup -a", "not properly licensed"),
    ("licence", "mmchlicense server -N all", "must be accepted"),
    ("licence", "mmchlicense gold --accept -N all", "Incorrect license type gold"),
    ("configure", "mmchconfig noSuchThing=1", "Unknown attribute specified: noSuchThing"),
    ("configure", "mmchconfig pagepool", "6027-1253"),
    ("configure", "mmchconfig pagepool=1 -N nobody", "Incorrect node name nobody"),
    ("configure", "mmchconfig -Z", "Incorrect option: -Z"),
    ("configure", "mmchconfig pagepool=1 -N", "Missing argument after -N"),
    ("configure", "mmlsnodeclass kvservers -Y", "is not known"),
    ("configure", "mmchnodeclass kvservers add -N all", "is not known"),
    ("configure", "mmdiag --config", "6027-1209 GPFS is down"),
    ("nodeclass", "mmchconfig maxblocksize=16777216", "cannot be changed while GPFS is running"),
    ("nodeclass", "mmchconfig nsdRAIDStrictPdiskSlotLocation=0", "Enter 999"),
    ("mount", "mmchmgr kvfs nobody", "Incorrect node name nobody"),
    ("quota", "mmchfileset kvfs no --inode-limit 5", "does not exist"),
    ("quota", "mmremotefs add kvfs -f kvfs", "Missing option: -C"),
    ("quota", "mmcrnodeclass nc1 -N all", "already exists"),
    ("nodeclass", "ecedrivemapping --mode sata --slotrange 1 2", "GPFS must be down"),
    ("configure", "ecedrivemapping --mode sata --slotrange 1 2", "Incorrect mode sata"),
    ("configure", "ecedrivemapping --mode nvme", "No slot range was given"),
    ("configure", "nvme get-feature /dev/none -f 6", "No such file"),
    ("configure", "mmaddnode -N storage-001-kv.kv.example", "6027-1598"),
    ("nodeclass", "mmchconfig verbsRdma=enable -i", "cannot be changed with -i"),
    ("nodeclass", "mmcrnodeclass kvservers -N all", "already exists"),
    ("nodeclass", f"mmdelnode -N {NODE}", "still active"),
    ("nodeclass", "mmlsfs all -Y", "No file systems were found"),
    ("nodeclass", "mmmount kvfs -a", "6027-1388 File system kvfs is not known"),
    ("nodeclass", CONFIGURE, "Node class 'nc1' does not exist"),
    ("nodeclass", "mmvdisk server configure", "Missing option: --node-class"),
    ("nodeclass", "mmvdisk nonsense list", "Unknown command"),
    ("topology", "mmvdisk nodeclass create --node-class nc1 -N all", "already exists"),
    ("topology", "mmvdisk nodeclass create --node-class nc2 -N all", "is already in mmvdisk node class 'nc1'"),
    ("topology", "mmvdisk nodeclass delete --node-class nc9", "does not exist"),
    ("slot-map", "ecedrivemapping --mode nvme --slotrange 1 16 --force", "GPFS must be down"),
    ("topology", RG, "is not configured"),
    ("server-configure", f"{CONFIGURE} --pagepool 8G", "Invalid argument '8G'"),
    ("server-configure", f"{CONFIGURE} --recycle all", "Do you wish to continue"),
    ("recovery-group", CONFIGURE, "already configured"),
    ("recovery-group", "mmvdisk recoverygroup list --recovery-group rg1 -Y", "does not exist"),
    ("recovery-group", f"mmdelnode -N {NODE}", "still active"),
    ("recovery-group", DEFINE + " --code 4+2p --block-size 4m", "Recovery group 'rg1' does not exist"),
    ("spares", RG, "already exists"),
    ("spares", "mmvdisk rg create --recovery-group rg2 --node-class nc1", "already serves recovery group 'rg1'"),
    ("spares", "mmvdisk rg change --recovery-group rg1 --declustered-array DA7 --spare-pdisks 4",
     "DA7' does not exist"),
    ("spares", "mmvdisk rg change --recovery-group rg1 --declustered-array DA1 --spare-pdisks 99",
     "Not enough free space"),
    ("spares", "mmvdisk rg add --recovery-group rg1 --complete-node-add", "no node addition to complete"),
    ("spares", f"mmvdisk rg add --recovery-group rg1 -N {NODE}", "is already a server"),
    ("vdisk-define", DEFINE + " --code 5+2p --block-size 4m", "Invalid RAID code"),
    ("vdisk-define", DEFINE + " --code 4+2p --block-size 16m --checksum-granularity 32k", "6027-1887"),
    ("vdisk-define", DEFINE + " --code 4+2p --block-size 8m", "checksum granularity of 8k"),
    ("vdisk-define", "mmvdisk vs define --vdisk-set v --recovery-group rg1 --set-size 400t --code 4+2p --block-size 2m",
     "not enough space"),
    ("vdisk-define", "mmvdisk vdiskset create --vdisk-set vs1", "is not defined"),
    ("vdisk-define", "mmvdisk vdiskset list --vdisk-set vs1 -Y", "is not defined"),
    ("vdisk-create", "mmvdisk filesystem create --file-system kvfs --vdisk-set vs1", "is not created"),
    ("file-system", "mmvdisk vdiskset create --vdisk-set vs1", "already exists"),
    ("file-system", "mmvdisk vdiskset undefine --vdisk-set vs1", "is created, or --confirm is missing"),
    ("mount", "mmvdisk filesystem create --file-system kvfs --vdisk-set vs1", "in use by file system"),
    ("mount", "mmlinkfileset kvfs kvcache -J /kvfs/kvcache", "does not exist"),
    ("quota", "mmcrfileset kvfs kvcache", "already exists"),
    ("quota", "mmlinkfileset kvfs kvcache -J /kvfs/b", "already linked"),
    ("quota", "mmchfileset kvfs kvcache --inode-limit 5", "below the inodes that are allocated"),
    ("quota", "mmsetquota kvfs:kvcache --block many", "6027-1253"),
    ("quota", "mmchpolicy kvfs /no/such", "Cannot open policy file"),
    ("quota", "mmaddcallback a --command /bin/true --event doorbell", "Unknown event"),
    ("quota", "mmdelcallback a", "was not found"),
    ("quota", "mmlscallback a -Y", "was not found"),
    ("quota", "mmauth genkey commit", "no new key to commit"),
    ("quota", "mmauth update . -l AUTHONLY", "no committed key"),
    ("quota", "mmauth add kvclients.kv.example -k /no/such", "does not exist"),
    ("quota", "mmauth grant kvclients.kv.example -f kvfs", "is not authorized"),
    ("quota", "mmauth sing", "Incorrect action sing"),
    ("quota", "mmremotefs add kvfs -f kvfs -C other -T /kvfs", "is not known"),
]  # fmt: skip


@pytest.mark.parametrize(("step", "line", "said"), ORDER, ids=[f"{step}-{line[:60]}" for step, line, _ in ORDER])
def test_refused(
    racks: dict[str, Rack], tmp_path_factory: pytest.TempPathFactory, step: str, line: str, said: str
) -> None:
    rack = rack_at(racks, tmp_path_factory, step)
    before = rack.state

    err = rack.refused(*line.split())

    assert said in err
    assert "Command failed. Examine previous error messages" in err
    assert rack.state == before


def _drive(**fields: Any) -> dict[str, Any]:
    return {"drive": fields}


# what is wrong with the second machine, what recoverygroup create says
MACHINES = [
    (_drive(signature="LVM2_member"), RG, "already in use: LVM2_member found"),
    (_drive(signature="gpt"), RG, "already in use: gpt found"),
    (_drive(write_cache=True), RG, "Volatile write cache is enabled on disk /dev/nvme0n1"),
    (_drive(slot=77), RG, "Slot location is missing for disk"),
    (_drive(size_gb=3840), RG, "disk topologies of the servers of node class 'nc1' differ"),
    ({"slot_map": 0}, RG, "16 empty slot locations are found"),
    ({"running": {}}, RG, "GPFS must be restarted"),
    ({"daemon": False}, RG, f"Node '{NODE}' is not active"),
    ({"gnr": False}, f"{CONFIGURE} --update", "lacks the package gpfs.gnr"),
    ({"memory_gib": 512}, f"{CONFIGURE} --update", "same amount of memory"),
    ({"daemon": False}, f"{CONFIGURE} --update", "is not active"),
    ({"ssh": False}, "mmshutdown -a", "6027-1615 Could not reach node"),
    ({"up": False}, "mmstartup -a", "No route to host"),
]


@pytest.mark.parametrize(("wrong", "line", "said"), MACHINES, ids=[said for _, _, said in MACHINES])
def test_machines_that_differ_are_refused(
    racks: dict[str, Rack], tmp_path_factory: pytest.TempPathFactory, wrong: dict[str, Any], line: str, said: str
) -> None:
    rack = rack_at(racks, tmp_path_factory, "recovery-group")
    before = rack.state
    with rack.machine("storage-002") as machine:
        fields = dict(wrong)
        machine["drives"][0].update(fields.pop("drive", {}))
        machine.update(fields)

    assert said in rack.refused(*line.split())
    rack.put(before)


def test_a_signature_passes_only_when_it_is_not_looked_for(
    racks: dict[str, Rack], tmp_path_factory: pytest.TempPathFactory
) -> None:
    rack = rack_at(racks, tmp_path_factory, "recovery-group")
    before = rack.state
    with rack.machine("storage-002") as machine:
        machine["drives"].pop()

    assert "differ" in rack.refused(*RG.split(), "-v", "no")
    topology = rack.ok("mmvdisk", "server", "list", "--node-class", "nc1", "--disk-topology", "-Y")
    assert f":{NODE}:yes:ECE 15 NVMe:" in topology
    rack.put(before)


@pytest.mark.parametrize(("field", "value", "said"), [("leftover", "older", "6027-1598"), ("ssh", False, "6027-1615")])
def test_nodes_that_cannot_join(tmp_path: Path, field: str, value: object, said: str) -> None:
    rack = Rack(tmp_path, "compact")
    with rack.machine("storage-003") as machine:
        machine[field] = value

    assert said in rack.refused("mmcrcluster", "-N", "/etc/kvplan/scale/nodes.stanza", "-C", "c")
    assert rack.state["clusters"] == {}


def test_the_reverse_name_is_the_one_that_is_stored(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    with rack.machine("storage-003") as machine:
        machine["reverse"] = "other.kv.example"
    rack.build("licence")

    assert ":other.kv.example:" in rack.ok("mmlscluster", "-Y")
    assert "Incorrect node name" in rack.refused("mmchlicense", "server", "--accept", "-N", "storage-003-kv.kv.example")


def test_without_its_kernel_layer_a_daemon_does_not_start(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("configure")
    with rack.machine("storage-003") as machine:
        machine["gpl"] = False

    assert "run mmbuildgpl" in rack.refused("mmstartup", "-a")
    rack.ok("mmbuildgpl", node="storage-003")
    rack.ok("mmstartup", "-a")


def test_a_node_that_reaches_nobody_knows_only_its_own_state(
    racks: dict[str, Rack], tmp_path_factory: pytest.TempPathFactory
) -> None:
    rack = rack_at(racks, tmp_path_factory, "recovery-group")
    before = rack.state
    with rack.machine("storage-002") as machine:
        machine["ssh"] = False

    assert rack.ok("mmgetstate", "-a", "-Y", node="storage-002").count(":unknown:") == len(rack.storage) - 1
    rack.put(before)


def test_an_update_never_lowers_the_page_pool(racks: dict[str, Rack], tmp_path_factory: pytest.TempPathFactory) -> None:
    rack = rack_at(racks, tmp_path_factory, "recovery-group")
    before = rack.state

    rack.ok(*CONFIGURE.split(), "--update", "--pagepool", "8589934592")
    assert ":pagepool:8589934592:" not in rack.ok("mmlsconfig", "pagepool", "-Y")
    rack.ok(*CONFIGURE.split(), "--update", "--pagepool", "50%", "--custom-config", "nsdRAIDBufferPoolSizePct=90")
    assert ":pagepool:412316860416:nc1:" in rack.ok("mmlsconfig", "pagepool", "-Y")
    assert " ! pagepool 412316860416" not in rack.ok("mmdiag", "--config")
    rack.put(before)


def test_deferred_logs_stop_what_comes_later(racks: dict[str, Rack], tmp_path_factory: pytest.TempPathFactory) -> None:
    rack = rack_at(racks, tmp_path_factory, "recovery-group")
    before = rack.state

    out = rack.ok(*RG.split(), "--defer-log-format")
    assert "Deferring recovery group log vdisk creation and format" in out
    assert "are not formatted" in rack.refused(*DEFINE.split(), "--code", "4+2p", "--block-size", "2m")
    rack.put(before)


def test_a_block_beyond_the_cluster_s_is_refused(
    racks: dict[str, Rack], tmp_path_factory: pytest.TempPathFactory
) -> None:
    rack = rack_at(racks, tmp_path_factory, "vdisk-define")
    before = rack.state
    with rack.store.changed() as state:
        state["clusters"]["kvstore.kv.example"]["config"]["maxblocksize"] = {"": "2097152"}

    assert "6027-1886" in rack.refused(*DEFINE.split(), "--code", "4+2p", "--block-size", "4m")
    rack.put(before)


def test_wide_codes_need_a_newer_group(racks: dict[str, Rack], tmp_path_factory: pytest.TempPathFactory) -> None:
    rack = rack_at(racks, tmp_path_factory, "vdisk-define")
    before = rack.state
    with rack.store.changed() as state:
        state["clusters"]["kvstore.kv.example"]["groups"]["rg1"]["version"] = "5.2.3.0"

    assert "6027-3815" in rack.refused(*DEFINE.split(), "--code", "16+2p", "--block-size", "4m")
    rack.put(before)


def test_an_array_narrower_than_the_code_is_refused(
    racks: dict[str, Rack], tmp_path_factory: pytest.TempPathFactory
) -> None:
    rack = rack_at(racks, tmp_path_factory, "vdisk-define")
    before = rack.state
    with rack.store.changed() as state:
        for machine in state["machines"].values():
            machine["drives"] = machine["drives"][:4]

    assert "too few pdisks" in rack.refused(*DEFINE.split(), "--code", "16+2p", "--block-size", "4m")
    rack.put(before)


@pytest.mark.parametrize(
    ("rule", "said"),
    [("RULE kv DELETE", "PCSQLERR"), ("RULE 'a' SET POOL 'gold'", "pool `gold' does not exist")],
)
def test_rules_that_do_not_parse(
    racks: dict[str, Rack], tmp_path_factory: pytest.TempPathFactory, rule: str, said: str
) -> None:
    rack = rack_at(racks, tmp_path_factory, "quota")
    (rack.path / rack.admin / "rules").write_text(rule, encoding="utf-8")

    assert said in rack.refused("mmchpolicy", "kvfs", "/rules", "-I", "test")


def test_an_unknown_nsd_is_no_error(racks: dict[str, Rack], tmp_path_factory: pytest.TempPathFactory) -> None:
    rack = rack_at(racks, tmp_path_factory, "quota")

    assert len(rack.ok("mmlsnsd", "-Y").splitlines()) == 1 + 2 * len(rack.storage)
    assert len(rack.ok("mmlsnsd", "-d", "nobody", "-Y").splitlines()) == 1


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [("grants", "has no access"), ("key", "authentication with cluster kvstore.kv.example failed")],
)
def test_clients_without_a_grant_do_not_mount(tmp_path: Path, spoilt: str, said: str) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build()
    rack.ok("mmumount", "kvfs", "-a", node=rack.client)
    with rack.store.changed() as state:
        state["clusters"]["kvstore.kv.example"]["auth"]["kvclients.kv.example"][spoilt] = {}

    assert said in rack.refused("mmmount", "kvfs", "-a", node=rack.client)


def test_faults_delay_fail_and_are_used_up(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    locked = "mmchconfig: 6027-1227 The main GPFS cluster configuration file is locked."
    rack.build("configure")
    rack.store.plant(
        {"command": "mmchconfig", "node": "storage-002", "rc": 9, "stderr": "never"},
        {"command": "mmchconfig", "rc": 1, "stderr": locked, "times": 1, "delay": 30},
    )

    assert rack.refused("mmchconfig", "autoload=yes") == f"{locked}\n"
    assert rack.state["elapsed_s"] == 30
    rack.ok("mmchconfig", "autoload=yes")
    assert rack.mm("mmchconfig", "autoload=yes", node="storage-002")[0] == 9
    assert rack.mm("mmnosuch")[0] == 127
