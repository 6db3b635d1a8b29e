"""Whether a built image is what its recipe says: read back from the image, not from what went into it."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from kvplan.errors import InputError, Problem
from kvplan.site.media.grub import faults_in, kernel_entries
from kvplan.site.media.iso import EfiImage, efi_image_of, extract, extract_efi, extract_fat, volume_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.site.media.recipe import BootMedium, Kind

MENUS: Final[dict[Kind, str]] = {"rhel": "/EFI/BOOT/grub.cfg", "ubuntu": "/boot/grub/grub.cfg"}
"""The menu on the image."""
EFI_MENUS: Final = ("EFI/BOOT/grub.cfg", "boot/grub/grub.cfg", "EFI/ubuntu/grub.cfg")
"""Where the EFI partition may hold a menu; RHEL has it at the first of them and starts from it."""


def medium_faults(medium: BootMedium, iso: Path, files: Mapping[str, bytes]) -> Iterator[Problem]:
    """Say what is wrong with an image.

    Parameters
    ----------
    medium
        Its entry in the recipe.
    iso
        The image.
    files
        What its files must hold, by path in the tree.

    Yields
    ------
    Problem
        What is wrong, and where in the image.
    """
    try:
        volume, image = volume_of(iso), efi_image_of(iso)
    except InputError as error:
        yield from error.problems
        return
    with TemporaryDirectory(prefix="kvplan-") as held:
        menus = menus_of(medium.kind, iso, image, Path(held))
        for required in required_menus(medium.kind):
            if required not in menus:
                yield Problem(str(iso), "is not there", key=required)
        for place, text in menus.items():
            for fault in (*faults_in(text, medium.arguments), *_label_faults(text, volume.volume_id)):
                yield Problem(str(iso), fault, key=place)
        for inside, path in medium.files.items():
            copy = Path(held, "copy")
            if not extract(iso, inside, copy) or copy.read_bytes() != files[path]:
                yield Problem(str(iso), f"does not hold {path}", key=inside)
            copy.unlink(missing_ok=True)


def required_menus(kind: Kind) -> tuple[str, ...]:
    """Name the menus that an image must have; `efi:` stands before those in the EFI partition.

    >>> required_menus("rhel"), required_menus("ubuntu")
    (('/EFI/BOOT/grub.cfg', 'efi:EFI/BOOT/grub.cfg'), ('/boot/grub/grub.cfg',))
    """
    return (MENUS["rhel"], f"efi:{EFI_MENUS[0]}") if kind == "rhel" else (MENUS[kind],)


def menus_of(kind: Kind, iso: Path, image: EfiImage, directory: Path) -> dict[str, str]:
    """Read the menus that start a kernel, and leave the EFI partition as `efi.img` in a directory.

    Parameters
    ----------
    kind
        Which installer it is.
    iso
        The image.
    image
        Its EFI partition.
    directory
        An empty directory.

    Returns
    -------
    dict of str
        Text by place, as `required_menus` names places.
    """
    partition, copy = directory / "efi.img", directory / "menu"
    extract_efi(iso, image, partition)
    found: dict[str, str] = {}
    for place in (MENUS[kind], *(f"efi:{path}" for path in EFI_MENUS)):
        path = place.removeprefix("efi:")
        there = extract(iso, path, copy) if path == place else extract_fat(partition, path, copy)
        text = copy.read_text(encoding="utf-8", errors="surrogateescape") if there else ""
        # A menu that only leads to another is nobody's to change.
        if any(kernel_entries(text)):
            found[place] = text
        copy.unlink(missing_ok=True)
    return found


def _label_faults(text: str, volume_id: str) -> Iterator[str]:
    """See that the installer looks for its own image."""
    for label in sorted(set(re.findall(r"inst\.stage2=hd:LABEL=(\S+)", text))):
        if label.replace(r"\x20", " ") != volume_id:
            yield f"looks for a volume {label!r}, and the image is called {volume_id!r}"
