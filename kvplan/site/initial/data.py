"""What a Plan and its design say of a Site, as plain data, with `CHANGE-ME` where neither can know."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from kvplan.schema.roles import SERVER_ROLES, SWITCH_ROLES
from kvplan.schema.site.forms import UNFILLED
from kvplan.schema.site.place import LICENCES
from kvplan.site.initial.assets import Asset
from kvplan.units import GB

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kvplan.schema.design import Design, Device
    from kvplan.schema.plan import Plan
    from kvplan.schema.software import SoftwareSet

DEFAULT_CUMULUS: Final = "5.15.0"
"""Cumulus Linux of switches where nothing else is asked for."""


def initial_data(
    plan: Plan,
    designed: Design,
    software: SoftwareSet,
    *,
    cumulus: str = DEFAULT_CUMULUS,
    assets: Mapping[str, Asset] | None = None,
) -> dict[str, Any]:
    """Return the Site that a Plan implies.

    Parameters
    ----------
    plan
        The Plan.
    designed
        Its design.
    software
        The software set that the Plan was sized with.
    cumulus
        Version that the switches run.
    assets
        What an asset list says, by name of the machine.

    Returns
    -------
    dict
        Data of a Site; values that nobody has given are `CHANGE-ME`.
    """
    known = assets or {}
    ports: dict[str, list[str]] = defaultdict(list)
    for port in designed.ports:
        if port.kind in ("fabric", "host"):
            ports[port.device].append(port.name)
    devices = sorted(designed.devices, key=lambda device: device.rank)
    return {
        "format_version": "1.0",
        "name": "site",
        "build": designed.options.model_dump(mode="json", exclude_defaults=True),
        **_place(),
        "servers": [
            _server(plan, device, ports[device.name], known.get(device.name, Asset()))
            for device in devices
            if device.role in SERVER_ROLES
        ],
        "switches": [
            _switch(device, known.get(device.name, Asset()), cumulus)
            for device in devices
            if device.role in SWITCH_ROLES
        ],
        **_software(plan, software),
        "licences": [{"what": what, "accepted_by": UNFILLED, "date": UNFILLED} for what in LICENCES],
        "storage": _storage(),
        "inference": _inference(plan),
    }


def _place() -> dict[str, Any]:
    """Return what is about the place: networks, names, people, media, consoles."""
    return {
        "network": {
            "domain": UNFILLED,
            "dns": [UNFILLED],
            "ntp": [UNFILLED],
            "syslog": [],
            "snmp": None,
            "management_gateway": None,
            "timezone": "Etc/UTC",
            "fabric_mtu_bytes": 9216,
            "host_mtu_bytes": 9000,
        },
        "names": {"admin_suffix": "-adm", "daemon_suffix": "-kv"},
        "access": {
            "user": "kvplan",
            "ssh_keys": [UNFILLED],
            "private_key": "file:secrets/deployer",
            "switch_user": "cumulus",
            "switch_password": "env:KVPLAN_SWITCH_PASSWORD",
            "console_password_hash": None,
        },
        "media": {"address": UNFILLED, "port": 8080},
        "console": {"port": "ttyS1", "baud": 115_200},
    }


def _software(plan: Plan, software: SoftwareSet) -> dict[str, Any]:
    """Return images, packages and versions; what the software set says is known."""
    unknown = _download(UNFILLED)
    return {
        "images": {"rhel": _download("9.6"), "ubuntu": _download("24.04"), "rhel_repo": None},
        "packages": {
            "storage_scale": _download(software.storage_scale),
            "storage_scale_client": _download(software.storage_scale),
            "doca": unknown,
            "doca_ubuntu": unknown,
            "gpu_driver": unknown,
        },
        "versions": {
            "dynamo": software.dynamo,
            "vllm": plan.request.vllm_version,
            "cuda": UNFILLED,
            "gpu_driver": UNFILLED,
            "doca": UNFILLED,
            "storage_scale": software.storage_scale,
            "rhel": "9.6",
            "rhel_kernel": UNFILLED,
            "ubuntu": "24.04",
            "ubuntu_kernel": UNFILLED,
        },
    }


def _storage() -> dict[str, Any]:
    """Return the storage cluster with the defaults that a person may want to see."""
    return {
        "cluster": "kvstore",
        "file_system": "kvfs",
        "mount": "/kvfs",
        "fileset": "kvcache",
        "clients": "remote-mount",
        "memory_gib": UNFILLED,
        "pagepool_gib": 128,
        "set_size_percent": 95,
        "quota_percent": 95,
        "watermarks": {"high_percent": 85, "low_percent": 75},
        "access_times": False,
    }


def _inference(plan: Plan) -> dict[str, Any]:
    """Return the back end and the engines of the Plan."""
    return {
        "cache_backend": plan.request.cache_backend,
        "engines": {
            "image": UNFILLED,
            "model_path": UNFILLED,
            "served_name": plan.request.model,
            "gpus_per_server": plan.parts.gpu.gpus_per_server,
            "numa_nodes": 2,
            "router": "round-robin",
            "hash_seed": 0,
        },
    }


def _download(version: str) -> dict[str, str]:
    """Return a download of which the version is known at best."""
    return {"url": UNFILLED, "sha256": UNFILLED, "version": version}


def _server(plan: Plan, device: Device, ports: Sequence[str], asset: Asset) -> dict[str, Any]:
    """Return one server, with what an asset list says of it."""
    controller = {"address": asset.bmc_address or device.management_address.partition("/")[0]}
    if asset.bmc_mac:
        controller["mac"] = asset.bmc_mac
    data: dict[str, Any] = {
        "name": device.name,
        "serial": asset.serial or UNFILLED,
        "model": device.model,
        "rack": device.rack,
        "position_u": device.position_u,
        "bmc": {
            **controller,
            "kind": "supermicro-x13",
            "user": "ADMIN",
            "password": f"env:KVPLAN_BMC_{device.name.replace('-', '_').upper()}",
        },
        "macs": {name: asset.macs.get(name, UNFILLED) for name in sorted(ports)},
        "boot_drives": {
            "serials": [*asset.boot_serials, UNFILLED, UNFILLED][:2],
            "least_gb": 400,
            "most_gb": 1000,
        },
    }
    if device.role == "storage":
        size_gb = plan.profile.drive_bytes // GB
        data["data_drives"] = {"count": plan.profile.drives_per_node, "size_gb": size_gb}
    return data


def _switch(device: Device, asset: Asset, cumulus: str) -> dict[str, Any]:
    """Return one switch, with what an asset list says of it."""
    return {
        "name": device.name,
        "role": device.role,
        "serial": asset.serial or UNFILLED,
        "model": device.model,
        "mac": asset.macs.get("eth0", UNFILLED),
        "cumulus": cumulus,
    }
