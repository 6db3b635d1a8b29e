"""All boot media of a deployment, built one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kvplan.cli.siting import Sited
    from kvplan.site.media.recipe import BootMedium
    from kvplan.site.tree import File


def build_all(sited: Sited, tree: Mapping[str, File], directory: Path, images: Sequence[Path]) -> None:
    """Build the boot medium of every server, and say of each where it is.

    Parameters
    ----------
    sited
        Where secrets are.
    tree
        The rendered files.
    directory
        Root of the media server; made when it is absent.
    images
        Installer images, told apart by their sha256.

    Raises
    ------
    InputError
        When an image that the recipe needs is not among those given, a secret is missing, or a medium cannot be built.
    """
    from kvplan.cli.console import out
    from kvplan.cli.filling import filled
    from kvplan.inputs.files import make_directory
    from kvplan.site.media.build import build_media
    from kvplan.site.media.recipe import RECIPE, read_recipe
    from kvplan.site.secrets import secret_references

    media = read_recipe(tree[RECIPE].text).media
    sources = _sources(media, images)
    needed = {path: tree[path].text for medium in media for path in medium.files.values()}
    texts = filled(needed, secret_references(sited.deployment.site), sited.directory)
    contents = {path: text.encode() for path, text in texts.items()}
    for medium in media:
        target = directory / medium.output
        make_directory(target.parent)
        built = build_media(medium, sources[medium.source.sha256], contents, target)
        out(f"{built.path}: {built.bytes / 1e6:,.0f} MB, sha256 {built.sha256}\n")


def _sources(media: Sequence[BootMedium], images: Sequence[Path]) -> dict[str, Path]:
    """Find the image of each medium by its hash."""
    from kvplan.errors import InputError, Problem
    from kvplan.site.media.build import sha256_of

    given = {sha256_of(image): image for image in images}
    wanted = {medium.source.sha256: medium.source for medium in media}
    problems = [
        Problem("--image", f"no image has the sha256 of {source.url}", allowed=f"sha256 {sha256}")
        for sha256, source in wanted.items()
        if sha256 not in given
    ]
    if problems:
        raise InputError(problems)
    return given
