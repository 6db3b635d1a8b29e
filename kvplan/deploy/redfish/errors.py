"""What goes wrong at a controller, in one class, with what to do about it."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from kvplan.errors import ExitCode, KvplanError


class Trouble(StrEnum):
    """What a controller has no message for, for it reported success or was not reached."""

    BOOT_OVERRIDE_CONTINUOUS = "Kvplan.BootOverrideContinuous"
    BOOT_OVERRIDE_LOST = "Kvplan.BootOverrideLost"
    IMAGE_NOT_CONNECTED = "Kvplan.ImageNotConnected"
    IMAGE_NOT_EJECTED = "Kvplan.ImageNotEjected"
    MEDIA_NEED_HTTP = "Kvplan.MediaNeedHttp"
    NO_BOOT_FROM_CD = "Kvplan.NoBootFromCd"
    NO_SYSTEM = "Kvplan.NoSystem"
    NO_VIRTUAL_DRIVE = "Kvplan.NoVirtualDrive"
    NOT_REACHED = "Kvplan.NotReached"
    NOT_REDFISH = "Kvplan.NotRedfish"
    POWER_LATE = "Kvplan.PowerLate"
    SERIAL_DIFFERS = "Kvplan.SerialDiffers"
    SUSHY_MISSING = "Kvplan.SushyMissing"


_LICENCE: Final = "OemLicenseNotPassed"
_REMEDIES: Final = {
    Trouble.BOOT_OVERRIDE_CONTINUOUS: "update the controller's firmware: it would boot the image again and again",
    Trouble.BOOT_OVERRIDE_LOST: (
        "set UEFI mode and the virtual CD before the drives in the BIOS's boot order, or update BIOS and controller"
    ),
    Trouble.IMAGE_NOT_CONNECTED: (
        "see that the controller reaches the media server; keep the URL short, by address, ending in .iso"
    ),
    Trouble.IMAGE_NOT_EJECTED: "eject it in the controller's web interface, then run this again",
    Trouble.MEDIA_NEED_HTTP: "serve the image over http://",
    Trouble.NO_BOOT_FROM_CD: "enable the virtual CD in the BIOS, or update the BIOS",
    Trouble.NO_SYSTEM: "check the address; update the controller's firmware",
    Trouble.NO_VIRTUAL_DRIVE: "enable virtual media at the controller, or update its firmware",
    Trouble.NOT_REACHED: "check the controller's address, its cable, and its certificate where that is verified",
    Trouble.NOT_REDFISH: "check the address; update the controller's firmware",
    Trouble.POWER_LATE: "look at the server's console; restart the controller, then run this again",
    Trouble.SERIAL_DIFFERS: "correct the serial or the controller's address in the Site",
    Trouble.SUSHY_MISSING: "pip install 'kvplan[deploy]'",
    _LICENCE: (
        "activate the licence SFT-DCMS-SINGLE (or SFT-OOB-LIC) on this server, in the controller's web interface or "
        "by POST to /redfish/v1/Managers/1/LicenseManager/ActivateLicense"
    ),
    "SessionLimitExceeded": "close sessions of other users at the controller, or wait until they time out",
    "ActionParameterNotSupported": "update the controller's firmware, or set `kind` as the board is",
    "401": "check the user and the password of the controller",
    "403": "give the user the role Administrator at the controller",
    "404": "check the address; this may be no Redfish service, or one of another kind",
    "409": "wait until the controller has done what it is at, then run this again",
    "412": "see whether somebody else changes this controller, then run this again",
    "428": "update the controller's firmware: it asks for an ETag that it does not give",
    "503": "wait a minute, then run this again; restart the controller if that does not help",
}
"""What to do, by the message or its last word, or else by the status."""
_UNKNOWN: Final = "look at the controller's own log; update its firmware if this comes again"


class RedfishError(KvplanError):
    """A controller did not do what was asked: the message that says so, in words, and the remedy.

    `message_id` is the controller's own, or one of `Trouble`.
    """

    exit_code = ExitCode.DEPLOY_FAILED

    def __init__(self, message_id: str, what: str, status: int = 0) -> None:
        known = (_REMEDIES.get(key) for key in (message_id, message_id.rpartition(".")[2], str(status)))
        self.message_id = str(message_id)
        self.what = what
        self.remedy = next(filter(None, known), _UNKNOWN)
        super().__init__(f"{what} [{message_id}]", hint=self.remedy)

    @classmethod
    def licence_missing(cls, address: str, message_id: str = f"SMC.1.0.{_LICENCE}") -> RedfishError:
        """Say that a server lacks its licence."""
        return cls(message_id, f"{address} lacks the licence SFT-DCMS-SINGLE, which virtual media need")

    @classmethod
    def of(cls, address: str, error: Any) -> RedfishError:
        """Build the error from one of sushy's.

        Parameters
        ----------
        address
            The controller.
        error
            What was raised.

        Returns
        -------
        RedfishError
            The same, with a remedy.
        """
        status = getattr(error, "status_code", None)
        if status is None:
            reached = type(error).__name__ != "ConnectionError"
            return cls(Trouble.NOT_REDFISH if reached else Trouble.NOT_REACHED, f"{address}: {error}")
        message_id = message_ids(error)[-1]
        if message_id.endswith(_LICENCE):
            return cls.licence_missing(address, message_id)
        return cls(message_id, f"{address} answers {status}: {error.detail or 'no reason given'}", status)


def message_ids(error: Any) -> tuple[str, ...]:
    """List the ids of a refusal's messages: the general one, then those that say more."""
    details = error.extended_info if isinstance(error.extended_info, list) else []
    return (str(error.code), *(str(detail["MessageId"]) for detail in details if detail.get("MessageId")))
