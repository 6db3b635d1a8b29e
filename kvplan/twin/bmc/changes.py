"""What requests change at a controller: the boot override, virtual drives, power, sessions."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from kvplan.twin.bmc.machine import LEGACY, RESTARTS, STOPS, Boot
from kvplan.twin.bmc.refusal import Refusal
from kvplan.twin.bmc.tree import ROOT, SESSIONS, boot_path, licence_path, media_path, system_path, tree

if TYPE_CHECKING:
    from kvplan.twin.bmc.machine import Slot, State

_TASK = f"{ROOT}/TaskService/Tasks/1"
_PREFIX = "BootSourceOverride"
_MODE = f"{_PREFIX}Mode"
_HOST = "Host"
_WEB = ("http://", "https://")


class Answer(NamedTuple):
    """A status, a body, headers, whether the machine lost its power, and what it starts from where it does."""

    status: int
    body: dict[str, Any] | None = None
    headers: tuple[tuple[str, str], ...] = ()
    stopped: bool = False
    boot: Boot | None = None


def changed(state: State, path: str, body: dict[str, Any]) -> Answer:
    """Carry out a PATCH.

    Parameters
    ----------
    state
        The controller's state.
    path
        The resource.
    body
        What to change.

    Returns
    -------
    Answer
        The answer.

    Raises
    ------
    Refusal
        When it is refused.
    """
    if path == boot_path(state):
        _override(state, body.get("Boot") or {})
    elif path == f"{media_path(state)}/CfgCD" and state.profile.configured_cd:
        _need_licence(state)
        state.configured |= {key: str(body[key]) for key in ("Host", "Path") if key in body}
    elif path in tree(state):
        raise Refusal.not_writable(next(iter(body), "Boot"))
    else:
        raise Refusal.not_found(path)
    return Answer(200, {})


def done(state: State, path: str, body: dict[str, Any]) -> Answer:
    """Carry out a POST.

    Parameters
    ----------
    state
        The controller's state.
    path
        The action.
    body
        Its parameters.

    Returns
    -------
    Answer
        The answer.

    Raises
    ------
    Refusal
        When it is refused.
    """
    if path == f"{system_path(state)}/Actions/ComputerSystem.Reset":
        return pressed(state, str(body.get("ResetType")))
    if path == licence_path(state).replace("QueryLicense", "ActivateLicense"):
        state.licensed = True
        return Answer(200, {})
    resource, _, action = path.rpartition("/Actions/")
    top, _, name = resource.rpartition("/")
    if top == media_path(state) and (name == "CfgCD") == action.startswith("IsoConfig."):
        _need_licence(state)
        return _media_action(state, name, action, body)
    raise Refusal.not_found(path)


def pressed(state: State, kind: str) -> Answer:
    """Change the power.

    Parameters
    ----------
    state
        The controller's state.
    kind
        A `ResetType`.

    Returns
    -------
    Answer
        The answer.

    Raises
    ------
    Refusal
        When the type is unknown, or does not fit the state.
    """
    before = state.powered
    boot = state.reset(kind)
    return Answer(204, stopped=before and kind in STOPS + RESTARTS, boot=boot)


def opened(state: State, body: dict[str, Any]) -> Answer:
    """Open a session, for credentials that were seen to be right.

    Parameters
    ----------
    state
        The controller's state.
    body
        Who opens it.

    Returns
    -------
    Answer
        The answer, with its token.

    Raises
    ------
    Refusal
        When there are too many.
    """
    if len(state.sessions) >= state.profile.max_sessions:
        raise Refusal.sessions_full()
    key, token = secrets.token_hex(4), secrets.token_hex(16)
    state.sessions[key] = token
    state.most_sessions = max(state.most_sessions, len(state.sessions))
    path = f"{SESSIONS}/{key}"
    resource = {"@odata.id": path, "Id": key, "Name": "Session", "UserName": body.get("UserName")}
    return Answer(201, resource, (("X-Auth-Token", token), ("Location", path)))


def closed(state: State, path: str) -> Answer:
    """Close a session.

    Parameters
    ----------
    state
        The controller's state.
    path
        The session.

    Returns
    -------
    Answer
        The answer.

    Raises
    ------
    Refusal
        When there is no such session.
    """
    if not path.startswith(f"{SESSIONS}/") or state.sessions.pop(path.rpartition("/")[2], None) is None:
        raise Refusal.not_found(path)
    return Answer(204)


def _need_licence(state: State) -> None:
    """Refuse what needs a licence, where there is none."""
    if not state.licensed:
        raise Refusal.licence_missing()


def _override(state: State, boot: dict[str, Any]) -> None:
    """Change the boot override, or say so and forget it."""
    profile = state.profile
    change = {key.removeprefix(_PREFIX).lower(): value for key, value in boot.items() if key.startswith(_PREFIX)}
    if change.get("target", "None") not in profile.boot_targets:
        raise Refusal.value_unknown(change["target"], f"{_PREFIX}Target")
    if "mode" in change and profile.mode in {"read-only", "absent"}:
        raise Refusal.not_writable(_MODE)
    if state.losses_left:
        state.losses_left -= 1
        change = {"enabled": "Disabled", "mode": LEGACY}
    elif profile.mode == "resets":
        change = {"mode": LEGACY, **change}
    state.override |= change


def _media_action(state: State, name: str, action: str, body: dict[str, Any]) -> Answer:
    """Insert or eject."""
    if name == "CfgCD":
        return _iso_config(state, action)
    slot = state.slots.get(name)
    if slot and action == "VirtualMedia.EjectMedia":
        _disconnect(state, slot)
        return Answer(204)
    if slot and action == "VirtualMedia.InsertMedia" and name not in state.profile.eject_only_slots:
        return _insert(state, slot, body)
    raise Refusal.not_found(action)


def _insert(state: State, slot: Slot, body: dict[str, Any]) -> Answer:
    """Insert an image, by a task where the controller takes its time."""
    profile = state.profile
    for key in body:
        if key not in profile.insert_keys:
            raise Refusal.parameter_unknown(key)
    for key in profile.insert_required:
        if key not in body:
            raise Refusal.parameter_missing(key)
    if state.connected(slot):
        raise Refusal(409, "Base.1.13.ResourceInUse", "The virtual drive has an image already.")
    if not str(body["Image"]).startswith(_WEB):
        raise Refusal.value_unknown(body["Image"], "Image")
    slot.image, slot.connected, slot.ready_s = str(body["Image"]), True, state.clock() + profile.insert_s
    if profile.insert_task:
        return Answer(202, {"@odata.id": _TASK, "Id": "1", "TaskState": "Running"}, (("Location", _TASK),))
    return Answer(204)


def _iso_config(state: State, action: str) -> Answer:
    """Mount or unmount as old controllers do; a mount soon after an unmount is refused."""
    slot = state.slots["CD1"]
    if action == "IsoConfig.UnMount":
        if slot.connected:
            state.mount_refusals_left = state.profile.mount_refusals
        _disconnect(state, slot)
        return Answer(200, {})
    if action != "IsoConfig.Mount":
        raise Refusal.not_found(action)
    if state.mount_refusals_left:
        state.mount_refusals_left -= 1
        raise Refusal(500, "Base.1.0.InternalError", "The request failed due to an internal service error.")
    host, path = state.configured["Host"], state.configured["Path"]
    if not (host and path):
        raise Refusal.parameter_missing(_HOST)
    web = host if host.startswith(_WEB) else f"http://{host}"
    slot.image, slot.connected = f"{web}{path}", True
    return Answer(200, {})


def _disconnect(state: State, slot: Slot) -> None:
    """Take an image out; its name stays where the controller forgets to clear it."""
    slot.connected = False
    if not state.profile.names_stay:
        slot.image = None
