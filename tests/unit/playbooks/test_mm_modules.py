"""The modules for Storage Scale take simulated machines from nothing to a mounted file system, and then rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from mm_modules import PLUGINS, call, documents, done, loaded
from scale_racks import Rack

from kvplan.twin.scale.world import machine, power_off, reinstall

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = sorted(path.stem for path in (PLUGINS / "modules").glob("mm*.py"))
LIMITS = {"inode_limit": 39221312, "preallocated_inodes": 1000000}
FILESET = {"file_system": "kvfs", "name": "kvcache", "path": "/kvfs/kvcache", **LIMITS}
SET = {"name": "vs1", "recovery_group": "rg1", "block_size": "4m", "set_size": "95%", "checksum_granularity": "32k"}
CRFS = ["-A", "yes", "-Q", "yes", "-S", "relatime", "-n", "32", "--filesetdf", "--auto-inode-limit"]
SHOWN = {"blockSize": "4M", "suppressATime": "relatime"}


class Site:
    """A rack and what its modules are given."""

    def __init__(self, rack: Rack, code: str) -> None:
        self.rack, self.code = rack, code
        lines = [line.split(":") for line in rack.tree["scale/nodes.stanza"].split() if ":" in line]
        self.members = [{"daemon": name, "designation": kind, "admin": admin} for name, kind, admin in lines]
        self.nodes = [each["daemon"] for each in self.members]
        self.parameters = yaml.safe_load(rack.tree["scale/mmchconfig.yaml"])["parameters"]

    def plays(self) -> Iterator[tuple[str, dict[str, Any], str]]:
        """Give module, arguments and machine of each step, in order."""
        servers = {"node_class": "nc1", "drives": 16, "pagepool_bytes": 1 << 37, "max_block_bytes": 1 << 24}
        yield "mm_cluster", {"name": "kvstore.kv.example", "nodes": self.members}, ""
        yield "mm_license", {"kind": "server", "accept": True, "nodes": self.nodes}, ""
        yield "mm_nodeclass", {"name": "kvservers", "nodes": self.nodes}, ""
        yield "mm_config", {"parameters": self.parameters}, ""
        yield "mm_state", {"nodes": self.nodes, "poll": 0}, ""
        yield "mmvdisk_nodeclass", {"name": "nc1", "nodes": self.nodes}, ""
        for number, each in enumerate(self.rack.storage[: len(self.nodes)]):
            inspected = {"state": "inspected", "node": self.nodes[number], "drives": 16}
            yield "mmvdisk_server", inspected, each["name"]
            yield "mmvdisk_server", {"state": "mapped", "drives": 16, "slots": [1, 16]}, each["name"]
        yield "mmvdisk_server", {"state": "configured", **servers}, ""
        yield "mmvdisk_recoverygroup", self.group(), ""
        yield "mmvdisk_vdiskset", {**SET, "code": self.code}, ""
        system = {"name": "kvfs", "vdisk_sets": ["vs1"], "mount_point": "/kvfs", "mmcrfs": CRFS, "attributes": SHOWN}
        yield "mmvdisk_filesystem", system, ""
        yield "mm_mount", {"file_system": "kvfs", "nodes": self.nodes}, ""
        yield "mm_fileset", {**FILESET, "soft_quota": "220654G", "hard_quota": "259594G"}, ""
        yield "mm_health", {"file_system": "kvfs", "mounted_on": self.nodes, "nodes": self.nodes}, ""

    def group(self, **more: Any) -> dict[str, Any]:
        """Return the arguments of the recovery group."""
        held = {"name": "rg1", "node_class": "nc1", "nodes": self.nodes, "root_server": self.nodes[0]}
        return {**held, "spares": len(self.nodes), **more}


@pytest.fixture(scope="module", params=["compact", "reference"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Give a rack that modules built; each was foreseen, ran, and ran again without a change."""
    held = Site(Rack(tmp_path_factory.mktemp("rack"), request.param), "4+2p" if request.param == "compact" else "8+2p")
    for name, args, node in held.plays():
        done(held.rack, name, on=node, **args)
    return held


@pytest.fixture
def built(tmp_path: Path) -> Site:
    """Give a rack of four servers that the rendered steps built."""
    rack = Rack(tmp_path, "compact")
    rack.build("fileset")
    return Site(rack, "4+2p")


def test_every_server_has_the_file_system(site: Site) -> None:
    machines = site.rack.state["machines"]

    assert all(machines[each["name"]]["mounts"] == ["kvfs"] for each in site.rack.storage)


