"""What only looks wrong is let pass."""

from __future__ import annotations

from typing import Any

import pytest
from checking import context_with, found_by
from site_changes import at, both, grown, like, put, rsa_key, without

STORAGE = ("storage-001", "storage-002")
SOUND: dict[str, tuple[str, Any]] = {
    "a label with hyphens and a suffix": ("KV-SIT-026", at("leaf-001a", "model", "MSN-5600-CS2FC")),
    "an alias of the chassis": ("KV-SIT-004", at("storage-001", "model", "PetaScale 1U")),
    "a drive as its maker counts": ("KV-SIT-014", at("storage-001", "data_drives.size_gb", 7681)),
    "data drives named elsewhere than boot drives": (
        "KV-SIT-010",
        at("storage-001", "data_drives.serials", ["D1", "D2"]),
    ),
    "controllers of another make without their licence": (
        "KV-SIT-029",
        both(
            without("licences", "dcms"),
            lambda data: [server["bmc"].update(kind="openbmc") for server in data["servers"]],
        ),
    ),
    "a server in its planned rack": ("KV-SIT-018", at("storage-001", "rack", "rack-01")),
    "servers one above the other": (
        "KV-SIT-019",
        both(
            *(at(name, "rack", "rack-01") for name in STORAGE),
            at("storage-001", "position_u", 9),
            at("storage-002", "position_u", 10),
        ),
    ),
    "a resolver that is a clock too": ("KV-NET-006", put("network.ntp.0", "172.24.0.2")),
    "a clock by its name": ("KV-NET-007", put("network.ntp.0", "time.example")),
    "no gateway, and nothing beyond it": ("KV-NET-009", put("network.management_gateway", None)),
    "no gateway at all": ("KV-NET-010", put("network.management_gateway", None)),
    "services on a control node": ("KV-NET-012", put("inference.services_address", "172.25.128.9")),
    "one clock, trusted": ("KV-NET-015", put("network.ntp", ["172.24.0.3"])),
    "an RSA key that is long enough": ("KV-SEC-001", grown("access.ssh_keys", rsa_key(4096))),
    "a private key in a vault": ("KV-SEC-004", put("access.private_key", "vault:secrets/all.yml#key")),
    "one password for two controllers": (
        "KV-SEC-006",
        like("servers.storage-001.bmc.password", "servers.storage-002.bmc.password"),
    ),
    "a file that is an address": ("KV-SEC-006", put("packages.rpm_repo", "file:///srv/repo")),
    "one file at two places": ("KV-SEC-012", like("packages.doca_ubuntu", "packages.doca")),
    "switches a patch apart": ("KV-REL-002", at("spine-001", "cumulus", "5.15.1")),
    "a later point release of the image": ("KV-REL-003", put("images.ubuntu.version", "24.04.3")),
    "a repository instead of packages": (
        "KV-REL-005",
        both(without("packages", "gpu_driver"), put("packages.deb_repo", "http://172.24.0.10/deb")),
    ),
    "the image that switches run": (
        "KV-REL-006",
        put("images.cumulus", {"url": "http://172.24.0.10/cl.bin", "sha256": "ab" * 31 + "cd", "version": "5.15.0"}),
    ),
    "an image by its digest": ("KV-REL-007", put("inference.etcd_image", "etcd@sha256:abc")),
    "a tag that is no version": ("KV-REL-008", put("inference.engines.image", "vllm-runtime:site-a")),
    "a tag that is the engine's version": ("KV-REL-008", put("inference.engines.image", "vllm-runtime:v0.14.1-cu129")),
    "clients of the storage cluster": (
        "KV-REL-011",
        both(without("packages", "storage_scale_client"), put("storage.clients", "same-cluster")),
    ),
    "a repository with the clients' edition": (
        "KV-REL-011",
        both(without("packages", "storage_scale_client"), put("packages.deb_repo", "http://172.24.0.10/deb")),
    ),
}
"""What is let pass, and by which check."""


@pytest.mark.parametrize(("check_id", "change"), SOUND.values(), ids=SOUND)
def test_what_only_looks_wrong_is_let_pass(check_id: str, change: Any) -> None:
    assert found_by(check_id, context_with(change)) == []
