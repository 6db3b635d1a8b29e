"""The phase of the switches: one after the other, stopped by the first that is not healthy, and taken up again."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
import yaml
from nvue_cases import SECRETS
from sites import OLD, deployment_of

from kvplan.cli.tree_out import write_tree
from kvplan.site.render import render_tree
from kvplan.twin.nvue.emulation import Emulation, emulated
from kvplan.twin.nvue.switch import Switch
from kvplan.twin.nvue.trees import at
from kvplan.twin.nvue.wiring import wiring_of

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("ansible.cli")
PLAYBOOKS = Path(__file__).parents[3] / "playbooks"
ROLE = PLAYBOOKS / "roles" / "switches"
MANAGING, FABRIC = ("oob-01",), ("spine-001", "leaf-001a", "leaf-001b")
SET_BY_ITSELF = "K-canary-of-ztp"
_RECAP = re.compile(r"^(\S+) +: ok=\d+ +changed=(\d+) +unreachable=\d+ +failed=(\d+)", re.MULTILINE)
_DONE = re.compile(r"^(?:changed|ok|fatal): \[(\S+) -> localhost\]", re.MULTILINE)
_SSH = """\
#!/bin/sh
# Runs what it is given here, in the place of the switch that it is asked for.
for word; do host=$command command=$word; done
export SWITCH="$host" PATH="{tools}:$PATH"
echo "$host" >>{tools}/calls
exec sh -c "$command"
"""
_SUDO = """\
#!/bin/sh
while [ "$1" != /bin/sh ]; do shift; done
exec "$@"
"""
_SYSTEMCTL = """\
#!/bin/sh
echo "$SWITCH $*" >>{tools}/reloads
printf 'LoadState=loaded\\nActiveState=active\\n'
"""
_NV = """\
#!{python} -I
# The switch's own tool: it asks nobody for a password, so here it knows the one that nobody knows.
import base64, json, os, ssl, sys, urllib.request
if sys.argv[1:3] != ["config", "patch"]:
    raise SystemExit
def ask(method, path, body=None):
    word = base64.b64encode(b"cumulus:{password}").decode()
    url, data = os.environ["SWITCH"] + "/nvue_v1/" + path, body and json.dumps(body).encode()
    request = urllib.request.Request(url, data, {{"Authorization": "Basic " + word}}, method=method)
    with urllib.request.urlopen(request, context=ssl._create_unverified_context()) as answer:
        return json.loads(answer.read() or b"{{}}")
