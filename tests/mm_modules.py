"""Modules for Storage Scale, run in this process against simulated machines."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import ansible.module_utils
import yaml
from ansible.module_utils import basic
from ansible.module_utils.testing import patch_module_args

if TYPE_CHECKING:
    from types import ModuleType

    from scale_racks import Rack

PLUGINS = Path(__file__).parents[1] / "playbooks/plugins"
ansible.module_utils.__path__ = [*ansible.module_utils.__path__, str(PLUGINS / "module_utils")]


class EndError(Exception):
    """What a module ended with."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__(result.get("msg"))
        self.result = result


def loaded(name: str) -> ModuleType:
    """Load a module by its name."""
    spec = importlib.util.spec_from_file_location(f"kvplan_modules_{name}", PLUGINS / "modules" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def call(rack: Rack, module: str, /, *, check: bool = False, on: str = "", **args: Any) -> dict[str, Any]:
    """Run a module on a machine and return what it reports; `failed` tells how it ended."""

    def run_command(_: Any, argv: list[str], **_more: Any) -> tuple[int, str, str]:
        words = argv[4:] if argv[0] == "timeout" else argv
        return rack.mm(*words, node=on)

    def end(_: Any, **result: Any) -> None:
        raise EndError({"failed": False, **result})

    def fail(_: Any, **result: Any) -> None:
        raise EndError({**result, "failed": True})

    patched = mock.patch.multiple(basic.AnsibleModule, run_command=run_command, exit_json=end, fail_json=fail)
    with patched, patch_module_args({**args, "_ansible_check_mode": check, "_ansible_diff": True}):
        try:
            loaded(module).main()
        except EndError as ended:
            return ended.result
    message = f"{module} ended without a result"
    raise AssertionError(message)


def done(rack: Rack, module: str, /, **args: Any) -> dict[str, Any]:
    """Foresee in check mode, run, run again: the first changes what was foreseen, the second nothing."""
    before = rack.state
    foreseen = call(rack, module, check=True, **args)
    assert not foreseen["failed"], foreseen
    assert rack.state == before, "check mode changed something"
    first = call(rack, module, **args)
    assert not first["failed"], first
    assert first["changed"] == foreseen["changed"]
    # what a command that was only foreseen leaves open, such as the spares of a new group, is settled after it
    assert first["commands"][: len(foreseen["commands"])] == foreseen["commands"]
    second = call(rack, module, **args)
    assert not second["failed"], second
    assert not second["changed"], second["commands"]
    return first


def documents(name: str) -> tuple[dict[str, Any], Any, Any]:
    """Return what a module documents."""
    module = loaded(name)
    return tuple(yaml.safe_load(getattr(module, part)) for part in ("DOCUMENTATION", "EXAMPLES", "RETURN"))
