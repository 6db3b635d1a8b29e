"""A rehearsal that stands: packages, media, rack and devices, ready to be deployed to."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kvplan.api import deployment as deployment_of
from kvplan.rehearsal.adapted import adapted
from kvplan.rehearsal.running import deployed
from kvplan.twin import programs
from kvplan.twin.devices import Devices, devices_order
from kvplan.twin.devices.media import write_media
from kvplan.twin.packages import built
from kvplan.twin.rack import HERE, Rack, raised
from kvplan.twin.rack.installed import INSTALLED
from kvplan.twin.rack.ssh import KEY, made_key
from kvplan.twin.scale import planned, shipping
from kvplan.twin.scale.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kvplan.deploy.events import Event
    from kvplan.rehearsal.running import Deploying, Run
    from kvplan.site.deployment import Deployment
    from kvplan.twin.packages import Contents
    from kvplan.twin.rack.plan import Face

REHEARSAL: Final = "rehearsal.json"
"""File in a rehearsal's directory: where its rack is, and how it is deployed to."""
MEDIA: Final = "media"
PLACES: Final = ("tree", "state", MEDIA)
"""Directories of a deployment, each by the name of its option."""
SHARED: Final = "shared"
WORLD: Final = "world.json"
"""What all nodes see, and the state of Storage Scale as it was in the beginning."""
REPOSITORY_PORT: Final = 8081
"""Where packages are served, beside the port of the boot media."""
SPEED: Final = 60.0
"""Simulated seconds of Storage Scale's commands that pass in one."""
_SECONDS: Final = {
    "provision_poll": 2,
    "storage_data_group_poll": 2,
    "switches_health": 40,
    "switches_confirm": 60,
}
"""How often is looked, and how long waited, at what takes minutes on hardware and seconds here."""
_KEPT: Final = ("PATH", "HOME", "LANG", "TZ", "TMPDIR", "KVPLAN_DATA_DIR")


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What stands: the rack, its devices, where files are, and the variables with the secrets.

    `arguments` name Plan, Site and places of a deployment, as `kvplan deploy` takes them.
    """

    directory: Path
    rack: Rack
    devices: Devices
    arguments: tuple[str, ...]
    environment: Mapping[str, str]

    @classmethod
    def at(cls, directory: Path) -> Rehearsal:
        """Find the rehearsal of a directory.

        Parameters
        ----------
        directory
            The directory of a rehearsal that stands.

        Returns
        -------
        Rehearsal
            The rehearsal.
        """
        held = json.loads((directory / REHEARSAL).read_text(encoding="utf-8"))
        rack, devices = Rack.at(Path(held["rack"])), Devices.at(directory)
        return cls(directory, rack, devices, tuple(held["arguments"]), held["environment"])

    @property
    def scale(self) -> Path:
        """Where the state of Storage Scale is."""
        return self.directory / SHARED / planned.STATE

    def deploy(self, tell: Callable[[Event, Deploying], None], *more: str, without: tuple[str, ...] = ()) -> Run:
        """Deploy.

        Parameters
        ----------
        tell
            Takes each event.
        *more
            Further options of `kvplan deploy`.
        without
            Variables to leave out, as if a secret were missing.

        Returns
        -------
        Run
            How it ended.
        """
        environment = {name: value for name, value in self.environment.items() if name not in without}
        return deployed(self.rack, ["run", *self.arguments, *more], environment, tell)

    def reset(self) -> None:
        """Put everything back to its beginning: servers off and empty, switches as new, nothing deployed."""
        for node in self.rack.plan.nodes:
            self.devices.request("power", node.name, to="off")
            self.rack.request("blank", node.name)
        self.devices.request("reset")
        for link in self.rack.request("status")["cut"]:
            self.rack.request("restore", link)
        with Store(self.scale).changed() as state:
            state.clear()
            state.update(json.loads((self.directory / WORLD).read_text(encoding="utf-8")))
        for place in PLACES:
            if place != MEDIA:
                shutil.rmtree(self.directory / place, ignore_errors=True)


@contextmanager
def standing(
    deployment: Deployment, plan_path: Path, directory: Path, say: Callable[[str], None]
) -> Iterator[Rehearsal]:
    """Build everything that a rehearsal needs, for the length of a block.

    Parameters
    ----------
    deployment
        The Plan at the Site that is rehearsed.
    plan_path
        File with the Plan.
    directory
        An empty directory for it.
    say
        Takes a word on what is being built.

    Yields
    ------
    Rehearsal
        What stands; every server is off, and its boot drives are empty.
    """
    say("building packages")
    media = deployment.site.media
    contents: Mapping[Face, Mapping[str, Contents]] = {
        "rhel": {**programs.contents("rhel"), **shipping.contents()},
        "ubuntu": {**programs.contents("ubuntu"), **shipping.contents()},
    }
    made = built(deployment, directory / "served", f"http://{media.address}:{REPOSITORY_PORT}", contents)
    _, public = made_key(directory / KEY, "kvplan-rehearsal")
    changed = adapted(deployment.site, KEY, public, made.packages)
    ours = deployment_of(deployment.plan, changed.site)
    (directory / "site.yaml").write_text(json.dumps(changed.site.model_dump(mode="json")), encoding="utf-8")
    say("writing boot media")
    write_media(ours, directory / MEDIA, changed.secrets)
    _write_installed(ours, directory)
    shared = _share(ours, directory, made.installed)
    say("raising the rack")
    with (
        raised(ours, fabric=False, off=_servers(ours), blank=_servers(ours), shared=shared) as rack,
        _devices(ours, changed.secrets, rack, directory) as devices,
    ):
        environment = {**{name: os.environ[name] for name in _KEPT if name in os.environ}, **changed.environment}
        arguments = _arguments(plan_path, directory)
        _remember(directory, rack, arguments, environment)
        yield Rehearsal(
            directory=directory,
            rack=rack,
            devices=devices,
            arguments=arguments,
            environment=environment,
        )


def _remember(directory: Path, rack: Rack, arguments: tuple[str, ...], environment: Mapping[str, str]) -> None:
    """Write down what another process needs to find the rehearsal; secrets are made up, and hidden all the same."""
    path = directory / REHEARSAL
    path.touch(mode=0o600)
    path.write_text(
        json.dumps({"rack": str(rack.directory), "arguments": arguments, "environment": environment}), encoding="utf-8"
    )


def _servers(deployment: Deployment) -> list[str]:
    """Name every server."""
    return [server.name for server in deployment.servers]


def _arguments(plan_path: Path, directory: Path) -> tuple[str, ...]:
    """Name what is deployed, and where its files go."""
    plan = str(plan_path.absolute())
    options = [word for place in PLACES for word in (f"--{place}", str(directory / place))]
    patience = [word for name, seconds in _SECONDS.items() for word in ("--set", f"{name}_seconds={seconds}")]
    return (plan, str(directory / "site.yaml"), *options, "--yes", plan, *patience)


def _write_installed(deployment: Deployment, directory: Path) -> None:
    """Write what an installer leaves on each server's disk; who may log in, its medium says."""
    (directory / "installed").mkdir()
    for server in deployment.servers:
        files = programs.installed(deployment, server)
        (directory / "installed" / f"{server.name}.json").write_text(json.dumps(files), encoding="utf-8")


def _share(deployment: Deployment, directory: Path, installed: Path) -> Path:
    """Make the directory that every node sees: the world before anything was installed, and what installers bring."""
    shared = directory / SHARED
    shared.mkdir()
    planned.prepared(shared, deployment, SPEED)
    (shared / INSTALLED).symlink_to(installed)
    shutil.copy(shared / planned.STATE / "state.json", directory / WORLD)
    return shared


@contextmanager
def _devices(deployment: Deployment, secrets: Mapping[str, str], rack: Rack, directory: Path) -> Iterator[Devices]:
    """Run the rack's controllers, switches and repositories; they end with it."""
    order: Any = devices_order(deployment, secrets, rack.directory)
    (directory / "devices.json").write_text(order.model_dump_json(), encoding="utf-8")
    command = rack.command(HERE, sys.executable, "-P", "-m", "kvplan.twin.devices", str(directory))
    with (directory / "devices.log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # noqa: S603 - kvplan's own command
    try:
        devices = Devices.at(directory)
        devices.wait()
        yield devices
    finally:
        process.kill()
        process.wait()
