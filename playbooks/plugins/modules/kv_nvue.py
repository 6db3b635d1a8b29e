"""Ansible module: the configuration of a switch, by NVUE."""
# ruff: noqa: INP001

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule, missing_required_lib
from ansible.module_utils.nvue import PORT, Nvue, Timing
from ansible.module_utils.nvue_deploy import UnhealthyError, Wanted, deploy
from ansible.module_utils.nvue_health import Planned
from ansible.module_utils.nvue_tree import NvueError, Tree, configuration, with_secrets

DOCUMENTATION = r"""
---
module: kv_nvue
short_description: The configuration of a switch, by NVUE
description:
  - Brings a rendered configuration to a switch with Cumulus Linux, over its REST interface.
  - Applies only what differs, and for a time. Looks whether links, neighbours, BGP sessions, the lossless service and
    frame sizes are as they must be, and confirms. What is not healthy is not confirmed, the switch takes it back by
    itself, and the module fails with what was wrong.
  - A run that ended between applying and confirming is taken up where the switch still waits.
  - The running configuration is kept in a file before it is changed.
  - Secrets are compared by their presence only, for a switch stores them hashed. O(rotate_secrets) sets them anew.
  - Runs on the control node. Delegate it to C(localhost).
version_added: "0.1.0"
author: The kvplan developers (@kvplan)
options:
  address:
    description: Address of the switch, or the URL of its REST interface.
    type: str
    required: true
  port:
    description: Port of the REST interface; not used where O(address) is a URL.
    type: int
    default: 8765
  username:
    description: Who logs in.
    type: str
    default: cumulus
  password:
    description: The password.
    type: str
    required: true
  tls_verify:
    description: Whether the certificate of the switch is verified. A new switch has one that it signed itself.
    type: bool
    default: true
  ca_path:
    description: File of the certificates to trust; the system's where it is not given.
    type: path
  config:
    description: The rendered file, C(switches/NAME.yaml).
    type: path
    required: true
  secrets:
    description: Values by name, for the places C(kv_secret_NAME) in O(config).
    type: dict
    default: {}
  rotate_secrets:
    description: Whether the configuration is applied although nothing but secrets may differ.
    type: bool
    default: false
  method:
    description: Whether O(config) takes the place of all that is set, or is set on top of it.
    type: str
    choices: [replace, patch]
    default: replace
  neighbours:
    description: The cable schedule, as C(kv_neighbours) of the inventory has it.
    type: list
    elements: dict
    default: []
  expected:
    description:
      - Names of the neighbours that must answer by LLDP and BGP. All of O(neighbours) where it is not given.
      - Others may be silent, but not be in the wrong place, and no session that was up before may be lost.
    type: list
    elements: str
  backup:
    description: Folder that the running configuration is kept in, without secrets. Not kept where it is not given.
    type: path
  confirm_timeout:
    description: After how long the switch takes back what was not confirmed [s]. More than O(health_timeout).
    type: int
    default: 600
  health_timeout:
    description: How long the switch may take to be healthy [s].
    type: int
    default: 120
  apply_timeout:
    description: How long applying may take [s].
    type: int
    default: 300
  ready_timeout:
    description: How long to wait for a switch that does not answer, or is not ready [s].
    type: int
    default: 60
  poll:
    description: How long to wait between two looks [s].
    type: float
    default: 2
  pauses_per_s:
    description: How many pause frames a port may count in a second before it is a storm.
    type: float
    default: 1000
  save:
    description: Whether what was confirmed is kept for a restart.
    type: bool
    default: true
  verify:
    description: Whether a switch that is configured as wanted must be healthy too.
    type: bool
    default: false
attributes:
  check_mode:
    description: Makes a revision, says what differs, discards the revision, and changes nothing.
    support: full
  diff_mode:
    description: Shows the running and the wanted configuration without secrets.
    support: full
"""

EXAMPLES = r"""
- name: Configure the switch
  kv_nvue:
    address: "{{ ansible_host }}"
    password: "{{ kv_secret_switch_password }}"
    tls_verify: false
    config: "{{ kv_tree }}/{{ kv_configuration }}"
    secrets:
      switch_password: "{{ kv_secret_switch_password }}"
      snmp_authentication: "{{ kv_secret_snmp_authentication }}"
      snmp_privacy: "{{ kv_secret_snmp_privacy }}"
    neighbours: "{{ kv_neighbours }}"
    expected: "{{ switches_done }}"
    backup: "{{ kv_artifacts }}/switches"
  delegate_to: localhost
"""

