"""What is inside the wheel, and that it works away from the checkout."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DATA_FOLDERS = ("profiles", "playbooks", "templates")
DIST_INFO = "dist-info"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel once."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    """List what the wheel holds."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def _files(folder: str) -> set[str]:
    """List a folder as git has it, without what is ignored; as the disk has it where there is no git."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
        return {name for name in listed if (ROOT / name).is_file()}
    return {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.is_file()}


@pytest.mark.parametrize("folder", DATA_FOLDERS)
def test_the_wheel_brings_the_top_level_folders_as_they_are(wheel: Path, names: set[str], folder: str) -> None:
    shipped = {name.removeprefix("kvplan/_data/") for name in names if name.startswith(f"kvplan/_data/{folder}/")}
    assert shipped == _files(folder)
    with zipfile.ZipFile(wheel) as archive:
        for name in shipped:
            assert archive.read(f"kvplan/_data/{name}") == (ROOT / name).read_bytes()


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(names: set[str]) -> None:
    shipped = {name for name in names if not name.startswith("kvplan/_data/") and DIST_INFO not in name}
    assert shipped == {name for name in _files("kvplan") if "__pycache__" not in name}
    assert "kvplan/py.typed" in shipped
    assert "kvplan/catalogue/constants.yaml" in shipped


def test_the_wheel_says_what_it_is(wheel: Path, names: set[str]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
        entry_points = archive.read(next(name for name in names if name.endswith("/entry_points.txt"))).decode()
    assert "License-Expression: Apache-2.0" in metadata
    assert "Requires-Python: >=3.11" in metadata
    assert "kvplan = kvplan.__main__:script" in entry_points
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_the_core_installs_light(wheel: Path, names: set[str]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    names_needed = {line.split()[1].partition(">")[0] for line in needed}
    assert names_needed == {"jinja2", "pydantic", "pyyaml", "rich", "typer", "xlsxwriter"}


def test_an_installed_wheel_finds_its_own_files(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); "
        "from kvplan.assets import profiles_dir; print(*sorted(p.name for p in profiles_dir().glob('*.yaml')))"
    )
    command = [sys.executable, "-I", "-c", code, str(tmp_path / "site")]
    found = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.split()
    assert found == sorted(path.name for path in (ROOT / "profiles").glob("*.yaml"))
    assert found
