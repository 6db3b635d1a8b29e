"""Machines for simulated Storage Scale commands, and the rendered steps that are run on them."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import yaml
from scale_trees import tree_named

from kvplan.twin.scale.commands import run
from kvplan.twin.scale.shell import NODE, ROOT
from kvplan.twin.scale.store import DIRECTORY, Store
from kvplan.twin.scale.world import RELEASE, machine, world

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GPFS = ("mm", "ecedrivemapping")
_BUILT: dict[tuple[str, str, str], str] = {}
"""States of racks that were built up to a step, as text: the same steps give the same state."""


class Rack:
    """Machines of a rendered tree under a directory of the test."""

    def __init__(self, path: Path, name: str, release: str = RELEASE) -> None:
        self.path, self.name, self.tree = path, name, tree_named(name)
        self.store = Store(path / "state")
        storage, clients = self._lines("nodes.stanza"), self._lines("clients.stanza")
        self.storage = [machine_of(line, number, 16) for number, line in enumerate(storage, 1)]
        self.clients = [machine_of(line, number, 0) for number, line in enumerate(clients, 101)]
        self.put(world([*self.storage, *self.clients], release))
        self.admin, self.client = self.storage[0]["name"], self.clients[0]["name"]
        for node in (self.admin, self.client):
            self.copy(node)

    def _lines(self, name: str) -> list[str]:
        return [line for line in self.tree[f"scale/{name}"].split() if ":" in line]

    def copy(self, node: str) -> None:
        """Put the files of the tree where the steps look for them."""
        for path, text in self.tree.items():
            target = self.path / node / "etc/kvplan" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")

    def put(self, state: dict[str, Any]) -> None:
        """Write the whole state."""
        with self.store.changed() as held:
            held.clear()
            held.update(state)

    @property
    def state(self) -> dict[str, Any]:
        """The state as it is."""
        text = (self.path / "state/state.json").read_text(encoding="utf-8")
        held: dict[str, Any] = json.loads(text)
        return held

    @contextmanager
    def machine(self, name: str) -> Iterator[dict[str, Any]]:
        """Give a machine to be changed."""
        with self.store.changed() as held:
            yield held["machines"][name]

    def mm(self, *argv: str, node: str = "") -> tuple[int, str, str]:
        """Run a command on a machine."""
        node = node or self.admin
        place = {DIRECTORY: str(self.path / "state"), NODE: node, ROOT: str(self.path / node)}
        before = {name: os.environ.get(name) for name in place}
        os.environ.update(place)
        try:
            return run(argv)
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value

    def ok(self, *argv: str, node: str = "") -> str:
        """Run a command that must succeed."""
        code, out, err = self.mm(*argv, node=node)
        assert code == 0, f"{' '.join(argv)}\n{err}"
        return out

    def refused(self, *argv: str, node: str = "") -> str:
        """Run a command that must fail, and return what it says."""
        code, _, err = self.mm(*argv, node=node)
        assert code != 0, f"{' '.join(argv)} was not refused"
        return err

    def steps(self, name: str = "steps.yaml") -> list[dict[str, Any]]:
        """Return the rendered steps."""
        held: list[dict[str, Any]] = yaml.safe_load(self.tree[f"scale/{name}"])
        return held

    def where(self, step: dict[str, Any]) -> list[str]:
        """Return the machines on which a step runs."""
        return {
            "storage-admin": [self.admin],
            "client-admin": [self.client],
            "both-admins": [self.admin, self.client],
            "each-storage-node": [each["name"] for each in self.storage],
            "each-client": [each["name"] for each in self.clients],
        }[step["runs_on"]]

    def do(self, step: dict[str, Any]) -> None:
        """Copy what a step copies and run its Storage Scale commands, node by node."""
        for copy in step.get("copies", []):
            ends = {"storage-admin": self.admin, "client-admin": self.client}
            text = (self.path / ends[copy["from"]] / copy["path"].lstrip("/")).read_text(encoding="utf-8")
            (self.path / ends[copy["to"]] / copy["as"].lstrip("/")).write_text(text, encoding="utf-8")
        for node in self.where(step):
            for argv in step["commands"]:
                if argv[0].startswith(GPFS):
                    self.ok(*argv, node=node)

    def build(self, until: str = "") -> None:
        """Run the rendered steps up to one, which is not run."""
        key = (self.name, json.dumps(self.state), until)
        if key in _BUILT:
            self.put(json.loads(_BUILT[key]))
            return
        for step in self.steps():
            if until and step["id"].partition("-")[2] == until:
                _BUILT[key] = json.dumps(self.state)
                return
            self.do(step)


def machine_of(line: str, number: int, drives: int) -> dict[str, Any]:
    """Return the machine of a line of a stanza."""
    daemon, _, admin = line.split(":")
    name = daemon.split(".")[0].removesuffix("-kv")
    return machine(name, [daemon, admin], f"10.0.0.{number}", drives)
