"""Storage Scale: what is written, from quorum to quota, and that it follows Plan and Site."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from designs import plan_of
from scale_trees import deployment_named, faults, files_of, tree_named
from sites import deployment_of, deployment_with, site_data

from kvplan.api import deployment
from kvplan.schema.site.site import Site
from kvplan.site.scale.cluster import Cluster
from kvplan.site.scale.fabrics import fabric_numbers
from kvplan.site.scale.grammar import option, parse_nodes
from kvplan.site.scale.memory import memory_report
from kvplan.site.scale.policy import eviction_report
from kvplan.site.scale.quorum import quorum_of

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = ("reference", "compact", "joined", "large")


def _steps(name: str) -> list[dict[str, Any]]:
    """Return the steps of a tree."""
    steps: list[dict[str, Any]] = yaml.safe_load(tree_named(name)["scale/steps.yaml"])
    return steps


def _commands(name: str, *words: str) -> list[list[str]]:
    """Return the commands that begin with some words."""
    every = [argv for step in _steps(name) for argv in step["commands"]]
    return [argv for argv in every if tuple(argv[: len(words)]) == words]


def _values(name: str, path: str) -> dict[str, str]:
    """Return the parameters of a file."""
    entries = yaml.safe_load(tree_named(name)[path])["parameters"]
    return {entry["parameter"]: entry["value"] for entry in entries}


@pytest.mark.parametrize("name", ["reference", "compact"])
def test_trees_are_as_reviewed(name: str, golden: Callable[[str, str], None]) -> None:
    for path, text in tree_named(name).items():
        golden(f"site/scale/{name}/{path.removeprefix('scale/')}", text)


@pytest.mark.parametrize("name", NAMES)
def test_equal_input_gives_equal_bytes_and_no_error(name: str) -> None:
    held = deployment_named(name)
    assert files_of(held) == tree_named(name)
    assert [found for found in faults(held, tree_named(name)) if found.severity == "error"] == []


@pytest.mark.parametrize("name", NAMES)
def test_no_text_of_yaml_stands_for_another_type(name: str) -> None:
    for path, text in tree_named(name).items():
        if path.endswith((".yaml", ".yml")):
            assert "&id" not in text, path
            for argv in _argvs(yaml.safe_load(text)):
                assert all(isinstance(word, str) for word in argv), (path, argv)


def _argvs(data: Any) -> list[list[Any]]:
    """Return the commands and reads of steps."""
    steps = data if isinstance(data, list) else []
    return [argv for step in steps for key in ("reads", "commands") for argv in step.get(key, [])]


@pytest.mark.parametrize("name", NAMES)
def test_shell_scripts_are_whole(name: str) -> None:
    for path, text in tree_named(name).items():
        if text.startswith("#!/bin/bash"):
            ran = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
            assert (ran.returncode, ran.stderr) == (0, ""), path


@pytest.mark.slow
def test_256_nodes_are_written_and_judged() -> None:
    held = deployment_of(256)
    assert len(held.servers) > 256
    tree = files_of(held)
    found = faults(held, tree)
    assert [finding for finding in found if finding.severity == "error"] == []
    assert len(yaml.safe_load(tree["scale/nodeclasses.yaml"])) == 2 + 8


@pytest.mark.parametrize(("nodes", "quorum"), [(4, 3), (8, 7), (64, 7)])
def test_the_quorum_is_odd_and_spread(nodes: int, quorum: int) -> None:
    storage = deployment_of(nodes).storage
    chosen = [server.device for server in storage if server.name in quorum_of(storage)]
    assert len(chosen) == quorum
    for place in ("rack", "pair"):
        there = len({getattr(server.device, place) for server in storage})
        held = Counter(getattr(device, place) for device in chosen)
        assert max(held.values()) - min(held.values()) <= 1
        assert len(held) == min(there, quorum)


def test_names_are_complete_and_daemons_apart_from_admin() -> None:
    lines = parse_nodes(tree_named("reference")["scale/nodes.stanza"])
    assert (lines[0].daemon, lines[0].admin) == ("storage-001-kv.kv.example", "storage-001-adm.kv.example")
    assert [line.manager for line in lines] == [line.quorum for line in lines]


def test_rails_are_apart_only_where_every_machine_has_both() -> None:
    numbers = fabric_numbers(deployment_named("reference"))
    assert numbers["storage-client", "a"] == numbers["client", "a"] != numbers["client", "b"]
    assert numbers["storage", "a"] == numbers["storage", "b"]
    assert _values("reference", "scale/mmchconfig.yaml")["verbsPorts"] == (
        "mlx5_client1p0/1/1 mlx5_client1p1/1/2 mlx5_storage1p0/1/3"
    )


def test_two_recovery_groups_have_all_things_twice() -> None:
    *created, completed = _commands("large", "mmvdisk", "recoverygroup", "create")
    assert completed[3:] == ["--complete-log-format"]
    assert [option(argv, "--recovery-group") for argv in created] == [
        "rg1",
        "rg2",
    ]
    defined = _commands("large", "mmvdisk", "vdiskset", "define")
    assert [(option(argv, "--vdisk-set"), option(argv, "--recovery-group")) for argv in defined] == [
        ("vs1", "rg1"),
        ("vs2", "rg2"),
    ]
    assert option(_commands("large", "mmvdisk", "filesystem", "create")[0], "--vdisk-set") == "vs1,vs2"
    classes = {held["name"]: held for held in yaml.safe_load(tree_named("large")["scale/nodeclasses.yaml"])}
    assert not set(classes["nc1"]["nodes"]) & set(classes["nc2"]["nodes"])
    changes = _commands("large", "mmvdisk", "recoverygroup", "change")
    assert [option(argv, "--spare-pdisks") for argv in changes if "--declustered-array" in argv] == ["16", "16"]
    roots = [option(argv, "--active") for argv in changes if option(argv, "--log-group") == "root"]
    assert roots == [classes["nc1"]["nodes"][0], classes["nc2"]["nodes"][0]]


def test_only_what_writes_over_drives_is_destructive() -> None:
    assert [step["id"] for step in _steps("reference") if step["destructive"]] == ["09-recovery-group"]


def test_a_remote_mount_exchanges_keys_and_a_joined_client_does_not() -> None:
    afar, joined = ({argv[0] for step in _steps(name) for argv in step["commands"]} for name in ("reference", "joined"))
    assert {"mmauth", "mmremotecluster", "mmremotefs"} <= afar
    assert "mmaddnode" not in afar
    assert "mmaddnode" in joined
    assert not {"mmauth", "mmremotecluster"} & joined
    assert parse_nodes(tree_named("joined")["scale/clients.stanza"])[0].quorum is False


def test_clients_afar_get_the_block_size_of_the_storage_cluster() -> None:
    afar = _values("reference", "scale/client-mmchconfig.yaml")
    assert afar["maxblocksize"] == _values("reference", "scale/mmchconfig.yaml")["maxblocksize"] == "16777216"
    assert "maxblocksize" not in _values("joined", "scale/client-mmchconfig.yaml")


def test_without_clients_nothing_joins() -> None:
    held = deployment_of(8)
    servers = [server for server in held.site.servers if not server.name.startswith("gpu")]
    alone = deployment_with(8, servers=[server.model_dump(mode="json") for server in servers])
    tree = files_of(alone)
    assert tree["scale/clients.stanza"] == ""
    assert yaml.safe_load(tree["scale/steps.yaml"])[-1]["id"] == "17-quota"
    assert [found for found in faults(alone, tree) if found.severity == "error"] == []


def test_inodes_and_quota_follow_from_the_plan() -> None:
    cluster = Cluster(deployment_named("reference"))
    plan = cluster.deployment.plan
    assert cluster.file_bytes == plan.kv.stored_bytes_per_token * plan.request.chunk_tokens
    assert cluster.files * cluster.file_bytes >= plan.profile.usable_bytes > (cluster.files - 1) * cluster.file_bytes
    assert cluster.inode_limit >= cluster.files
    assert cluster.quota_gib * 2**30 + cluster.metadata_bytes < cluster.capacity_bytes
    assert option(_commands("reference", "mmcrfileset")[0], "--inode-limit") == f"{cluster.inode_limit}:1000000"


def test_a_private_pool_has_few_large_files() -> None:
    inference = deployment_of(8).site.inference.model_copy(update={"cache_backend": "kvbm-disk"})
    cluster = Cluster(deployment_with(8, inference=inference.model_dump(mode="json")))
    assert cluster.files == cluster.deployment.plan.hbm.engines * cluster.deployment.plan.request.tp
    assert cluster.inode_limit == 1_000_000
    values = _parameters_of(cluster)
    assert values["verbsGPUDirectStorage"] == "enable"


def _parameters_of(cluster: Cluster) -> dict[str, str]:
    """Return the parameters of the storage nodes."""
    entries = yaml.safe_load(files_of(cluster.deployment)["scale/mmchconfig.yaml"])["parameters"]
    return {entry["parameter"]: entry["value"] for entry in entries}


def test_memory_is_a_sum_that_may_not_fit() -> None:
    report = memory_report(Cluster(deployment_with(8, storage={"pagepool_gib": 450})))["storage"]
    shares = [value for name, value in report.items() if name not in ("needed_bytes", "memory_bytes", "fits")]
    assert report["needed_bytes"] == sum(shares)
    assert report["fits"] is False
    assert memory_report(Cluster(deployment_named("reference")))["storage"]["fits"] is True


def test_the_slot_map_expects_the_drives_of_the_site() -> None:
    slots = yaml.safe_load(tree_named("reference")["scale/slots.yaml"])
    assert {node["drives"] for node in slots["nodes"]} == {16}
    assert slots["last_slot"] - slots["first_slot"] + 1 == 16


def test_a_back_end_that_forbids_deleting_gets_reasons_instead_of_a_policy() -> None:
    tree = tree_named("reference")
    assert [path for path in tree if "policy" in path or "evict" in path] == ["scale/policy/README.md"]
    assert "kvbm-g4" in tree["scale/policy/README.md"]
    soft, hard = option(_commands("reference", "mmsetquota")[0], "--block").split(":")  # type: ignore[union-attr]
    assert soft == hard


def test_with_eviction_the_soft_quota_is_the_high_mark() -> None:
    soft, hard = option(_commands("compact", "mmsetquota")[0], "--block").split(":")  # type: ignore[union-attr]
    assert int(soft[:-1]) == int(hard[:-1]) * 85 // 100


def test_access_times_decide_what_goes_first() -> None:
    held = deployment_named("compact")
    exact = held.site.storage.model_copy(update={"access_times": True})
    tree = files_of(_with_storage(exact.model_dump(mode="json")))
    assert "WEIGHT (CURRENT_TIMESTAMP - ACCESS_TIME)" in tree["scale/policy/evict.policy"]
    assert "WEIGHT (CURRENT_TIMESTAMP - CREATION_TIME)" in tree_named("compact")["scale/policy/evict.policy"]


def test_marks_that_are_close_stay_apart_in_a_small_quota() -> None:
    storage = {"quota_percent": 10, "watermarks": {"high_percent": 85, "low_percent": 84}}
    held = _with_storage(storage)
    assert Cluster(held).pool_marks == (8, 7)
    assert [found.id for found in faults(held, files_of(held)) if found.severity == "error"] == []


def test_a_back_end_that_needs_grace_spares_files_longer() -> None:
    inference = deployment_of(8).site.inference.model_copy(update={"cache_backend": "llmd-fs"})
    tree = files_of(deployment_with(8, inference=inference.model_dump(mode="json")))
    assert "INTERVAL '60' MINUTES" in tree["scale/policy/evict.policy"]


def _with_storage(storage: dict[str, Any]) -> Any:
    """Return the 4-node deployment with another storage section."""
    from kvplan.api import deployment  # noqa: PLC0415 - here alone

    held = deployment_named("compact")
    site = held.site.model_copy(update={"storage": type(held.site.storage).model_validate(storage)})
    return deployment(held.plan, site)


def test_eviction_compares_writing_with_deleting() -> None:
    cluster = Cluster(deployment_named("compact"))
    report = eviction_report(cluster)
    assert report == json.loads(tree_named("compact")["scale/eviction.json"])
    assert report["fits"] is (report["delete_files_per_s"] >= report["fill_files_per_s"])
    assert report["fill_files_per_s"] * report["file_bytes"] == pytest.approx(report["fill_bytes_per_s"], rel=0.01)


def test_the_exports_say_what_they_leave_out() -> None:
    toolkit = tree_named("reference")["scale/export/toolkit.sh"]
    for left_out in ("slot map", "granularity of checksums", "pagepool", "RDMA", "spare space", "eviction"):
        assert left_out in toolkit
    words = [shlex.split(line) for line in toolkit.splitlines() if line.startswith("./")]
    assert sum("-so" in argv for argv in words) == 8
    hosts = yaml.safe_load(tree_named("joined")["scale/export/ibm-spectrum-scale.yml"])["all"]["hosts"]
    assert Counter(host["scale_out_node"] for host in hosts.values()) == {True: 8, False: 4}


@pytest.mark.parametrize(("tool", "joint"), [("dnf", "-"), ("apt-get", "=")])
def test_only_packages_of_the_release_are_asked_for_in_its_version(tool: str, joint: str) -> None:
    (install,) = _commands("reference", tool, "install")
    plain = {word for word in install[3:] if word.startswith("gpfs.") and not word.endswith(f"{joint}6.0.0-1")}
    apart = {"gpfs.gskit", "gpfs.gnr.base", "gpfs.gnr.support-scaleout"} if tool == "dnf" else {"gpfs.gskit"}
    assert plain == apart
    assert f"gpfs.base{joint}6.0.0-1" in install


def test_the_evictor_has_its_working_directory_on_every_node_that_takes_part() -> None:
    tree = tree_named("compact")
    (made,) = [step for step in yaml.safe_load(tree["scale/policy/install.yaml"]) if "script" in step["id"]]
    directory = made["commands"][0][-1]
    assert made["runs_on"] == "each-storage-node"
    assert f'work="${{KV_EVICT_WORK:-{directory}}}"' in tree["scale/policy/kv-evict"]


def test_any_storage_node_must_reach_all_of_them_where_the_evictor_runs() -> None:
    steps = yaml.safe_load(tree_named("compact")["scale/policy/install.yaml"])
    (made,) = [step for step in steps if "script" in step["id"]]
    assert ["mmdsh", "-N", "kvservers", "true"] in made["reads"]
    pages = {name: "must reach each by ssh" in tree_named(name)["scale/README.md"] for name in ("compact", "reference")}
    assert pages == {"compact": True, "reference": False}


@pytest.mark.parametrize(
    ("software", "vllm", "dynamo"), [("reference", "0.14.1", "0.9.0"), ("current", "0.31.0", "1.6.1")]
)
def test_a_shared_store_of_lmcache_gets_a_policy_with_a_grace_time(software: str, vllm: str, dynamo: str) -> None:
    plan = plan_of(8, cache_backend="lmcache-fs", software=software)
    data = site_data(plan)
    data["versions"] |= {"vllm": vllm, "dynamo": dynamo}
    held = deployment(plan, Site.model_validate(data))
    tree = files_of(held)
    assert "INTERVAL '60' MINUTES" in tree["scale/policy/evict.policy"]
    assert "scale/policy/README.md" not in tree
    assert [found for found in faults(held, tree) if found.severity == "error"] == []


def test_a_client_has_what_the_kernel_layer_is_built_with() -> None:
    (install,) = _commands("reference", "apt-get", "install")
    kernel = deployment_named("reference").site.versions.ubuntu_kernel
    assert {"build-essential", "ksh", "m4", "libaio1t64", f"linux-headers-{kernel}"} <= set(install)


@pytest.mark.parametrize(
    ("name", "edition", "package"),
    [("reference", "gpfs.license.dm", "storage_scale_client"), ("joined", "gpfs.license.ec", "storage_scale")],
)
def test_a_cluster_has_one_edition(name: str, edition: str, package: str) -> None:
    (install,) = _commands(name, "apt-get", "install")
    assert [word.partition("=")[0] for word in install if "license" in word] == [edition]
    steps = {step["id"][3:]: step.get("package") for step in yaml.safe_load(tree_named(name)["scale/steps.yaml"])}
    assert {step: package for step, package in steps.items() if package} == {
        "software": "storage_scale",
        "client-software": package,
    }
