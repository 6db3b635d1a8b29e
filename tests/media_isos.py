"""Tiny installer images that UEFI starts, made as their makers make them, and media for them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from kvplan.site.media.recipe import BootMedium, SourceImage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BUILDERS = ("xorriso", "mcopy", "mmd", "mkfs.vfat", "grub-mkimage")
LABEL = "RHEL-9-6-0-BaseOS-x86_64"
EFI_TYPE = "C12A7328-F81F-11D2-BA4B-00A0C93EC93B"
MODULES = (
    "part_gpt fat iso9660 normal linux search search_label search_fs_file serial terminal echo boot configfile test"
)
ENVIRONMENT = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin", "SOURCE_DATE_EPOCH": "1700000000"}
RHEL_MENU = f"""\
set default="1"

function load_video {{
  true
}}

set timeout=60
search --no-floppy --set=root -l '{LABEL}'

menuentry 'Install Red Hat Enterprise Linux 9.6' --class fedora --class os {{
\tlinux /images/pxeboot/vmlinuz inst.stage2=hd:LABEL={LABEL} quiet
\tinitrd /images/pxeboot/initrd.img
}}
menuentry 'Test this media & install Red Hat Enterprise Linux 9.6' --class fedora --class os {{
\tlinux /images/pxeboot/vmlinuz inst.stage2=hd:LABEL={LABEL} rd.live.check quiet
\tinitrd /images/pxeboot/initrd.img
}}
submenu 'Troubleshooting -->' {{
\tmenuentry 'Rescue a Red Hat Enterprise Linux system' --class fedora --class os {{
\t\tlinux /images/pxeboot/vmlinuz inst.stage2=hd:LABEL={LABEL} inst.rescue quiet
\t\tinitrd /images/pxeboot/initrd.img
\t}}
}}
"""
UBUNTU_MENU = """\
set timeout=30

loadfont unicode

menuentry "Try or Install Ubuntu Server" {
\tset gfxpayload=keep
\tlinux\t/casper/vmlinuz  ---
\tinitrd\t/casper/initrd
}
menuentry "Ubuntu Server with the HWE kernel" {
\tset gfxpayload=keep
\tlinux\t/casper/hwe-vmlinuz  ---
\tinitrd\t/casper/hwe-initrd
}
grub_platform
if [ "$grub_platform" = "efi" ]; then
menuentry 'Boot from next volume' {
\texit 1
}
fi
"""
FILES = {
    "install/storage-001.ks": b"text\n",
    "install/gpu-0001/user-data": b"#cloud-config\n",
    "install/gpu-0001/meta-data": b"",
}


def can_build() -> bool:
    """Tell whether the programs are there that make such images."""
    return all(shutil.which(name, path=ENVIRONMENT["PATH"]) for name in BUILDERS)


def rhel_iso(
    directory: Path,
    *,
    menu: str = RHEL_MENU,
    efi_menu: str = RHEL_MENU,
    kernel: bytes = b"kernel",
    initrd: bytes = b"initrd",
) -> Path:
    """Make an image whose EFI partition is a file on it, with its menu in both places."""
    files = {**_rhel_files(menu, kernel), "images/pxeboot/initrd.img": initrd}
    tree = _tree(directory, files)
    (tree / "images/efiboot.img").write_bytes(_efi(directory, efi_menu).read_bytes())
    options = ("-e", "images/efiboot.img", "-no-emul-boot")
    return _mkisofs(directory, LABEL, options)


def appended_iso(directory: Path, *, kernel: bytes = b"kernel") -> Path:
    """Make an image whose EFI partition is appended, with its menu in both places."""
    return _appended(directory, _rhel_files(RHEL_MENU, kernel), RHEL_MENU)


def ubuntu_iso(directory: Path, *, kernel: bytes = b"kernel") -> Path:
    """Make an image like Ubuntu's: appended partition, whose own menu only leads to that on the image."""
    files: dict[str, str | bytes] = {
        "boot/grub/grub.cfg": UBUNTU_MENU,
        "casper/vmlinuz": kernel,
        "casper/initrd": b"initrd",
    }
    stub = "search --set=root --file /casper/vmlinuz\nconfigfile ($root)/boot/grub/grub.cfg\n"
    return _appended(directory, files, stub)


