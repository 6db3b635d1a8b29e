"""The recipe of boot media: which image becomes which machine's, with which arguments and files in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from kvplan.render.data import data_yaml
from kvplan.schema.base import Record
from kvplan.site.reading import yaml_in
from kvplan.site.templating import rendered
from kvplan.site.tree import File

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.site.software import Download
    from kvplan.site.deployment import Deployment, Server

RECIPE: Final = "media/recipe.yaml"
README: Final = "media/README.md"
SEED: Final = "/kv"
"""Directory of an Ubuntu image that cloud-init reads."""
_HEAD: Final = "# Boot media: one image for each server, built and checked by `kvplan render --media`.\n"

Kind = Literal["rhel", "ubuntu"]


class SourceImage(Record):
    """The maker's image: where it is, the hash that it must have, and its version."""

    url: str
    sha256: str
    version: str


class BootMedium(Record):
    """The installer image of one server.

    `whole-image` is the maker's image with everything to install, `small-image` one that installs from a repository.
    `arguments` are as the kernel sees them, `files` maps paths in the image to paths in the tree, `output` is the
    path below the media server's root, and `url` what the server's controller fetches.
    """

    server: str
    kind: Kind
    medium: Literal["whole-image", "small-image"]
    source: SourceImage
    volume_id: Literal["kept"] = "kept"
    menu_timeout_s: int
    arguments: tuple[str, ...]
    files: dict[str, str]
    output: str
    url: str


class Recipe(Record):
    """The boot media of a deployment, in the order of its servers."""

    media: tuple[BootMedium, ...]


def recipe_of(deployment: Deployment) -> Recipe:
    """Work out the boot medium of every server: RHEL for storage nodes, Ubuntu for the others.

    Parameters
    ----------
    deployment
        The deployment.

    Returns
    -------
    Recipe
        One medium for each server.
    """
    return Recipe(media=tuple(_medium(deployment, server) for server in deployment.servers))


def read_recipe(text: str) -> Recipe:
    """Read a recipe as it was written.

    Parameters
    ----------
    text
        Content of `media/recipe.yaml`.

    Returns
    -------
    Recipe
        The recipe.

    Raises
    ------
    ValueError
        When the text is no YAML, or its content no recipe.
    """
    return Recipe.model_validate(yaml_in(text))


def media_files(deployment: Deployment) -> Iterator[File]:
    """Write the recipe, and how to follow it by hand.

    Parameters
    ----------
    deployment
        The deployment.

    Yields
    ------
    File
        `media/recipe.yaml` and `media/README.md`.
    """
    recipe = recipe_of(deployment)
    yield File(RECIPE, _HEAD + data_yaml(recipe.model_dump(mode="json")))
    media = dict(sorted({medium.kind: medium for medium in reversed(recipe.media)}.items()))
    server = deployment.site.media
    yield File(README, rendered("media/README.md.j2", media=media, directory=_directory(deployment), server=server))


def _medium(deployment: Deployment, server: Server) -> BootMedium:
    """Describe the medium of one server."""
    images = deployment.site.images
    kind: Kind = "rhel" if server.role == "storage" else "ubuntu"
    output = f"{_directory(deployment)}/{server.name}.iso"
    return BootMedium(
        server=server.name,
        kind=kind,
        medium="small-image" if kind == "rhel" and images.rhel_repo else "whole-image",
        source=_source(images.rhel if kind == "rhel" else images.ubuntu),
        menu_timeout_s=int(deployment.setting("install.media_menu_timeout")),
        arguments=tuple(_arguments(deployment, kind)),
        files=_placed(kind, server.name),
        output=output,
        url=f"http://{_authority(deployment)}/{output}",
    )


def _source(image: Download) -> SourceImage:
    """Name the image that a medium is made of."""
    return SourceImage(url=image.url, sha256=image.sha256, version=image.version)


def _arguments(deployment: Deployment, kind: Kind) -> Iterator[str]:
    """List what the installer's kernel is told: where the answers are, and where its messages go."""
    yield from str(deployment.setting(f"install.media_arguments_{kind}")).split()
    if kind == "rhel" and deployment.site.images.rhel_repo:
        yield f"inst.repo={deployment.site.images.rhel_repo}"
    console = deployment.site.console
    yield "console=tty0"
    # The last console is the one that the installer writes to.
    yield f"console={console.port},{console.baud}"


def _placed(kind: Kind, server: str) -> dict[str, str]:
    """List the files inside, each with where it comes from."""
    if kind == "rhel":
        return {"/ks.cfg": f"install/{server}.ks"}
    return {f"{SEED}/{name}": f"install/{server}/{name}" for name in ("user-data", "meta-data")}


def _directory(deployment: Deployment) -> str:
    """Return the one directory below the root."""
    return str(deployment.setting("install.media_directory"))


def _authority(deployment: Deployment) -> str:
    """Write address and port of the media server; an IPv6 address goes into brackets."""
    media = deployment.site.media
    host = f"[{media.address}]" if ":" in media.address else media.address
    return f"{host}:{media.port}"
