"""What is wrong with the recipe of boot media: the rendered file read back, against Site, design and tree."""

from __future__ import annotations

import re
from collections import Counter
from ipaddress import ip_address, ip_interface
from typing import TYPE_CHECKING, Final

from kvplan.schema.design import Finding
from kvplan.site.media.recipe import RECIPE, read_recipe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.base import Severity
    from kvplan.site.deployment import Deployment
    from kvplan.site.media.recipe import BootMedium

RULES: Final[dict[str, str]] = {
    "KV-MED-001": "The recipe of boot media is there, can be read, and has one entry for each server.",
    "KV-MED-002": "A controller fetches its image from an IP address over plain HTTP, at the Site's media server.",
    "KV-MED-003": "The address of an image has exactly one directory and a plain name that ends in .iso.",
    "KV-MED-004": "The address of an image is no longer than a controller takes.",
    "KV-MED-005": "No two servers have the same image.",
    "KV-MED-006": "Each file that goes into an image is in the tree, and not empty where it must say something.",
    "KV-MED-007": "Each source image has the address and the sha256 of the Site, and that is a real one.",
    "KV-MED-008": "The installer is told to run unattended, and where its answers are; they lie there in the image.",
    "KV-MED-009": "The version of a source image is the one that the Site says runs.",
    "KV-MED-010": "The media server's address is one that controllers reach over the management network.",
    "KV-MED-011": "The media server's address belongs to no machine of the design.",
    "KV-MED-012": "A small image installs from the Site's repository over HTTP, and only a small one does.",
    "KV-MED-013": "The installer's messages go to the serial console of the Site.",
    "KV-MED-014": "The server's controller is of a kind that takes images over HTTP.",
}
_PLAIN_PATH: Final = re.compile(r"[A-Za-z0-9_-]+/[A-Za-z0-9][A-Za-z0-9_.-]*\.iso")
_CD: Final = {"rhel": "inst.ks=cdrom:", "ubuntu": "ds=nocloud;s=/cdrom"}
"""What stands before the place of the answers on the medium."""
_UNATTENDED: Final = {"rhel": "inst.text", "ubuntu": "autoinstall"}
_SEED: Final = ("user-data", "meta-data")
_MAY_BE_EMPTY: Final = "meta-data"
_REPOSITORY: Final = "inst.repo="
_OLD_CONTROLLER: Final = "supermicro-x10"


def media_faults(deployment: Deployment, tree: Mapping[str, str]) -> Iterator[Finding]:
    """Judge the recipe as it was rendered.

    Parameters
    ----------
    deployment
        What it was rendered from.
    tree
        The rendered files, text by path.

    Yields
    ------
    Finding
        What is wrong; the ids are those of `RULES`.
    """
    yield from _server_faults(deployment)
    try:
        media = read_recipe(tree[RECIPE]).media
    except KeyError:
        yield _finding(1, RECIPE, "is not there", "render again")
        return
    except ValueError as error:
        yield _finding(1, RECIPE, f"cannot be read: {error}", "render again")
        return
    yield from _set_faults(deployment, media)
    for medium in media:
        yield from _url_faults(deployment, medium)
        yield from _source_faults(deployment, medium)
        yield from _file_faults(medium, tree)
        yield from _argument_faults(deployment, medium)


def _finding(number: int, where: str, text: str, remedy: str, severity: Severity = "error") -> Finding:
    """Write a finding."""
    return Finding(id=f"KV-MED-{number:03}", severity=severity, where=where, text=text, remedy=remedy)


def _where(medium: BootMedium) -> str:
    """Name the place of an entry."""
    return f"{RECIPE}: {medium.server}"


def _server_faults(deployment: Deployment) -> Iterator[Finding]:
    """Judge the media server's address and the controllers, which the recipe cannot change."""
    site, where = deployment.site, "media.address"
    address = ip_address(site.media.address)
    for server in deployment.servers:
        if server.site.bmc.kind == _OLD_CONTROLLER:
            text = f"the controller of {server.name} is of a kind that often takes images from SMB shares only"
            remedy = "try one before all, or offer the images on a share"
            yield _finding(14, f"servers: {server.name}", text, remedy, "warning")
    networks = {ip_interface(server.device.management_address).network for server in deployment.servers}
    outside = sorted(str(network) for network in networks if address not in network)
    if outside:
        routed = site.network.management_gateway is not None
        text = f"{address} is not in the management network {', '.join(outside)}"
        remedy = "give the media server an address in it" + (", or see that the gateway routes there" if routed else "")
        yield _finding(10, where, text, remedy, "warning" if routed else "error")
    for device, taken in _addresses(deployment):
        if taken == str(address):
            text = f"{address} is the address of {device} in the design"
            yield _finding(11, where, text, "choose an address outside of the design's ranges")


def _addresses(deployment: Deployment) -> Iterator[tuple[str, str]]:
    """List the addresses of the design, each with its device."""
    for port in deployment.design.ports:
        yield port.device, port.address.partition("/")[0]
    for device in deployment.design.devices:
        if device.role not in ("storage", "client", "control"):
            yield device.name, device.management_address.partition("/")[0]