def test_a_second_pass_changes_nothing(site: Site) -> None:
    before = site.rack.state
    for name, args, node in site.plays():
        for check in (True, False):
            result = call(site.rack, name, check=check, on=node, **args)
            assert not result["failed"], result
            assert not result["changed"], (name, result["commands"])
    assert {**site.rack.state, "elapsed_s": 0} == {**before, "elapsed_s": 0}


def test_check_mode_foresees_everything_on_empty_machines(tmp_path: Path) -> None:
    site = Site(Rack(tmp_path, "compact"), "4+2p")
    before = site.rack.state

    foreseen = {name: call(site.rack, name, check=True, on=node, **args) for name, args, node in site.plays()}

    assert site.rack.state == before
    assert [name for name, result in foreseen.items() if result["failed"]] == []
    assert [name for name, result in foreseen.items() if not result["changed"]] == ["mm_health"]


def test_the_smaller_rack_grows_by_a_node(built: Site) -> None:
    rack = built.rack
    done(rack, "mm_fileset", **FILESET)
    name = "storage-005-kv.kv.example"
    with rack.store.changed() as state:
        state["machines"]["storage-005"] = machine("storage-005", [name], "10.0.0.5", 16)
    built.members.append({"daemon": name, "designation": "nonquorum", "admin": name})
    built.nodes.append(name)
    rack.storage.append({"name": "storage-005"})

    assert done(rack, "mm_cluster", name="kvstore.kv.example", nodes=built.members)["added"] == [name]
    done(rack, "mm_license", kind="server", accept=True, nodes=built.nodes)
    done(rack, "mm_nodeclass", name="kvservers", nodes=built.nodes)
    done(rack, "mmvdisk_server", on="storage-005", state="mapped", drives=16, slots=[1, 16])
    done(rack, "mm_state", nodes=built.nodes, poll=0)
    assert call(rack, "mmvdisk_nodeclass", name="nc1", nodes=built.nodes)["to_add"] == [name]
    servers = {"drives": 16, "pagepool_bytes": 1 << 37, "max_block_bytes": 1 << 24}
    done(rack, "mmvdisk_server", state="configured", node_class="nc1", nodes=[name], **servers)
    first = done(rack, "mmvdisk_recoverygroup", **built.group())
    done(rack, "mm_mount", file_system="kvfs", nodes=built.nodes)
    call(rack, "mm_health", timeout=1, poll=0)

    assert first["log_groups"] == {"formatted": 11, "all": 11}
    assert [line.split()[2] for line in first["commands"]] == ["add", "add", "change"]
    assert not call(rack, "mm_config", parameters=built.parameters)["restart_nodes"]


def test_stored_but_not_running_values_are_told_and_restarted_in_order(built: Site) -> None:
    rack = built.rack
    wanted = [{"parameter": "workerThreads", "value": "2048", "target": "kvservers", "restart": True}]

    stored = call(rack, "mm_config", parameters=wanted)
    assert stored["restart_nodes"] == built.nodes
    assert stored["mismatched"][built.nodes[0]] == {"workerThreads": "3072"}
    restarted = call(rack, "mm_state", state="restarted", nodes=built.nodes, poll=0, timeout=5)
    assert not restarted["failed"], restarted
    order = [line.split()[-1] for line in restarted["commands"] if line.startswith("mmstartup")]
    quorum = [each["daemon"] for each in built.members if each["designation"].startswith("quorum")]
    assert order[0] not in quorum
    assert order[-1] == built.nodes[0]
    assert call(rack, "mm_config", parameters=wanted)["restart_nodes"] == []


def test_a_member_that_was_reinstalled_comes_back(built: Site) -> None:
    name, node = built.rack.storage[3]["name"], built.nodes[3]
    with built.rack.store.changed() as state:
        reinstall(state, name)
    members = [{**each, "designation": "nonquorum"} if each["daemon"] == node else each for each in built.members]

    result = done(built.rack, "mm_cluster", name="kvstore.kv.example", nodes=members)
    done(built.rack, "mmvdisk_server", on=name, state="mapped", drives=16, slots=[1, 16])
    done(built.rack, "mm_state", nodes=built.nodes, poll=0)

    assert result["restored"] == [node]
    assert not call(built.rack, "mm_health", file_system="kvfs", mounted_on=built.nodes)["failed"]


