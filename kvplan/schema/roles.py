"""What the devices of a design are, and the networks that join them: one list of names for all who speak of them."""

from __future__ import annotations

from typing import Final, Literal

Role = Literal["storage", "client", "control", "leaf", "spine", "super-spine", "management-switch"]
Rail = Literal["", "a", "b"]
Network = Literal["storage-client", "storage", "client", "uplink", "super-uplink", "management"]
"""Which traffic a link carries: storage nodes to clients, between storage nodes, client servers, between switches."""
PortKind = Literal["fabric", "host", "controller", "adapter-controller"]
"""Whose port it is: traffic of the fabric; and of the management network the host's, its controller's, a card's."""

SERVER_ROLES: Final[frozenset[Role]] = frozenset({"storage", "client", "control"})
FABRIC_ROLES: Final[frozenset[Role]] = frozenset({"leaf", "spine", "super-spine"})
SWITCH_ROLES: Final[frozenset[Role]] = FABRIC_ROLES | {"management-switch"}
ROLE_NOUNS: Final[dict[Role, tuple[str, str]]] = {
    "storage": ("storage node", "storage nodes"),
    "client": ("GPU server", "GPU servers"),
    "control": ("control node", "control nodes"),
    "leaf": ("leaf", "leaves"),
    "spine": ("spine", "spines"),
    "super-spine": ("super-spine", "super-spines"),
    "management-switch": ("management switch", "management switches"),
}
"""One and several devices of a role, in a sentence."""
