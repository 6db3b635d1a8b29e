"""Rules over the recipe of boot media: the rendered file read back, held against Site, design and tree."""

from __future__ import annotations

import re
from collections import Counter
from ipaddress import ip_address, ip_interface
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.site.media.recipe import RECIPE, read_recipe
from kvplan.site.rules import Break, rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.site.software import Download
    from kvplan.site.deployment import Deployment
    from kvplan.site.media.recipe import BootMedium

_PLAIN_PATH: Final = re.compile(r"[A-Za-z0-9_-]+/[A-Za-z0-9][A-Za-z0-9_.-]*\.iso")
_CD: Final = {"rhel": "inst.ks=cdrom:", "ubuntu": "ds=nocloud;s=/cdrom"}
"""What stands before the place of the answers on the medium."""
_UNATTENDED: Final = {"rhel": "inst.text", "ubuntu": "autoinstall"}
_SEED: Final = ("user-data", "meta-data")
_MAY_BE_EMPTY: Final = "meta-data"
_REPOSITORY: Final = "inst.repo="
_OLD_CONTROLLER: Final = "supermicro-x10"
_ADDRESS: Final = "media.address"


class Seen(NamedTuple):
    """What the rules look at: deployment, tree, and the recipe's entries; or why the recipe cannot be read."""

    deployment: Deployment
    tree: Mapping[str, str]
    media: tuple[BootMedium, ...] = ()
    problem: str = ""


def seen_in(deployment: Deployment, tree: Mapping[str, str]) -> Seen:
    """Read the recipe of a tree."""
    try:
        return Seen(deployment, tree, read_recipe(tree[RECIPE]).media)
    except KeyError:
        return Seen(deployment, tree, problem="is not there")
    except ValueError as error:
        return Seen(deployment, tree, problem=f"cannot be read: {error}")


def _where(medium: BootMedium) -> str:
    """Name the place of an entry."""
    return f"{RECIPE}: {medium.server}"


@rule("KV-MED-001", "The recipe of boot media is there, can be read, and has one entry for each server.")
def _entries(seen: Seen) -> Iterator[Break]:
    if seen.problem:
        yield Break(RECIPE, seen.problem)
        return
    known = {server.name for server in seen.deployment.servers}
    counts = Counter(medium.server for medium in seen.media)
    for server in sorted(known | set(counts)):
        if counts[server] != (server in known):
            yield Break(RECIPE, f"{server} has {counts[server]} entries, and {int(server in known)} is right")


@rule("KV-MED-002", "A controller fetches its image from an IP address over plain HTTP, at the Site's media server.")
def _fetched_plainly(seen: Seen) -> Iterator[Break]:
    media = seen.deployment.site.media
    host = f"[{media.address}]" if ":" in media.address else media.address
    remedy = "controllers know no names and check no certificates: use the plain address"
    for medium in seen.media:
        if not medium.url.startswith(f"http://{host}:{media.port}/"):
            yield Break(_where(medium), f"{medium.url} is not at http://{host}:{media.port}", remedy)


@rule("KV-MED-003", "The address of an image has exactly one directory and a plain name that ends in .iso.")
def _plain_names(seen: Seen) -> Iterator[Break]:
    for medium in seen.media:
        if medium.url.split("/", 3)[3:] != [medium.output] or not _PLAIN_PATH.fullmatch(medium.output):
            text = f"{medium.url} is not one directory and a plain name ending in .iso, or not the place of the image"
            yield Break(_where(medium), text, "use letters, digits and hyphens, as /kv/storage-001.iso does")


@rule("KV-MED-004", "The address of an image is no longer than a controller takes.")
def _short_addresses(seen: Seen) -> Iterator[Break]:
    longest = int(seen.deployment.setting("install.media_url_max_length"))
    for medium in seen.media:
        if len(medium.url) > longest:
            text = f"{medium.url} has {len(medium.url)} characters, and {longest} are safe"
            yield Break(_where(medium), text, "shorten the directory or the name")


@rule("KV-MED-005", "No two servers have the same image.")
def _own_images(seen: Seen) -> Iterator[Break]:
    for what in ("output", "url"):
        for value, count in Counter(getattr(medium, what) for medium in seen.media).items():
            if count > 1:
                yield Break(RECIPE, f"{count} servers have the {what} {value}")


@rule("KV-MED-006", "Each file that goes into an image is in the tree, and not empty where it must say something.")
def _files(seen: Seen) -> Iterator[Break]:
    for medium in seen.media:
        for path in medium.files.values():
            if path not in seen.tree:
                yield Break(_where(medium), f"{path} is not in the tree")
            elif not seen.tree[path].strip() and not path.endswith(_MAY_BE_EMPTY):
                yield Break(_where(medium), f"{path} is empty")


@rule("KV-MED-007", "Each source image has the address and the sha256 of the Site, and that is a real one.")
def _sources(seen: Seen) -> Iterator[Break]:
    for medium in seen.media:
        source, image = medium.source, _image(seen, medium)
        if (source.url, source.sha256) != (image.url, image.sha256):
            yield Break(_where(medium), "its source or the sha256 of that is not the Site's")
        if not re.fullmatch(r"[0-9a-f]{64}", source.sha256) or len(set(source.sha256)) == 1:
            text = f"{source.sha256!r} is no sha256 of an image"
            yield Break(_where(medium), text, f"put the maker's into images.{medium.kind}.sha256")