def test_a_member_that_does_not_answer_is_left_alone(built: Site) -> None:
    with built.rack.store.changed() as state:
        power_off(state, built.rack.storage[3]["name"])

    result = call(built.rack, "mm_cluster", name="kvstore.kv.example", nodes=built.members[:3])

    assert (result["changed"], result["restored"]) == (False, [])


def test_a_manager_hands_over_before_it_is_restarted(built: Site) -> None:
    result = call(built.rack, "mm_state", state="restarted", nodes=built.nodes[:1], poll=0)

    first = built.nodes[0]
    assert result["commands"] == [f"mmchmgr kvfs {built.nodes[1]}", f"mmshutdown -N {first}", f"mmstartup -N {first}"]
    assert "no such" not in built.rack.ok("mmlsmgr", "-Y")


def test_a_value_that_may_change_at_once_does(built: Site) -> None:
    wanted = [{"parameter": "maxMBpS", "value": "50000", "target": "all", "restart": False}]

    done(built.rack, "mm_config", parameters=wanted)

    assert " ! maxMBpS 50000" in built.rack.ok("mmdiag", "--config")


def test_a_running_value_that_drifted_is_put_right(built: Site) -> None:
    with built.rack.machine("storage-003") as held:
        held["running"]["maxMBpS"] = "1"

    result = done(built.rack, "mm_config", parameters=built.parameters)

    assert result["commands"] == ["mmchconfig maxMBpS=100000 -i -N storage-003-kv.kv.example"]


def test_what_another_command_sets_is_only_told(built: Site) -> None:
    wanted = [{"parameter": "pagepool", "value": "1", "target": "nc1", "set_by": "mmvdisk server configure"}]

    result = call(built.rack, "mm_config", parameters=wanted)

    assert (result["changed"], result["not_stored"]) == (False, ["pagepool"])


def test_a_stop_of_all_is_refused_unless_allowed(built: Site) -> None:
    stopped: dict[str, Any] = {"state": "stopped", "nodes": built.nodes, "poll": 0}

    assert "would leave no quorum" in call(built.rack, "mm_state", **stopped)["msg"]
    done(built.rack, "mm_state", **stopped, allow_quorum_loss=True)
    assert "is down" in call(built.rack, "mm_health")["msg"]


def test_a_limit_that_was_rounded_up_is_left_alone(built: Site) -> None:
    done(built.rack, "mm_fileset", **{**FILESET, "inode_limit": 39221313})

    assert ":39222272:" in built.rack.ok("mmlsfileset", "kvfs", "kvcache", "-L", "-Y")
    raised = done(built.rack, "mm_fileset", **{**FILESET, "inode_limit": 49221313})
    assert raised["commands"] == ["mmchfileset kvfs kvcache --inode-limit 49221313"]


def test_unmounted_is_a_state_too(built: Site) -> None:
    done(built.rack, "mm_mount", file_system="kvfs", nodes=built.nodes[:2], state="unmounted")

    health = call(built.rack, "mm_health", file_system="kvfs", mounted_on=built.nodes)
    assert f"kvfs is not mounted on {built.nodes[1]}" in health["msg"]


def test_rules_and_callback_are_installed_tried_and_replaced(built: Site, tmp_path: Path) -> None:
    rack, rules = built.rack, tmp_path / "rules"
    callback = {"name": "kv-evict", "command": "/usr/local/sbin/kv-evict", "events": ["lowDiskSpace"],
                "nodes": built.nodes}  # fmt: skip
    args = {"file_system": "kvfs", "path": str(rules), "callback": callback, "workers": "kvservers"}
    for number in (1, 2):
        text = f"RULE 'r{number}' SET POOL 'system'\n"
        for place in (rules, rack.path / rack.admin / str(rules).lstrip("/")):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        callback["events"] = ["lowDiskSpace", "noDiskSpace"][:number]
        result = done(rack, "mm_policy", **args)
        assert "Chose to delete" in result["trial"]
    assert "mmdelcallback kv-evict" in result["commands"]


