"""Define and create a vdisk set."""
# ruff: noqa: INP001

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible.module_utils.mm import MmError, size_bytes, yes
from ansible.module_utils.mm_task import run

if TYPE_CHECKING:
    from ansible.module_utils.mm_task import Task

DOCUMENTATION = r"""
module: mmvdisk_vdiskset
short_description: Define and create a vdisk set
description:
  - Nothing of a vdisk set can be changed once it is defined, so the module fails when one differs from what
    is asked for.
options:
  name:
    description: Name of the set.
    type: str
    required: true
  recovery_group:
    description: Where it lives.
    type: str
    required: true
  code:
    description: Erasure code, such as C(8+2p).
    type: str
    required: true
  block_size:
    description: Such as C(4m).
    type: str
    required: true
  set_size:
    description: Share of the free space, or usable size.
    type: str
    required: true
  checksum_granularity:
    description: Bytes that one checksum covers.
    type: str
    choices: [8k, 32k]
    required: true
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
- name: Create the vdisk set
  mmvdisk_vdiskset:
    name: vs1
    recovery_group: rg1
    code: 8+2p
    block_size: 4m
    set_size: 95%
    checksum_granularity: 8k
"""

RETURN = r"""
commands:
  description: What was run to change something, or would have been in check mode.
  returned: always
  type: list
  elements: str
"""

SPEC = {
    "name": {"type": "str", "required": True},
    "recovery_group": {"type": "str", "required": True},
    "code": {"type": "str", "required": True},
    "block_size": {"type": "str", "required": True},
    "set_size": {"type": "str", "required": True},
    "checksum_granularity": {"type": "str", "choices": ["8k", "32k"], "required": True},
}
COMMAND = ("mmvdisk", "vdiskset")


def work(task: Task) -> None:
    """Define and create what is missing."""
    name = task["name"]
    columns = {"vdisksetName": str, "created": yes, "recoveryGroups": str}
    sets = task.rows([*COMMAND, "list", "-Y"], "vdisksetSummary", columns)
    held = next((each for each in sets if each["vdisksetName"] == name), None)
    wanted = {
        "recoveryGroups": task["recovery_group"],
        "raidCode": task["code"].lower(),
        "blockSize": size_bytes(task["block_size"]),
        "checksumGranularity": size_bytes(task["checksum_granularity"]),
        "setSize": task["set_size"].lower(),
    }
    task.after = {**wanted, "created": True}
    if held is None:
        task.change(*COMMAND, "define", "--vdisk-set", name, *_options(task))
    else:
        task.before = {**_attributes(task), "created": held["created"]}
        _need_same(task, wanted)
    if held is None or not held["created"]:
        task.change(*COMMAND, "create", "--vdisk-set", name)
    task.end()


def _options(task: Task) -> list[str]:
    """Return the options of a definition."""
    names = ("recovery_group", "code", "block_size", "set_size", "checksum_granularity")
    return [word for name in names for word in (f"--{name.replace('_', '-')}", task[name])]


def _attributes(task: Task) -> dict[str, object]:
    """Return how the set is defined."""
    kinds = {"recoveryGroups": str, "raidCode": str.lower, "setSize": str.lower}
    columns = {**kinds, "blockSize": size_bytes, "checksumGranularity": size_bytes}
    (found,) = task.rows([*COMMAND, "list", "--vdisk-set", task["name"], "-Y"], "vdisksetAttributes", columns)
    return found


def _need_same(task: Task, wanted: dict[str, object]) -> None:
    """Fail where the definition differs."""
    wrong = [
        f"{name} is {task.before[name]}, not {value}" for name, value in wanted.items() if task.before[name] != value
    ]
    if wrong:
        message = f"Vdisk set {task['name']} cannot be changed: {'; '.join(wrong)}"
        raise MmError(message)


def main() -> None:
    """Run the module."""
    run(work, SPEC)


if __name__ == "__main__":
    main()
