"""A deployment that runs on this machine alone: the compact example, and playbooks of a few tasks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ansible.parsing.vault import VaultLib, VaultSecret
from example_sites import EXAMPLES

if TYPE_CHECKING:
    import pytest

CANARY = "canary-{{ 7 * 7 }}-é'\"$x"
"""A secret that templates, quoting and encodings would alter."""
VAULT_PASSWORD = "open-sesame"  # noqa: S105 - of a vault that a test makes
PRIVATE_KEY = "-----BEGIN KEY-----\ncanary-private-line\n-----END KEY-----\n"
_ROOT = Path(__file__).parents[1]
_PLAY = """\
- name: {name}
  hosts: {hosts}
  connection: local
  gather_facts: false
  vars:
    ansible_become: false
    ansible_python_interpreter: "{{{{ ansible_playbook_python }}}}"
  tasks:
{tasks}
"""
LOOK = """\
    - name: Look
      ansible.builtin.assert:
        that: kv_tree is directory
        quiet: true
"""
TOUCH = """\
    - name: Touch
      ansible.builtin.copy:
        content: "{{ inventory_hostname }}"
        dest: "{{ lookup('env', 'HOME') }}/done-{{ inventory_hostname }}"
        mode: "0600"
"""


def play(hosts: str, tasks: str) -> str:
    """Write a playbook of one play."""
    return _PLAY.format(name=hosts, hosts=hosts, tasks=tasks)


def lay_out(directory: Path, monkeypatch: pytest.MonkeyPatch, **playbooks: str) -> Path:
    """Make a directory with Plan, Site, secrets and playbooks, work in it, and return it."""
    for file in ("plan.json", "site.yaml"):
        shutil.copy(EXAMPLES / "compact" / file, directory)
    own = directory / "own"
    (own / "playbooks").mkdir(parents=True)
    for name in ("templates", "profiles"):
        (own / name).symlink_to(_ROOT / name)
    for name, text in playbooks.items():
        (own / "playbooks" / f"{name}.yml").write_text(text, encoding="utf-8")
    (directory / "home").mkdir()
    _write_secrets(directory)
    for name, value in environment(directory).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(directory)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # the disk of a test need not survive a loss of power
    return directory


def environment(directory: Path) -> dict[str, str]:
    """Return the variables that the deployment needs, each secret with a canary in it."""
    text = (directory / "site.yaml").read_text(encoding="utf-8")
    wanted = {part.split('"')[0] for part in text.split('"env:')[1:]}
    return {
        **{name: f"{CANARY}-{name}" for name in wanted},
        "KVPLAN_DATA_DIR": str(directory / "own"),
        "HOME": str(directory / "home"),
        "UNRELATED_TOKEN": "must-not-go-in",
    }


_DIES = """\
import os, signal, sys
from kvplan.__main__ import main
from kvplan.deploy import driver

def write(self, phase, step, hosts, write=driver._Record.write):
    if phase.name == {phase!r}:
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, phase, step, hosts)

driver._Record.write = write
sys.exit(main(sys.argv[1:]))
"""


def start(directory: Path, *arguments: str, dies_before: str = "") -> subprocess.Popen[str]:
    """Start a deployment as a process of its own; it may kill itself before a phase leaves a trace."""
    program = ["-c", _DIES.format(phase=dies_before)] if dies_before else ["-m", "kvplan"]
    return subprocess.Popen(
        [sys.executable, *program, "deploy", *arguments],
        cwd=directory,
        env={**os.environ, **environment(directory), "PYTHONPATH": str(_ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def processes_with(text: str) -> list[int]:
    """List the processes of this machine whose command line holds a text, with blanks between the arguments."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text.encode() in entry.read_bytes().replace(b"\0", b" "):
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


def _write_secrets(directory: Path) -> None:
    """Write the secrets that are in files and vaults."""
    secrets = directory / "secrets"
    secrets.mkdir()
    (secrets / "deployer").write_text(PRIVATE_KEY, encoding="utf-8")
    (directory / "vault-password").write_text(f"{VAULT_PASSWORD}\n", encoding="utf-8")
    vault = VaultLib([("default", VaultSecret(VAULT_PASSWORD.encode()))])
    held: dict[str, Any] = {"switches.yml": "password: canary-switch", "hosts.yml": "console: canary-console"}
    for name, text in held.items():
        (secrets / name).write_bytes(vault.encrypt(text))