def test_half_made_logs_are_completed(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("recovery-group")
    create = ("mmvdisk", "recoverygroup", "create", "--recovery-group", "rg1", "--node-class", "nc1")
    rack.store.plant({"command": " ".join(create), "crash_after": 3, "times": 1})
    rack.mm(*create)

    result = done(rack, "mmvdisk_recoverygroup", **Site(rack, "4+2p").group())

    assert result["commands"][0] == "mmvdisk recoverygroup create --complete-log-format"


def test_a_group_without_its_root_log_is_deleted_and_made_anew(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("recovery-group")
    create = ("mmvdisk", "recoverygroup", "create", "--recovery-group", "rg1", "--node-class", "nc1")
    rack.store.plant({"command": " ".join(create), "crash_after": 0, "times": 1})
    rack.mm(*create)
    group = Site(rack, "4+2p").group(job_dir=str(tmp_path / "jobs"))

    foreseen = call(rack, "mmvdisk_recoverygroup", check=True, **group)
    cleared = done(rack, "mmvdisk_recoverygroup", state="cleared", **group)
    made = done(rack, "mmvdisk_recoverygroup", **group)

    assert [line.split()[2] for line in foreseen["commands"][:2]] == ["delete", "create"]
    assert cleared["commands"] == ["mmvdisk recoverygroup delete --recovery-group rg1 --confirm -p"]
    assert made["commands"][0].endswith("--node-class nc1 -v no")
    assert made["log_groups"] == {"formatted": 9, "all": 9}
    assert list((tmp_path / "jobs").iterdir()) == []


def test_a_group_that_is_made_is_never_cleared(built: Site) -> None:
    group: dict[str, Any] = {"state": "cleared", **built.group()}
    assert not call(built.rack, "mmvdisk_recoverygroup", **group)["changed"]


def test_new_nodes_vote_once_they_are_up(built: Site) -> None:
    rack, fresh = built.rack, [f"storage-00{number}-kv.kv.example" for number in range(5, 9)]
    with rack.store.changed() as state:
        for number, name in enumerate(fresh, 5):
            state["machines"][f"storage-00{number}"] = machine(f"storage-00{number}", [name], f"10.0.0.{number}", 16)
    votes = "quorum-manager"
    members = [*built.members, *({"daemon": name, "designation": votes, "admin": name} for name in fresh)]
    cluster: dict[str, Any] = {"name": "kvstore.kv.example", "nodes": members}
    nodes = [each["daemon"] for each in members]

    added = call(rack, "mm_cluster", **cluster)
    assert added["waiting"] == fresh
    assert call(rack, "mm_health", nodes=built.nodes)["failed"] is False
    done(rack, "mm_license", kind="server", accept=True, nodes=nodes)
    done(rack, "mm_nodeclass", name="kvservers", nodes=nodes)
    done(rack, "mm_state", nodes=nodes, poll=0)
    joined = done(rack, "mm_cluster", **cluster)
    servers = {"drives": 16, "pagepool_bytes": 1 << 37, "max_block_bytes": 1 << 24}
    done(rack, "mmvdisk_server", state="configured", node_class="nc1", nodes=fresh, **servers)

    assert joined["commands"] == [f"mmchnode --quorum --manager -N {','.join(fresh)}"]
    assert all(rack.state["machines"][f"storage-00{number}"]["running"]["pagepool"] == str(1 << 37)
               for number in range(5, 9))  # fmt: skip
    fewer = [{**each, "designation": "nonquorum-client"} if each["daemon"] == fresh[-1] else each for each in members]
    left = done(rack, "mm_cluster", name="kvstore.kv.example", nodes=fewer)
    assert left["commands"] == [f"mmchnode --nonquorum --client -N {fresh[-1]}"]


def test_the_root_log_group_goes_back_to_its_server(built: Site) -> None:
    change = ("mmvdisk", "recoverygroup", "change", "--recovery-group", "rg1", "--log-group", "root")
    built.rack.ok(*change, "--active", built.nodes[2])
    assert call(built.rack, "mm_health")["events"] == [f"{built.nodes[0]} NATIVE_RAID gnr_rg_not_primary"]

    result = done(built.rack, "mmvdisk_recoverygroup", **built.group(spares=2))

    assert result["commands"] == [f"{' '.join(change)} --active {built.nodes[0]}"]
    assert call(built.rack, "mm_health")["events"] == []


@pytest.mark.parametrize("name", NAMES)
def test_documents_match_the_arguments(name: str) -> None:
    described, examples, returned = documents(name)
    spec = loaded(name).SPEC

    assert described["module"] == name
    assert described["options"].keys() == spec.keys()
    for option, held in spec.items():
        told = described["options"][option]
        for field in ("type", "required", "default", "choices", "elements"):
            assert told.get(field) == held.get(field), (option, field)
        assert told.get("suboptions", {}).keys() == held.get("options", {}).keys()
    assert any(name in task for task in examples)
    assert "commands" in returned
