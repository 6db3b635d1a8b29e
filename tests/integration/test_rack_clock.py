"""A node of a rack whose clock is wrong: who logs in sees it, nothing else suffers, and preflight refuses the node."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from sites import deployment_of

from kvplan.site.render import rendered_tree
from kvplan.twin.programs import installed
from kvplan.twin.rack import HERE, missing, raised
from kvplan.twin.rack.clock import LIBRARY, skew

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.twin.rack import Rack

LACKS = missing() if os.environ.get("KVPLAN_RACK") else ["set KVPLAN_RACK=1, or run `make rack`"]
LACKS += [] if LIBRARY.is_file() else ["libfaketime is not installed"]
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(LACKS), reason="; ".join(LACKS))]

NODE = "storage-001"
AHEAD_S = 7200
PLAYBOOKS = Path(__file__).parents[2] / "playbooks"
PATIENT = (
    "import time, subprocess, threading; begin = time.monotonic(); time.sleep(0.1); threading.Event().wait(0.1); "
    "subprocess.run(['sleep', '0.1'], timeout=9, check=True); print(0.3 <= time.monotonic() - begin < 9)"
)


@pytest.fixture(scope="module")
def rack() -> Iterator[Rack]:
    deployment = deployment_of(8)
    server = next(server for server in deployment.servers if server.name == NODE)
    with raised(deployment, [NODE], switches=(), files={NODE: installed(deployment, server)}, fabric=False) as rack:
        rack.wait()
        yield rack


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("tree")
    for path, text in rendered_tree(deployment_of(8)).items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    return tree


def ahead(rack: Rack, *become: str) -> float:
    """Measure how far a node's clock is ahead, as one who logs in sees it [s]."""
    return float(rack.ssh(NODE, *become, "date", "+%s.%N", seconds=30)) - time.time()


def preflight(rack: Rack, tree: Path) -> tuple[int, str]:
    """Look at the clock of the node as the playbook does."""
    settings = yaml.safe_load((PLAYBOOKS / "roles/preflight/vars/main.yml").read_text(encoding="utf-8"))
    checks = {check for name in ("preflight_hardware", "preflight_system") for check in settings[name]["storage"]}
    given = {
        "kv_tree": str(tree),
        "ansible_ssh_private_key_file": str(rack.directory / "id_ed25519"),
        "preflight_installed": True,
        "preflight_without": sorted(checks - {"clock"}),
    }
    environment = {
        "HOME": str(tree),
        "PATH": os.environ["PATH"],
        "ANSIBLE_CONFIG": str(PLAYBOOKS / "ansible.cfg"),
        "ANSIBLE_SSH_ARGS": f"-F {rack.ssh_config}",
        "ANSIBLE_HOST_PATTERN_MISMATCH": "ignore",
        "ANSIBLE_LIBRARY": str(PLAYBOOKS / "plugins/modules"),
    }
    command = [sys.executable, "-m", "ansible.cli.playbook", "-i", str(tree / "inventory/hosts.yml"), "--limit", NODE]
    command += ["-e", json.dumps(given), str(PLAYBOOKS / "preflight.yml")]
    whole = rack.command(HERE, "env", *(f"{key}={value}" for key, value in environment.items()), *command)
    run = subprocess.run(whole, capture_output=True, text=True, check=False, timeout=120)
    return run.returncode, run.stdout + run.stderr


def test_a_wrong_clock_is_seen_refused_and_put_right(rack: Rack, tree: Path) -> None:
    assert abs(ahead(rack)) < 5
    code, text = preflight(rack, tree)
    assert code == 0, text

    skew(rack, NODE, AHEAD_S)
    assert abs(ahead(rack) - AHEAD_S) < 5
    assert abs(ahead(rack, "sudo") - AHEAD_S) < 5
    assert rack.ssh(NODE, "sudo", "systemctl", "is-active", "dbus.socket").strip() == "active"
    assert rack.ssh(NODE, "sudo", "python3", "-c", f'"{PATIENT}"').strip() == "True"
    code, text = preflight(rack, tree)
    assert code == 2, text
    assert re.search(r"its clock is 72\d\d s ahead", text)
    assert "see that it and this control node reach the time servers of the Site" in text

    skew(rack, NODE, 0)
    assert abs(ahead(rack, "sudo")) < 5
    assert preflight(rack, tree)[0] == 0


def test_a_clock_can_be_behind_and_stays_so(rack: Rack) -> None:
    skew(rack, NODE, -AHEAD_S)
    rack.request("off", NODE)
    rack.request("on", NODE)
    rack.wait([NODE])
    assert abs(ahead(rack) + AHEAD_S) < 5
    skew(rack, NODE, 0)
    assert abs(ahead(rack)) < 5
