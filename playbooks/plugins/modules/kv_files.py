"""Ansible module: lay many files at once, and clear what else lies in directories that belong to them."""
# ruff: noqa: INP001

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
---
module: kv_files
short_description: Lay many files at once
description:
  - Writes files with their modes, owned by root, and makes the directories they are in.
  - Removes every other file of the directories in O(only).
  - One run for all files of a role, where C(ansible.builtin.copy) takes one for each.
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
"""

RETURN = r"""
paths:
  description: The paths that were written or removed, or would have been.
  returned: always
  type: list
  elements: str
"""

HIDDEN = "(holds a secret)\n"


def main() -> None:
    """Run as a module."""
    module = AnsibleModule(
        argument_spec={
            "files": {"type": "list", "elements": "list", "required": True},
            "secrets": {"type": "dict", "default": {}, "no_log": True},
            "only": {"type": "list", "elements": "str", "default": []},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    root = Path(module.params["root"])
    wanted = {path: (int(mode, 8), text) for path, mode, text in module.params["files"]}
    paths: list[str] = []
    diff: list[dict[str, Any]] = []
    for path, (mode, text) in sorted(wanted.items()):
        full = filled(text, module.params["secrets"])
        place = root / path
        before = seen(place)
        if before == (mode, full):
            continue
        paths.append(path)
        diff.append(shown(place, before, (mode, full), hidden=full != text))
        if not module.check_mode:
            write(module, place, mode, full)
    for place in strangers(root, module.params["only"], set(wanted)):
        paths.append(str(place.relative_to(root)))
        diff.append(shown(place, seen(place), None, hidden=True))
        if not module.check_mode:
            place.unlink()
    module.exit_json(changed=bool(paths), paths=paths, diff=diff)


def filled(text: str, secrets: dict[str, str]) -> str:
    """Put secrets where their marks are."""
    for name, value in secrets.items():
        text = text.replace("{{ %s }}" % name, str(value))  # noqa: UP031 - braces
    return text


def seen(place: Path) -> tuple[int, str] | None:
    """Read mode and text of a file; None where there is none."""
    if place.is_symlink() or not place.exists():
        return None
    return place.stat().st_mode & 0o7777, place.read_text(encoding="utf-8", errors="surrogateescape")


def shown(
    place: Path, before: tuple[int, str] | None, after: tuple[int, str] | None, *, hidden: bool
) -> dict[str, Any]:
    """Show a file before and after; of a secret only that it changes."""

    def told(state: tuple[int, str] | None) -> str:
        if state is None:
            return ""
        return f"mode {state[0]:04o}\n{HIDDEN if hidden else state[1]}"

    return {"before_header": str(place), "after_header": str(place), "before": told(before), "after": told(after)}


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


def strangers(root: Path, only: list[str], wanted: set[str]) -> list[Path]:
    """List the files of directories in which only wanted ones may lie."""
    return [
        place
        for directory in only
        if (root / directory).is_dir()
        for place in sorted((root / directory).iterdir())
        if not place.is_dir() and str(place.relative_to(root)) not in wanted
    ]


if __name__ == "__main__":
    main()
