"""The base playbook: its files laid into a directory, and its live checks against hosts that are right and wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from role_runs import PLAYBOOKS, ROLES, play, rendered, variables_of

if TYPE_CHECKING:
    from pathlib import Path

HOSTS = ("storage-001", "gpu-0001")
LATER = re.compile(r"hosts/[^/]+/etc/(kv/|systemd/system/kv-(engine|grafana|prometheus|frontend|etcd))")
"""Files of the phase that starts the engines."""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rendered(tmp_path_factory.mktemp("roles") / "tree")


def storage_nodes(tree: Path) -> list[str]:
    """List the storage nodes."""
    groups = yaml.safe_load((tree / "inventory/hosts.yml").read_text())["all"]["children"]
    return list(groups["storage"]["hosts"])


def with_keys(tree: Path, nodes: list[str]) -> Path:
    """Write the host keys and root's keys that the control node learnt; return the former's file."""
    known = tree.parent / "known_hosts"
    (tree.parent / "root-keys").mkdir(exist_ok=True)
    for node in nodes:
        (tree.parent / "root-keys" / f"{node}.pub").write_text(f"ssh-ed25519 ROOT root@{node}\n")
    lines = [f"{variables_of(tree, node)['ansible_host']} ssh-ed25519 HOST-{node}" for node in nodes]
    known.write_text("\n".join(lines) + "\n")
    return known


@pytest.mark.slow
def test_files_are_laid_once_and_check_mode_lays_none(tree: Path, tmp_path: Path) -> None:
    nodes = storage_nodes(tree)
    known = with_keys(tree, nodes)
    root = tmp_path / "host"
    given = {"base_root": f"{root}/{{{{ inventory_hostname }}}}", "kv_known_hosts": str(known)}
    installers = root / "storage-001/etc/NetworkManager/system-connections/ens1.nmconnection"
    installers.parent.mkdir(parents=True)
    installers.write_text("[connection]\n")

    def run(*hosts: str, check: bool = False) -> dict[str, int]:
        arguments = ["--limit", ",".join(hosts), "--diff", *(["--check"] if check else [])]
        outcome = play(PLAYBOOKS / "base.yml", tree, *arguments, **given)
        assert not any(outcome.failed.values()), outcome.text
        return outcome.changed

    first = run(*HOSTS)
    second = run(HOSTS[0])
    foreseen = run(HOSTS[1], check=True)

    assert all(first[host] for host in HOSTS)
    assert {**second, **foreseen} == dict.fromkeys(HOSTS, 0)
    assert not installers.exists()
    manifest = json.loads((tree / "manifest.json").read_text())["files"]
    for host, role in zip(HOSTS, ("storage", "client"), strict=True):
        for folder in (f"hosts/_common/{role}/", f"hosts/{host}/"):
            for path in (path for path in manifest if path.startswith(folder) and not LATER.match(path)):
                place = root / host / path.removeprefix(folder)
                assert place.read_bytes() == (tree / path).read_bytes(), path
                assert f"{place.stat().st_mode & 0o7777:04o}" == manifest[path]["mode"], path
    held = root / "storage-001"
    assert "excludepkgs=kernel," in (held / "etc/dnf/dnf.conf").read_text()
    assert "linux-generic" in (root / "gpu-0001/etc/apt/preferences.d/kvplan-kernel").read_text()
    known_there = (held / "etc/ssh/ssh_known_hosts").read_text()
    for node in nodes:
        names = variables_of(tree, node)
        forms = {node, names["ansible_host"], names["kv_daemon_address"]}
        forms |= {
            form for key in ("kv_admin_name", "kv_daemon_name") for form in (names[key], names[key].split(".")[0])
        }
        line = next(line for line in known_there.splitlines() if line.endswith(f"HOST-{node}"))
        assert set(line.split()[0].split(",")) == forms
        assert f"root@{node}\n" in (held / "root/.ssh/authorized_keys").read_text()
    assert not (root / "gpu-0001/etc/ssh").exists()


@pytest.mark.slow
def test_trust_is_not_built_with_a_node_that_nobody_knows(tree: Path, tmp_path: Path) -> None:
    known = with_keys(tree, storage_nodes(tree))
    known.write_text("\n".join(known.read_text().splitlines()[:-1]) + "\n")
    unknown = storage_nodes(tree)[-1]
    book = tmp_path / "trust.yml"
    book.write_text("- hosts: storage-001\n  gather_facts: false\n  roles: [base_ssh]\n")

    outcome = play(book, tree, base_root=str(tmp_path / "host"), kv_known_hosts=str(known))

    assert outcome.failed == {"storage-001": 1}
    assert f"no keys are known of {unknown}: run this phase" in outcome.messages("storage-001")
    assert not (tmp_path / "host").exists()


def test_each_file_of_a_host_takes_effect_by_itself_or_is_applied_by_one_role(tree: Path) -> None:
    held = yaml.safe_load((ROLES / "base_files/vars/main.yml").read_text())
    patterns = [*held["base_files_effective"], *held["base_files_applied_by"].values()]
    files = [path for path in json.loads((tree / "manifest.json").read_text())["files"] if path.count("/") > 1]

    for path in (path for path in files if path.startswith("hosts/") and not LATER.match(path)):
        inner = re.sub("^hosts/(_common/)?[^/]+/", "", path)
        assert [bool(re.match(pattern, inner)) for pattern in patterns].count(True) == 1, path
    for role in held["base_files_applied_by"]:
        assert f"base_files_applied_by.{role}" in (ROLES / role / "vars/main.yml").read_text()


VERIFY = """\
- hosts: storage:gpu
  gather_facts: false
  environment:
    PATH: "{{ fakes }}/{{ inventory_hostname }}:{{ lookup('ansible.builtin.env', 'PATH') }}"
  tasks:
