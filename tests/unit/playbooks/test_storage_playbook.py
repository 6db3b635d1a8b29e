"""The playbook of the storage phase, run by Ansible against simulated machines: each host is one of them."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from example_sites import EXAMPLES
from scale_racks import machine_of

from kvplan.twin.scale.commands import COMMANDS, entry
from kvplan.twin.scale.shell import NODE, ROOT
from kvplan.twin.scale.store import DIRECTORY, Store
from kvplan.twin.scale.world import world

pytest.importorskip("ansible.cli")
PLAYBOOKS = Path(__file__).parents[3] / "playbooks"
ROLES = ("storage_plan", "storage_nodes", "storage_cluster", "storage_data")
CLUSTER, ADMIN = "kvstore.kv.example", "storage-001"
HOSTS = [f"storage-00{number}" for number in range(1, 5)]
_TOOL = """\
#!{python} -IS
import sys
sys.path.insert(0, "{lib}")
from kvplan.twin.scale.commands import main
sys.exit(main(sys.argv))
"""
_RECAP = re.compile(r"^(\S+)\s+: ok=\d+\s+changed=(\d+)\s+unreachable=0\s+failed=(\d+)", re.MULTILINE)


class Ran(NamedTuple):
    """How a run ended: its text, and how many tasks changed something or failed on each host."""

    text: str
    changed: dict[str, int]
    failed: dict[str, int]

    @property
    def said(self) -> str:
        """What failed, in one line."""
        return " ".join(self.text.replace("\\n", " ").split())


@dataclass(frozen=True)
class Machines:
    """Simulated machines of the compact example, as Ansible reaches them on this one."""

    path: Path

    def prepare(self) -> Machines:
        """Render the tree, and give each host a Python that makes its modules run on its machine."""
        example = EXAMPLES / "compact"
        command = [sys.executable, "-m", "kvplan", "render", f"{example}/plan.json", f"{example}/site.yaml"]
        subprocess.run([*command, "-o", self.path / "tree"], check=True, capture_output=True)
        lines = (self.path / "tree/scale/nodes.stanza").read_text("utf-8").split()
        state = world([machine_of(line, number, 16) for number, line in enumerate(lines, 1)], speed=20_000)
        with self.store.changed() as held:
            held.update(state)
        tools = self.path / "bin"
        tools.mkdir()
        # unpacked, so that Python compiles it once: a run starts some hundred commands
        with zipfile.ZipFile(io.BytesIO(entry())) as archive:
            archive.extractall(self.path / "lib")
        (tools / "mmsim").write_text(_TOOL.format(python=sys.executable, lib=self.path / "lib"), encoding="utf-8")
        (tools / "mmsim").chmod(0o755)
        for name in COMMANDS:
            (tools / name).symlink_to("mmsim")
        for host in HOSTS:
            self._host(host, tools)
        return self

    def _host(self, host: str, tools: Path) -> None:
        """Make the Python of a host, and its root, in which the path of the root leads to the root as well."""
        root = self.path / host
        inner = root / str(root).lstrip("/")
        inner.parent.mkdir(parents=True)
        inner.symlink_to(root)
        (root / "usr/local/sbin").mkdir(parents=True)
        place = {
            NODE: host,
            ROOT: root,
            DIRECTORY: self.path / "state",
            "KV_EVICT_LOCK": root / "lock",
            "KV_EVICT_WORK": root / "work",
            "PATH": f"{tools}:{os.environ['PATH']}",
        }
        lines = [f"export {name}='{value}'" for name, value in place.items()]
        python = self.path / f"python-{host}"
        python.write_text("\n".join(["#!/bin/sh", *lines, f'exec {sys.executable} "$@"', ""]), encoding="utf-8")
        python.chmod(0o755)
        variables = {
            "ansible_python_interpreter": str(python),
            "storage_nodes_root": str(root),
            "storage_data_root": str(root),
            "storage_data_job_directory": str(root / "jobs"),
        }
        with (self.path / f"tree/inventory/host_vars/{host}.yml").open("a", encoding="utf-8") as file:
            yaml.safe_dump(variables, file)

    @property
    def store(self) -> Store:
        """Where the simulator keeps its state."""
        return Store(self.path / "state")

    @property
    def state(self) -> dict[str, Any]:
        """The state as it is."""
        held: dict[str, Any] = json.loads((self.path / "state/state.json").read_text("utf-8"))
        return held

    def run(self, *arguments: str, **variables: Any) -> Ran:
        """Run the playbook."""
        extra = {
            "kv_tree": str(self.path / "tree"),
            "ansible_connection": "local",
            "ansible_become": False,
            "storage_nodes_software": False,
            "storage_data_owner": str(os.getuid()),
            "storage_data_owning_group": str(os.getgid()),
            "storage_nodes_poll_seconds": 0.1,
            "storage_cluster_poll_seconds": 0.1,
            "storage_data_poll_seconds": 0.1,
            "storage_data_group_poll_seconds": 0.2,
            "storage_data_group_seconds": 40,
            **variables,
        }
        command = [sys.executable, "-m", "ansible.cli.playbook", "-i", str(self.path / "tree/inventory/hosts.yml")]
        done = subprocess.run(
            [*command, str(PLAYBOOKS / "storage.yml"), "--extra-vars", json.dumps(extra), *arguments],
            check=False,
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "ANSIBLE_CONFIG": str(PLAYBOOKS / "ansible.cfg"),
                "ANSIBLE_HOME": str(self.path / "ansible"),
                "ANSIBLE_NOCOLOR": "True",
                "ANSIBLE_HOST_PATTERN_MISMATCH": "ignore",
            },
        )
        rows = _RECAP.findall(done.stdout)
        assert rows, done.stdout + done.stderr
        changed, failed = ({row[0]: int(row[column]) for row in rows} for column in (1, 2))
        return Ran(done.stdout + done.stderr, changed, failed)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Machines, Ran, Ran]:
    """Build the cluster, and run the playbook again."""
    machines = Machines(tmp_path_factory.mktemp("built")).prepare()
    return machines, machines.run(storage_confirmed_cluster=CLUSTER), machines.run()


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> tuple[Machines, Ran, Ran]:
    """Run where one host was not agreed to, then with full agreement where drives are not as they must be."""
    machines = Machines(tmp_path_factory.mktemp("refused")).prepare()
    unagreed = machines.run(kv_confirmed="storage-001,storage-002,storage-003", storage_confirmed_cluster="kvstore")
    with machines.store.changed() as held:
        held["machines"]["storage-002"]["drives"].pop()
        held["machines"]["storage-003"]["drives"][4].update(signature="LVM2_member")
        held["machines"]["storage-004"]["drives"][0].update(write_cache=True)
    return machines, unagreed, machines.run(storage_confirmed_cluster=CLUSTER)


@pytest.mark.slow
def test_nobody_agreed_so_nothing_is_touched(refused: tuple[Machines, Ran, Ran]) -> None:
    machines, unagreed, _ = refused
    assert unagreed.failed == {**dict.fromkeys(HOSTS, 0), ADMIN: 1}
    assert set(unagreed.changed.values()) == {0}
    assert machines.state["clusters"] == {}
    assert "nobody agreed to write over the data drives of storage-001, storage-002, storage-003, storage-004. " in (
        unagreed.said
    )
    assert f"Give storage_confirmed_cluster={CLUSTER} if all that is on them may go" in unagreed.said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("storage-002", "15"),
        ("storage-003", "LVM2_member"),
        ("storage-003", "Never pass `-v no` to hide it"),
        ("storage-004", "volatile write cache"),
        ("storage-004", "nvme set-feature DEVICE -f 6 -v 0 --save"),
    ],
)
def test_wrong_drives_are_refused_with_a_remedy(refused: tuple[Machines, Ran, Ran], host: str, said: str) -> None:
    machines, _, wrong = refused
    fatal = [line for line in wrong.text.splitlines() if line.startswith(f"fatal: [{host}]")]
    assert len(fatal) == 1
    assert said.lower() in fatal[0].lower()
    assert wrong.failed[ADMIN] == 0
    assert set(wrong.changed.values()) == {0}
    assert machines.state["clusters"] == {}


@pytest.mark.slow
def test_the_cluster_stands_as_planned(built: tuple[Machines, Ran, Ran]) -> None:
    machines, first, _ = built
    assert set(first.failed.values()) == {0}, first.text
    assert min(first.changed.values()) > 0
    cluster = machines.state["clusters"][CLUSTER]
    held = machines.state["machines"]
    assert [node["machine"] for node in cluster["nodes"]] == HOSTS
    assert all(held[host]["daemon"] and held[host]["mounts"] == ["kvfs"] for host in HOSTS)
    assert all(held[host]["running"]["pagepool"] == "137438953472" for host in HOSTS)
    assert {name: cluster["groups"]["rg1"][name] for name in ("logs", "spares")} == {"logs": 9, "spares": 3}
    fileset = cluster["file_systems"]["kvfs"]["filesets"]["kvcache"]
    assert fileset["quota"] == {"soft": 220654 << 20, "hard": 259594 << 20}
    assert fileset["limit"] >= 5522679
    assert cluster["callbacks"]["kv-evict"]["command"] == "/usr/local/sbin/kv-evict"


@pytest.mark.slow
def test_a_second_run_needs_no_agreement_and_changes_nothing(built: tuple[Machines, Ran, Ran]) -> None:
    _, _, second = built
    assert second.failed == dict.fromkeys(HOSTS, 0), second.text
    assert second.changed == dict.fromkeys(HOSTS, 0), second.text


@pytest.mark.slow
def test_eviction_is_laid_where_the_file_system_may_be_managed(built: tuple[Machines, Ran, Ran]) -> None:
    machines, _, _ = built
    for host in HOSTS:
        assert (machines.path / host / "usr/local/sbin/kv-evict").stat().st_mode & 0o777 == 0o755
        assert (machines.path / host / "etc/kvplan/scale/policy/evict.policy").is_file()
    assert (machines.path / ADMIN / "kvfs/kvcache").stat().st_mode & 0o777 == 0o770


@pytest.mark.parametrize("role", ROLES)
def test_a_role_specifies_its_variables(role: str) -> None:
    specs = yaml.safe_load((PLAYBOOKS / "roles" / role / "meta/argument_specs.yml").read_text("utf-8"))
    specified = {name for each in specs["argument_specs"].values() for name in each["options"]}
    defaults = PLAYBOOKS / "roles" / role / "defaults/main.yml"
    own = set(yaml.safe_load(defaults.read_text("utf-8"))) if defaults.is_file() else set()
    assert own <= specified
    assert all(name.startswith((f"{role}_", "kv_")) for name in specified)
