"""Complete Sites for designs of 4, 8, 16, 64 and 256 nodes, with labels that follow from each machine's place."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from designs import plan_of

from kvplan.api import deployment, design
from kvplan.schema.build import BuildOptions
from kvplan.schema.roles import SERVER_ROLES, SWITCH_ROLES
from kvplan.schema.site.site import Site

if TYPE_CHECKING:
    from kvplan import Plan
    from kvplan.schema.design import Design, Device
    from kvplan.site.deployment import Deployment

OLD, NEW = "5.11.1", "5.15.0"
"""A Cumulus version of either dialect."""
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExampleA deployer"


def site_data(plan: Plan, *, cumulus: str = NEW, **sections: Any) -> dict[str, Any]:
    """Return a complete Site for a Plan as plain data; sections replace their namesakes."""
    options = BuildOptions.model_validate(sections.pop("build", {}))
    designed = design(plan, options)
    data: dict[str, Any] = {
        "format_version": "1.0",
        "name": "example",
        "build": options.model_dump(mode="json", exclude_defaults=True),
        "network": {
            "domain": "kv.example",
            "dns": ["172.24.0.2", "172.24.0.7"],
            "ntp": ["172.24.0.3", "172.24.0.4", "172.24.0.8", "172.24.0.9"],
            "syslog": [{"host": "172.24.0.5", "port": 514}],
            "snmp": {"user": "watcher", "authentication": "env:KV_SNMP_AUTH", "privacy": "env:KV_SNMP_PRIV"},
            "snmp_listen": [],
            "telemetry": {"host": "172.24.0.6", "port": 4317},
            "management_gateway": "172.24.0.1",
        },
        "access": {
            "ssh_keys": [KEY],
            "private_key": "file:secrets/deployer",
            "switch_password": "vault:secrets/switches.yml#password",
            "console_password_hash": "vault:secrets/hosts.yml#console",
        },
        "media": {"address": "172.24.0.10", "port": 8080},
        "servers": [_server(device, designed, plan) for device in designed.devices if device.role in SERVER_ROLES],
        "switches": [_switch(device, cumulus) for device in designed.devices if device.role in SWITCH_ROLES],
        "images": {
            "rhel": _download("rhel-9.6-x86_64-dvd.iso", "9.6"),
            "ubuntu": _download("ubuntu-24.04.3-live-server-amd64.iso", "24.04"),
        },
        "packages": {
            "storage_scale": _download("packages/storage-scale-ece.tar.gz", "6.0.0.1"),
            "storage_scale_client": _download("packages/storage-scale-dm.tar.gz", "6.0.0.1"),
            "doca": _download("packages/doca-host-rhel96.rpm", "3.1.0"),
            "doca_ubuntu": _download("packages/doca-host-ubuntu2404.deb", "3.1.0"),
            "gpu_driver": _download("packages/gpu-driver-580.run", "580.95.05"),
        },
        "versions": {
            "dynamo": "0.9.0",
            "vllm": "0.14.1",
            "cuda": "12.9",
            "gpu_driver": "580.95.05",
            "doca": "3.1.0",
            "storage_scale": "6.0.0.1",
            "rhel": "9.6",
            "rhel_kernel": "5.14.0-570.12.1.el9_6",
            "ubuntu": "24.04",
            "ubuntu_kernel": "6.8.0-79-generic",
        },
        "licences": [
            {"what": what, "accepted_by": "A. Person", "date": "2026-11-30"}
            for what in ("storage-scale", "doca", "gpu-driver", "rhel", "ubuntu", "cumulus", "dynamo", "dcms")
        ],
        "inference": {
            "cache_backend": plan.request.cache_backend,
            "engines": {
                "image": "vllm-runtime:0.9.0",
                "model_path": "/models/gpt-oss-120b",
                "served_name": plan.request.model,
                "gpus_per_server": plan.parts.gpu.gpus_per_server,
            },
        },
    }
    return {**data, **sections}


def site_of(plan: Plan, **changes: Any) -> Site:
    """Return a complete Site for a Plan."""
    return Site.model_validate(site_data(plan, **changes))


@cache
def deployment_of(nodes: int = 8, cumulus: str = NEW) -> Deployment:
    """Return the deployment of so many nodes, in the dialect of a Cumulus version."""
    plan = plan_of(nodes)
    return deployment(plan, site_of(plan, cumulus=cumulus))


def deployment_with(nodes: int = 8, **sections: Any) -> Deployment:
    """Return a deployment whose Site has other sections."""
    plan = plan_of(nodes)
    return deployment(plan, site_of(plan, **sections))


def _download(name: str, version: str) -> dict[str, str]:
    """Return the location of an image or a package, with a hash that follows from its name."""
    return {"url": f"http://172.24.0.10:8080/{name}", "sha256": sha256(name.encode()).hexdigest(), "version": version}


def _server(device: Device, designed: Design, plan: Plan) -> dict[str, Any]:
    """Return one server with labels made from its role and number."""
    code = f"{'scg'[['storage', 'client', 'control'].index(device.role)]}{device.number:04d}".upper()
    ports = [port for port in designed.ports if port.device == device.name and port.kind in ("fabric", "host")]
    data: dict[str, Any] = {
        "name": device.name,
        "serial": f"SN{code}",
        "model": device.model,
        "bmc": {"address": device.management_address.partition("/")[0], "password": f"env:KV_BMC_{code}"},
        "macs": {port.name: _mac(device, index) for index, port in enumerate(ports)},
        "boot_drives": {"serials": [f"BOOT{code}A", f"BOOT{code}B"], "least_gb": 400, "most_gb": 1000},
    }
    if device.role == "storage":
        profile = plan.profile
        data["data_drives"] = {"count": profile.drives_per_node, "size_gb": profile.drive_bytes // 10**9}
    return data


def _switch(device: Device, cumulus: str) -> dict[str, Any]:
    """Return one switch with labels made from its name."""
    return {
        "name": device.name,
        "role": device.role,
        "serial": f"MT{device.name.upper()}",
        "model": device.model,
        "mac": _mac(device, 0),
        "cumulus": cumulus,
    }


_ROLE_OCTETS = {
    "storage": 1,
    "client": 2,
    "control": 3,
    "leaf": 4,
    "spine": 5,
    "super-spine": 6,
    "management-switch": 7,
}


def _mac(device: Device, index: int) -> str:
    """Return a locally administered MAC address that no other port has."""
    return f"02:00:{_ROLE_OCTETS[device.role]:02x}:{device.number >> 8:02x}:{device.number & 255:02x}:{index:02x}"
