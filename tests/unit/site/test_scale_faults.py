"""Faults planted in the files of Storage Scale, each seen by its rule; what is clean raises nothing."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from scale_trees import broken, deployment_named, faults, files_of, tree_named
from sites import deployment_with

from kvplan.site.hostnet import host_files
from kvplan.site.scale import RULES

if TYPE_CHECKING:
    from kvplan.schema.design import Finding

NODES, CLIENTS, CLASSES = "scale/nodes.stanza", "scale/clients.stanza", "scale/nodeclasses.yaml"
SERVER, CLIENT = "scale/mmchconfig.yaml", "scale/client-mmchconfig.yaml"
STEPS, SLOTS, MEMORY = "scale/steps.yaml", "scale/slots.yaml", "scale/memory.json"
POLICY, SCRIPT = "scale/policy/evict.policy", "scale/policy/kv-evict"
INSTALL, EVICTION = "scale/policy/install.yaml", "scale/eviction.json"
TOOLKIT, VARIABLES = "scale/export/toolkit.sh", "scale/export/ibm-spectrum-scale.yml"
FIRST = "storage-001-kv.kv.example:quorum-manager:storage-001-adm.kv.example\n"
IPV6_IS_ON = "net.ipv6.conf.all.disable_ipv6 = 0\nnetwork --device=02:00:01:00:00:01 --bindto=mac --noipv6\n"
YOUNG = (
    "RULE 'kv-spare-young' EXCLUDE FOR FILESET ('kvcache')\n"
    "  WHERE (CURRENT_TIMESTAMP - MODIFICATION_TIME) < INTERVAL '10' MINUTES\n"
)

# rule, tree, file, text, what stands there instead
PLANTED: list[tuple[int, str, str, str, str]] = [
    (1, "reference", NODES, ":quorum-manager:", ":quorum:"),
    (1, "reference", STEPS, "title: Create the cluster\n", "title: [1\n"),
    (1, "reference", STEPS, "destructive: true", "destructive: perhaps"),
    (1, "reference", MEMORY, "{", "["),
    (1, "reference", MEMORY, "549755813888", '"512 GiB"'),
    (1, "reference", VARIABLES, "scale_out_node: true", "scale_out_node: perhaps"),
    (1, "compact", EVICTION, "{", "[{"),
    (1, "compact", POLICY, "THRESHOLD (80,71)", "THRESHOLD 80"),
    (1, "compact", POLICY, "RULE 'kv-retired' DELETE", "RULE 'kv-retired' DROP"),
    (2, "reference", NODES, FIRST, ""),
    (2, "reference", NODES, FIRST, FIRST * 2),
    (2, "reference", CLIENTS, "gpu-0001-adm", "gpu-0009-adm"),
    (3, "reference", NODES, "storage-007-kv.kv.example:quorum-manager", "storage-007-kv.kv.example:nonquorum-client"),
    (3, "reference", CLIENTS, "nonquorum-client", "quorum-manager"),
    (5, "reference", NODES, "storage-003-adm", "storage-003-kv"),
    (8, "large", CLASSES, "recovery_group: rg2", "recovery_group: rg1"),
    (9, "reference", SERVER, "target: kvservers", "target: kvserver"),
    (9, "reference", CLASSES, "name: kvgpus", "name: gpus"),
    (10, "reference", SLOTS, "drives: 16", "drives: 15"),
    (10, "reference", SLOTS, "last_slot: 16", "last_slot: 12"),
    (10, "reference", STEPS, '- "16"\n', '- "24"\n'),
    (11, "reference", SERVER, "mlx5_storage1p0", "mlx5_storage2p0"),
    (11, "reference", SERVER, "mlx5_storage1p0/1/3", "mlx5_storage1p0"),
    (12, "reference", CLIENT, "mlx5_nic2p0/1/2", "mlx5_nic2p0/1/4"),
    (12, "reference", SERVER, "mlx5_storage1p0/1/3", "mlx5_storage1p0/1"),
    (13, "reference", SERVER, " mlx5_storage1p0/1/3", ""),
    (13, "reference", CLIENT, "mlx5_nic2p0", "mlx5_nic1p0"),
    (14, "reference", SERVER, "parameter: verbsRdmaCm", "parameter: verbsRdmaCmm"),
    (16, "reference", CLIENT, 'value: "106"', 'value: "104"'),
    (17, "reference", STEPS, '"137438953472"', "128G"),
    (17, "reference", SERVER, '"137438953472"', '"25%"'),
    (17, "reference", STEPS, '"137438953472"', '"4294967296"'),
    (18, "reference", SERVER, '"137438953472"', '"537438953472"'),
    (18, "reference", MEMORY, '"fits": true', '"fits": false'),
    (19, "reference", CLIENT, '"16777216"', '"1048576"'),
    (19, "reference", STEPS, "16M", "2M"),
    (19, "reference", CLIENT, "parameter: maxblocksize", "parameter: maxBlockSize"),
    (20, "reference", SERVER, "parameter: maxStatCache", "parameter: maxFilesToCache"),
    (20, "reference", SERVER, "- mmlsconfig\n      - maxMBpS", "- mmlsconfig\n      - maxMbps"),
    (21, "reference", STEPS, "workerThreads=3072", "workerThreads=512"),
    (21, "reference", CLIENT, 'value: "1024"', 'value: "2048"'),
    (22, "reference", SERVER, "parameter: autoload\n", "parameter: subnets\n"),
    (22, "reference", CLIENT, "parameter: autoload\n", "parameter: subnets\n"),

    (23, "reference", STEPS, "07-slot-map", "07-slots"),
    (23, "reference", STEPS, "17-quota", "18-quota"),
    (24, "reference", STEPS, "done_when: each set is listed as created", 'done_when: ""'),
    (25, "reference", STEPS, "- one\n", "- all\n"),
    (25, "reference", STEPS, '- "--recycle"\n      - one\n', ""),
    (26, "reference", STEPS, "destructive: true", "destructive: false"),
    (26, "reference", STEPS, '- "-v"\n      - "yes"', '- "-v"\n      - "no"'),
    (27, "reference", STEPS, "8+2p", "5+2p"),
    (27, "reference", STEPS, "8+2p", "8+3p"),
    (28, "compact", STEPS, "4+2p", "16+2p"),
    (29, "reference", STEPS, '"4m"', '"32m"'),
    (29, "reference", STEPS, '"4m"', '"8m"'),
    (29, "compact", STEPS, '"32k"', '"8k"'),
    (30, "reference", STEPS, "95%", "105%"),
    (30, "reference", STEPS, "95%", "100T"),
    (30, "reference", STEPS, "95%", "80%"),
    (31, "large", STEPS, '"--recovery-group"\n      - rg1\n', '"--recovery-group"\n      - rg1,rg2\n'),
    (31, "large", STEPS, "vs1,vs2", "vs1"),
    (32, "reference", STEPS, '- "-T"\n      - /kvfs\n', '- "-T"\n      - kvfs\n'),
    (32, "reference", STEPS, '- "-T"\n      - /kvfs\n', '- "-T"\n      - /gpfs\n'),
    (32, "reference", STEPS, "- /kvfs/kvcache\n", "- /kvfs/a/kvcache\n"),
    (33, "reference", STEPS, ":1000000", ":9000000000"),
    (33, "reference", STEPS, '"--inode-limit"', '"--inode-limits"'),
    (33, "reference", STEPS, "mmcrfileset", "mmlsfileset"),
    (34, "reference", STEPS, "mmsetquota", "mmlsquota"),
    (36, "reference", STEPS, "- mmchlicense\n      - client\n", "- mmchlicense\n      - server\n"),
    (37, "reference", STEPS, "mmremotefs", "mmcrfs"),
    (37, "joined", STEPS, "- mmaddnode\n", "- mmauth\n"),
    (37, "reference", STEPS, "- kvclients.kv.example\n", "- kvstore.kv.example\n"),
    (37, "reference", STEPS, "- kvstore.kv.example\n", "- kvstore\n"),
    (38, "reference", STEPS, '- "-n"\n      - "storage-001-kv', '- "-n"\n      - "storage-001-adm'),
    (40, "compact", POLICY, "THRESHOLD (80,71)", "THRESHOLD (71,80)"),
    (40, "compact", POLICY, "THRESHOLD (80,71)", "THRESHOLD (95,71)"),
    (40, "compact", POLICY, " THRESHOLD (80,71)", ""),
    (40, "compact", SCRIPT, "high_percent=85", "high_percent=50"),
    (41, "compact", POLICY, ") FOR FILESET ('kvcache')\n\nRULE 'kv-placement'", ")\n\nRULE 'kv-placement'"),
    (41, "compact", POLICY, "'/kvfs/kvcache/retired-%'", "'/kvfs/%/retired-%'"),
    (42, "compact", POLICY, YOUNG, ""),
    (42, "compact", POLICY, "MODIFICATION_TIME) <", "MODIFICATION_TIME) >"),
    (43, "compact", POLICY, "retired-%", "%"),
    (44, "compact", POLICY, "CREATION_TIME", "ACCESS_TIME"),
    (44, "joined", STEPS, '- "-S"\n      - "no"\n', '- "-S"\n      - relatime\n'),
    (45, "compact", SCRIPT, " --single-instance", ""),
    (45, "compact", SCRIPT, "flock --nonblock 9", "true"),
    (45, "compact", SCRIPT, "mmapplypolicy ", "echo "),
    (46, "compact", SCRIPT, ":-/var/mmfs/kv-evict", ":-/kvfs/tmp"),
    (46, "compact", SCRIPT, ' -s "${work}"', ""),
    (47, "compact", INSTALL, "lowDiskSpace,", ""),
    (47, "compact", INSTALL, '"--command"\n      - /usr/local/sbin/kv-evict', '"--command"\n      - /opt/kv-evict'),
    (47, "compact", INSTALL, "- test\n", '- "yes"\n'),
    (47, "compact", INSTALL, "- mmaddcallback\n", "- mmlscallback\n"),
    (47, "compact", INSTALL, "/etc/kvplan/scale/policy/evict.policy", "/opt/evict.policy"),
    (49, "compact", POLICY, "RULE 'kv-placement' SET POOL 'system'\n", ""),
    (50, "reference", TOOLKIT, "-code 8+2P", "-code 8+3P"),
    (50, "reference", TOOLKIT, "storage-008-kv.kv.example -so\n", "storage-008-kv.kv.example -so -q\n"),
    (50, "large", TOOLKIT, "recoverygroup define -N storage-001-kv.kv.example,", "recoverygroup define -N "),
    (50, "reference", TOOLKIT, "--mmcrfs '-T /kvfs", "--mmcrfs '-T /gpfs"),
    (50, "reference", TOOLKIT, "--mmcrfs '", "--mmcrfs "),
    (51, "reference", VARIABLES, "8+2p", "8+3p"),
    (51, "reference", VARIABLES, "verbsRdma: enable", "verbsRdma: disable"),
    (51, "reference", VARIABLES, "scale_cluster_quorum: false", "scale_cluster_quorum: true"),
    (51, "reference", VARIABLES, "rg: rg1\n        nodeclass", "rg: rg9\n        nodeclass"),
    (51, "reference", VARIABLES, 'mmcrfs: "-T /kvfs', 'mmcrfs: "-T /gpfs'),
    (52, "reference", STEPS, '"--active"\n      - storage-001-kv', '"--active"\n      - storage-002-kv'),
    (52, "large", STEPS, '"--log-group"\n      - root', '"--log-group"\n      - LG001'),
    (53, "reference", STEPS, "package: storage_scale_client\n", "package: storage_scale\n"),
    (53, "joined", STEPS, "  package: storage_scale\n", ""),
]  # fmt: skip


def _ids(found: list[Finding]) -> set[str]:
    """Return the ids of findings."""
    return {finding.id for finding in found}


def _judged(**sections: Any) -> set[str]:
    """Return the ids of what is found in a Site with other sections, rendered as it is."""
    held = deployment_with(8, **sections)
    return _ids(faults(held, files_of(held)))


@pytest.mark.parametrize(("rule", "name", "path", "old", "new"), PLANTED)
def test_a_planted_fault_is_found(rule: int, name: str, path: str, old: str, new: str) -> None:
    clean = _ids(faults(deployment_named(name), tree_named(name)))
    found = broken(name, path, old, new)
    wanted = f"KV-SCL-{rule:03d}"
    assert wanted not in clean
    assert wanted in _ids(found)
    assert all(finding.text and finding.remedy and finding.where for finding in found)


@pytest.mark.parametrize("path", sorted(tree_named("compact")))
def test_a_missing_file_is_found_and_breaks_no_rule(path: str) -> None:
    tree = {name: text for name, text in tree_named("compact").items() if name != path}
    found = faults(deployment_named("compact"), tree)
    is_read = path not in ("scale/capacity.json", "scale/README.md")
    assert [finding.where for finding in found if finding.id == "KV-SCL-001"] == [path] * is_read


def test_nothing_at_all_is_judged_too() -> None:
    assert "KV-SCL-001" in _ids(faults(deployment_named("reference"), {}))


def test_quorum_nodes_in_one_rack_are_found() -> None:
    held = deployment_named("large")
    rack = held.storage[0].device.rack
    near = {server.names.daemon_fqdn for server in held.storage if server.device.rack == rack}
    others = {server.names.daemon_fqdn for server in held.storage if server.device.pair == held.storage[0].device.pair}
    chosen = (sorted(near) + sorted(others - near))[:7]
    lines = []
    for server in held.storage:
        designation = "quorum-manager" if server.names.daemon_fqdn in chosen else "nonquorum-client"
        lines.append(f"{server.names.daemon_fqdn}:{designation}:{server.names.admin_fqdn}\n")
    found = faults(held, {**tree_named("large"), NODES: "".join(lines)})
    assert {finding.text.split(" in ")[1].split()[0] for finding in found if finding.id == "KV-SCL-004"} == {
        "rack",
        "pair",
    }


def test_a_name_that_a_hosts_file_lacks_is_found() -> None:
    held = deployment_named("reference")
    path = "hosts/_common/storage/etc/hosts"
    hosts = {file.path: file.text for file in host_files(held) if file.path.endswith("/etc/hosts")}
    tree = {**tree_named("reference"), **hosts}
    assert "KV-SCL-006" not in _ids(faults(held, tree))
    tree[path] = re.sub(r"\bstorage-002-kv\.kv\.example\b", "# gone", tree[path])
    assert [finding.where for finding in faults(held, tree) if finding.id == "KV-SCL-006"] == [path]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("hosts/storage-001/etc/sysctl.d/90-kv.conf", "net.ipv6.conf.all.disable_ipv6 = 1\n"),
        ("install/storage-001.ks", 'bootloader --append="ipv6.disable=1"\n'),
        ("install/storage-001.ks", "network --device=client1p0 --bootproto=static --noipv6\n"),
    ],
)
def test_ipv6_turned_off_is_found(path: str, line: str) -> None:
    held = deployment_named("reference")
    for text, is_fault in ((line, True), (f"# {line}", False), (IPV6_IS_ON, False)):
        assert ("KV-SCL-015" in _ids(faults(held, {**tree_named("reference"), path: text}))) is is_fault


@pytest.mark.parametrize("nodes", [2, 33])
def test_a_group_of_a_wrong_size_is_found(nodes: int) -> None:
    text = tree_named("reference")[CLASSES]
    members = "".join(f"      - n{number}.kv.example\n" for number in range(nodes))
    changed = re.sub(r"(- name: nc1\n(?:  \w.*\n)*?  nodes:\n)(?: +- \S+\n)+", lambda match: match[1] + members, text)
    assert changed != text
    found = faults(deployment_named("reference"), {**tree_named("reference"), CLASSES: changed})
    assert "KV-SCL-007" in _ids(found)


def test_an_inode_limit_below_the_files_is_found() -> None:
    limit = json.loads(tree_named("reference")["scale/capacity.json"])["inode_limit"]
    assert "KV-SCL-033" in _ids(broken("reference", STEPS, f"{limit}:", "2000000:"))


@pytest.mark.parametrize("quota", ["999999999G:999999999G", "20G:10G", "10G:many"])
def test_a_quota_above_the_file_system_or_in_disorder_is_found(quota: str) -> None:
    gib = json.loads(tree_named("reference")["scale/capacity.json"])["quota_gib"]
    assert "KV-SCL-034" in _ids(broken("reference", STEPS, f"{gib}G:{gib}G", quota))


def test_a_site_whose_numbers_do_not_fit_is_found() -> None:
    assert "KV-SCL-018" in _judged(storage={"pagepool_gib": 480})
    assert "KV-SCL-017" in _judged(storage={"pagepool_gib": 4})
    assert "KV-SCL-034" in _judged(storage={"quota_percent": 100})
    assert "KV-SCL-035" in _judged(licences=[])
    assert "KV-SCL-037" in _judged(storage={"client_cluster": "kvstore"})
    assert "KV-SCL-005" in _judged(names={"admin_suffix": "", "daemon_suffix": ""})


def test_a_policy_under_a_back_end_that_forbids_it_is_found() -> None:
    held = deployment_named("reference")
    evicting = {path: text for path, text in tree_named("compact").items() if "policy/" in path}
    assert "KV-SCL-039" in _ids(faults(held, {**tree_named("reference"), **evicting}))
    assert "KV-SCL-039" in _ids(broken("reference", STEPS, "- mmmount\n", "- mmaddcallback\n"))


def test_a_rate_of_eviction_that_is_too_low_is_a_warning() -> None:
    found = faults(deployment_named("compact"), tree_named("compact"))
    assert [finding.severity for finding in found] == ["warning"]
    assert [finding.id for finding in found] == ["KV-SCL-048"]
    assert broken("compact", EVICTION, '"fits": false', '"fits": true') == []


def test_every_rule_has_a_sentence_and_a_planted_fault() -> None:
    planted = {f"KV-SCL-{rule:03d}" for rule, *_ in PLANTED}
    elsewhere = {f"KV-SCL-{number:03d}" for number in (4, 6, 7, 15, 35, 39, 48)}
    assert planted | elsewhere == set(RULES)
    assert not planted & elsewhere
    assert list(RULES) == [f"KV-SCL-{number:03d}" for number in range(1, len(RULES) + 1)]
    assert len(set(RULES.values())) == len(RULES)
