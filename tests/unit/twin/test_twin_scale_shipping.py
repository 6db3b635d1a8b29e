"""The one file in which the simulated commands are shipped."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scale_racks import Rack

from kvplan.twin.scale.commands import COMMANDS, entry
from kvplan.twin.scale.shell import NODE
from kvplan.twin.scale.store import DIRECTORY

OLD = Path.home() / ".pyenv/versions/3.9.18/bin/python3.9"


def old_python() -> str:
    """Return a Python 3.9 where there is one, else the one that runs the tests."""
    found = str(OLD) if OLD.is_file() else shutil.which("python3.9")
    return found or sys.executable


def test_links_to_one_file_are_the_commands(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("nodeclass")
    tool = tmp_path / "mmsim"
    tool.write_bytes(entry(old_python()))
    tool.chmod(0o755)
    for name in ("mmgetstate", "mmlsfs"):
        (tmp_path / name).symlink_to(tool)
    place = {**os.environ, DIRECTORY: str(tmp_path / "state"), NODE: rack.admin}

    shown = subprocess.run([tmp_path / "mmgetstate", "-a", "-Y"], env=place, capture_output=True, text=True, check=True)
    failed = subprocess.run([tmp_path / "mmlsfs", "no", "-Y"], env=place, capture_output=True, text=True, check=False)

    assert shown.stdout.count(":active:") == len(rack.storage)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "6027-1388" in failed.stderr


def test_equal_code_gives_equal_bytes() -> None:
    assert entry() == entry()


def test_the_commands_that_the_steps_use_exist() -> None:
    assert {"mmcrcluster", "mmaddnode", "mmvdisk", "ecedrivemapping", "mmdsh", "mmremotefs"} <= COMMANDS.keys()


def test_two_at_once_lose_nothing(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("nodeclass")
    place = {**os.environ, DIRECTORY: str(tmp_path / "state"), NODE: rack.admin}
    call = "import sys; from kvplan.twin.scale.commands import main; sys.exit(main(sys.argv[1:]))"
    running = [
        subprocess.Popen([sys.executable, "-c", call, "mmcrnodeclass", f"c{number}", "-N", "all"], env=place,
                         stdout=subprocess.DEVNULL)
        for number in range(4)
    ]  # fmt: skip
    assert [each.wait() for each in running] == [0] * 4

    classes = json.loads((tmp_path / "state/state.json").read_text())["clusters"]["kvstore.kv.example"]["classes"]
    assert {"c0", "c1", "c2", "c3"} <= classes.keys()


@pytest.mark.skipif(not OLD.is_file(), reason="no Python 3.9 here")
def test_every_module_compiles_with_python_3_9() -> None:
    package = Path(__file__).parents[3] / "kvplan/twin/scale"
    code = "import ast,sys; [ast.parse(open(f).read()) for f in sys.argv[1:]]"
    subprocess.run([OLD, "-c", code, *sorted(package.glob("*.py"))], check=True)