def _rhel_files(menu: str, kernel: bytes) -> dict[str, str | bytes]:
    """Return what is on an image like RHEL's."""
    return {"EFI/BOOT/grub.cfg": menu, "images/pxeboot/vmlinuz": kernel, "images/pxeboot/initrd.img": b"initrd"}


def _appended(directory: Path, files: Mapping[str, str | bytes], efi_menu: str) -> Path:
    """Make an image whose EFI partition is appended."""
    _tree(directory, files)
    appended = ("-append_partition", "2", EFI_TYPE, str(_efi(directory, efi_menu)), "-appended_part_as_gpt")
    boot = ("-eltorito-alt-boot", "-e", "--interval:appended_partition_2:all::", "-no-emul-boot")
    return _mkisofs(directory, LABEL, (*appended, *boot))


def plain_iso(directory: Path) -> Path:
    """Make an image without any boot record."""
    _tree(directory, {"EFI/BOOT/grub.cfg": RHEL_MENU})
    return _mkisofs(directory, LABEL, ())


def medium_for(iso: Path, kind: str = "rhel", **changes: object) -> BootMedium:
    """Describe the medium that is made of an image."""
    sha256 = hashlib.sha256(iso.read_bytes()).hexdigest()
    rhel = kind == "rhel"
    values: dict[str, object] = {
        "server": "storage-001" if rhel else "gpu-0001",
        "kind": kind,
        "medium": "whole-image",
        "source": SourceImage(url="http://172.24.0.10:8080/x.iso", sha256=sha256, version="9.6"),
        "menu_timeout_s": 3,
        "arguments": ("inst.ks=cdrom:/ks.cfg", "inst.text", "console=ttyS0,115200")
        if rhel
        else ("autoinstall", "ds=nocloud;s=/cdrom/kv/"),
        "files": {"/ks.cfg": "install/storage-001.ks"}
        if rhel
        else {f"/kv/{name}": f"install/gpu-0001/{name}" for name in ("user-data", "meta-data")},
        "output": "kv/x.iso",
        "url": "http://172.24.0.10:8080/kv/x.iso",
    }
    return BootMedium.model_validate({**values, **changes})


def listed(iso: Path) -> str:
    """Return what xorriso says of the boot record."""
    return _run("xorriso", "-no_rc", "-indev", str(iso), "-report_el_torito", "plain").stdout


def _tree(directory: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write the files of an image."""
    tree = directory / "tree"
    for name, content in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    (tree / "images").mkdir(parents=True, exist_ok=True)
    return tree


def _efi(directory: Path, menu: str) -> Path:
    """Make the EFI partition: GRUB, which reads the menu beside it."""
    efi, loader, held = directory / "efi.img", directory / "BOOTX64.EFI", directory / "menu.cfg"
    early = directory / "early.cfg"
    early.write_text(
        "serial --unit=0 --speed=115200\nterminal_input serial\nterminal_output serial\n"
        "configfile $cmdpath/grub.cfg\nconfigfile $prefix/grub.cfg\n"
        "search --set=root --file /boot/grub/grub.cfg\nconfigfile ($root)/boot/grub/grub.cfg\n"
    )
    held.write_text(menu)
    _run("grub-mkimage", "-O", "x86_64-efi", "-c", str(early), "-p", "/EFI/BOOT", "-o", str(loader), *MODULES.split())
    efi.unlink(missing_ok=True)
    _run("mkfs.vfat", "-C", "-i", "12345678", str(efi), "2048")
    _run("mmd", "-i", str(efi), "::EFI", "::EFI/BOOT")
    _run("mcopy", "-i", str(efi), str(loader), "::EFI/BOOT/BOOTX64.EFI")
    _run("mcopy", "-i", str(efi), str(held), "::EFI/BOOT/grub.cfg")
    return efi


def _mkisofs(directory: Path, label: str, options: tuple[str, ...]) -> Path:
    """Write the image."""
    iso = directory / "source.iso"
    _run("xorriso", "-as", "mkisofs", "-R", "-V", label, *options, "-o", str(iso), str(directory / "tree"))
    return iso


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a program that must succeed."""
    return subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, text=True)
