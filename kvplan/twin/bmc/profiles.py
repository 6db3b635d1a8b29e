"""How controllers behave: one that follows the standard, and those that do not, each as a record of its differences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

_INSERT_KEYS: Final = (
    "Image",
    "Inserted",
    "WriteProtected",
    "TransferProtocolType",
    "TransferMethod",
    "UserName",
    "Password",
)
_ALWAYS: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The behaviour of one kind of controller; the defaults are those of one that does as the standard says.

    `cd_targets` are the boot targets that reach the virtual drive. `mode` says what becomes of the override's mode:
    kept as it is set, back to Legacy in each change that does not set it, refused in a change, or not there at all.
    Durations are in the seconds of the emulation's clock.
    """

    name: str
    source: str
    manufacturer: str = "Supermicro"
    redfish_version: str = "1.14.0"
    system: str = "1"
    manager: str = "1"
    boot_targets: tuple[str, ...] = ("None", "Pxe", "Hdd", "Cd", "UsbCd", "BiosSetup")
    cd_targets: frozenset[str] = frozenset({"Cd", "UsbCd"})
    mode: Literal["kept", "resets", "read-only", "absent"] = "kept"
    settings: bool = False
    override_losses: int = 0
    slots: tuple[str, ...] = ("VirtualMedia1",)
    eject_only_slots: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ("CD", "DVD")
    empty_image_shown: bool = True
    insert_keys: tuple[str, ...] = _INSERT_KEYS
    insert_required: tuple[str, ...] = ("Image",)
    insert_task: bool = False
    insert_s: float = 0
    names_stay: bool = False
    configured_cd: bool = False
    mount_refusals: int = 0
    restarts_when_off: bool = True
    power_s: float = 0
    licensed: bool = True
    licence_covers: Literal["media", "systems"] = "media"
    busy_every: int = 0
    max_sessions: int = 8
    if_match: bool = False
    stale_etags: int = 0
    html_errors: bool = False


CLEAN: Final = Profile(name="clean", source="DMTF DSP0266 and DSP2046: a service that follows the standard")

_X10: Final = replace(
    CLEAN,
    name="x10-config-cd",
    source="spyroot/redfish_ctl: captured trees of X10; quadsproject/badfish#394",
    redfish_version="1.0.1",
    configured_cd=True,
    mount_refusals=2,
    boot_targets=("None", "Pxe", "Hdd", "CD/DVD", "UsbCd", "UefiCd", "UefiUsbCd", "BiosSetup"),
    cd_targets=frozenset({"UefiUsbCd"}),
    mode="absent",
    html_errors=True,
)

_OPENBMC: Final = replace(
    CLEAN,
    name="openbmc",
    source="OpenBMC as on Supermicro GB NVL systems",
    redfish_version="1.17.0",
    system="System_0",
    manager="BMC_0",
    slots=("USB1", "USB2"),
    eject_only_slots=("Slot_0",),
    media_types=("CD", "USBStick"),
    empty_image_shown=False,
    settings=True,
    boot_targets=("None", "Pxe", "Hdd", "Cd", "Diags", "BiosSetup", "Usb"),
    cd_targets=frozenset({"Cd"}),
)

_ALL: Final = (
    CLEAN,
    replace(
        CLEAN,
        name="extra-keys-rejected",
        source="openstack/sushy: Supermicro X11 and X12 refuse Inserted and WriteProtected",
        insert_keys=("Image", "TransferProtocolType", "UserName", "Password"),
    ),
    replace(
        CLEAN,
        name="only-usbcd-boots",
        source="openstack/sushy: Supermicro X11 and X12; redhat-performance/jetlag PR#152",
        cd_targets=frozenset({"UsbCd"}),
    ),
    replace(
        CLEAN,
        name="stale-image-name",
        source="ansible-collections/community.general PR#12537: X12STW and H13SRD-F",
        names_stay=True,
    ),
    replace(
        CLEAN,
        name="protocol-required",
        source="openstack/sushy: TransferProtocolType is mandatory on some controllers",
        insert_required=("Image", "TransferProtocolType"),
    ),
    replace(CLEAN, name="mode-resets", source="DMTF/Redfishtool PR#106", mode="resets"),
    replace(
        CLEAN,
        name="mode-read-only",
        source="ansible-collections/community.general#3509; ironcore-dev/metal-operator#982",
        mode="read-only",
    ),
    replace(
        CLEAN,
        name="no-restart-when-off",
        source="DMTF DSP0266: a reset that does not fit the state is refused",
        restarts_when_off=False,
    ),
    replace(
        CLEAN,
        name="no-licence",
        source="metal3-io/ironic-image#688; fwupd/fwupd PR#5128",
        licensed=False,
    ),
    replace(
        CLEAN,
        name="no-licence-systems",
        source="bb-Ricardo/check_redfish#74: older boards refuse the whole tree",
        licensed=False,
        licence_covers="systems",
    ),
    _X10,
    replace(
        CLEAN,
        name="ami-override-lost",
        source="bmc-toolbox/bmclib PR#459: Supermicro AS-1015CS-TNR",
        redfish_version="1.22.2",
        override_losses=_ALWAYS,
    ),
    replace(CLEAN, name="override-lost-once", source="bmc-toolbox/bmclib PR#459, now and then", override_losses=1),
    _OPENBMC,
    replace(CLEAN, name="busy", source="openstack/sushy: server-side retries", busy_every=4),
    replace(
        CLEAN,
        name="two-sessions",
        source="stmcginnis/gofish#75; theforeman/smart-proxy PR#895",
        max_sessions=2,
    ),
    replace(CLEAN, name="if-match", source="stmcginnis/gofish#171", if_match=True, stale_etags=1),
    replace(CLEAN, name="html-errors", source="lighttpd on older firmware answers 404 in HTML", html_errors=True),
    replace(
        CLEAN,
        name="slow-power",
        source="DMTF DSP2046: PowerState follows the reset later",
        power_s=20,
        restarts_when_off=False,
    ),
    replace(
        CLEAN,
        name="insert-task",
        source="DMTF DSP0266: asynchronous operations",
        insert_task=True,
        insert_s=15,
    ),
)

PROFILES: Final = {profile.name: profile for profile in _ALL}
