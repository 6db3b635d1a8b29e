"""Install the rules of a file system and the callback that applies them."""
# ruff: noqa: INP001

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ansible.module_utils.mm import MmError
from ansible.module_utils.mm_task import run

if TYPE_CHECKING:
    from ansible.module_utils.mm_task import Task

DOCUMENTATION = r"""
module: mm_policy
short_description: Install the rules of a file system and the callback that applies them
description:
  - Tries rules before it installs them, and tries the installed ones by a run that deletes nothing.
options:
  file_system:
    description: Device name.
    type: str
    required: true
  path:
    description: File with the rules, on this node.
    type: path
    required: true
  callback:
    description: Callback that runs a command on events.
    type: dict
    suboptions:
      name:
        description: Its name.
        type: str
        required: true
      command:
        description: What it runs.
        type: path
        required: true
      events:
        description: On what.
        type: list
        elements: str
        required: true
      parms:
        description: Arguments of the command.
        type: str
        default: "%eventName %fsName"
      nodes:
        description: Daemon names.
        type: list
        elements: str
        required: true
  workers:
    description: Nodes or class that take part in the trial.
    type: str
author:
  - The kvplan developers
attributes:
  check_mode:
    description: Reads as ever, runs nothing that changes, and says what it would run.
    support: full
  diff_mode:
    description: Shows what was read and what is wanted.
    support: full
"""

EXAMPLES = r"""
- name: Install the eviction rules
  mm_policy:
    file_system: kvfs
    path: /etc/kvplan/scale/policy/evict.policy
    workers: kvservers
    callback:
      name: kv-evict
      command: /usr/local/sbin/kv-evict
      events: [lowDiskSpace, noDiskSpace, softQuotaExceeded]
      nodes: [storage-001-kv.kv.example]
"""

RETURN = r"""
commands:
  description: What was run to change something, or would have been in check mode.
  returned: always
  type: list
  elements: str
trial:
  description: What the run that deletes nothing said last.
  returned: always
  type: str
"""

CALLBACK = {
    "name": {"type": "str", "required": True},
    "command": {"type": "path", "required": True},
    "events": {"type": "list", "elements": "str", "required": True},
    "parms": {"type": "str", "default": "%eventName %fsName"},
    "nodes": {"type": "list", "elements": "str", "required": True},
}
SPEC = {
    "file_system": {"type": "str", "required": True},
    "path": {"type": "path", "required": True},
    "callback": {"type": "dict", "options": CALLBACK},
    "workers": {"type": "str"},
}


def work(task: Task) -> None:
    """Install what differs and try it."""
    device, path = task["file_system"], task["path"]
    held = (task.read("mmlspolicy", device, "-L") or "").strip()
    wanted = _text(path)
    task.before, task.after = {"rules": held}, {"rules": wanted}
    if held != wanted:
        task.read("mmchpolicy", device, path, "-I", "test")
        task.change("mmchpolicy", device, path, "-I", "yes")
    if task["callback"]:
        _callback(task, task["callback"])
    workers = ("-N", task["workers"]) if task["workers"] else ()
    said = task.read("mmapplypolicy", device, "-P", path, "-I", "test", *workers) or ""
    task.end(trial="".join(said.strip().splitlines()[-1:]))


def _text(path: str) -> str:
    """Return the rules that are to be installed."""
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError as wrong:
        message = f"Cannot read the rules {path}: {wrong.strerror}"
        raise MmError(message) from wrong


def _callback(task: Task, wanted: dict[str, object]) -> None:
    """Add the callback, or make it anew when it differs."""
    columns = dict.fromkeys(("callbackName", "command", "event", "node", "parms"), str)
    name = wanted["name"]
    found = task.rows(["mmlscallback", name, "-Y"], "", columns, absent="6027-2502|was not found")
    asked = {
        "callbackName": name,
        "command": wanted["command"],
        "event": ",".join(wanted["events"]),
        "node": ",".join(wanted["nodes"]),
        "parms": wanted["parms"],
    }
    task.before["callback"], task.after["callback"] = found[0] if found else {}, asked
    if found and found[0] == asked:
        return
    if found:
        task.change("mmdelcallback", name)
    where = ("--event", asked["event"], "--parms", asked["parms"], "-N", asked["node"])
    task.change("mmaddcallback", name, "--command", asked["command"], *where)


def main() -> None:
    """Run the module."""
    run(work, SPEC)


if __name__ == "__main__":
    main()