def _image(seen: Seen, medium: BootMedium) -> Download:
    """Return the maker's image that the Site has for an entry."""
    images = seen.deployment.site.images
    return images.rhel if medium.kind == "rhel" else images.ubuntu


@rule("KV-MED-008", "The installer is told to run unattended, and where its answers are; they lie there in the image.")
def _unattended(seen: Seen) -> Iterator[Break]:
    for medium in seen.media:
        where, kind, given = _where(medium), medium.kind, medium.arguments
        remedy = f"restore install.media_arguments_{kind}"
        if _UNATTENDED[kind] not in given:
            text = f"the kernel argument {_UNATTENDED[kind]} is missing, so the installer would ask"
            yield Break(where, text, remedy)
        places = [word.removeprefix(_CD[kind]) for word in given if word.startswith(_CD[kind])]
        if len(places) != 1:
            text = f"{len(places)} kernel arguments begin with {_CD[kind]}, and one is right"
            yield Break(where, text, remedy)
        wanted = places if kind == "rhel" else [f"{place}{name}" for place in places for name in _SEED]
        for inside in sorted(set(wanted) - set(medium.files)):
            yield Break(where, f"the installer looks for {inside}, and the image has no such file")


@rule("KV-MED-009", "The version of a source image is the one that the Site says runs.")
def _versions(seen: Seen) -> Iterator[Break]:
    versions = seen.deployment.site.versions
    for medium in seen.media:
        found, runs = medium.source.version, versions.rhel if medium.kind == "rhel" else versions.ubuntu
        # 24.04.3 is an image of 24.04.
        if found != runs and not found.startswith(f"{runs}."):
            text = f"the image is version {found}, and versions.{medium.kind} says {runs}"
            yield Break(_where(medium), text, f"make images.{medium.kind}.version and versions.{medium.kind} agree")


@rule("KV-MED-010", "The media server's address is one that controllers reach over the management network.")
def _reached(seen: Seen) -> Iterator[Break]:
    site = seen.deployment.site
    address = ip_address(site.media.address)
    networks = {ip_interface(server.device.management_address).network for server in seen.deployment.servers}
    outside = sorted(str(network) for network in networks if address not in network)
    if outside:
        routed = site.network.management_gateway is not None
        text = f"{address} is not in the management network {', '.join(outside)}"
        remedy = "give the media server an address in it" + (", or see that the gateway routes there" if routed else "")
        yield Break(_ADDRESS, text, remedy, "warning" if routed else "error")


@rule("KV-MED-011", "The media server's address belongs to no machine of the design.")
def _own_address(seen: Seen) -> Iterator[Break]:
    address = str(ip_address(seen.deployment.site.media.address))
    for device, taken in _addresses(seen.deployment):
        if taken == address:
            text = f"{address} is the address of {device} in the design"
            yield Break(_ADDRESS, text, "choose an address outside of the design's ranges")


def _addresses(deployment: Deployment) -> Iterator[tuple[str, str]]:
    """List the addresses of the design, each with its device."""
    for port in deployment.design.ports:
        yield port.device, port.address.partition("/")[0]
    for device in deployment.design.devices:
        if device.role not in ("storage", "client", "control"):
            yield device.name, device.management_address.partition("/")[0]


@rule("KV-MED-012", "A small image installs from the Site's repository over HTTP, and only a small one does.")
def _repository(seen: Seen) -> Iterator[Break]:
    repository = seen.deployment.site.images.rhel_repo
    for medium in seen.media:
        given = [word.removeprefix(_REPOSITORY) for word in medium.arguments if word.startswith(_REPOSITORY)]
        wanted = [repository] if medium.kind == "rhel" and repository else []
        if given != wanted or (medium.medium == "small-image") != bool(wanted):
            text = f"it installs from {', '.join(given) or 'its own image'}, and the Site says {wanted or 'that'}"
            yield Break(_where(medium), text)
        if wanted and not str(repository).startswith(("http://", "https://")):
            text = f"{repository} is no address that an installer fetches from"
            yield Break(_where(medium), text, "give images.rhel_repo as http://…")


@rule("KV-MED-013", "The installer's messages go to the serial console of the Site.", "warning")
def _console(seen: Seen) -> Iterator[Break]:
    console = seen.deployment.site.console
    wanted = f"console={console.port},{console.baud}"
    for medium in seen.media:
        if medium.arguments[-1:] != (wanted,):
            yield Break(_where(medium), f"the last kernel argument is not {wanted}")


@rule("KV-MED-014", "The server's controller is of a kind that takes images over HTTP.", "warning")
def _controllers(seen: Seen) -> Iterator[Break]:
    for server in seen.deployment.servers:
        if server.site.bmc.kind == _OLD_CONTROLLER:
            text = f"the controller of {server.name} is of a kind that often takes images from SMB shares only"
            remedy = "try one before all, or offer the images on a share"
            yield Break(f"servers: {server.name}", text, remedy)
