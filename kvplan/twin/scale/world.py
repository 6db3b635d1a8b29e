"""Machines before anything runs on them, and what happens to them from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kvplan.twin.scale.doc import Doc

RELEASE = "6.0.0.2"


def machine(
    name: str, names: Sequence[str], address: str, drives: int = 0, size_gb: int = 7680, memory_gib: int = 768
) -> Doc:
    """Describe a machine with the packages on it and no cluster.

    Parameters
    ----------
    name
        What it calls itself.
    names
        Every name it answers to; the first is that of the daemon.
    address
        Address of the daemon.
    drives
        How many it has; none on a client.
    size_gb
        Of each drive [GB].
    memory_gib
        RAM [GiB].

    Returns
    -------
    Doc
        The machine as the state holds it.
    """
    return {
        "name": name,
        "names": [*names, *([name] if name not in names else [])],
        "reverse": "",
        "ip": address,
        "memory_gib": memory_gib,
        "up": True,
        "ssh": True,
        "watched": False,
        "base": True,
        "gnr": drives > 0,
        "gpl": True,
        "leftover": "",
        "cluster": "",
        "daemon": False,
        "running": {},
        "mounts": [],
        "slot_map": 0,
        "boot_drives": [],
        "drives": [drive(name, number, size_gb) for number in range(1, drives + 1)],
    }


def drive(name: str, number: int, size_gb: int) -> Doc:
    """Describe a healthy, empty drive.

    Parameters
    ----------
    name
        The machine that it is in.
    number
        Its slot, from 1.
    size_gb
        Its size [GB].

    Returns
    -------
    Doc
        The drive as the state holds it.
    """
    return {
        "device": f"/dev/nvme{number - 1}n1",
        "serial": f"{name}-D{number:02}",
        "slot": number,
        "size_gb": size_gb,
        "signature": "",
        "write_cache": False,
        "state": "ok",
    }


def world(machines: Iterable[Doc], release: str = RELEASE, speed: float = 0) -> Doc:
    """Return the state in which no cluster exists.

    Parameters
    ----------
    machines
        All of them, also those of the clients.
    release
        Level of the commands; some columns depend on it.
    speed
        Simulated seconds a second; 0 lets no time pass.

    Returns
    -------
    Doc
        The state.
    """
    return {
        "release": release,
        "speed": speed,
        "elapsed_s": 0,
        "machines": {each["name"]: each for each in machines},
        "clusters": {},
    }


def power_off(state: Doc, name: str) -> None:
    """Take a machine down at once: its daemon and mounts are gone.

    Parameters
    ----------
    state
        To be changed.
    name
        The machine.
    """
    state["machines"][name].update(up=False, daemon=False, running={}, mounts=[])


def power_on(state: Doc, name: str) -> None:
    """Let a machine boot; its daemon starts if the cluster says so.

    Parameters
    ----------
    state
        To be changed.
    name
        The machine.
    """
    held = state["machines"][name]
    held["up"] = True
    cluster = state["clusters"].get(held["cluster"])
    if cluster:
        node = next(each for each in cluster["nodes"] if each["machine"] == name)
        config = effective(cluster, node["daemon"])
        if config.get("autoload") == "yes":
            held.update(daemon=True, running=config, mounts=automounts(state, cluster))


def automounts(state: Doc, cluster: Doc) -> list[str]:
    """Return the file systems that a daemon mounts when it starts.

    Parameters
    ----------
    state
        All clusters.
    cluster
        That of the node.

    Returns
    -------
    list of str
        Its own, and those of others that let it in.
    """
    own = [name for name, held in cluster["file_systems"].items() if held["automount"] == "yes"]
    for name, held in cluster["remote_file_systems"].items():
        owner = state["clusters"].get(held["cluster"], {"auth": {}})
        grants = owner["auth"].get(cluster["name"], {}).get("grants", {})
        own += [name] if held["automount"] == "yes" and held["device"] in grants else []
    return own


def effective(cluster: Doc, daemon: str) -> dict[str, str]:
    """Return the stored configuration of a node.

    Parameters
    ----------
    cluster
        The cluster.
    daemon
        Daemon name of the node.

    Returns
    -------
    dict
        Value by parameter: what is set for the node beats what its classes get, which beats what all get.
    """
    classes = {**cluster["classes"], **{name: each["nodes"] for name, each in cluster["vdisk_classes"].items()}}
    targets = ["", *(name for name, nodes in classes.items() if daemon in nodes), daemon]
    return {
        name: next(held[target] for target in reversed(targets) if target in held)
        for name, held in cluster["config"].items()
        if any(target in held for target in targets)
    }


def reinstall(state: Doc, name: str) -> None:
    """Give a machine a new system disk: it knows no cluster, though the cluster still lists it.

    Parameters
    ----------
    state
        To be changed.
    name
        The machine.
    """
    power_off(state, name)
    state["machines"][name].update(up=True, cluster="", slot_map=0, leftover="")