def _set_faults(deployment: Deployment, media: tuple[BootMedium, ...]) -> Iterator[Finding]:
    """Judge the entries together: one for each server, and no image twice."""
    known = {server.name for server in deployment.servers}
    counts = Counter(medium.server for medium in media)
    for server in sorted(known | set(counts)):
        if counts[server] != (server in known):
            text = f"{server} has {counts[server]} entries, and {int(server in known)} is right"
            yield _finding(1, RECIPE, text, "render again")
    for what in ("output", "url"):
        for value, count in Counter(getattr(medium, what) for medium in media).items():
            if count > 1:
                yield _finding(5, RECIPE, f"{count} servers have the {what} {value}", "render again")


def _url_faults(deployment: Deployment, medium: BootMedium) -> Iterator[Finding]:
    """Judge the address that a controller fetches."""
    where, url, media = _where(medium), medium.url, deployment.site.media
    host = f"[{media.address}]" if ":" in media.address else media.address
    if not url.startswith(f"http://{host}:{media.port}/"):
        text = f"{url} is not at http://{host}:{media.port}"
        yield _finding(2, where, text, "controllers know no names and check no certificates: use the plain address")
    if url.split("/", 3)[3:] != [medium.output] or not _PLAIN_PATH.fullmatch(medium.output):
        text = f"{url} is not one directory and a plain name ending in .iso, or not the place of the image"
        yield _finding(3, where, text, "use letters, digits and hyphens, as /kv/storage-001.iso does")
    longest = int(deployment.setting("install.media_url_max_length"))
    if len(url) > longest:
        text = f"{url} has {len(url)} characters, and {longest} are safe"
        yield _finding(4, where, text, "shorten the directory or the name")


def _source_faults(deployment: Deployment, medium: BootMedium) -> Iterator[Finding]:
    """Judge the maker's image: where it is, what it must be, and which version."""
    where, images, versions = _where(medium), deployment.site.images, deployment.site.versions
    rhel = medium.kind == "rhel"
    image, runs = (images.rhel, versions.rhel) if rhel else (images.ubuntu, versions.ubuntu)
    source = medium.source
    if (source.url, source.sha256) != (image.url, image.sha256):
        yield _finding(7, where, "its source or the sha256 of that is not the Site's", "render again")
    if not re.fullmatch(r"[0-9a-f]{64}", source.sha256) or len(set(source.sha256)) == 1:
        text = f"{source.sha256!r} is no sha256 of an image"
        yield _finding(7, where, text, f"put the maker's into images.{medium.kind}.sha256")
    # 24.04.3 is an image of 24.04.
    if source.version != runs and not source.version.startswith(f"{runs}."):
        text = f"the image is version {source.version}, and versions.{medium.kind} says {runs}"
        yield _finding(9, where, text, f"make images.{medium.kind}.version and versions.{medium.kind} agree")


def _file_faults(medium: BootMedium, tree: Mapping[str, str]) -> Iterator[Finding]:
    """See that what goes in is there."""
    for path in medium.files.values():
        if path not in tree:
            yield _finding(6, _where(medium), f"{path} is not in the tree", "render again")
        elif not tree[path].strip() and not path.endswith(_MAY_BE_EMPTY):
            yield _finding(6, _where(medium), f"{path} is empty", "render again")


def _argument_faults(deployment: Deployment, medium: BootMedium) -> Iterator[Finding]:
    """Judge what the installer's kernel is told."""
    where, kind, given = _where(medium), medium.kind, medium.arguments
    if _UNATTENDED[kind] not in given:
        text = f"the kernel argument {_UNATTENDED[kind]} is missing, so the installer would ask"
        yield _finding(8, where, text, f"restore install.media_arguments_{kind}")
    places = [word.removeprefix(_CD[kind]) for word in given if word.startswith(_CD[kind])]
    if len(places) != 1:
        text = f"{len(places)} kernel arguments begin with {_CD[kind]}, and one is right"
        yield _finding(8, where, text, f"restore install.media_arguments_{kind}")
    for place in places:
        wanted = [place] if kind == "rhel" else [f"{place}{name}" for name in _SEED]
        for inside in sorted(set(wanted) - set(medium.files)):
            yield _finding(
                8, where, f"the installer looks for {inside}, and the image has no such file", "render again"
            )
    console = deployment.site.console
    if given[-1:] != (f"console={console.port},{console.baud}",):
        text = f"the last kernel argument is not console={console.port},{console.baud}"
        yield _finding(13, where, text, "render again", "warning")
    yield from _repository_faults(deployment, medium)


def _repository_faults(deployment: Deployment, medium: BootMedium) -> Iterator[Finding]:
    """Judge where packages come from."""
    where, repository = _where(medium), deployment.site.images.rhel_repo
    given = [word.removeprefix(_REPOSITORY) for word in medium.arguments if word.startswith(_REPOSITORY)]
    wanted = [repository] if medium.kind == "rhel" and repository else []
    if given != wanted or (medium.medium == "small-image") != bool(wanted):
        text = f"it installs from {', '.join(given) or 'its own image'}, and the Site says {wanted or 'that'}"
        yield _finding(12, where, text, "render again")
    if wanted and not str(repository).startswith(("http://", "https://")):
        text = f"{repository} is no address that an installer fetches from"
        yield _finding(12, where, text, "give images.rhel_repo as http://…")
