"""`kvplan render --media`: images found by their hash, secrets put in, and one medium a server."""

from __future__ import annotations

import hashlib
import re
import shutil
from typing import TYPE_CHECKING

import media_isos
import pytest
from example_sites import EXAMPLES

from kvplan.__main__ import main
from kvplan.cli.filling import filled
from kvplan.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

HASH = "$6$salt$notarealhash"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory with the compact example, and with tiny images whose hashes the Site names."""
    if not media_isos.can_build():
        pytest.skip("xorriso, mtools, mkfs.vfat or grub-mkimage is missing")
    for file in ("plan.json", "site.yaml"):
        shutil.copy(EXAMPLES / "compact" / file, tmp_path)
    for name, make in (("rhel", media_isos.rhel_iso), ("ubuntu", media_isos.ubuntu_iso)):
        (tmp_path / name).mkdir()
        shutil.move(make(tmp_path / name), tmp_path / f"{name}.iso")
    text = (tmp_path / "site.yaml").read_text().replace("vault:secrets/hosts.yml#console", "file:secrets/console")
    for name in ("rhel", "ubuntu"):
        sha256 = hashlib.sha256((tmp_path / f"{name}.iso").read_bytes()).hexdigest()
        text = re.sub(rf"(\n  {name}:\n    url: .*\n    sha256: ).*", rf'\g<1>"{sha256}"', text)
    (tmp_path / "site.yaml").write_text(text)
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "console").write_text(f"{HASH}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def media(*images: str) -> int:
    """Render, and build the media from images."""
    given = [word for image in images for word in ("--image", image)]
    return main(["render", "plan.json", "site.yaml", "-o", "build", "--media", "media", *given])


@pytest.mark.slow
def test_every_server_gets_its_medium(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert media("rhel.iso", "ubuntu.iso") == 0
    said = capsys.readouterr().out
    built = sorted(path.name for path in (here / "media" / "kv").glob("*.iso"))
    assert built == sorted(
        f"{name}.iso"
        for name in ("control-1", "gpu-0001", "gpu-0002", "storage-001", "storage-002", "storage-003", "storage-004")
    )
    for path in (here / "media" / "kv").glob("*.iso"):
        assert hashlib.sha256(path.read_bytes()).hexdigest() in said
        assert path.stat().st_mode & 0o077 == 0
    assert HASH.encode() in (here / "media" / "kv" / "storage-001.iso").read_bytes()
    assert not [path for path in (here / "build").rglob("*") if path.is_file() and HASH.encode() in path.read_bytes()]


def test_an_image_that_is_not_given_is_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert media("rhel.iso") == 3
    assert "error: --image: no image has the sha256 of http://172.24.0.10:8080/ubuntu" in capsys.readouterr().err
    assert not (here / "media").exists()


def test_a_secret_that_is_not_there_is_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "secrets" / "console").unlink()
    assert media("rhel.iso", "ubuntu.iso") == 3
    assert "secrets/console" in capsys.readouterr().err
    assert not (here / "media").exists()


def test_marks_are_filled_from_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").write_text("from a file\n")
    monkeypatch.setenv("KVPLAN_X", "from the shell")
    texts = {"a": "{{ kv_secret_one }} and {{ kv_secret_two }}", "b": "none"}
    made = filled(texts, {"one": "file:x", "two": "env:KVPLAN_X"}, tmp_path)
    assert made == {"a": "from a file and from the shell", "b": "none"}


def test_every_secret_that_is_missing_is_said_at_once(tmp_path: Path) -> None:
    references = {"one": "file:x", "two": "env:KVPLAN_MISSING", "three": "vault:v.yml#k"}
    with pytest.raises(InputError) as raised:
        filled({"a": "".join(f"{{{{ kv_secret_{name} }}}}" for name in (*references, "four"))}, references, tmp_path)
    said = str(raised.value)
    assert len(raised.value.problems) == 4
    for words in (
        "does not exist",
        "KVPLAN_MISSING is not set",
        "only deploying opens",
        "has no reference in the Site",
    ):
        assert words in said
