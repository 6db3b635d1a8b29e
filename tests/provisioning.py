"""A few servers to install: emulated controllers, served media, and an `ssh` that answers as their systems would."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml
from redfish_cases import ISO
from sites import deployment_of

from kvplan.cli.tree_out import write_tree
from kvplan.site.media.server import serving
from kvplan.site.render import render_tree
from kvplan.twin.bmc.emulation import emulated
from kvplan.twin.bmc.machine import Machine
from kvplan.twin.bmc.profiles import CLEAN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.twin.bmc.machine import State
    from kvplan.twin.bmc.profiles import Profile

PLAYBOOKS = Path(__file__).parents[1] / "playbooks"
PASSWORD = "canary-Pa55word"  # noqa: S105 - of emulated controllers
_SYSTEMS = {"rhel": "rhel-9.6", "ubuntu": "ubuntu-24.04"}
_RECAP = re.compile(r"^(\S+) +: ok=\d+ +changed=(\d+) +unreachable=\d+ +failed=(\d+)", re.MULTILINE)
_SSH = """\
#!{python} -I
import json, pathlib, sys
options = [word for flag, word in zip(sys.argv, sys.argv[1:]) if flag == "-o"]
given = dict(option.split("=", 1) for option in options)
address = sys.argv[-2]
log = pathlib.Path({directory!r})
with (log / "calls").open("a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
def end(text):
    print(text, file=sys.stderr)
    raise SystemExit(255)
place = log / address
system = json.loads(place.read_text()) if place.exists() else None
if system and system["refusals"]:
    place.write_text(json.dumps(system | {{"refusals": system["refusals"] - 1}}))
if system is None or system["refusals"]:
    end(f"ssh: connect to host {{address}} port 22: Connection refused")
known = pathlib.Path(given["GlobalKnownHostsFile"].strip('"'))
lines = known.read_text().splitlines() if known.is_file() else []
mine = [line.split(" ", 1)[1] for line in lines if line.split(" ", 1)[0] == address]
strict = given["StrictHostKeyChecking"]
if strict != "no" and ((mine and system["key"] not in mine) or (strict == "yes" and not mine)):
    end("Host key verification failed.")
print("\\n".join([*system["lines"], system["key"] + " root@installed"]))
"""


class Ran(NamedTuple):
    """How a playbook ended: its text, and how many tasks changed or failed on each host."""

    code: int
    text: str
    changed: dict[str, int]
    failed: dict[str, int]


@dataclass
class Servers:
    """Servers under test: what is known of each, what stands behind its controller, and what it started from."""

    directory: Path
    facts: dict[str, dict[str, Any]]
    states: dict[str, State] = field(default_factory=dict)
    started: list[tuple[str, str | None]] = field(default_factory=list)
    keys: int = 0
    stays: set[str] = field(default_factory=set)

    @property
    def known_hosts(self) -> Path:
        return self.directory / "known_hosts"

    def install(self, name: str, *, refusals: int = 0, **differences: str) -> None:
        """Let a server answer as one that was installed, but for some differences."""
        facts, self.keys = self.facts[name], self.keys + 1
        said = {
            "name": name,
            "serial": facts["kv_serial"],
            "plan_sha256": facts["kv_plan_sha256"],
            "os": _SYSTEMS[facts["kv_os"]],
        }
        lines = [f"{key}={value}" for key, value in {**said, **differences}.items()]
        system = {"refusals": refusals, "lines": lines, "key": f"ssh-ed25519 AAAAkey{self.keys}"}
        self._place(name).write_text(json.dumps(system), encoding="utf-8")

    def boot(self, machine: Machine, url: str | None) -> None:
        """Install a machine that starts from a medium, unless it `stays`; it answers when it is asked twice."""
        self.started.append((machine.name, url))
        if url and machine.name not in self.stays:
            self.install(machine.name, refusals=1)

    def known(self, name: str) -> list[str]:
        """List the keys that are known of a server."""
        lines = self.known_hosts.read_text(encoding="utf-8").splitlines() if self.known_hosts.is_file() else []
        return [line.split(" ", 1)[1] for line in lines if line.split(" ", 1)[0] == self.facts[name]["ansible_host"]]

    def key(self, name: str) -> str:
        """Tell the key under which a server answers."""
        key: str = json.loads(self._place(name).read_text(encoding="utf-8"))["key"]
        return key

    def methods(self) -> set[str]:
        """Name the methods of all requests to controllers."""
        return {method for state in self.states.values() for method, _ in state.requests}

    def run(self, *switches: str, **variables: object) -> Ran:
        """Run the playbook on these servers, or on those that a switch limits it to."""
        given = {
            "kv_tree": str(self.directory / "tree"),
            "kv_known_hosts": str(self.known_hosts),
            "provision_ssh_command": [str(self.directory / "ssh")],
            "provision_poll_seconds": 1,
            **{f"kv_secret_bmc_{name.replace('-', '_')}": PASSWORD for name in self.facts},
            **variables,
        }
        (self.directory / "vars.json").write_text(json.dumps(given), encoding="utf-8")
        command = [str(Path(sys.executable).with_name("ansible-playbook")), str(PLAYBOOKS / "provision.yml")]
        command += ["-i", str(self.directory / "tree" / "inventory" / "hosts.yml"), "-e"]
        command += [f"@{self.directory / 'vars.json'}"]
        command += [] if "--limit" in switches else ["--limit", ",".join(self.facts)]
        environment = {
            "ANSIBLE_CONFIG": str(PLAYBOOKS / "ansible.cfg"),
            "ANSIBLE_HOME": str(self.directory / "home"),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_SSH_ARGS": "-o StrictHostKeyChecking=accept-new",
        }
        run = subprocess.run(
            [*command, *switches],
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        text = run.stdout + run.stderr
        counts = {host: (int(changed), int(failed)) for host, changed, failed in _RECAP.findall(text)}
        return Ran(
            run.returncode,
            " ".join(text.split()),
            {host: changed for host, (changed, _) in counts.items()},
            {host: failed for host, (_, failed) in counts.items()},
        )

    def _place(self, name: str) -> Path:
        """Find the file that says how a server answers."""
        return self.directory / str(self.facts[name]["ansible_host"])


@contextmanager
def servers(
    directory: Path,
    *names: str,
    profiles: Mapping[str, Profile] | None = None,
    serials: Mapping[str, str] | None = None,
) -> Iterator[Servers]:
    """Lay out servers that are off, and were never installed; serials say what other machine a controller has."""
    tree = directory / "tree"
    write_tree(render_tree(deployment_of(8)), tree)
    facts = {name: _facts(tree, name) for name in names}
    found = Servers(directory, facts)
    (directory / "ssh").write_text(_SSH.format(python=sys.executable, directory=str(directory)), encoding="utf-8")
    (directory / "ssh").chmod(0o755)
    machines = [Machine(name, (serials or {}).get(name, facts[name]["kv_serial"])) for name in names]
    behaviour = {name: (profiles or {}).get(name, CLEAN) for name in names}
    media = directory / "media"
    (media / "kv").mkdir(parents=True)
    for name in names:
        (media / "kv" / f"{name}.iso").write_bytes(ISO)
    bmcs = emulated(machines, behaviour, on_boot=found.boot, credentials=("ADMIN", PASSWORD))
    with serving(media, "127.0.0.1", 0) as web, bmcs as emulation:
        found.states.update(emulation.states)
        _rewire(tree, web.url, emulation.urls)
        yield found


def _facts(tree: Path, name: str) -> dict[str, Any]:
    """Read the variables of a server."""
    inventory = tree / "inventory"
    group = {"storage": "storage", "gpu": "gpu", "control": "control"}[name.partition("-")[0]]
    files = ("group_vars/all.yml", f"group_vars/{group}.yml", f"host_vars/{name}.yml")
    return {
        key: value
        for file in files
        for key, value in yaml.safe_load((inventory / file).read_text(encoding="utf-8")).items()
    }


def _rewire(tree: Path, media_url: str, urls: Mapping[str, str]) -> None:
    """Put the addresses of this machine in the place of the Site's."""
    recipe = tree / "media" / "recipe.yaml"
    data = yaml.safe_load(recipe.read_text(encoding="utf-8"))
    for medium in data["media"]:
        medium["url"] = f"{media_url}/{medium['output']}"
    recipe.write_text(yaml.safe_dump(data), encoding="utf-8")
    for name, url in urls.items():
        path = tree / "inventory" / "host_vars" / f"{name}-bmc.yml"
        variables = yaml.safe_load(path.read_text(encoding="utf-8")) | {"ansible_host": url, "kv_bmc_user": "ADMIN"}
        path.write_text(yaml.safe_dump(variables), encoding="utf-8")