RETURN = r"""
changes:
  description: What leads from the running configuration to the wanted one, a line for each value, without secrets.
  returned: success
  type: list
  elements: str
  sample: ["set interface swp1s0 link mtu 9216"]
revision:
  description: The revision that was applied and confirmed.
  returned: changed
  type: str
backup_file:
  description: Where the configuration that ran before was kept.
  returned: changed, with O(backup)
  type: str
unhealthy:
  description: What was not as it must be.
  returned: when the switch was not healthy
  type: list
  elements: dict
remedy:
  description: What to do about it.
  returned: failure
  type: str
"""

YAML_ERROR = None
try:
    import yaml
except ImportError:
    YAML_ERROR = traceback.format_exc()

ARGUMENTS = {
    "address": {"type": "str", "required": True},
    "port": {"type": "int", "default": PORT},
    "username": {"type": "str", "default": "cumulus"},
    "password": {"type": "str", "required": True, "no_log": True},
    "tls_verify": {"type": "bool", "default": True},
    "ca_path": {"type": "path"},
    "config": {"type": "path", "required": True},
    "secrets": {"type": "dict", "default": {}, "no_log": True},
    "rotate_secrets": {"type": "bool", "default": False, "no_log": False},
    "method": {"type": "str", "default": "replace", "choices": ["replace", "patch"]},
    "neighbours": {"type": "list", "elements": "dict", "default": []},
    "expected": {"type": "list", "elements": "str"},
    "backup": {"type": "path"},
    "confirm_timeout": {"type": "int", "default": 600},
    "health_timeout": {"type": "int", "default": 120},
    "apply_timeout": {"type": "int", "default": 300},
    "ready_timeout": {"type": "int", "default": 60},
    "poll": {"type": "float", "default": 2},
    "pauses_per_s": {"type": "float", "default": 1000},
    "save": {"type": "bool", "default": True},
    "verify": {"type": "bool", "default": False},
}


def main() -> None:
    """Run the module."""
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    if YAML_ERROR:
        module.fail_json(msg=missing_required_lib("PyYAML"), exception=YAML_ERROR)
    try:
        result = run(module.params, Timing, check=module.check_mode)
    except UnhealthyError as error:
        module.fail_json(msg=error.message, remedy=error.remedy, unhealthy=error.found)
    except NvueError as error:
        module.fail_json(msg=error.message, remedy=error.remedy)
    if not module._diff:  # noqa: SLF001 - what AnsibleModule has for it
        result.pop("diff")
    module.exit_json(**result)


def run(given: dict[str, Any], timing: type[Timing], *, check: bool) -> dict[str, Any]:
    """Bring the configuration to the switch, and say what was done."""
    if given["confirm_timeout"] <= given["health_timeout"]:
        message = "confirm_timeout must be more than health_timeout"
        raise NvueError(message, "give the switch more time before it takes a change back")
    waits = {"ready_s": given["ready_timeout"], "apply_s": given["apply_timeout"], "poll_s": given["poll"]}
    switch = _switch(given, timing(**waits))
    config = with_secrets(_read(given["config"]), given["secrets"])
    planned = Planned(config, given["neighbours"], given["expected"], given["pauses_per_s"])
    wanted = Wanted(
        config,
        planned,
        replace=given["method"] == "replace",
        rotate_secrets=given["rotate_secrets"],
        save=given["save"],
        verify=given["verify"],
        confirm_s=given["confirm_timeout"],
        health_s=given["health_timeout"],
    )
    kept: dict[str, str] = {}
    name = Path(given["config"]).stem
    done = deploy(switch, wanted, lambda tree: kept.update(_kept(given["backup"], name, tree)), check=check)
    diff = {"before": _text(done.pop("before")), "after": _text(done.pop("after"))}
    header = {f"{side}_header": f"{name}, {word}" for side, word in (("before", "running"), ("after", "wanted"))}
    return {**done, **kept, "diff": {**diff, **header}}


def _switch(given: dict[str, Any], timing: Timing) -> Nvue:
    """Open the switch."""
    host = f"[{given['address']}]" if ":" in given["address"] else given["address"]
    url = given["address"] if "://" in given["address"] else f"https://{host}:{given['port']}"
    verify = (given["ca_path"] or True) if given["tls_verify"] else False
    return Nvue(url, given["username"], given["password"], verify=verify, timing=timing)


def _read(path: str) -> Tree:
    """Read a rendered file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        return configuration(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))  # noqa: S506
    except (OSError, yaml.YAMLError) as error:
        message = f"{path} can not be read: {error}"
        raise NvueError(message, "render the site again") from None


def _kept(folder: str | None, name: str, tree: Tree) -> dict[str, str]:
    """Keep a configuration in a file that only its owner reads."""
    if not folder:
        return {}
    path = Path(folder) / f"{name}.running.yaml"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(_text(tree))
    return {"backup_file": str(path)}


def _text(tree: Tree) -> str:
    """Write a configuration."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return str(yaml.dump(tree, Dumper=dumper, sort_keys=True, default_flow_style=False))


if __name__ == "__main__":
    main()
