"""Building a boot medium: the maker's image with arguments and files put in, checked, and only then in its place."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.errors import InputError
from kvplan.site.media.grub import with_arguments
from kvplan.site.media.inspection import medium_faults, menus_of, required_menus
from kvplan.site.media.iso import DATE, EfiImage, efi_image_of, missing_tools, run, volume_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.site.media.recipe import BootMedium

_PLACEHOLDER: Final = b"kv_secret_"
_SHOWN_LINES: Final = 3


class BuiltMedium(NamedTuple):
    """An image that was built: where it is, its hash, and its size [B]."""

    path: Path
    sha256: str
    bytes: int


def build_media(medium: BootMedium, source_iso: Path, files: Mapping[str, bytes], output: Path) -> BuiltMedium:
    """Build the boot medium of a server; equal input gives an equal image.

    The image is built beside its place, read back and compared with the recipe, and put into its place last, with
    its hash in a file `.sha256` beside it.

    Parameters
    ----------
    medium
        Its entry in the recipe.
    source_iso
        The maker's image.
    files
        What goes in, by path in the tree, with no placeholder left; further ones are left out.
    output
        Where the image goes; its directory exists.

    Returns
    -------
    BuiltMedium
        The image.

    Raises
    ------
    InputError
        When a program is missing, the source is not the one of the recipe or cannot start a machine, a file is
        missing or lacks its secrets, or the image did not come out right. Nothing is left behind then.
    """
    _refuse(medium, files)
    _check_source(medium, source_iso)
    try:
        with TemporaryDirectory(prefix=f".{output.name}.", dir=output.parent) as held:
            made = _remastered(medium, source_iso, files, Path(held))
            faults = list(medium_faults(medium, made, files))
            if faults:
                raise InputError(faults)
            return _placed(made, output)
    except OSError as error:
        what = f"cannot be written: {(error.strerror or str(error)).lower()}"
        raise InputError.single(str(output), what) from error


def sha256_of(path: Path) -> str:
    """Work out the hash of a file.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    str
        Its sha256.

    Raises
    ------
    InputError
        When it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError.single(str(path), f"cannot be read: {(error.strerror or str(error)).lower()}") from error


def _refuse(medium: BootMedium, files: Mapping[str, bytes]) -> None:
    """Refuse what cannot be built: programs or files that are missing, and secrets that are."""
    problems = missing_tools()
    if problems:
        raise InputError(problems)
    for path in medium.files.values():
        if path not in files:
            raise InputError.single(path, f"is missing, and the image of {medium.server} needs it")
        if _PLACEHOLDER in files[path]:
            raise InputError.single(path, "still holds a placeholder for a secret", hint="fill it in before")


def _check_source(medium: BootMedium, source: Path) -> None:
    """See that the source is the one that the recipe means, and whole."""
    found = sha256_of(source)
    if found != medium.source.sha256:
        what = f"has the sha256 {found}, and the Site says {medium.source.sha256}"
        raise InputError.single(str(source), what, hint="fetch it again, or correct the Site")
    volume_of(source)


def _remastered(medium: BootMedium, source: Path, files: Mapping[str, bytes], directory: Path) -> Path:
    """Write the new image in a directory of its own."""
    image = efi_image_of(source)
    made = directory / "new.iso"
    mapped = [*_menus(medium, source, image, directory), *_contents(medium, files, directory)]
    # The boot record is replayed before anything is mapped: after it, it would be lost without a word.
    words: list[str | Path] = ["xorriso", "-no_rc", "-indev", source, "-outdev", made, "-boot_image", "any", "replay"]
    words += ["-volume_date", "uuid", volume_of(source).date, "-uid", "0", "-gid", "0"]
    if image.partition:
        words += ["-append_partition", *image.partition, _dated(directory / "efi.img")]
    else:
        mapped.append((_dated(directory / "efi.img"), image.path))
    for path, inside in mapped:
        words += ["-map", path, inside]
    done = run(*words)
    if done.returncode:
        said = "; ".join(done.stderr.strip().splitlines()[-_SHOWN_LINES:])
        raise InputError.single(str(source), f"xorriso could not write the new image: {said}")
    return made


def _menus(medium: BootMedium, source: Path, image: EfiImage, directory: Path) -> Iterator[tuple[Path, str]]:
    """Change every menu; those of the EFI partition go into it, that of the image is given with its place."""
    menus = menus_of(medium.kind, source, image, directory)
    for required in required_menus(medium.kind):
        if required not in menus:
            raise InputError.single(str(source), f"is no installer of {medium.kind}: {required} starts no kernel")
    for number, (place, text) in enumerate(menus.items()):
        path = directory / f"grub{number}.cfg"
        changed = with_arguments(text, medium.arguments, medium.menu_timeout_s)
        path.write_text(changed, encoding="utf-8", errors="surrogateescape")
        _dated(path)
        inside = place.removeprefix("efi:")
        if inside == place:
            yield path, inside
        elif run("mcopy", "-m", "-o", "-i", directory / "efi.img", path, f"::{inside}").returncode:
            raise InputError.single(str(source), "its EFI partition takes no longer menu", key=place)


def _contents(medium: BootMedium, files: Mapping[str, bytes], directory: Path) -> Iterator[tuple[Path, str]]:
    """Write the files that go in, each given with its place."""
    # xorriso gives a directory that it makes the looks of the one that the file came from.
    staged = directory / "files"
    staged.mkdir()
    copies = {staged / str(number): inside for number, inside in enumerate(medium.files)}
    for copy, inside in copies.items():
        copy.write_bytes(files[medium.files[inside]])
        _dated(copy)
    _dated(staged)
    yield from copies.items()


def _dated(path: Path) -> Path:
    """Give a file or directory the fixed date and mode, which both go into the image."""
    path.chmod(0o755 if path.is_dir() else 0o644)
    os.utime(path, (DATE, DATE))
    return path


def _placed(made: Path, output: Path) -> BuiltMedium:
    """Put an image into its place and its hash beside it; a stale hash is never beside a new image."""
    built = BuiltMedium(output, sha256_of(made), made.stat().st_size)
    noted, beside = made.with_name("sha256"), output.with_name(f"{output.name}.sha256")
    noted.write_text(f"{built.sha256}  {output.name}\n", encoding="ascii")
    # Only its owner reads it, for answers to an installer can hold the hash of a password.
    made.chmod(0o600)
    beside.unlink(missing_ok=True)
    made.replace(output)
    noted.replace(beside)
    return built
