"""What the process inside a rack is given: the plan, keys, what else lies on the disks, and what stays off."""

from __future__ import annotations

from pydantic import Field

from kvplan.schema.base import Record
from kvplan.twin.rack.plan import RackPlan


class RackOrder(Record):
    """A rack to build.

    `host_keys` are private keys by node, `authorised` the public key that logs in, `files` further files by node and
    path. `fabric` tells whether the rack addresses fabric ports and loopbacks as planned, as a node's own
    configuration would; `off` names the nodes that have no power yet, `blank` those whose disk is still empty; `shared`
    is a directory that every node sees.
    """

    plan: RackPlan
    host_keys: dict[str, str]
    authorised: str
    files: dict[str, dict[str, str]] = Field(default_factory=dict)
    fabric: bool = True
    off: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()
    shared: str = ""
