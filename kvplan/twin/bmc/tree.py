"""Every resource that a controller shows, built from its state."""

from __future__ import annotations

import hashlib
import json
from posixpath import basename
from typing import TYPE_CHECKING, Any

from kvplan.twin.bmc.machine import STARTS, STOPS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.twin.bmc.machine import Slot, State

ROOT = "/redfish/v1"
SESSIONS = f"{ROOT}/SessionService/Sessions"


def system_path(state: State) -> str:
    """Name the resource of the machine."""
    return f"{ROOT}/Systems/{state.profile.system}"


def manager_path(state: State) -> str:
    """Name the resource of the controller."""
    return f"{ROOT}/Managers/{state.profile.manager}"


def media_path(state: State) -> str:
    """Name the collection of virtual drives."""
    return f"{manager_path(state)}/{'VM1' if state.profile.configured_cd else 'VirtualMedia'}"


def boot_path(state: State) -> str:
    """Name the resource at which a boot override is changed."""
    return f"{system_path(state)}{'/Settings' if state.profile.settings else ''}"


def licence_path(state: State) -> str:
    """Name the resource of the vendor's licences."""
    return f"{manager_path(state)}/LicenseManager/QueryLicense"


def tree(state: State) -> dict[str, dict[str, Any]]:
    """Build the resources of a controller.

    Parameters
    ----------
    state
        Its state.

    Returns
    -------
    dict
        The resources by path.
    """
    resources = {
        ROOT: _root(state),
        f"{ROOT}/Systems": _collection(system_path(state)),
        f"{ROOT}/Managers": _collection(manager_path(state)),
        f"{ROOT}/SessionService": {"Id": "SessionService", "Name": "Sessions", "Sessions": _link(SESSIONS)},
        SESSIONS: _collection(*(f"{SESSIONS}/{key}" for key in state.sessions)),
        system_path(state): _system(state),
        manager_path(state): _manager(state),
        **_media(state),
    }
    if state.profile.settings:
        resources[boot_path(state)] = {"Id": "Settings", "Name": "Settings", "Boot": _boot(state)}
    if state.profile.manufacturer == "Supermicro" and not state.profile.html_errors:
        names = ["SFT-OOB-LIC", "SFT-DCMS-SINGLE"] if state.licensed else []
        resources[licence_path(state)] = {"Id": "License", "Name": "License", "Licenses": names}
    return {path: {"@odata.id": path, **resource} for path, resource in resources.items()}


def etag(resource: dict[str, Any]) -> str:
    """Name the version of a resource.

    >>> etag({"a": 1}) == etag({"a": 1}), etag({"a": 1}) == etag({"a": 2})
    (True, False)
    """
    text = json.dumps(resource, sort_keys=True)
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:16]}"'


def _link(path: str) -> dict[str, str]:
    """Point to a resource."""
    return {"@odata.id": path}


def _collection(*paths: str) -> dict[str, Any]:
    """List resources."""
    members: Iterable[dict[str, str]] = map(_link, paths)
    return {"Name": "Collection", "Members": list(members), "Members@odata.count": len(paths)}


def _root(state: State) -> dict[str, Any]:
    """Show the root, which is open to everybody."""
    root = {
        "Id": "RootService",
        "Name": "Root Service",
        "RedfishVersion": state.profile.redfish_version,
        "Systems": _link(f"{ROOT}/Systems"),
        "Managers": _link(f"{ROOT}/Managers"),
    }
    if state.profile.max_sessions:
        root |= {"SessionService": _link(f"{ROOT}/SessionService"), "Links": {"Sessions": _link(SESSIONS)}}
    return root


def _system(state: State) -> dict[str, Any]:
    """Show the machine."""
    path = system_path(state)
    system = {
        "Id": state.profile.system,
        "Name": "System",
        "SystemType": "Physical",
        "Manufacturer": state.profile.manufacturer,
        "Model": state.machine.model,
        "SerialNumber": state.machine.serial,
        "PowerState": state.power_shown(),
        "Boot": _boot(state),
        "Links": {"ManagedBy": [_link(manager_path(state))]},
        "Actions": {
            "#ComputerSystem.Reset": {
                "target": f"{path}/Actions/ComputerSystem.Reset",
                "ResetType@Redfish.AllowableValues": [*STARTS, *STOPS],
            }
        },
    }
    if state.profile.settings:
        system["@Redfish.Settings"] = {
            "@odata.type": "#Settings.v1_3_0.Settings",
            "SettingsObject": _link(f"{path}/Settings"),
        }
    return system


def _boot(state: State) -> dict[str, Any]:
    """Show the boot override."""
    override = state.override
    boot = {
        "BootSourceOverrideEnabled": override["enabled"],
        "BootSourceOverrideTarget": override["target"],
        "BootSourceOverrideTarget@Redfish.AllowableValues": list(state.profile.boot_targets),
    }
    return boot if state.profile.mode == "absent" else boot | {"BootSourceOverrideMode": override["mode"]}


def _manager(state: State) -> dict[str, Any]:
    """Show the controller itself."""
    return {
        "Id": state.profile.manager,
        "Name": "Manager",
        "ManagerType": "BMC",
        "VirtualMedia": _link(media_path(state)),
        "Links": {"ManagerForServers": [_link(system_path(state))]},
    }


def _media(state: State) -> dict[str, dict[str, Any]]:
    """Show the virtual drives; those of old controllers exist only while an image is mounted."""
    top, old = media_path(state), state.profile.configured_cd
    shown = {f"{top}/{slot.name}": slot for slot in state.slots.values() if not old or state.connected(slot)}
    resources = {top: _collection(*shown), **{path: _slot(state, path, slot) for path, slot in shown.items()}}
    if old:
        resources[top]["Oem"] = {"Supermicro": {"VirtualMediaConfig": _link(f"{top}/CfgCD")}}
        resources[f"{top}/CfgCD"] = _configured(state, f"{top}/CfgCD/Actions")
    return resources


def _configured(state: State, actions: str) -> dict[str, Any]:
    """Show where old controllers take their image from."""
    names = ("IsoConfig.Mount", "IsoConfig.UnMount")
    return {
        "Id": "CfgCD",
        "Name": "Virtual Media ISO Configuration",
        **state.configured,
        "Username": "",
        "Password": None,
        "Actions": {f"#{name}": {"target": f"{actions}/{name}"} for name in names},
    }


def _slot(state: State, path: str, slot: Slot) -> dict[str, Any]:
    """Show a virtual drive, with the names that some controllers forget to clear."""
    profile, connected = state.profile, state.connected(slot)
    shown = connected or (profile.names_stay and slot.image is not None)
    resource: dict[str, Any] = {
        "Id": slot.name,
        "Name": "Virtual Removable Media",
        "MediaTypes": list(profile.media_types),
        "ConnectedVia": "URI" if connected else "NotConnected",
        "Inserted": shown,
        "WriteProtected": True,
    }
    if profile.empty_image_shown or shown:
        resource["Image"] = slot.image if shown else None
        resource["ImageName"] = basename(slot.image or "") if shown else None
    actions = ["EjectMedia"] if slot.name in profile.eject_only_slots else ["InsertMedia", "EjectMedia"]
    if not profile.configured_cd:
        resource["Actions"] = {
            f"#VirtualMedia.{name}": {"target": f"{path}/Actions/VirtualMedia.{name}"} for name in actions
        }
    return resource
