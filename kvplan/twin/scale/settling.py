"""What each node is to run and to have mounted, and the wait until it has done so."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from kvplan.twin.scale.doc import Doc
    from kvplan.twin.scale.store import Store

_PATIENCE_S = 20.0
_TICK_S = 0.02


def wanted(state: Doc, name: str) -> Doc:
    """Work out what a node is to be like.

    Parameters
    ----------
    state
        All machines and clusters.
    name
        The machine.

    Returns
    -------
    Doc
        Its `cluster`, whether its `daemon` runs, and the file system at each of its `mounts`.
    """
    held = state["machines"][name]
    cluster = state["clusters"].get(held["cluster"])
    mounts = {}
    for local in held["mounts"] if cluster else ():
        remote = cluster["remote_file_systems"].get(local)
        mounted = remote or cluster["file_systems"][local]
        mounts[mounted["mount_point"]] = remote["device"] if remote else local
    return {"cluster": held["cluster"], "daemon": held["daemon"], "mounts": mounts}


def record(store: Store, name: str) -> Path:
    """Return the file in which a node writes what it is like.

    Parameters
    ----------
    store
        Where the state is.
    name
        The machine.

    Returns
    -------
    Path
        The file.
    """
    return store.path / "applied" / name


def settle(store: Store) -> None:
    """Wait until every node that has power is like the state says, as a command does that ends on all nodes.

    Parameters
    ----------
    store
        Where the state is.
    """
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        state = store.seen()
        watched = [name for name, held in state.get("machines", {}).items() if held.get("watched") and held["up"]]
        if not any(_differs(store, state, name) and store.lives(name) for name in watched):
            return
        time.sleep(_TICK_S)


def _differs(store: Store, state: Doc, name: str) -> bool:
    """Whether a node has still something to do."""
    try:
        applied = json.loads(record(store, name).read_text(encoding="utf-8"))
    except OSError:
        applied = {}
    return bool(applied != wanted(state, name))
