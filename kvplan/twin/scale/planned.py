"""The machines of a deployment before anything is installed on them, and what happens to them from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kvplan.twin.scale import world
from kvplan.twin.scale.commands import entry
from kvplan.twin.scale.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from kvplan.site.deployment import Deployment, Server
    from kvplan.twin.scale.doc import Doc

STATE: Final = "scale"
"""Directory of the state below what the nodes of a rack share."""
COMMANDS: Final = "commands"
"""The program below it to which `lsblk` and `nvme` of a node lead."""


def prepared(directory: Path, deployment: Deployment, speed: float = 0) -> Store:
    """Write what the nodes of a rack share before the first of them is on.

    Parameters
    ----------
    directory
        What is shared.
    deployment
        The Plan's design and the Site.
    speed
        Simulated seconds a second; 0 lets no time pass.

    Returns
    -------
    Store
        The state.
    """
    program = directory / COMMANDS
    program.write_bytes(entry())
    program.chmod(0o755)
    store = Store(directory / STATE)
    with store.changed() as state:
        state.update(world_of(deployment, speed))
    return store


def world_of(deployment: Deployment, speed: float = 0) -> Doc:
    """Describe every server as the Site does: names, addresses, memory, drives; nothing is installed.

    Parameters
    ----------
    deployment
        The Plan's design and the Site.
    speed
        Simulated seconds a second; 0 lets no time pass.

    Returns
    -------
    Doc
        The state in which no cluster exists.
    """
    machines = (_machine(server, deployment.site.storage.memory_gib) for server in deployment.servers)
    return world.world(machines, deployment.site.versions.storage_scale, speed)


def grown(store: Store, deployment: Deployment) -> list[str]:
    """Add the servers that a larger Plan has; those that are there stay as they are.

    Parameters
    ----------
    store
        The state.
    deployment
        The larger Plan's design and the Site.

    Returns
    -------
    list of str
        Names of the new ones.
    """
    with store.changed() as state:
        held = state["machines"]
        fresh = {name: each for name, each in world_of(deployment)["machines"].items() if name not in held}
        held.update(fresh)
    return list(fresh)


def _machine(server: Server, memory_gib: int) -> Doc:
    """Describe a server."""
    names = server.names
    every = (names.daemon_fqdn, names.admin_fqdn, names.daemon, names.admin)
    machine = world.machine(server.name, every, server.daemon_address, memory_gib=memory_gib)
    boot = server.site.boot_drives
    size = (boot.least_gb + boot.most_gb) // 2
    drives = server.site.data_drives
    serials = [*drives.serials, *_made_up(server, drives.count)][: drives.count] if drives else []
    machine["drives"] = [
        {**world.drive(server.name, number, drives.size_gb), "serial": serial, "device": f"/dev/nvme{number}n1"}
        for number, serial in enumerate(serials, 1)
        if drives
    ]
    # drives of the system stand on both sides of the others, so that an order of devices tells nothing
    machine["boot_drives"] = [
        {"serial": serial, "size_gb": size, "device": f"/dev/nvme{number * (len(serials) + 1)}n1"}
        for number, serial in enumerate(boot.serials)
    ]
    return {**machine, "base": False, "gnr": False, "gpl": False}


def _made_up(server: Server, count: int) -> list[str]:
    """Return serial numbers where the Site has none; those that it has come first."""
    return [f"{server.site.serial}D{number:02}" for number in range(1, count + 1)]


def off(directory: Path, name: str) -> None:
    """Take the power of a machine.

    Parameters
    ----------
    directory
        Directory of the state.
    name
        The machine.
    """
    with Store(directory).changed() as state:
        world.power_off(state, name)


def on(directory: Path, name: str) -> None:
    """Give a machine its power; the service on it says itself when it runs.

    Parameters
    ----------
    directory
        Directory of the state.
    name
        The machine.
    """
    with Store(directory).changed() as state:
        if not state["machines"][name]["watched"]:
            world.power_on(state, name)


def reinstalled(directory: Path, name: str) -> None:
    """Give a machine a system disk on which nothing of Storage Scale is.

    Parameters
    ----------
    directory
        Directory of the state.
    name
        The machine.
    """
    with Store(directory).changed() as state:
        world.reinstall(state, name)
        state["machines"][name].update(base=False, gnr=False, gpl=False, watched=False)


def drive(directory: Path, name: str, slot: int, **what: Any) -> None:
    """Change a drive: its `serial`, what `signature` is on it, whether its volatile `write_cache` is on, its `state`.

    Parameters
    ----------
    directory
        Directory of the state.
    name
        The machine.
    slot
        Slot of the drive, from 1.
    **what
        What becomes of it.
    """
    with Store(directory).changed() as state:
        found = next(each for each in state["machines"][name]["drives"] if each["slot"] == slot)
        found.update(what)


def pulled(directory: Path, name: str, slot: int) -> None:
    """Pull a drive.

    Parameters
    ----------
    directory
        Directory of the state.
    name
        The machine.
    slot
        Slot of the drive, from 1.
    """
    with Store(directory).changed() as state:
        machine = state["machines"][name]
        machine["drives"] = [each for each in machine["drives"] if each["slot"] != slot]