rev = next(iter(ask("POST", "revision")))
ask("PATCH", "?rev=" + rev, json.load(open(sys.argv[3]))[0]["set"])
ask("PATCH", "revision/" + rev, {{"state": "apply", "auto-prompt": {{"ays": "ays_yes"}}}})
"""


class Ran(NamedTuple):
    """How the playbook ended: its text, in which order switches came, and tasks that changed or failed on each."""

    code: int
    text: str
    order: list[str]
    changed: dict[str, int]
    failed: dict[str, int]


@dataclass
class Rack:
    """Switches that run, and the tree that was rendered for them."""

    emulation: Emulation
    place: Path

    def __getitem__(self, name: str) -> Switch:
        return self.emulation.fabric.switches[name]

    def run(self, *options: str, ssh: bool = True) -> Ran:
        """Run the phase on one management switch and the fabric."""
        given = {
            "kv_tree": str(self.place / "tree"),
            "ansible_ssh_executable": str(self.place / "bin" / "ssh"),
            "ansible_python_interpreter": sys.executable,
            "switches_ca_path": str(self.emulation.certificate),
            "switches_ssh": str(ssh),
            "switches_topology": f"{self.place}/{{{{ inventory_hostname }}}}.dot",
            "switches_health_seconds": 2,
            "switches_confirm_seconds": 4,
            **{f"kv_secret_{name}": value for name, value in SECRETS.items()},
        }
        variables = self.place / "vars.json"
        variables.write_text(json.dumps(given), encoding="utf-8")
        command = [str(Path(sys.executable).with_name("ansible-playbook")), str(PLAYBOOKS / "switches.yml")]
        command += ["-i", str(self.place / "tree" / "inventory" / "hosts.yml"), "-e", f"@{variables}", *options]
        command += ["--limit", ",".join((*MANAGING, *FABRIC))]
        environment = {
            "ANSIBLE_CONFIG": str(PLAYBOOKS / "ansible.cfg"),
            "ANSIBLE_HOME": str(self.place / "home"),
            "ANSIBLE_SSH_TRANSFER_METHOD": "piped",
            "ANSIBLE_NOCOLOR": "1",
        }
        ran = subprocess.run(
            command, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=120
        )
        text = ran.stdout + ran.stderr
        counts = {host: (int(changed), int(failed)) for host, changed, failed in _RECAP.findall(text)}
        changed, failed = ({host: both[index] for host, both in counts.items()} for index in (0, 1))
        return Ran(ran.returncode, text, list(dict.fromkeys(_DONE.findall(text))), changed, failed)


@pytest.fixture(scope="module")
def rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    """Run the switches of four nodes as they are when they have configured themselves: nobody knows the password."""
    place = tmp_path_factory.mktemp("switches")
    deployed = deployment_of(4, OLD)
    write_tree(render_tree(deployed), place / "tree")
    tools = place / "bin"
    tools.mkdir()
    for name, text in {"ssh": _SSH, "sudo": _SUDO, "systemctl": _SYSTEMCTL, "nv": _NV}.items():
        (tools / name).write_text(text.format(tools=tools, python=sys.executable, password=SET_BY_ITSELF))
        (tools / name).chmod(0o755)
    switches = [Switch(one.name, OLD, password=SET_BY_ITSELF) for one in deployed.switches]
    with emulated(switches, wiring_of(deployed)) as emulation:
        for name, url in emulation.urls.items():
            path = place / "tree" / "inventory" / "host_vars" / f"{name}.yml"
            path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"ansible_host": url}))
        yield Rack(emulation, place)


@pytest.mark.slow
def test_the_phase_stops_at_a_fault_and_is_taken_up(rack: Rack) -> None:
    untouched = rack["leaf-001b"].running
    rack["leaf-001a"].faults.lose_bgp = True
    stopped = rack.run()
    assert stopped.code != 0, stopped.text
    assert stopped.order == [*MANAGING, "spine-001", "leaf-001a"]
    assert stopped.failed == dict.fromkeys((*MANAGING, "spine-001"), 0) | {"leaf-001a": 1}
    assert "was not healthy, and the switch rolled back: bgp swp" in stopped.text
    assert '"remedy": "compare address, AS number and state of BGP with those of spine-001"' in stopped.text
    assert at(rack["spine-001"].running, ("system", "hostname")) == "spine-001"
    assert at(rack["leaf-001a"].running, ("system", "hostname")) is None
    assert rack["leaf-001b"].running is untouched
    assert rack["leaf-001b"].requests == []

    rack["leaf-001a"].faults.lose_bgp = False
    resumed = rack.run("-v")
    assert resumed.code == 0, resumed.text
    assert resumed.order[:5] == [*MANAGING, *FABRIC]
    assert {host for host, count in resumed.changed.items() if count} == {"leaf-001a", "leaf-001b"}
    for name in (*MANAGING, *FABRIC):
        kept = rack.place / ".kvplan" / "switches" / f"{name}.running.yaml"
        assert "hostname" not in yaml.safe_load(kept.read_text())["system"]
        assert rack[name].running == rack[name].startup
        assert rack[name].knows("cumulus", SECRETS["switch_password"])
    topology = (rack.place / "tree" / "switches" / "topology.dot").read_text()
    assert [(rack.place / f"{name}.dot").read_text() for name in FABRIC] == [topology] * len(FABRIC)
    assert not any((rack.place / f"{name}.dot").exists() for name in MANAGING)
    reloads = (rack.place / "bin" / "reloads").read_text().splitlines()
    assert [line.partition(" ")[0] for line in reloads if "reload ptmd" in line] == [
        rack.emulation.urls[name] for name in FABRIC
    ]

    applied = {name: rack[name].applied_id for name in (*MANAGING, *FABRIC)}
    checked = rack.run("--check", "--diff", ssh=False)
    assert checked.code == 0, checked.text
    assert checked.changed == dict.fromkeys((*MANAGING, *FABRIC), 0)
    assert {name: rack[name].applied_id for name in applied} == applied
    written = [stopped.text, resumed.text, checked.text]
    written += [path.read_text() for path in rack.place.glob(".kvplan/**/*.yaml")]
    assert not [secret for secret in (*SECRETS.values(), SET_BY_ITSELF) for text in written if secret in text]


def test_every_variable_of_the_role_is_specified() -> None:
    specs = yaml.safe_load((ROLE / "meta" / "argument_specs.yml").read_text())["argument_specs"]
    defaults = yaml.safe_load((ROLE / "defaults" / "main.yml").read_text())
    for name in ("main", "verify"):
        options = specs[name]["options"]
        assert set(defaults) < set(options)
        assert {option for option, spec in options.items() if spec.get("required")}.isdisjoint(defaults)
        assert all(spec["description"] and spec["type"] for spec in options.values())
