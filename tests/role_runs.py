"""Playbooks and roles, run on this machine: into a directory, or against commands that only answer."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

import yaml
from ansible.module_utils import basic
from ansible.module_utils.testing import patch_module_args
from example_sites import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

PLAYBOOKS = Path(__file__).parents[1] / "playbooks"
ROLES = PLAYBOOKS / "roles"
MODULES = PLAYBOOKS / "plugins/modules"
_RECAP = re.compile(r"^(\S+)\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)", re.MULTILINE)


class Outcome(NamedTuple):
    """What ansible-playbook printed, and how many tasks changed something and failed on each host."""

    text: str
    changed: dict[str, int]
    failed: dict[str, int]

    def messages(self, host: str) -> str:
        """Return what failed on a host, in its own words."""
        return "\n".join(line for line in self.text.splitlines() if line.startswith(f"fatal: [{host}"))


def rendered(directory: Path) -> Path:
    """Render the compact example."""
    example = EXAMPLES / "compact"
    inputs = [str(example / "plan.json"), str(example / "site.yaml")]
    command = [sys.executable, "-m", "kvplan", "render", *inputs, "-o", str(directory)]
    subprocess.run(command, check=True, capture_output=True)
    return directory


def variables_of(tree: Path, host: str) -> dict[str, Any]:
    """Return a host's variables in a rendered tree, those of all hosts among them."""
    inventory = tree / "inventory"
    texts = [inventory / "group_vars/all.yml", inventory / "host_vars" / f"{host}.yml"]
    return {key: value for text in texts for key, value in yaml.safe_load(text.read_text("utf-8")).items()}


def play(playbook: Path, tree: Path, *arguments: str, **variables: Any) -> Outcome:
    """Run a playbook on this machine in the place of the tree's hosts, without becoming root."""
    extra = {
        "kv_tree": str(tree),
        "ansible_connection": "local",
        "ansible_become": False,
        "ansible_python_interpreter": sys.executable,
        **variables,
    }
    command = [sys.executable, "-m", "ansible.cli.playbook", "-i", str(tree / "inventory/hosts.yml"), str(playbook)]
    done = subprocess.run(
        [*command, "--extra-vars", json.dumps(extra), *arguments],
        check=False,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "ANSIBLE_CONFIG": str(PLAYBOOKS / "ansible.cfg"),
            "ANSIBLE_HOME": str(tree.parent / "ansible"),
            "ANSIBLE_LOCALHOST_WARNING": "False",
            "ANSIBLE_NOCOLOR": "True",
        },
    )
    rows = _RECAP.findall(done.stdout)
    assert rows, done.stdout + done.stderr
    assert not any(int(row[3]) for row in rows), done.stdout
    changed, failed = ({row[0]: int(row[column]) for row in rows} for column in (2, 4))
    return Outcome(done.stdout + done.stderr, changed, failed)


class EndError(Exception):
    """What a module ended with."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__(result.get("msg"))
        self.result = result


def module(path: str) -> ModuleType:
    """Load a module."""
    spec = importlib.util.spec_from_file_location(f"kvplan_roles_{Path(path).stem}", MODULES / path)
    assert spec
    assert spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def call(
    path: str, answer: Callable[[list[str]], tuple[int, str]] | None = None, *, check: bool = False, **args: Any
) -> dict[str, Any]:
    """Run a module in this process; `answer` stands for the commands of the host."""

    def run_command(_: Any, argv: list[str], **_more: Any) -> tuple[int, str, str]:
        return (*answer(argv), "") if answer else (1, "", "")

    def end(_: Any, **result: Any) -> None:
        raise EndError({"failed": False, **result})

    def fail(_: Any, **result: Any) -> None:
        raise EndError({**result, "failed": True})

    patched = mock.patch.multiple(
        basic.AnsibleModule,
        run_command=run_command,
        exit_json=end,
        fail_json=fail,
        get_bin_path=lambda _, name, **_more: f"/usr/bin/{name}" if answer else None,
    )
    with patched, patch_module_args({**args, "_ansible_check_mode": check, "_ansible_diff": True}):
        try:
            module(path).main()
        except EndError as ended:
            return ended.result
    message = f"{path} ended without a result"
    raise AssertionError(message)