"""
ROLE = """\
    - name: Look at {role}
      when: wrong in ['', '{role}']
      vars:
        wrong: "{{{{ faults[inventory_hostname] | default('') }}}}"
      block:
        - name: Verify
          ansible.builtin.include_role:
            name: {role}
            tasks_from: {tasks}
"""


def fake(place: Path, name: str, body: str) -> None:
    """Write a command that answers as told."""
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_text(f"#!/bin/bash\n{body}\n")
    (place / name).chmod(0o755)


def addresses(held: dict[str, Any]) -> str:
    """Answer `ip -json address`, and `ip -json link`, as a host as planned does."""
    lo: dict[str, Any] = {"ifname": "lo", "addr_info": [{"local": "127.0.0.1", "prefixlen": 8}]}
    lo["addr_info"].append({"local": held["kv_loopback"], "prefixlen": 32})
    ports = [lo]
    for port in (*held["kv_management_ports"], *held["kv_fabric_ports"]):
        local, _, length = port["address"].partition("/")
        ports.append({"ifname": port["name"], "addr_info": [{"local": local, "prefixlen": int(length)}]})
    return json.dumps(ports[::-1])


def plant(place: Path, tree: Path, host: str) -> None:
    """Write the commands of a host as planned."""
    held = variables_of(tree, host)
    names = tree / "hosts/_common/storage/etc/hosts"
    peers = {port["gateway"]: {"state": "Established"} for port in held["kv_fabric_ports"]}
    size = held["kv_fabric_ports"][0]["mtu_bytes"] - 28
    fake(place, "ip", f"echo '{addresses(held)}'")
    fake(place, "vtysh", f"echo '{json.dumps({'ipv4Unicast': {'peers': peers}})}'")
    fake(place, "ping", f'[[ " $* " == *" -Mdo -s{size} -I"* ]]')
    fake(place, "chronyc", "[[ $1 == waitsync ]]")
    fake(place, "getent", f'for key in "${{@:2}}"; do grep -w -m1 -- "$key" {names}; done')
    fake(place, "systemctl", "echo active")
    fake(place, "ssh", 'case "$*" in *BatchMode=yes*root@storage-*true) ;; *) exit 1 ;; esac')
    fake(
        place,
        "uname",
        f"echo {yaml.safe_load((tree / 'inventory/group_vars/storage.yml').read_text())['kv_kernel']}.x86_64",
    )
    fake(place, "pgrep", "exit 1")
    fake(place, "modinfo", "exit 1")


@pytest.mark.slow
def test_live_checks_tell_what_is_wrong_and_what_to_do(tree: Path, tmp_path: Path) -> None:
    good, session, frame, name = storage_nodes(tree)
    loud, late = "gpu-0001", "gpu-0002"
    for host in (good, session, frame, name, loud, late):
        plant(tmp_path / host, tree, host)
    fake(tmp_path / session, "vtysh", """echo '{"ipv4Unicast": {"peers": {}}}'""")
    fake(tmp_path / frame, "ping", "echo message too long >&2; exit 1")
    fake(tmp_path / name, "getent", 'for key in "${@:2}"; do echo "127.0.1.1 $key"; done')
    fake(tmp_path / loud, "ssh", 'case "$*" in *storage-001-kv*) echo Welcome ;; esac')
    fake(tmp_path / late, "chronyc", "exit 1")
    book = tmp_path / "verify.yml"
    roles = ("base_network", "base_names", "base_time", "base_roce", "base_ssh")
    book.write_text(VERIFY + "".join(ROLE.format(role=role, tasks="verify") for role in roles))
    fake(tmp_path / loud, "ssh", 'case "$*" in *storage-001-kv*) echo Welcome ;; esac')
    faults = {good: "", session: "base_network", frame: "base_network", name: "base_names", loud: "base_ssh"}
    faults[late] = "base_time"

    outcome = play(book, tree, "--check", fakes=str(tmp_path), faults=faults, base_network_tries=1)

    assert {host for host, failed in outcome.failed.items() if failed} == {*faults} - {good}, outcome.text
    assert not any(outcome.changed.values())
    gateways = [port["gateway"] for port in variables_of(tree, session)["kv_fabric_ports"]]
    assert f"no session with {', '.join(gateways)}" in outcome.messages(session)
    assert "frames of full size do not reach leaf-" in outcome.messages(frame)
    assert "do not lead to each other" in outcome.text
    assert f"root of {loud} cannot log in silently as storage-001-kv" in outcome.messages(loud)
    assert "Welcome" in outcome.messages(loud)
    assert "storage-002" not in outcome.messages(loud)
    assert "chrony follows none of" in outcome.messages(late)


@pytest.mark.slow
def test_a_host_that_must_restart_does_not_while_it_serves(tree: Path, tmp_path: Path) -> None:
    nodes = storage_nodes(tree)
    for node in nodes:
        plant(tmp_path / node, tree, node)
    good, kernel, serving, nameless = nodes
    for node in (kernel, serving):
        fake(tmp_path / node, "uname", "echo 5.14.0-1.x86_64")
    fake(tmp_path / serving, "pgrep", "echo 4711")
    fake(tmp_path / nameless, "ip", """echo '[{"ifname": "lo"}]'""")
    book = tmp_path / "restart.yml"
    book.write_text(VERIFY + ROLE.format(role="base_network", tasks="restart"))

    outcome = play(book, tree, "--check", "--limit", "storage", fakes=str(tmp_path), faults={})

    assert outcome.failed == {good: 0, kernel: 1, serving: 1, nameless: 1}, outcome.text
    # Ansible refuses to restart the machine that the test runs on, which is how far it must come
    assert "would reboot the control node" in outcome.messages(kernel)
    assert "would reboot the control node" in outcome.messages(nameless)
    assert f"mmshutdown -N {variables_of(tree, serving)['kv_daemon_name']}" in outcome.messages(serving)


@pytest.mark.slow
def test_a_host_that_serves_is_not_switched_off_for_its_adapters(tree: Path, tmp_path: Path) -> None:
    serving = storage_nodes(tree)[0]
    fake(tmp_path / serving, "pgrep", "echo 4711")
    fake(tmp_path / serving, "shutdown", f"touch {tmp_path}/down")
    book = tmp_path / "cycle.yml"
    book.write_text(VERIFY + ROLE.format(role="base_roce", tasks="cycle"))

    outcome = play(book, tree, "--limit", serving, fakes=str(tmp_path), faults={})

    assert outcome.failed == {serving: 1}, outcome.text
    assert f"mmshutdown -N {variables_of(tree, serving)['kv_daemon_name']}" in outcome.messages(serving)
    assert not (tmp_path / "down").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["base", "preflight"])
def test_playbooks_are_well_formed(tree: Path, name: str) -> None:
    command = [sys.executable, "-m", "ansible.cli.playbook", "--syntax-check", "-i", str(tree / "inventory/hosts.yml")]
    done = subprocess.run([*command, f"{name}.yml"], cwd=PLAYBOOKS, check=False, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("role", [*sorted(path.name for path in ROLES.glob("base_*")), "preflight"])
def test_roles_name_their_variables_and_describe_them(role: str) -> None:
    specs = yaml.safe_load((ROLES / role / "meta/argument_specs.yml").read_text())["argument_specs"]
    described = {name for spec in specs.values() for name in spec.get("options") or {}}
    place = ROLES / role / "defaults/main.yml"
    defaults = set(yaml.safe_load(place.read_text()) if place.exists() else {})

    assert all(name.startswith(f"{role}_") for name in defaults)
    assert defaults - described == set()
    assert all(name.startswith((f"{role}_", "kv_", "base_root")) for name in described)
