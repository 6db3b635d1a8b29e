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

from kvplan.twin.scale.commands import COMMANDS, entry, main
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


def test_what_a_command_says_is_printed_as_it_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("recovery-group")
    monkeypatch.setenv(DIRECTORY, str(tmp_path / "state"))
    monkeypatch.setenv(NODE, rack.admin)

    assert main(["mmvdisk", "recoverygroup", "create", "--recovery-group", "rg1", "--node-class", "nc1"]) == 0
    assert main(["/usr/lpp/mmfs/bin/mmvdisk", "recoverygroup", "create", "--recovery-group", "rg1"]) == 1

    out, err = capsys.readouterr()
    assert out.endswith("mmvdisk: Created recovery group 'rg1'.\n")
    assert err.startswith("mmvdisk: Recovery group 'rg1' already exists.\n")


def test_a_machine_that_is_not_of_the_rack_has_no_cluster(tmp_path: Path) -> None:
    assert "6027-1382" in Rack(tmp_path, "compact").refused("mmlscluster", node="elsewhere")


def test_without_y_people_read_it_too(tmp_path: Path) -> None:
    rack = Rack(tmp_path, "compact")
    rack.build("nodeclass")

    assert "GPFS cluster name:         kvstore.kv.example" in rack.ok("mmlscluster")
    assert "active" in rack.ok("mmgetstate", "-a")
    assert "workerThreads 3072 [kvservers]" in rack.ok("mmlsconfig")
    assert "pagepool 1073741824" in rack.ok("mmlsconfig", "pagepool")
    assert "=== mmdiag: network ===" in rack.ok("mmdiag", "--network")


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
