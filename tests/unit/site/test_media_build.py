"""Boot media: built of tiny installer images, equal each time, and refused where anything is wrong."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

import media_isos
import pytest
from media_isos import FILES, medium_for

from kvplan.errors import InputError
from kvplan.site.media import build as building
from kvplan.site.media import iso
from kvplan.site.media.build import build_media
from kvplan.site.media.inspection import medium_faults, menus_of
from kvplan.site.media.iso import efi_image_of, extract, volume_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kvplan.site.media.recipe import BootMedium, Kind

pytestmark = pytest.mark.skipif(not media_isos.can_build(), reason="needs xorriso, mtools, dosfstools, grub")


@pytest.fixture(scope="module")
def rhel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give an image like RHEL's."""
    return media_isos.rhel_iso(tmp_path_factory.mktemp("rhel"))


@pytest.fixture(scope="module")
def ubuntu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give an image like Ubuntu's."""
    return media_isos.ubuntu_iso(tmp_path_factory.mktemp("ubuntu"))


@pytest.fixture(scope="module")
def built(rhel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the medium that is built of it."""
    return build_media(medium_for(rhel), rhel, FILES, tmp_path_factory.mktemp("built") / "x.iso").path


def _menus(kind: Kind, image: Path, directory: Path) -> dict[str, str]:
    """Read the menus of an image."""
    directory.mkdir()
    return menus_of(kind, image, efi_image_of(image), directory)


def test_both_menus_of_an_image_name_the_kickstart(built: Path, tmp_path: Path) -> None:
    menus = _menus("rhel", built, tmp_path / "menus")
    assert list(menus) == ["/EFI/BOOT/grub.cfg", "efi:EFI/BOOT/grub.cfg"]
    for text in menus.values():
        assert text.count(" inst.ks=cdrom:/ks.cfg inst.text console=ttyS0,115200\n") == 2
        assert "rd.live.check" not in text
        assert 'set default="0"' in text
        assert "set timeout=3\n" in text
        assert "inst.rescue quiet\n" in text


def test_an_image_keeps_its_labels_and_starts_by_uefi(rhel: Path, built: Path, tmp_path: Path) -> None:
    assert volume_of(built)[:2] == volume_of(rhel)[:2]
    assert "UEFI" in media_isos.listed(built)
    assert extract(built, "/ks.cfg", tmp_path / "ks")
    assert (tmp_path / "ks").read_bytes() == FILES["install/storage-001.ks"]


def test_the_hash_lies_beside_the_image(rhel: Path, tmp_path: Path) -> None:
    built = build_media(medium_for(rhel), rhel, FILES, tmp_path / "x.iso")
    content = built.path.read_bytes()
    assert built.sha256 == hashlib.sha256(content).hexdigest()
    assert built.bytes == len(content)
    assert (tmp_path / "x.iso.sha256").read_text() == f"{built.sha256}  x.iso\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.iso", "x.iso.sha256"]
    assert built.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_equal_input_gives_an_equal_image(rhel: Path, ubuntu: Path, tmp_path: Path) -> None:
    sources = {"rhel": rhel, "ubuntu": ubuntu}

    def build(name: str) -> list[bytes]:
        outputs = {kind: tmp_path / f"{kind}-{name}.iso" for kind in sources}
        return [
            build_media(medium_for(source, kind), source, FILES, outputs[kind]).path.read_bytes()
            for kind, source in sources.items()
        ]

    first = build("first")
    time.sleep(2.1)  # FAT counts in steps of two seconds
    assert build("second") == first


def test_ubuntu_gets_its_arguments_before_those_that_stay(ubuntu: Path, tmp_path: Path) -> None:
    built = build_media(medium_for(ubuntu, "ubuntu"), ubuntu, FILES, tmp_path / "x.iso")
    menus = _menus("ubuntu", built.path, tmp_path / "menus")
    assert list(menus) == ["/boot/grub/grub.cfg"]
    text = menus["/boot/grub/grub.cfg"]
    assert "linux\t/casper/vmlinuz autoinstall ds=nocloud\\;s=/cdrom/kv/ ---\n" in text
    assert text.startswith('set default="0"\nset timeout=3\n')
    assert efi_image_of(built.path).partition is not None
    assert extract(built.path, "/kv/meta-data", tmp_path / "meta-data")


def test_an_appended_partition_with_a_menu_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    source = media_isos.appended_iso(tmp_path / "made")
    built = build_media(medium_for(source), source, FILES, tmp_path / "x.iso")
    menus = _menus("rhel", built.path, tmp_path / "menus")
    assert "inst.ks=cdrom:/ks.cfg" in menus["efi:EFI/BOOT/grub.cfg"]


def _refused(source: Path, output: Path, medium: BootMedium | None = None, files: dict[str, bytes] = FILES) -> str:
    """Build, and return why that was refused; nothing may be left behind."""
    with pytest.raises(InputError) as refused:
        build_media(medium or medium_for(source), source, files, output)
    left = sorted(path.name for path in output.parent.iterdir())
    assert left == ["old.iso"], "something was left behind"
    return str(refused.value)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """Give a directory that holds an image from before."""
    directory = tmp_path / "out"
    directory.mkdir()
    (directory / "old.iso").write_bytes(b"old")
    return directory / "new.iso"


def test_a_source_with_another_hash_is_refused(rhel: Path, output: Path) -> None:
    medium = medium_for(rhel)
    wrong = medium.source.model_copy(update={"sha256": "0" * 64})
    said = _refused(rhel, output, medium.model_copy(update={"source": wrong}))
    assert medium.source.sha256 in said
    assert "the Site says 0000" in said


def test_a_source_that_ends_early_is_refused(rhel: Path, output: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.iso"
    short.write_bytes(rhel.read_bytes()[:-400_000])
    assert "ends after" in _refused(short, output)


def test_what_is_no_image_is_refused(output: Path, tmp_path: Path) -> None:
    (tmp_path / "page.iso").write_text("<html>Not found</html>")
    assert "is no ISO 9660 image" in _refused(tmp_path / "page.iso", output)


def test_a_source_that_is_not_there_is_refused(rhel: Path, output: Path, tmp_path: Path) -> None:
    assert "no such file" in _refused(tmp_path / "absent.iso", output, medium_for(rhel))


def test_an_image_that_starts_nothing_is_refused(output: Path, tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    assert "no El Torito boot record for UEFI" in _refused(media_isos.plain_iso(tmp_path / "made"), output)


def test_an_image_of_another_maker_is_refused(ubuntu: Path, output: Path) -> None:
    assert "is no installer of rhel" in _refused(ubuntu, output)


@pytest.mark.parametrize(("kept", "named"), [("mcopy", "xorriso"), ("xorriso", "mcopy")])
def test_missing_programs_are_named(
    kept: str, named: str, rhel: Path, output: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / kept).symlink_to(str(shutil.which(kept)))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    said = _refused(rhel, output)
    assert said.startswith(f"{named}: is not installed")
    assert said.count("\n") == 0


def test_a_missing_file_is_refused(rhel: Path, output: Path) -> None:
    assert "install/storage-001.ks: is missing" in _refused(rhel, output, files={})


def test_a_secret_that_was_not_filled_in_is_refused(rhel: Path, output: Path) -> None:
    files = {"install/storage-001.ks": b"rootpw --iscrypted {{ kv_secret_console }}\n"}
    assert "placeholder" in _refused(rhel, output, files=files)


def test_an_image_that_is_not_written_is_refused(rhel: Path, output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
        if "-map" in command:
            return subprocess.CompletedProcess(command, 32, "", "NOTE\nSORRY : no space\n")
        return iso.run(*command)

    monkeypatch.setattr(building, "run", run)
    assert "xorriso could not write the new image: NOTE; SORRY : no space" in _refused(rhel, output)


def test_a_partition_that_cannot_be_read_is_refused(rhel: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="/absent: cannot be read"):
        iso.extract_efi(rhel, iso.EfiImage("/absent", 0, 0, None), tmp_path / "efi.img")


def test_a_directory_that_is_not_there_is_refused(rhel: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: no such file"):
        build_media(medium_for(rhel), rhel, FILES, tmp_path / "absent" / "x.iso")


def test_a_full_partition_is_refused(output: Path, tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    source = media_isos.rhel_iso(tmp_path / "made")
    medium = medium_for(source, arguments=("x" * 3_000_000,))
    assert "its EFI partition takes no longer menu" in _refused(source, output, medium)


def test_an_image_that_comes_out_wrong_never_gets_its_place(
    rhel: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "with_arguments", lambda *given: given[0])
    said = _refused(rhel, output)
    assert "efi:EFI/BOOT/grub.cfg: lacks the arguments inst.ks=cdrom:/ks.cfg" in said


def _planted(change: Callable[[str], str], *, menu: bool, efi: bool) -> Callable[[Path, Path], Path]:
    """Return a function that makes an image with the right menus, changed on the image, in the partition, or both."""

    def make(directory: Path, built: Path) -> Path:
        text = _menus("rhel", built, directory / "menus")["/EFI/BOOT/grub.cfg"]
        return media_isos.rhel_iso(
            directory, menu=change(text) if menu else text, efi_menu=change(text) if efi else text
        )

    return make


def _replayed_late(directory: Path, built: Path) -> Path:
    """Remaster with the boot record replayed after the files: it is lost, and xorriso only says sorry."""
    late, efi = directory / "late.iso", directory / "efi.img"
    iso.extract_efi(built, efi_image_of(built), efi)
    words: list[str | Path] = [
        "-indev",
        built,
        "-outdev",
        late,
        "-map",
        efi,
        "/images/efiboot.img",
        "-boot_image",
        "any",
        "replay",
    ]
    subprocess.run(["xorriso", "-no_rc", *words], check=False, capture_output=True)
    return late


def _relabelled(directory: Path, built: Path) -> Path:
    """Remaster under another volume id."""
    words: list[str | Path] = [
        "-indev",
        built,
        "-outdev",
        directory / "named.iso",
        "-boot_image",
        "any",
        "replay",
        "-volid",
        "OTHER",
    ]
    subprocess.run(["xorriso", "-no_rc", *words], check=True, capture_output=True)
    return directory / "named.iso"


def _without(words: str) -> Callable[[str], str]:
    """Return a change that takes words out of a menu."""
    return lambda text: text.replace(words, "")


FAULTS = {
    "argument missing on the image": (
        _planted(_without(" inst.text"), menu=True, efi=False),
        "/EFI/BOOT/grub.cfg: lacks the arguments inst.text",
    ),
    "argument missing in the partition": (
        _planted(_without(" inst.ks=cdrom:/ks.cfg"), menu=False, efi=True),
        "efi:EFI/BOOT/grub.cfg: lacks the arguments inst.ks=cdrom:/ks.cfg",
    ),
    "medium checked": (
        _planted(lambda text: text.replace("quiet", "rd.live.check quiet"), menu=True, efi=True),
        "checks the medium (rd.live.check)",
    ),
    "other default": (
        _planted(lambda text: text.replace('default="0"', 'default="1"'), menu=True, efi=True),
        "its default entry is not the first that installs",
    ),
    "nothing installs": (
        _planted(lambda text: text.replace("quiet", "inst.rescue"), menu=True, efi=False),
        "/EFI/BOOT/grub.cfg: starts no installer",
    ),
    "no menu in the partition": (
        _planted(lambda _: "exit\n", menu=False, efi=True),
        "efi:EFI/BOOT/grub.cfg: is not there",
    ),
    "file missing": (
        _planted(lambda text: text, menu=False, efi=False),
        "/ks.cfg: does not hold install/storage-001.ks",
    ),
    "boot record lost": (_replayed_late, "no El Torito boot record for UEFI"),
    "other label": (_relabelled, "the image is called 'OTHER'"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_inspection_finds(fault: str, rhel: Path, built: Path, tmp_path: Path) -> None:
    medium = medium_for(rhel)
    make, expected = FAULTS[fault]
    assert expected in "\n".join(str(problem) for problem in medium_faults(medium, make(tmp_path, built), FILES))


def test_inspection_finds_nothing_in_a_right_image(rhel: Path, built: Path) -> None:
    assert list(medium_faults(medium_for(rhel), built, FILES)) == []
