"""Ansible module: lay many files at once, and clear what else lies in directories that belong to them."""
# ruff: noqa: INP001

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
---
module: kv_files
short_description: Lay many files at once
description:
  - Writes files with their modes, owned by root, and makes the directories they are in.
  - Removes every other file of the directories in O(only).
  - One run for all files of a host, where C(ansible.builtin.copy) takes one for each.
  - Keeps in mind which files must yet be applied, so that a run that is interrupted between laying and applying goes on
    with applying.
version_added: "0.1.0"
author: The kvplan developers (@kvplan)
options:
  files:
    description: Of each file its path below the root, its mode, and its text. The last one of a path counts.
    type: list
    elements: list
    required: true
  secrets:
    description: Values for marks such as C({{ kv_secret_name }}), by the name in the mark.
    type: dict
    default: {}
  only:
    description: Directories below the root in which nothing else may lie.
    type: list
    elements: str
    default: []
  remember:
    description: Regular expressions for the paths of files that do nothing until something is restarted or loaded.
    type: list
    elements: str
    default: []
  applied:
    description: Paths that were applied since, and need not be kept in mind any longer.
    type: list
    elements: str
    default: []
  root:
    description: Where the root is.
    type: path
    default: /
attributes:
  check_mode:
    description: Compares, says what would change, and changes nothing.
    support: full
  diff_mode:
    description: Shows each file before and after, but for files that hold a secret.
    support: full
"""

EXAMPLES = r"""
- name: Lay the files of the time service
  kv_files:
    files:
      - [etc/chrony.conf, "0644", "server 10.0.0.1 iburst\n"]
    remember: [etc/chrony]

- name: Note that the time service was restarted
  kv_files:
    files: []
    applied: [etc/chrony.conf]
"""

RETURN = r"""
paths:
  description: The paths that were written or removed, or would have been.
  returned: always
  type: list
  elements: str
unapplied:
  description: The paths that were laid, now or before, and must yet be applied.
  returned: always
  type: list
  elements: str
"""

UNAPPLIED = "var/lib/kvplan/unapplied"
"""One path a line, in the order of the alphabet."""
HIDDEN = "(holds a secret)\n"


State = tuple[int, str]
"""Mode and text of a file."""


class Change(NamedTuple):
    """A file before and after; None where there is none."""

    path: str
    before: State | None
    after: State | None
    hidden: bool
    """Whether it may hold a secret."""


def main() -> None:
    """Run as a module."""
    module = AnsibleModule(
        argument_spec={
            "files": {"type": "list", "elements": "list", "required": True},
            "secrets": {"type": "dict", "default": {}, "no_log": True},
            "only": {"type": "list", "elements": "str", "default": []},
            "remember": {"type": "list", "elements": "str", "default": []},
            "applied": {"type": "list", "elements": "str", "default": []},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    root = Path(module.params["root"])
    wanted = {path: (int(mode, 8), text) for path, mode, text in module.params["files"]}
    changes = [*differing(root, wanted, module.params["secrets"]), *strangers(root, module.params["only"], set(wanted))]
    paths = [change.path for change in changes]
    unapplied = due(root, paths, module.params)
    if not module.check_mode:
        # first this, so that a run that ends in the middle is known not to have applied anything
        note(module, root / UNAPPLIED, unapplied)
        for change in changes:
            write(module, root / change.path, *change.after) if change.after else (root / change.path).unlink()
    diff = [shown(root, change) for change in changes]
    module.exit_json(changed=bool(paths), paths=paths, unapplied=unapplied, diff=diff)


def differing(root: Path, wanted: dict[str, State], secrets: dict[str, str]) -> list[Change]:
    """List the files that are not as wanted."""
    changes: list[Change] = []
    for path, (mode, text) in sorted(wanted.items()):
        full = filled(text, secrets)
        before = seen(root / path)
        if before != (mode, full):
            changes.append(Change(path, before, (mode, full), hidden=full != text))
    return changes


def due(root: Path, paths: list[str], params: dict[str, Any]) -> list[str]:
    """List the paths that must be applied: of those laid now the ones to remember, and what was laid before."""
    place = root / UNAPPLIED
    before = place.read_text(encoding="utf-8").splitlines() if place.exists() else []
    laid = [path for path in paths if any(re.match(pattern, path) for pattern in params["remember"])]
    return sorted({*laid, *before} - set(params["applied"]))


def note(module: AnsibleModule, place: Path, unapplied: list[str]) -> None:
    """Keep in mind what must be applied."""
    text = "".join(f"{path}\n" for path in unapplied)
    held = seen(place)
    if text != (held[1] if held else ""):
        write(module, place, 0o644, text)


def filled(text: str, secrets: dict[str, str]) -> str:
    """Put secrets where their marks are."""
    for name, value in secrets.items():
        text = text.replace("{{ %s }}" % name, str(value))  # noqa: UP031 - braces
    return text


def seen(place: Path) -> State | None:
    """Read mode and text of a file; None where there is none."""
    if place.is_symlink() or not place.exists():
        return None
    return place.stat().st_mode & 0o7777, place.read_text(encoding="utf-8", errors="surrogateescape")


def shown(root: Path, change: Change) -> dict[str, Any]:
    """Show a file before and after; of a secret only that it changes."""

    def told(state: State | None) -> str:
        if state is None:
            return ""
        return f"mode {state[0]:04o}\n{HIDDEN if change.hidden else state[1]}"

    place = str(root / change.path)
    return {
        "before_header": place,
        "after_header": place,
        "before": told(change.before),
        "after": told(change.after),
    }


def write(module: AnsibleModule, place: Path, mode: int, text: str) -> None:
    """Write a file beside its place with its mode, then put it there in one step."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=str(place.parent), prefix=".kv-")
        with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor
            file.write(text)
        Path(name).chmod(mode)
        Path(name).replace(place)
        if os.geteuid() == 0:
            module.run_command(["restorecon", str(place)]) if module.get_bin_path("restorecon") else None
    except OSError as error:
        module.fail_json(
            msg=f"{place} cannot be written: {error}", remedy="see that the file system has space and is writable"
        )


def strangers(root: Path, only: list[str], wanted: set[str]) -> list[Change]:
    """List the files of directories in which only wanted ones may lie."""
    there = [root / directory for directory in only if (root / directory).is_dir()]
    places = [place for directory in there for place in sorted(directory.iterdir()) if not place.is_dir()]
    paths = [str(place.relative_to(root)) for place in places]
    return [Change(path, seen(root / path), None, hidden=True) for path in paths if path not in wanted]


if __name__ == "__main__":
    main()
