"""Small boot media: for each server an image with its boot menu and its answers, where the recipe has them."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Final

from pycdlib import PyCdlib

from kvplan.site.media.inspection import MENUS
from kvplan.site.media.recipe import RECIPE, read_recipe
from kvplan.site.render import rendered_tree
from kvplan.site.secrets import PLACEHOLDER

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping
    from pathlib import Path

    from kvplan.site.deployment import Deployment
    from kvplan.site.media.recipe import BootMedium, Kind

_KERNELS: Final[Mapping[Kind, str]] = {"rhel": "/images/pxeboot/vmlinuz", "ubuntu": "/casper/vmlinuz"}
_ROCK_RIDGE: Final = "1.09"
_LEVEL: Final = 3


def write_media(deployment: Deployment, root: Path, secrets: Mapping[str, str] | None = None) -> list[Path]:
    """Write the boot medium of every server, without an installer on it.

    Parameters
    ----------
    deployment
        What is deployed.
    root
        Root of the media server.
    secrets
        Values by name, for the places in the answers.

    Returns
    -------
    list of Path
        The images.
    """
    tree = rendered_tree(deployment)
    known = secrets or {}
    written = []
    for medium in read_recipe(tree[RECIPE]).media:
        files = {inside: _filled(tree[path], known).encode() for inside, path in medium.files.items()}
        path = root / medium.output
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(image({**files, MENUS[medium.kind]: _menu(medium).encode()}))
        written.append(path)
    return written


def image(files: Mapping[str, bytes]) -> bytes:
    """Make an image of ISO 9660 with Rock Ridge.

    Parameters
    ----------
    files
        Content by absolute path.

    Returns
    -------
    bytes
        The image.
    """
    iso = PyCdlib()
    iso.new(interchange_level=_LEVEL, rock_ridge=_ROCK_RIDGE, vol_ident="KVPLAN")
    short: dict[str, str] = {"": ""}
    for path, content in files.items():
        directory = ""
        for name in path.split("/")[1:-1]:
            inside = f"{directory}/{name}"
            if inside not in short:
                short[inside] = f"{short[directory]}/D{len(short)}"
                iso.add_directory(short[inside], rr_name=name)
            directory = inside
        short[path] = f"{short[directory]}/F{len(short)}.;1"
        iso.add_fp(BytesIO(content), len(content), short[path], rr_name=path.rpartition("/")[2])
    made = BytesIO()
    iso.write_fp(made)
    iso.close()
    return made.getvalue()


def _menu(medium: BootMedium) -> str:
    """Write a boot menu that gives the installer's kernel its arguments."""
    words = " ".join((_KERNELS[medium.kind], *medium.arguments))
    return f"set timeout={medium.menu_timeout_s}\nmenuentry 'Install {medium.server}' {{\n  linux {words}\n}}\n"


def _filled(text: str, secrets: Mapping[str, str]) -> str:
    """Put secrets in their places; one that is not known stays as it is."""

    def secret(place: re.Match[str]) -> str:
        return secrets.get(place["name"], place[0])

    return PLACEHOLDER.sub(secret, text)
