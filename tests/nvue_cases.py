"""Switches behind their REST interface, with a clock of their own, and the module that configures them."""

from __future__ import annotations

import importlib.util
import json
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sites import deployment_of
from switchtrees import loaded, texts_of

from kvplan.site.inventory import inventory_files
from kvplan.twin.nvue.emulation import Emulation, emulated
from kvplan.twin.nvue.switch import Switch
from kvplan.twin.nvue.wiring import wiring_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

PLUGINS = Path(__file__).parents[1] / "playbooks" / "plugins"
SECRETS = {
    "switch_password": "canary-switch-Word-1",
    "snmp_authentication": "canary-snmp-Auth-1",
    "snmp_privacy": "canary-snmp-Priv-1",
}
PASSWORD = SECRETS["switch_password"]
START = 1000.0


@dataclass
class Clock:
    """A clock that goes on only when somebody sleeps."""

    now: float = START

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class Rack:
    """Switches that run, their files, and their inventory."""

    emulation: Emulation
    clock: Clock
    files: Path
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Switch:
        return self.emulation.fabric.switches[name]

    def arguments(self, name: str, **given: Any) -> dict[str, Any]:
        """Return the module's arguments for one switch."""
        host = self.hosts[name]
        certificate = self.emulation.certificate
        return {
            "address": self.emulation.urls[name],
            "password": PASSWORD,
            "ca_path": str(certificate) if certificate else None,
            "config": str(self.files / f"{name}.yaml"),
            "secrets": dict(SECRETS),
            "neighbours": host["kv_neighbours"],
            "expected": [],
            "confirm_timeout": 60,
            "health_timeout": 20,
            "poll": 5,
            **given,
        }

    def edit(self, name: str, change: Any) -> None:
        """Change the rendered file of one switch."""
        path = self.files / f"{name}.yaml"
        header, content = loaded(path.read_text())
        change(content["set"])
        path.write_text(json.dumps([header, content]))


@contextmanager
def rack(folder: Path, nodes: int, cumulus: str, *, tls: bool = False) -> Iterator[Rack]:
    """Run the switches of so many nodes, new from the factory, with the password of the Site."""
    clock = Clock()
    deployed = deployment_of(nodes, cumulus)
    switches = [Switch(one.name, cumulus, password=PASSWORD, clock=clock) for one in deployed.switches]
    for path, text in texts_of(nodes, cumulus).items():
        (folder / Path(path).name).write_text(text)
    with emulated(switches, wiring_of(deployed), tls=tls) as emulation:
        yield Rack(emulation, clock, folder, hosts_of(nodes, cumulus))


@cache
def hosts_of(nodes: int, cumulus: str) -> dict[str, dict[str, Any]]:
    """Return the inventory of the switches."""
    files = {Path(file.path).stem: file.text for file in inventory_files(deployment_of(nodes, cumulus))}
    return {one.name: loaded(files[one.name]) for one in deployment_of(nodes, cumulus).switches}


def load(name: str = "kv_nvue") -> ModuleType:
    """Import the module as Ansible would, with its own helpers."""
    import ansible.module_utils  # noqa: PLC0415 - only where the extra is installed

    helpers = str(PLUGINS / "module_utils")
    if helpers not in ansible.module_utils.__path__:
        ansible.module_utils.__path__.append(helpers)
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, PLUGINS / "modules" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def call(one: Rack, name: str, capsys: pytest.CaptureFixture[str], **given: Any) -> dict[str, Any]:
    """Run the module in this process, on the clock of the rack, and read what it prints."""
    from ansible.module_utils.testing import patch_module_args  # noqa: PLC0415 - only where the extra is installed

    module = load()
    arguments = one.arguments(name, **given)
    timing = partial(sys.modules["ansible.module_utils.nvue"].Timing, clock=one.clock, sleep=one.clock.sleep)
    with pytest.MonkeyPatch.context() as patch, patch_module_args({"_ansible_diff": True, **arguments}):
        patch.setattr(module, "Timing", timing)
        with pytest.raises(SystemExit):
            module.main()
    printed = capsys.readouterr().out
    result: dict[str, Any] = json.loads(printed)
    assert not [secret for secret in SECRETS.values() if secret in printed]
    return result
