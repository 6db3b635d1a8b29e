"""The modules as Ansible ships them: packed by it, run by a Python of the managed node, commands found by PATH."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from mm_modules import PLUGINS
from scale_racks import Rack

from kvplan.twin.scale.commands import COMMANDS, entry
from kvplan.twin.scale.shell import NODE, ROOT
from kvplan.twin.scale.store import DIRECTORY

if TYPE_CHECKING:
    from collections.abc import Callable

OLD = Path.home() / ".pyenv/versions/3.9.18/bin/python3.9"
PYTHON = str(OLD) if OLD.is_file() else sys.executable
NODES = [f"storage-00{number}-kv.kv.example" for number in range(1, 5)]
GROUP = {"name": "rg1", "node_class": "nc1", "nodes": NODES, "wait": False}
UNTIL = {"register": "held", "until": "held.ready", "retries": 40, "delay": 0.1}


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[dict[str, Any]]]:
    """Give a function that runs tasks and returns their results."""
    place = tmp_path_factory.mktemp("play")
    rack = Rack(place, "compact")
    rack.build("recovery-group")
    with rack.store.changed() as state:
        state["speed"] = 300
    tools = place / "bin"
    tools.mkdir()
    (tools / "mmsim").write_bytes(entry(PYTHON))
    (tools / "mmsim").chmod(0o755)
    for name in COMMANDS:
        (tools / name).symlink_to("mmsim")

    def run(*tasks: dict[str, Any]) -> list[dict[str, Any]]:
        held = {"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": list(tasks)}
        (place / "play.yml").write_text(yaml.safe_dump([held]), encoding="utf-8")
        told = {
            **os.environ,
            "ANSIBLE_LIBRARY": str(PLUGINS / "modules"),
            "ANSIBLE_MODULE_UTILS": str(PLUGINS / "module_utils"),
            "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.minimal",
            "ANSIBLE_PYTHON_INTERPRETER": PYTHON,
            "ANSIBLE_HOME": str(place / "home"),
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
            "ANSIBLE_NOCOLOR": "1",
            "PATH": f"{tools}:{os.environ['PATH']}",
            NODE: rack.admin,
            DIRECTORY: str(place / "state"),
            ROOT: str(place / rack.admin),
        }
        argv = [Path(sys.executable).with_name("ansible-playbook"), place / "play.yml"]
        done = subprocess.run(argv, env=told, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 2), done.stdout + done.stderr
        return _results(done.stdout)

    return run


def _results(text: str) -> list[dict[str, Any]]:
    """Return the result of each task that the callback printed."""
    parts = [part.partition("=>") for part in text.split("localhost | ")[1:]]
    return [json.JSONDecoder().raw_decode(told.lstrip())[0] for head, _, told in parts if "\n" not in head]


@pytest.mark.slow
def test_a_group_is_made_while_the_play_looks_on(play: Callable[..., list[dict[str, Any]]], tmp_path: Path) -> None:
    group = {"mmvdisk_recoverygroup": {**GROUP, "job_dir": str(tmp_path / "jobs")}}

    foreseen, started, ready, again = play({**group, "check_mode": True}, group, {**group, **UNTIL}, group)

    assert (foreseen["changed"], foreseen["ready"]) == (True, True)
    assert (started["changed"], started["ready"]) == (True, False)
    assert ready["log_groups"] == {"formatted": 9, "all": 9}
    assert (again["changed"], again["ready"]) == (False, True)
    assert "Formatting log vdisk 9 of 9" in (tmp_path / "jobs/rg1.out").read_text(encoding="utf-8")


@pytest.mark.slow
def test_what_a_job_said_is_told_by_the_next_look(play: Callable[..., list[dict[str, Any]]], tmp_path: Path) -> None:
    wrong = {"mmvdisk_recoverygroup": {**GROUP, "name": "rg9", "node_class": "nc9", "job_dir": str(tmp_path / "jobs")}}
    wait = {"ansible.builtin.wait_for": {"path": str(tmp_path / "jobs/rg9.rc"), "timeout": 20}}

    *_, told = play(wrong, wait, wrong)

    assert "Node class 'nc9' does not exist" in told["message"]
    assert told["command"].startswith("mmvdisk recoverygroup create --recovery-group rg9")
    assert told["rc"] == 1


@pytest.mark.slow
def test_other_modules_are_packed_too(play: Callable[..., list[dict[str, Any]]]) -> None:
    config = {"parameters": [{"parameter": "workerThreads", "value": "2048", "target": "kvservers", "restart": True}]}

    stored, foreseen_restart, restarted = play(
        {"mm_config": config},
        {"mm_state": {"state": "restarted", "nodes": NODES[:1], "poll": 0}, "check_mode": True},
        {"mm_state": {"state": "restarted", "nodes": NODES[:1], "poll": 0}},
    )

    assert stored["restart_nodes"] == NODES
    assert foreseen_restart["commands"] == restarted["commands"][-2:]
