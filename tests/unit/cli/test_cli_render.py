"""`kvplan render` as it is used: written, written again, compared, refused; and never a secret."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from example_sites import EXAMPLES

from kvplan.__main__ import main
from kvplan.site.tree import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Golden = Callable[[str, str], None]

CANARY = "canary-4f1c"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory with the compact example."""
    for file in ("plan.json", "site.yaml"):
        shutil.copy(EXAMPLES / "compact" / file, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def render(*more: str) -> int:
    """Render the Plan and the Site in the working directory."""
    return main(["render", "plan.json", "site.yaml", *more])


def change_site(here: Path, *changes: tuple[str, str]) -> None:
    """Change the text of the Site."""
    text = (here / "site.yaml").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (here / "site.yaml").write_text(text, encoding="utf-8")


def hashes(directory: Path) -> dict[str, str]:
    """Hash every file of a directory."""
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("name", ["reference", "compact"])
def test_example(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    files = [str(EXAMPLES / name / file) for file in ("plan.json", "site.yaml")]
    assert main(["render", *files, "-o", str(tmp_path / "build")]) == 0
    assert capsys.readouterr().out.endswith(" new\n")
    manifest = json.loads((tmp_path / "build" / MANIFEST).read_text())
    listed = {path: entry["sha256"] for path, entry in manifest["files"].items()}
    written = hashes(tmp_path / "build")
    assert {path: sha256 for path, sha256 in written.items() if path != MANIFEST} == listed
    golden(f"site/tree-{name}.txt", "".join(f"{entry['mode']} {path}\n" for path, entry in manifest["files"].items()))


def test_again_is_the_same_and_changes_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert render("-o", "one") == render("-o", "two") == 0
    assert hashes(here / "one") == hashes(here / "two")
    capsys.readouterr()
    assert render("-o", "one") == 0
    assert capsys.readouterr().out.endswith("files; nothing changed\n")


def test_what_would_change_is_shown_as_a_patch(here: Path, capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    assert render() == 0
    before = hashes(here / "build")
    change_site(here, ("timezone: Etc/UTC", "timezone: Europe/Zurich"))
    capsys.readouterr()
    assert render("--diff", "build", "--exit-code") == 5
    patch = capsys.readouterr().out
    golden("site/patch.diff", "".join(line for line in _without_hashes(patch)))
    assert hashes(here / "build") == before
    assert render() == 0
    assert render("--diff", "build", "--exit-code") == 0


def _without_hashes(patch: str) -> Iterator[str]:
    """Leave the manifest out of a patch."""
    manifest = False
    for line in patch.splitlines(keepends=True):
        if line.startswith("--- "):
            manifest = MANIFEST in line
        if not manifest:
            yield line


def test_a_secret_is_in_no_file(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KVPLAN_CANARY", CANARY)
    (here / "secrets").mkdir()
    (here / "secrets" / "canary").write_text(CANARY)
    text = (here / "site.yaml").read_text()
    for index, old in enumerate(("vault:secrets/switches.yml#password", "env:KV_SNMP_AUTH", "env:KV_SNMP_PRIV")):
        text = text.replace(old, ("env:KVPLAN_CANARY", "file:secrets/canary")[index % 2])
    text = text.replace("vault:secrets/hosts.yml#console", "env:KVPLAN_CANARY")
    assert text.count("KVPLAN_CANARY") + text.count("secrets/canary") >= 4
    (here / "site.yaml").write_text(text)
    assert render() == 0
    assert main(["check", "plan.json", "site.yaml", "--severity", "error"]) in {0, 6}
    printed = capsys.readouterr()
    assert CANARY not in printed.out + printed.err
    leaks = [path for path in (here / "build").rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]
    assert leaks == []


def test_files_with_the_mark_of_a_secret_are_private(here: Path) -> None:
    assert render() == 0
    marked = [path for path in (here / "build").rglob("*") if path.is_file() and b"{{ kv_secret_" in path.read_bytes()]
    public = {path.relative_to(here / "build").as_posix() for path in marked if path.stat().st_mode & 0o077}
    assert marked
    # The first explains marks, the second puts secrets in for them.
    assert public == {"README.md", "switches/ztp.sh"}


def test_nothing_outside_the_directory_is_touched(here: Path) -> None:
    before = hashes(here)
    assert render("-o", "deep/er/build") == 0
    after = {path: sha256 for path, sha256 in hashes(here).items() if not path.startswith("deep/")}
    assert after == before


WRONG: dict[str, tuple[tuple[tuple[str, str], ...], tuple[str, ...], int]] = {
    "serial-twice": (((" serial: MTLEAF-001A", " serial: MTLEAF-001B"),), (), 3),
    "secret-in-clear": ((("vault:secrets/switches.yml#password", "hunter2"),), (), 3),
    "unknown-build": ((("build: {}", "build: {management: {switch: sn9999}}"),), (), 3),
    "unknown-release": ((('storage_scale: "6.0.1.0"', 'storage_scale: "9.9"'),), (), 3),
    "two-directions": ((), ("--diff", "build", "-o", "build"), 2),
    "image-alone": ((), ("--image", "x.iso"), 2),
    "exit-code-alone": ((), ("--exit-code",), 2),
    "stdout": ((), ("-o", "-"), 2),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_and_nothing_is_written(
    name: str, here: Path, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    changes, options, code = WRONG[name]
    change_site(here, *changes)
    assert render(*options) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    golden(f"errors/render-{name}.txt", printed.err)
    assert not (here / "build").exists()


def test_a_wrong_table_of_the_users_is_named_itself(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "tables").mkdir()
    row = "{id: scale.autoload, area: scale, title: autoload, value: [1], source: mine, confidence: assumed}"
    (here / "tables" / "settings.yaml").write_text(f"- {row}\n")
    assert render("--catalogue", "tables") == 3
    assert capsys.readouterr().err.startswith("error: tables/settings.yaml:1:61: [0].value: must be text")


def test_a_plan_of_another_size_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(EXAMPLES / "reference" / "plan.json", here)
    assert render() == 3
    said = capsys.readouterr().err
    assert "storage-008" in said
    assert not Path("build").exists()
