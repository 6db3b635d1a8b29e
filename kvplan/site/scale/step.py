"""A step of the deployment as data: what is read first, what is run where, and when it is done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from kvplan.site.scale.cluster import Cluster

Where = Literal["storage-admin", "each-storage-node", "client-admin", "each-client", "both-admins"]
"""Which machines run a step's commands: the first node of a cluster, or each in turn."""
Argv = list[str]


@dataclass(frozen=True)
class Step:
    """One step; `name` ends its id and names its setting of minutes.

    `reads` are run first, and nothing is done where they show `done_when`. `destructive` steps write over drives and
    want a confirmation of their own. `copies` are files that are brought from one cluster to the other before;
    `package` is the one of the Site's packages that a step installs from.
    """

    name: str
    title: str
    commands: list[Argv]
    reads: list[Argv]
    done_when: str
    runs_on: Where = "storage-admin"
    minutes: str = ""
    destructive: bool = False
    daemons: Literal["any", "up", "down"] = "up"
    copies: list[dict[str, str]] = field(default_factory=list)
    package: str = ""

    def data(self, number: int, cluster: Cluster) -> dict[str, Any]:
        """Return it as plain data under a number."""
        return {
            "id": f"{number:02d}-{self.name.replace('_', '-')}",
            "title": self.title,
            "runs_on": self.runs_on,
            "daemons": self.daemons,
            "destructive": self.destructive,
            "minutes": int(cluster.number(f"minutes_{self.minutes or self.name}")),
            "reads": self.reads,
            **({"package": self.package} if self.package else {}),
            **({"copies": self.copies} if self.copies else {}),
            "commands": self.commands,
            "done_when": self.done_when,
        }
