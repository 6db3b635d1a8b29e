"""One boot from the virtual CD by UEFI: set, read back, and set again where the controller lost it."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kvplan.deploy.redfish.errors import RedfishError, Trouble, message_ids
from kvplan.deploy.redfish.link import status_of

if TYPE_CHECKING:
    from kvplan.deploy.redfish.link import Link

_PREFIX: Final = "BootSourceOverride"
_ENABLED, _TARGET, _MODE = f"{_PREFIX}Enabled", f"{_PREFIX}Target", f"{_PREFIX}Mode"
_ALLOWED: Final = f"{_TARGET}@Redfish.AllowableValues"
_OURS: Final = ("UefiUsbCd", "UsbCd", "UefiCd", "Cd")
"""What reaches the virtual CD of a Supermicro board: it is a USB drive there, even where `Cd` is listed."""
_OTHERS: Final = ("Cd", "UsbCd")
_STALE: Final = (HTTPStatus.PRECONDITION_FAILED, HTTPStatus.PRECONDITION_REQUIRED)
_MODE_REFUSED: Final = ("PropertyNotWritable", "PropertyUnknown", "PropertyValueNotInList")


class _Override(NamedTuple):
    """Where the boot override is changed, what it is, and its version."""

    path: str
    boot: dict[str, Any]
    version: str | None


def boot_override(link: Link) -> dict[str, str | None]:
    """Read the boot override: `enabled`, `target` and `mode`."""
    boot = _read(link).boot
    return {"enabled": boot.get(_ENABLED), "target": boot.get(_TARGET), "mode": boot.get(_MODE)}


def boot_once(link: Link, *, once_only: bool = True) -> bool:
    """Let the next boot, and only that, be from the virtual CD by UEFI.

    Parameters
    ----------
    link
        The controller.
    once_only
        Whether a controller that keeps the override for every boot is an error.

    Returns
    -------
    bool
        Whether it had to be set.

    Raises
    ------
    RedfishError
        When the controller does not keep it.
    """
    with_mode = True
    for attempt in range(link.timing.tries):
        override = _read(link)
        wanted = _wanted(link, override.boot, with_mode=with_mode)
        if _kept(override.boot, wanted, once_only=once_only):
            return attempt > 0
        if attempt:
            link.timing.sleep(link.timing.retry_s)
        with_mode = _set(link, override, wanted, stale_passes=attempt < link.timing.tries - 1)
    override = _read(link)
    if _kept(override.boot, _wanted(link, override.boot, with_mode=with_mode), once_only=once_only):
        return True
    raise _lost(link, override.boot)


def _read(link: Link) -> _Override:
    """Read the override from the resource that takes changes of it."""
    body, version = link.read(link.system.path)
    future = (body.get("@Redfish.Settings") or {}).get("SettingsObject", {}).get("@odata.id")
    if future:
        settings, settings_version = link.read(future)
        if _TARGET in (settings.get("Boot") or {}):
            shown = {**(body.get("Boot") or {}), **settings["Boot"]}
            return _Override(future, shown, settings_version)
    return _Override(link.system.path, body.get("Boot") or {}, version)


def _wanted(link: Link, boot: dict[str, Any], *, with_mode: bool) -> dict[str, str]:
    """Say what to set; the mode only where it is shown, and always then, for some fall back to Legacy without."""
    wanted = {_ENABLED: "Once", _TARGET: _target(link, boot.get(_ALLOWED) or [])}
    return wanted | {_MODE: "UEFI"} if with_mode and _MODE in boot else wanted


def _target(link: Link, allowed: list[str]) -> str:
    """Choose the target that reaches the virtual CD."""
    maker = str(link.system.json.get("Manufacturer") or "").lower().replace(" ", "")
    ours = link.kind.startswith("supermicro") or maker.startswith("supermicro")
    found = next((target for target in (_OURS if ours else _OTHERS) if target in allowed), None)
    if found is None and allowed:
        what = f"{link.address} can not boot from a CD: it knows {', '.join(allowed)}"
        raise RedfishError(Trouble.NO_BOOT_FROM_CD, what)
    return found or _OTHERS[0]


def _kept(boot: dict[str, Any], wanted: dict[str, str], *, once_only: bool) -> bool:
    """Tell whether the override is as wanted, and by UEFI where its mode is shown."""
    enabled = ("Once",) if once_only else ("Once", "Continuous")
    return boot.get(_TARGET) == wanted[_TARGET] and boot.get(_ENABLED) in enabled and boot.get(_MODE) in {None, "UEFI"}


def _set(link: Link, override: _Override, wanted: dict[str, str], *, stale_passes: bool) -> bool:
    """Set the override, and tell whether its mode can be set at all."""
    try:
        link.change(override.path, {"Boot": wanted}, override.version)
    except link.http_error as error:
        if _MODE in wanted and any(message.endswith(_MODE_REFUSED) for message in message_ids(error)):
            return False
        if not (stale_passes and status_of(error) in _STALE):
            raise
    return _MODE in wanted


def _lost(link: Link, boot: dict[str, Any]) -> RedfishError:
    """Say that the controller did not keep the override."""
    shown = ", ".join(f"{key.removeprefix(_PREFIX)} {boot.get(key)}" for key in (_ENABLED, _TARGET, _MODE))
    what = f"{link.address} does not keep the boot override: it shows {shown} after it accepted one boot from the CD"
    continuous = boot.get(_ENABLED) == "Continuous"
    return RedfishError(Trouble.BOOT_OVERRIDE_CONTINUOUS if continuous else Trouble.BOOT_OVERRIDE_LOST, what)
