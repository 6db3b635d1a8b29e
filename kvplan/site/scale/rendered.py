"""The rendered files as rules look at them: read once, each with its own form, and every problem kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from kvplan.schema.base import Record
from kvplan.site.reading import yaml_in
from kvplan.site.scale.cluster import Cluster
from kvplan.site.scale.grammar import NodeLine, parse_nodes
from kvplan.site.scale.policy_grammar import PolicyRule, parse_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kvplan.site.deployment import Deployment

ReadT = TypeVar("ReadT")


class ReadStep(Record):
    """A step of steps.yaml or of policy/install.yaml."""

    id: str
    title: str
    runs_on: str
    daemons: str
    destructive: bool
    minutes: int
    reads: list[list[str]]
    copies: list[dict[str, str]] = Field(default_factory=list)
    package: str = ""
    commands: list[list[str]]
    done_when: str


class ReadParameter(Record):
    """A parameter of mmchconfig.yaml."""

    parameter: str
    value: str
    target: str
    set_by: Literal["mmchconfig", "mmvdisk server configure"]
    stored: list[str]
    running: list[str]
    restart: bool
    why: str = ""


class ReadParameters(Record):
    """One of the two files of parameters."""

    cluster: str = ""
    parameters: list[ReadParameter] = Field(default_factory=list)


class ReadClass(Record):
    """A node class."""

    name: str
    kind: Literal["user", "mmvdisk"]
    cluster: str
    nodes: list[str]
    recovery_group: str = ""


class ReadSlots(Record):
    """slots.yaml."""

    mode: str = ""
    first_slot: int = 0
    last_slot: int = 0
    nodes: list[dict[str, Any]] = Field(default_factory=list)


class ReadHost(Record):
    """A host of the exported inventory."""

    ansible_host: str
    scale_daemon_nodename: str
    scale_admin_nodename: str
    scale_cluster_quorum: bool
    scale_cluster_manager: bool
    scale_nodeclass: list[str]
    scale_out_node: bool


class ReadConfig(Record):
    """Parameters of a node class in the export."""

    nodeclass: str
    params: list[dict[str, str]]


class ReadVariables(Record):
    """Variables of all hosts of the export."""

    scale_version: str
    scale_cluster_clustername: str
    scale_config: list[ReadConfig]
    scale_ece_rg: list[dict[str, str]]
    scale_ece_vdisk: list[dict[str, str]]
    scale_ece_filesystem: list[dict[str, str]]


class ReadInventory(Record):
    """The exported inventory below `all`."""

    hosts: dict[str, ReadHost]
    vars: ReadVariables


class Rendered:
    """The files of this part; what cannot be read is empty, and named in `problems` by path and reason."""

    def __init__(self, deployment: Deployment, tree: Mapping[str, str]) -> None:
        self.deployment = deployment
        self.cluster = Cluster(deployment)
        self.tree = tree
        self.problems: list[tuple[str, str]] = []
        self.nodes: tuple[NodeLine, ...] = self._read("scale/nodes.stanza", parse_nodes, ())
        self.clients: tuple[NodeLine, ...] = self._read("scale/clients.stanza", parse_nodes, ())
        self.classes: list[ReadClass] = self._yaml("scale/nodeclasses.yaml", list[ReadClass], [])
        self.slots = self._yaml("scale/slots.yaml", ReadSlots, ReadSlots())
        self.parameters = self._yaml("scale/mmchconfig.yaml", ReadParameters, ReadParameters())
        self.client_parameters = self._yaml("scale/client-mmchconfig.yaml", ReadParameters, ReadParameters())
        self.steps: list[ReadStep] = self._yaml("scale/steps.yaml", list[ReadStep], [])
        self.memory: dict[str, dict[str, int]] = self._read("scale/memory.json", _json_shares, {})
        self.toolkit = self._read("scale/export/toolkit.sh", str, "")
        self.variables: dict[str, ReadInventory] = self._yaml(
            "scale/export/ibm-spectrum-scale.yml", dict[Literal["all"], ReadInventory], {}
        )
        evicts = self.cluster.allows_eviction
        self.policy: tuple[PolicyRule, ...] = (
            self._read("scale/policy/evict.policy", parse_policy, ()) if evicts else ()
        )
        self.script = self._read("scale/policy/kv-evict", str, "") if evicts else ""
        self.install: list[ReadStep] = self._yaml("scale/policy/install.yaml", list[ReadStep], []) if evicts else []
        self.eviction: dict[str, Any] = self._read("scale/eviction.json", _json_object, {}) if evicts else {}

    @property
    def all_parameters(self) -> tuple[tuple[str, ReadParameter], ...]:
        """Every parameter with the file that it stands in."""
        files = (("scale/mmchconfig.yaml", self.parameters), ("scale/client-mmchconfig.yaml", self.client_parameters))
        return tuple((path, entry) for path, read in files for entry in read.parameters)

    def commands(self, *words: str) -> Iterator[tuple[ReadStep, list[str]]]:
        """Yield the commands of all steps that begin with some words."""
        for step in (*self.steps, *self.install):
            for argv in step.commands:
                if tuple(argv[: len(words)]) == words:
                    yield step, argv

    def values(self, parameter: str) -> list[tuple[str, ReadParameter]]:
        """List the entries of a parameter with their files."""
        return [(path, entry) for path, entry in self.all_parameters if entry.parameter == parameter]

    def _read(self, path: str, read: Callable[[str], ReadT], empty: ReadT) -> ReadT:
        """Read a file, or keep why it cannot be read."""
        if path not in self.tree:
            self.problems.append((path, "is not there"))
            return empty
        try:
            return read(self.tree[path])
        except ValidationError as error:
            first = error.errors()[0]
            self.problems.append((path, f"{'.'.join(map(str, first['loc']))}: {first['msg']}"))
        except ValueError as error:
            self.problems.append((path, " ".join(str(error).split())))
        return empty

    def _yaml(self, path: str, form: Any, empty: ReadT) -> ReadT:
        """Read a YAML file of a form."""
        adapter: TypeAdapter[ReadT] = TypeAdapter(form)
        return self._read(path, lambda text: adapter.validate_python(yaml_in(text)), empty)


def _json_object(text: str) -> dict[str, Any]:
    """Read a JSON object."""
    return TypeAdapter(dict[str, Any]).validate_python(json.loads(text))


def _json_shares(text: str) -> dict[str, dict[str, int]]:
    """Read a JSON object of objects of whole numbers; false is 0 and true is 1."""
    return TypeAdapter(dict[str, dict[str, int]]).validate_python(json.loads(text))
