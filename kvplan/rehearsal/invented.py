"""A Site for a Plan that has none yet, every label made up: a deployment can be rehearsed before machines exist."""

from __future__ import annotations

from hashlib import sha256
from ipaddress import ip_interface
from typing import TYPE_CHECKING, Any, Final

from kvplan.api import design
from kvplan.schema.build import BuildOptions
from kvplan.schema.site.site import Site
from kvplan.site.initial.data import DEFAULT_CUMULUS, initial_data

if TYPE_CHECKING:
    from kvplan.schema.design import Design
    from kvplan.schema.plan import Plan
    from kvplan.schema.software import SoftwareSet

_MEDIA_HOST: Final = 10
"""Place of the machine that deploys among the addresses of the management network."""
_KEY: Final = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExampleA deployer"
_VERSIONS: Final = {
    "gpu_driver": "580.95.05",
    "doca": "3.1.0",
    "rhel_kernel": "5.14.0-570.12.1.el9_6",
    "ubuntu_kernel": "6.8.0-79-generic",
}
_FILES: Final = {
    "storage_scale": "storage-scale-ece.tar.gz",
    "storage_scale_client": "storage-scale-dm.tar.gz",
    "doca": "doca-host-rhel96.rpm",
    "doca_ubuntu": "doca-host-ubuntu2404.deb",
    "gpu_driver": "gpu-driver.run",
}
_IMAGES: Final = {"rhel": "rhel-9.6-x86_64-dvd.iso", "ubuntu": "ubuntu-24.04.3-live-server-amd64.iso"}


def invented_site(plan: Plan, software: SoftwareSet, *, cumulus: str = DEFAULT_CUMULUS) -> Site:
    """Make a Site up.

    Parameters
    ----------
    plan
        The Plan.
    software
        The software set that it was sized with.
    cumulus
        Version that the switches run.

    Returns
    -------
    Site
        What `kvplan init site` begins, with every value filled in; equal for equal Plans.
    """
    designed = design(plan, BuildOptions())
    data = initial_data(plan, designed, software, cumulus=cumulus)
    media = _media_address(designed)
    _fill_place(data, media)
    _fill_software(data, media, is_new=int(software.dynamo.split(".")[0]) > 0)
    _fill_machines(data)
    return Site.model_validate(data)


def _media_address(designed: Design) -> str:
    """Choose an address of the management network that no machine has."""
    held = next(device.management_address for device in designed.devices if device.management_address)
    return str(ip_interface(held).network[_MEDIA_HOST])


def _fill_place(data: dict[str, Any], media: str) -> None:
    """Make up names and services of the place; the machine that deploys is each of them."""
    data["name"] = "rehearsal"
    data["network"] |= {"domain": "kv.example", "dns": [media], "ntp": [media]}
    data["access"]["ssh_keys"] = [_KEY]
    data["media"]["address"] = media
    for licence in data["licences"]:
        licence |= {"accepted_by": "nobody, this is a rehearsal", "date": "2026-01-01"}


def _fill_software(data: dict[str, Any], media: str, *, is_new: bool) -> None:
    """Make up where software lies, and versions that go together."""
    versions = data["versions"]
    versions |= {**_VERSIONS, "cuda": "13.0" if is_new else "12.9"}
    for kind, names in (("images", _IMAGES), ("packages", _FILES)):
        for what, name in names.items():
            version = versions.get(what.removesuffix("_ubuntu"), data[kind][what]["version"])
            data[kind][what] = {
                "url": f"http://{media}:8080/{kind}/{name}",
                "sha256": sha256(name.encode()).hexdigest(),
                "version": version,
            }
    data["storage"]["memory_gib"] = 512
    engines = data["inference"]["engines"]
    model = engines["served_name"].rpartition("/")[2]
    engines |= {"image": f"vllm-runtime:{versions['dynamo']}", "model_path": f"/models/{model}"}


def _fill_machines(data: dict[str, Any]) -> None:
    """Make up the labels of machines and drives; none is given twice."""
    for number, server in enumerate(data["servers"], 1):
        name = server["name"].upper().replace("-", "")
        server["serial"] = f"SN{name}"
        server["boot_drives"]["serials"] = [f"BOOT{name}A", f"BOOT{name}B"]
        server["macs"] = {port: _mac(1, number, index) for index, port in enumerate(server["macs"])}
        if drives := server.get("data_drives"):
            drives["serials"] = [f"{name}D{index:02}" for index in range(1, drives["count"] + 1)]
    for number, switch in enumerate(data["switches"], 1):
        switch |= {"serial": f"MT{switch['name'].upper()}", "mac": _mac(2, number, 0)}


def _mac(kind: int, number: int, index: int) -> str:
    """Make up a locally administered MAC address."""
    return f"02:00:{kind:02x}:{number >> 8:02x}:{number & 255:02x}:{index:02x}"
