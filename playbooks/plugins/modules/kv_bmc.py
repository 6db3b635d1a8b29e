"""Ansible module: power and boot media of a server, by its controller."""
# ruff: noqa: INP001

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

DOCUMENTATION = r"""
---
module: kv_bmc
short_description: Power and boot media of a server, by its controller
description:
  - Switches a server, connects and ejects boot images, and starts a server once from one of them, over Redfish.
  - Whatever the controller reports is read back before it is believed; no session is left open.
  - Runs on the control node, where C(kvplan[deploy]) is installed. Delegate it to C(localhost).
version_added: "0.1.0"
author: The kvplan developers (@kvplan)
options:
  address:
    description: Address of the controller, or its URL.
    type: str
    required: true
  port:
    description: Port of the controller; not used where O(address) is a URL.
    type: int
    default: 443
  username:
    description: Who logs in.
    type: str
    required: true
  password:
    description: The password.
    type: str
    required: true
  kind:
    description: What kind of controller it is.
    type: str
    choices: [supermicro-x10, supermicro-x12, supermicro-x13, supermicro-ami, openbmc, generic]
    default: generic
  tls_verify:
    description: Whether the controller's certificate is verified.
    type: bool
    default: true
  ca_path:
    description: File of the certificates to trust; the system's where it is not given.
    type: path
  serial:
    description: Serial number of the server that must be behind this controller. Nothing is done to another one.
    type: str
  state:
    description:
      - V(checked) reads serial, model, power and images, sees that the licence is there, and changes nothing.
      - V(present) connects O(image), and nothing else.
      - V(booted-from) switches the server off, connects O(image), and starts it once from there, each time it is asked.
      - V(ejected) takes out whatever is connected.
      - V(powered) brings the power to O(power).
    type: str
    choices: [checked, present, booted-from, ejected, powered]
    default: checked
  image:
    description: URL of the image; for V(present) and V(booted-from).
    type: str
  power:
    description: The power that is wanted; V(restart) starts a server that is off.
    type: str
    choices: ["on", "off", restart]
  power_timeout:
    description: How long a change of power may take [s].
    type: int
    default: 300
  media_timeout:
    description: How long connecting or ejecting an image may take [s].
    type: int
    default: 180
attributes:
  check_mode:
    description: Reads, says what would change, and changes nothing.
    support: full
  diff_mode:
    description: Shows power and connected images before and after.
    support: full
"""

EXAMPLES = r"""
- name: See that each controller has its server, and its licence
  kv_bmc: &controller
    address: "{{ ansible_host }}"
    username: "{{ kv_bmc_user }}"
    password: "{{ kv_bmc_secret }}"
    kind: "{{ kv_bmc_kind }}"
    serial: "{{ kv_serial }}"
  delegate_to: localhost

- name: Start the installer
  kv_bmc:
    <<: *controller
    state: booted-from
    image: http://10.0.0.10:8080/kv/stor01.iso
  delegate_to: localhost

- name: Take the image out
  kv_bmc:
    <<: *controller
    state: ejected
  delegate_to: localhost
"""

RETURN = r"""
serial:
  description: Serial number of the server.
  returned: success
  type: str
model:
  description: Its model.
  returned: success
  type: str
power:
  description: Its power state afterwards.
  returned: success
  type: str
  sample: "On"
images:
  description: The images that are connected afterwards.
  returned: success
  type: list
  elements: str
message_id:
  description: Id of the message that says what went wrong.
  returned: failure
  type: str
  sample: SMC.1.0.OemLicenseNotPassed
remedy:
  description: What to do about it.
  returned: failure
  type: str
"""

KVPLAN_ERROR = None
try:
    from kvplan.deploy.redfish.controller import Controller
    from kvplan.deploy.redfish.errors import RedfishError
    from kvplan.deploy.redfish.timing import Timing
except ImportError:
    KVPLAN_ERROR = traceback.format_exc()

