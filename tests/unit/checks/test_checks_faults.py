"""Every check catches the fault that it is there for, says where it stands, and is silent where nothing is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from checking import clean_data, context_with, found_by
from site_changes import at, both, dropped, grown, like, put, rsa_key, without
from sites import KEY

from kvplan.checks.framework import Context
from kvplan.checks.registry import own_checks
from kvplan.checks.runner import examine
from kvplan.inputs.document import Document
from kvplan.render.data import data_yaml

OF_DESIGN = ("KV-CAP-001", "KV-CAP-002", "KV-CAP-003", "KV-CAP-004", "KV-CAP-005", "KV-CAP-006")
"""What the design of the published system finds is passed on: tested apart."""
HOST = {"name": "mirror", "address": "172.24.0.20"}
STORAGE = ["storage-001", "storage-002"]
FAULTS: list[tuple[str, str, str, Any]] = [
    ("KV-SIT-001", "storage node", "storage-003", without("servers", "storage-003")),
    ("KV-SIT-001", "control node", "control-1", without("servers", "control-1")),
    ("KV-SIT-002", "misspelled", "storag-003", at("storage-003", "name", "storag-003")),
    ("KV-SIT-003", "server", "server", at("storage-002", "name", "storage-001")),
    ("KV-SIT-003", "switch", "switch", at("leaf-001b", "name", "leaf-001a")),
    ("KV-SIT-004", "storage node", "storage-001", at("storage-001", "model", "ASG-2115S-NE332R")),
    ("KV-SIT-004", "GPU server", "gpu-0001", at("gpu-0001", "model", "SYS-421GE-TNRT")),
    ("KV-SIT-005", "two servers", "storage-001", like("servers.storage-001.serial", "servers.storage-002.serial")),
    ("KV-SIT-005", "server and switch", "leaf-001a", like("switches.leaf-001a.serial", "servers.storage-001.serial")),
    ("KV-SIT-005", "capitalised otherwise", "storage-001", at("storage-001", "serial", "sns0002")),
    (
        "KV-SIT-006",
        "two ports",
        "storage-001",
        like("servers.storage-002.macs.mgmt1", "servers.storage-001.macs.mgmt1"),
    ),
    ("KV-SIT-006", "controller", "leaf-001a", at("gpu-0001", "bmc.mac", "02:00:04:00:01:00")),
    ("KV-SIT-007", "management", "storage-001 mgmt1", dropped("servers.storage-001.macs", "mgmt1")),
    ("KV-SIT-007", "fabric", "storage-001 client1p0", dropped("servers.storage-001.macs", "client1p0")),
    ("KV-SIT-008", "misspelled", "client1p7", at("storage-001", "macs.client1p7", "02:00:0a:00:00:01")),
    ("KV-SIT-009", "one server", "storage-001", at("storage-001", "boot_drives.serials", ["A1", "A1"])),
    (
        "KV-SIT-009",
        "two servers",
        "storage-001",
        like("servers.storage-002.boot_drives", "servers.storage-001.boot_drives"),
    ),
    ("KV-SIT-010", "own", "storage-001", at("storage-001", "data_drives.serials", ["boots0001a"])),
    ("KV-SIT-010", "other", "storage-001", at("storage-001", "data_drives.serials", ["BOOTS0002A"])),
    ("KV-SIT-011", "reversed", "storage-001", at("storage-001", "boot_drives.least_gb", 2000)),
    ("KV-SIT-012", "wide", "storage-001", at("storage-001", "boot_drives.most_gb", 8000)),
    ("KV-SIT-013", "few", "storage-001", at("storage-001", "data_drives.count", 15)),
    ("KV-SIT-013", "none", "storage-001", at("storage-001", "data_drives", None)),
    ("KV-SIT-014", "smaller", "storage-001", at("storage-001", "data_drives.size_gb", 3840)),
    ("KV-SIT-015", "short list", "storage-001", at("storage-001", "data_drives.serials", ["D1", "D2"])),
    ("KV-SIT-016", "in one list", "storage-001", at("storage-001", "data_drives.serials", ["D1", "D1"])),
    ("KV-SIT-017", "GPU server", "gpu-0001", at("gpu-0001", "data_drives", {"count": 2, "size_gb": 7680})),
    ("KV-SIT-018", "rack", "storage-001", at("storage-001", "rack", "rack-02")),
    (
        "KV-SIT-018",
        "unit",
        "storage-001",
        both(at("storage-001", "rack", "rack-01"), at("storage-001", "position_u", 40)),
    ),
    (
        "KV-SIT-019",
        "same unit",
        "storage-001",
        both(
            *(at(name, field, value) for name in STORAGE for field, value in (("rack", "rack-01"), ("position_u", 9)))
        ),
    ),
    ("KV-SIT-020", "equal", "names", put("names.daemon_suffix", "-adm")),
    ("KV-SIT-021", "inventory name", "gpu-0001", grown("extra_names", {**HOST, "name": "gpu-0001"})),
    ("KV-SIT-021", "daemon name", "gpu-0001-kv", grown("extra_names", {**HOST, "name": "gpu-0001-kv"})),
    ("KV-SIT-021", "twice", "mirror", grown("extra_names", HOST, {**HOST, "address": "172.24.0.21"})),
    ("KV-SIT-022", "domain", "storage-001", put("network.domain", "a" * 30 + "." + "b" * 25)),
    ("KV-SIT-023", "leaf", "leaf-001b", without("switches", "leaf-001b")),
    ("KV-SIT-024", "misspelled", "leaf-01b", at("leaf-001b", "name", "leaf-01b")),
    ("KV-SIT-025", "spine", "spine-001", at("spine-001", "role", "leaf")),
    ("KV-SIT-026", "fabric", "leaf-001a", at("leaf-001a", "model", "SN4700")),
    ("KV-SIT-026", "management", "oob-01", at("oob-01", "model", "SN3420")),
    ("KV-SIT-027", "inside an address", "images.rhel.url", put("images.rhel.url", "http://CHANGE-ME/rhel.iso")),
    ("KV-SIT-028", "no zone", "network.timezone", put("network.timezone", "Europe/Berlinn")),
    *(
        ("KV-SIT-029", what, what, without("licences", what))
        for what in ("storage-scale", "doca", "gpu-driver", "rhel", "ubuntu", "cumulus", "dynamo", "dcms")
    ),
    ("KV-SIT-030", "no day", "storage-scale", put("licences.0.date", "2026-02-30")),
    ("KV-SIT-030", "twice", "licence 2", like("licences.1", "licences.0")),
    ("KV-SIT-031", "system", "storage.mount", put("storage.mount", "/etc")),
    ("KV-SIT-031", "below", "storage.mount", put("storage.mount", "/usr/kvfs")),
    ("KV-SIT-031", "shared", "storage.mount", put("storage.mount", "/mnt")),
    ("KV-SIT-031", "upwards", "storage.mount", put("storage.mount", "/kvfs/../etc")),
    (
        "KV-NET-001",
        "two servers",
        "storage-001",
        like("servers.storage-002.bmc.address", "servers.storage-001.bmc.address"),
    ),
    ("KV-NET-002", "port", "storage-001", at("storage-001", "bmc.address", "172.24.64.17")),
    ("KV-NET-002", "switch", "storage-001", at("storage-001", "bmc.address", "172.25.64.8")),
    ("KV-NET-003", "elsewhere", "storage-001", at("storage-001", "bmc.address", "172.24.100.1")),
    ("KV-NET-004", "other network", "storage-001", at("storage-001", "bmc.address", "192.168.0.9")),
    ("KV-NET-004", "other family", "storage-001", at("storage-001", "bmc.address", "fd00::9")),
    ("KV-NET-005", "other network", "media.address", put("media.address", "192.168.0.9")),
    ("KV-NET-006", "resolver on a port", "DNS", put("network.dns.0", "172.24.64.9")),
    ("KV-NET-006", "media server on a controller", "media server", put("media.address", "172.24.64.8")),
    ("KV-NET-006", "further host on a loopback", "mirror", grown("extra_names", {**HOST, "address": "10.72.16.1"})),
    ("KV-NET-007", "clock in the fabric", "NTP", put("network.ntp.0", "10.64.9.9")),
    ("KV-NET-007", "telemetry in the fabric", "telemetry", put("network.telemetry.host", "10.70.9.9")),
    ("KV-NET-008", "few links", "storage_client_a", put("build.addresses.storage_client_a", "10.64.0.0/27")),
    (
        "KV-NET-009",
        "resolver far away",
        "management_gateway",
        both(put("network.dns.0", "192.168.0.2"), put("network.management_gateway", None)),
    ),
    ("KV-NET-010", "other network", "management_gateway", put("network.management_gateway", "192.168.0.1")),
    ("KV-NET-010", "network address", "management_gateway", put("network.management_gateway", "172.24.0.0")),
    ("KV-NET-011", "server", "management_gateway", put("network.management_gateway", "172.24.64.9")),
    ("KV-NET-011", "media server", "management_gateway", put("network.management_gateway", "172.24.0.10")),
    ("KV-NET-012", "storage node", "services_address", put("inference.services_address", "172.24.64.9")),
    ("KV-NET-013", "one", "network.dns", put("network.dns", ["172.24.0.2"])),
    ("KV-NET-014", "four", "network.dns", put("network.dns", [f"172.24.0.{host}" for host in (2, 11, 12, 13)])),
    ("KV-NET-014", "twice", "network.dns", put("network.dns", ["172.24.0.2", "172.24.0.2"])),
    ("KV-NET-015", "two", "network.ntp", put("network.ntp", ["172.24.0.3", "172.24.0.4"])),
    ("KV-NET-016", "twice", "clock 2", like("network.ntp.1", "network.ntp.0")),
    ("KV-NET-017", "jumbo", "host_mtu_bytes", put("network.fabric_mtu_bytes", 1500)),
    ("KV-NET-018", "small", "host_mtu_bytes", put("network.host_mtu_bytes", 1500)),
    ("KV-NET-019", "local", "network.domain", put("network.domain", "kv.local")),
    ("KV-NET-020", "none", "storage-001", put("build.management.host_ports", 0)),
    ("KV-SEC-001", "1,024 bits", "access.ssh_keys", grown("access.ssh_keys", rsa_key(1024))),
    ("KV-SEC-002", "cut off", "access.ssh_keys", put("access.ssh_keys.0", KEY.replace("ExampleA", "Exam"))),
    ("KV-SEC-002", "other kind", "access.ssh_keys", put("access.ssh_keys.0", KEY.replace("ssh-ed25519", "ssh-rsa"))),
    ("KV-SEC-002", "no base64", "access.ssh_keys", put("access.ssh_keys.0", "ssh-ed25519 AAAAC me")),
    ("KV-SEC-003", "other comment", "key 2", grown("access.ssh_keys", KEY.replace("deployer", "colleague"))),
    ("KV-SEC-004", "variable", "access.private_key", put("access.private_key", "env:KV_KEY")),
    ("KV-SEC-005", "user", "rhel_repo", put("images.rhel_repo", "https://me:pass@repo.example/rhel")),
    ("KV-SEC-005", "token", "packages.doca.url", put("packages.doca.url", "https://x.example/doca.rpm?token=abc")),
    ("KV-SEC-006", "SNMP", "network.snmp.privacy", put("network.snmp.privacy", "env:KV_SNMP_AUTH")),
    ("KV-SEC-008", "root", "access.user", put("access.user", "root")),
    ("KV-SEC-009", "none", "console_password_hash", without("access", "console_password_hash")),
    ("KV-SEC-010", "uid", "engines.uid", put("inference.engines.uid", 33)),
    ("KV-SEC-010", "gid", "engines.gid", put("inference.engines.gid", 999)),
    ("KV-SEC-011", "zeros", "images.rhel", put("images.rhel.sha256", "0" * 64)),
    ("KV-SEC-011", "repeated", "packages.doca", put("packages.doca.sha256", "deadbeef" * 8)),
    ("KV-SEC-012", "copied", "packages.doca", like("packages.doca.sha256", "images.rhel.sha256")),
    ("KV-REL-001", "pair", "leaf-001b", at("leaf-001b", "cumulus", "5.16.0")),
    ("KV-REL-002", "spine", "spine-001", at("spine-001", "cumulus", "5.11.1")),
    ("KV-REL-003", "rhel", "images.rhel", put("images.rhel.version", "9.5")),
    ("KV-REL-003", "ubuntu", "images.ubuntu", put("images.ubuntu.version", "22.04.5")),
    ("KV-REL-004", "storage", "packages.storage_scale", put("packages.storage_scale.version", "6.0.1.0")),
    ("KV-REL-004", "driver", "packages.gpu_driver", put("packages.gpu_driver.version", "570.1")),
    ("KV-REL-005", "driver", "packages.gpu_driver", without("packages", "gpu_driver")),
    ("KV-REL-005", "adapters", "packages.doca_ubuntu", without("packages", "doca_ubuntu")),
    (
        "KV-REL-006",
        "older",
        "leaf-001a",
        put("images.cumulus", {"url": "http://172.24.0.10/cl.bin", "sha256": "ab" * 31 + "cd", "version": "5.11.1"}),
    ),
    ("KV-REL-007", "no tag", "inference.engines.image", put("inference.engines.image", "registry.example:5000/vllm")),
    ("KV-REL-007", "latest", "inference.etcd_image", put("inference.etcd_image", "etcd:latest")),
    ("KV-REL-008", "older", "inference.engines.image", put("inference.engines.image", "vllm-runtime:0.8.1")),
    ("KV-REL-009", "newer", "versions.vllm", put("versions.vllm", "0.15.0")),
    ("KV-REL-010", "newer", "versions.storage_scale", put("versions.storage_scale", "6.0.1.0")),
    (
        "KV-REL-004",
        "clients",
        "packages.storage_scale_client",
        put("packages.storage_scale_client.version", "6.0.1.0"),
    ),
    ("KV-REL-011", "clients", "packages.storage_scale_client", without("packages", "storage_scale_client")),
    ("KV-CAP-007", "other", "cache_backend", put("inference.cache_backend", "lmcache-fs")),
    ("KV-CAP-008", "eight", "gpus_per_server", put("inference.engines.gpus_per_server", 8)),
    ("KV-CAP-010", "three", "numa_nodes", put("inference.engines.numa_nodes", 3)),
    ("KV-CAP-011", "below the mount", "model_path", put("inference.engines.model_path", "/kvfs/models/gpt-oss-120b")),
    ("KV-CAP-012", "other model", "model_path", put("inference.engines.model_path", "/models/llama-3.1-8b")),
    (
        "KV-CAP-014",
        "three points",
        "storage.watermarks",
        put("storage.watermarks", {"high_percent": 85, "low_percent": 82}),
    ),
    ("KV-CAP-016", "all memory", "pagepool_gib", put("storage.pagepool_gib", 512)),
    ("KV-CAP-017", "huge", "disk_cache_gb", put("inference.engines.disk_cache_gb", 100_000)),
]
"""Check, name of the case, a part of where it is found, and the change to a clean Site that plants the fault."""
PLAN_FAULTS: list[tuple[str, str, dict[str, dict[str, Any]]]] = [
    ("KV-CAP-009", "gpus_per_server", {"request": {"tp": 3}}),
    ("KV-CAP-013", "quota_percent", {"demand": {"capacity_bytes": 10**18}}),
    ("KV-CAP-015", "storage.watermarks", {"demand": {"write_bytes_per_s": 1e12}}),
]
"""Check, a part of where it is found, and the fields of the Plan that plant the fault."""


@pytest.mark.parametrize(
    ("check_id", "where", "change"),
    [(fault[0], fault[2], fault[3]) for fault in FAULTS],
    ids=[f"{fault[0]} {fault[1]}" for fault in FAULTS],
)
def test_planted_fault_is_caught(check_id: str, where: str, change: Any) -> None:
    found = found_by(check_id, context_with(change))
    assert [entry for entry in found if where in entry.where], found
    assert all(entry.what and entry.loc is not None for entry in found)


@pytest.mark.parametrize(("check_id", "where", "changes"), PLAN_FAULTS, ids=[fault[0] for fault in PLAN_FAULTS])
def test_planted_fault_of_the_plan_is_caught(check_id: str, where: str, changes: dict[str, dict[str, Any]]) -> None:
    found = found_by(check_id, context_with(plan_changes=changes))
    assert [entry for entry in found if where in entry.where], found


@pytest.mark.parametrize(
    ("check_id", "where", "limits"),
    [
        ("KV-CAP-018", "versions.storage_scale", {"erasure_codes": ("4+2P",)}),
        ("KV-CAP-019", "recovery group 1", {"max_servers_per_recovery_group": 7}),
        ("KV-CAP-019", "recovery group 1", {"min_servers_per_recovery_group": 9}),
    ],
)
def test_what_the_release_does_not_take_is_caught(check_id: str, where: str, limits: dict[str, Any]) -> None:
    context = context_with()
    release = context.deployment.release.model_copy(update=limits)
    limited = Context(replace(context.deployment, release=release))
    assert [entry.where for entry in found_by(check_id, limited)] == [where]


@pytest.mark.parametrize("held", ["env:KV_BMC_S0001", "-----BEGIN OPENSSH PRIVATE KEY-----"])
def test_a_secret_in_a_rendered_file_is_caught(held: str) -> None:
    tree = {"inventory/all.yaml": held, "hosts/gpu-0001/etc/unit": f"x {held}\n", "README.md": "nothing"}
    assert [entry.where for entry in found_by("KV-SEC-007", context_with(tree=tree))] == ["hosts/gpu-0001/etc/unit"]


@pytest.mark.parametrize("check_id", OF_DESIGN)
def test_what_the_design_found_is_passed_on(check_id: str) -> None:
    builds: dict[str, dict[str, Any]] = {
        "KV-CAP-001": {"cabling": {"tray_m": 20, "slack_m": 20, "medium": "copper"}},
        "KV-CAP-006": {"addresses": {"management": "8.0.0.0/14"}},
    }
    context = context_with(put("build", builds.get(check_id, {})))
    found = found_by(check_id, context)
    assert found
    assert all(entry.severity in {"error", "warning"} and entry.remedy for entry in found)


@pytest.mark.parametrize("nodes", [4, 8, 16])
def test_clean_site_is_clean(nodes: int) -> None:
    context = context_with(nodes=nodes)
    found = {check.id: list(check.run(context)) for check in own_checks() if check.id not in OF_DESIGN}
    assert {check_id: entries for check_id, entries in found.items() if entries} == {}


def test_every_check_has_a_planted_fault() -> None:
    planted = {fault[0] for fault in (*FAULTS, *PLAN_FAULTS)} | {"KV-CAP-018", "KV-CAP-019", "KV-SEC-007", *OF_DESIGN}
    assert planted == {check.id for check in own_checks()}


def test_a_place_is_that_of_the_value() -> None:
    data = clean_data()
    at("storage-001", "serial", "sns0002")(data)
    document = Document(data, "site.yaml", data_yaml(data))
    context = context_with(at("storage-001", "serial", "sns0002"))
    report = examine(context, own_checks(), plan="plan.json", document=document)
    (finding,) = [finding for finding in report.findings if finding.id == "KV-SIT-005"]
    name, line, column = finding.place.split(":")
    assert name == "site.yaml"
    assert document.text.splitlines()[int(line) - 1][int(column) - 1 :] == "sns0002"