ARGUMENTS = {
    "address": {"type": "str", "required": True},
    "port": {"type": "int", "default": 443},
    "username": {"type": "str", "required": True},
    "password": {"type": "str", "required": True, "no_log": True},
    "kind": {
        "type": "str",
        "default": "generic",
        "choices": ["supermicro-x10", "supermicro-x12", "supermicro-x13", "supermicro-ami", "openbmc", "generic"],
    },
    "tls_verify": {"type": "bool", "default": True},
    "ca_path": {"type": "path"},
    "serial": {"type": "str"},
    "state": {
        "type": "str",
        "default": "checked",
        "choices": ["checked", "present", "booted-from", "ejected", "powered"],
    },
    "image": {"type": "str"},
    "power": {"type": "str", "choices": ["on", "off", "restart"]},
    "power_timeout": {"type": "int", "default": 300},
    "media_timeout": {"type": "int", "default": 180},
}
NEED = [("state", "present", ["image"]), ("state", "booted-from", ["image"]), ("state", "powered", ["power"])]


def main() -> None:
    """Run the module."""
    module = AnsibleModule(argument_spec=ARGUMENTS, required_if=NEED, supports_check_mode=True)
    if KVPLAN_ERROR:
        module.fail_json(msg=missing_required_lib("kvplan[deploy]"), exception=KVPLAN_ERROR)
    try:
        with _controller(module.params) as controller:
            result = run(controller, module.params, check=module.check_mode)
    except RedfishError as error:
        module.fail_json(msg=f"{error.message}; {error.remedy}", message_id=error.message_id, remedy=error.remedy)
    module.exit_json(**result)


def run(controller: Controller, wanted: dict[str, Any], *, check: bool) -> dict[str, Any]:
    """Bring a server to the state that is wanted, and say what was done."""
    state = wanted["state"]
    if wanted["serial"]:
        controller.require_serial(wanted["serial"])
    if state in {"checked", "present", "booted-from"}:
        controller.require_licence()
    before = _seen(controller)
    planned = _planned(before, wanted)
    changed = planned != before
    if changed and not check:
        _act(controller, wanted)
    after = planned if check or not changed else {**planned, **_seen(controller)}
    identity = controller.identify()
    result = {"changed": changed, "serial": identity.serial, "model": identity.model}
    return {**result, "power": after["power"], "images": after["images"], "diff": {"before": before, "after": after}}


def _planned(before: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """Say what a server should show afterwards; a start counts as a change, whatever it was before."""
    state = wanted["state"]
    if state == "present":
        named = [wanted["image"].rpartition("/")[2]]  # all that some controllers show
        return before if before["images"] == named else {**before, "images": [wanted["image"]]}
    if state == "booted-from":
        return {"power": "On", "images": [wanted["image"]], "started_from": wanted["image"]}
    if state == "ejected":
        return {**before, "images": []}
    if state == "powered" and wanted["power"] == "restart":
        return {**before, "power": "On", "started_from": "its own boot order"}
    return {**before, "power": wanted["power"].capitalize()} if state == "powered" else before


def _act(controller: Controller, wanted: dict[str, Any]) -> None:
    """Do what is wanted."""
    if wanted["state"] == "present":
        controller.insert(wanted["image"])
    elif wanted["state"] == "booted-from":
        controller.boot_from(wanted["image"])
    elif wanted["state"] == "ejected":
        controller.eject()
    else:
        controller.power(wanted["power"])


def _seen(controller: Controller) -> dict[str, Any]:
    """Read what a server shows."""
    return {"power": controller.identify().power, "images": list(controller.inserted())}


def _controller(given: dict[str, Any]) -> Controller:
    """Open the controller."""
    host = f"[{given['address']}]" if ":" in given["address"] else given["address"]
    url = given["address"] if "://" in given["address"] else f"https://{host}:{given['port']}"
    ca_path = Path(given["ca_path"]) if given["ca_path"] else True
    return Controller(
        url,
        given["username"],
        given["password"],
        given["kind"],
        verify=ca_path if given["tls_verify"] else False,
        timing=Timing(power_s=given["power_timeout"], media_s=given["media_timeout"]),
    )


if __name__ == "__main__":
    main()
