"""What goes wrong at a controller: every time one class, with the message's id, what happened, and what to do."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from redfish_cases import CREDENTIALS, MACHINE, Clock, bench

from kvplan.deploy.redfish.controller import Controller
from kvplan.deploy.redfish.errors import RedfishError, Trouble
from kvplan.deploy.redfish.timing import Timing
from kvplan.errors import ExitCode
from kvplan.site.media.server import serving
from kvplan.twin.bmc import changes
from kvplan.twin.bmc.emulation import emulated
from kvplan.twin.bmc.profiles import CLEAN, PROFILES
from kvplan.twin.bmc.tree import tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kvplan.twin.bmc.machine import State

URL = "http://192.0.2.1/kv/a.iso"
X10 = PROFILES["x10-config-cd"]


@pytest.mark.parametrize(
    ("profile", "act", "message_id", "what"),
    [
        (replace(CLEAN, insert_s=1000), lambda it: it.insert(URL), Trouble.IMAGE_NOT_CONNECTED, "within 180 s"),
        (replace(CLEAN, power_s=1000), lambda it: it.power("on"), Trouble.POWER_LATE, "be on within 300 s"),
        (replace(CLEAN, boot_targets=("None", "Hdd")), lambda it: it.boot_once(), Trouble.NO_BOOT_FROM_CD, "None, Hdd"),
        (replace(CLEAN, slots=()), lambda it: it.insert(URL), Trouble.NO_VIRTUAL_DRIVE, "no virtual drive"),
        (replace(CLEAN, media_types=("Floppy",)), lambda it: it.insert(URL), Trouble.NO_VIRTUAL_DRIVE, "disc image"),
        (replace(CLEAN, busy_every=1), lambda it: it.identify(), "ServiceTemporarilyUnavailable", "answers 503"),
        (replace(CLEAN, if_match=True, stale_etags=99), lambda it: it.boot_once(), "PreconditionFailed", "answers 412"),
        (CLEAN, lambda it: it.insert("nfs://192.0.2.1/a.iso"), "PropertyValueNotInList", "answers 400"),
        (CLEAN, lambda it: it.require_serial("S999"), Trouble.SERIAL_DIFFERS, f"serial {MACHINE.serial}, not S999"),
        (X10, lambda it: it.insert(URL.replace("http", "https")), Trouble.MEDIA_NEED_HTTP, "plain HTTP only"),
    ],
)
def test_a_failure_has_a_name_and_a_remedy(
    profile: Any, act: Callable[[Controller], object], message_id: str, what: str
) -> None:
    with bench(profile) as one, one.controller() as controller, pytest.raises(RedfishError) as failure:
        act(controller)
    error = failure.value
    assert error.message_id.endswith(message_id)
    assert what in error.what
    assert error.message == f"{error.what} [{error.message_id}]"
    assert error.hint == error.remedy != ""
    assert error.exit_code == ExitCode.DEPLOY_FAILED
    assert one.state.sessions == {}


def test_a_power_state_that_never_settles_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    _altered(monkeypatch, lambda resource: resource.update(PowerState="PoweringOn"))
    with (
        bench() as one,
        one.controller(power_s=60) as controller,
        pytest.raises(RedfishError, match="does not settle within 60 s"),
    ):
        controller.power("off")
    assert one.clock() >= 60


def test_a_restart_that_is_always_refused_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    _altered(monkeypatch, lambda resource: resource.update(PowerState="On"))
    with (
        bench(PROFILES["no-restart-when-off"]) as one,
        one.controller() as controller,
        pytest.raises(RedfishError, match="does not restart within"),
    ):
        controller.power("restart")
    assert one.started == []


def test_a_reset_that_fails_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kvplan.twin.bmc.machine.STARTS", ())
    with bench() as one, one.controller() as controller, pytest.raises(RedfishError, match="PropertyValueNotInList"):
        controller.power("on")
    assert one.clock() == 0


def test_an_image_that_stays_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "_disconnect", lambda *_: None)
    for profile in (CLEAN, X10):
        with bench(profile) as one, one.controller(media_s=20) as controller:
            controller.insert(URL)
            with pytest.raises(RedfishError, match=f"keeps {URL} connected") as failure:
                controller.eject()
        assert failure.value.message_id == Trouble.IMAGE_NOT_EJECTED


def test_an_old_controller_that_never_mounts_is_told() -> None:
    with bench(X10) as one, one.controller(tries=3) as controller:
        one.state.mount_refusals_left = 99
        with pytest.raises(RedfishError, match="answers 500"):
            controller.insert(URL)
        assert one.state.mount_refusals_left == 96


def test_an_old_controller_without_licence_is_not_asked_again() -> None:
    with (
        bench(replace(X10, licensed=False)) as one,
        one.controller() as controller,
        pytest.raises(RedfishError, match="SFT-DCMS-SINGLE"),
    ):
        controller.insert(URL)
    assert one.clock() == 0


def test_an_override_for_every_boot_is_an_error_unless_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def always(resource: dict[str, Any]) -> None:
        if resource["Boot"]["BootSourceOverrideEnabled"] == "Once":
            resource["Boot"]["BootSourceOverrideEnabled"] = "Continuous"

    _altered(monkeypatch, always)
    with bench() as one, one.controller() as controller:
        with pytest.raises(RedfishError, match="Enabled Continuous") as failure:
            controller.boot_once()
        assert failure.value.message_id == Trouble.BOOT_OVERRIDE_CONTINUOUS
        assert controller.boot_once(once_only=False) is False
        assert controller.boot_override() == {"enabled": "Continuous", "target": "UsbCd", "mode": "UEFI"}
    assert one.started == []


def test_a_service_without_a_bootable_system_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    _altered(monkeypatch, lambda resource: resource.pop("Boot"))
    with bench() as one, one.controller() as controller, pytest.raises(RedfishError) as failure:
        controller.identify()
    assert failure.value.message_id == Trouble.NO_SYSTEM
    assert one.url in failure.value.what


def test_a_service_that_leaves_out_what_the_standard_wants_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    _altered(monkeypatch, lambda resource: resource.pop("Actions"))
    with bench() as one, one.controller() as controller, pytest.raises(RedfishError, match="'Actions'") as failure:
        controller.power("on")
    assert failure.value.message_id == Trouble.NOT_REDFISH
    assert one.started == []


def test_a_machine_that_does_not_start_is_told() -> None:
    def broken(*_: object) -> None:
        msg = "no container"
        raise RuntimeError(msg)

    told = pytest.raises(RedfishError, match="answers 500: The machine did not start: no container")
    with emulated([MACHINE], credentials=CREDENTIALS, on_boot=broken) as emulation, told:
        Controller(emulation.urls[MACHINE.name], *CREDENTIALS).power("on")


def test_an_old_controller_that_loses_its_configuration_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with bench(X10) as one, one.controller() as controller:
        assert controller.inserted() == ()
        monkeypatch.setattr("kvplan.deploy.redfish.old_media._configuration", lambda _: None)
        monkeypatch.setattr("kvplan.deploy.redfish.old_media.exists", lambda _: True)
        with pytest.raises(RedfishError, match="shows its virtual media no more"):
            controller.inserted()
    assert one.state.sessions == {}


def test_a_wrong_password_is_told_without_showing_it() -> None:
    with (
        bench() as one,
        Controller(one.url, "ADMIN", "canary-wrong") as controller,
        pytest.raises(RedfishError, match="answers 401") as failure,
    ):
        controller.identify()
    assert "password" in failure.value.remedy
    assert "canary" not in f"{failure.value.message}{failure.value.hint}{failure.value.__cause__}"


def test_a_controller_that_is_not_there_is_asked_three_times() -> None:
    clock = Clock()
    with bench() as one:
        url = one.url
    with (
        Controller(url, *CREDENTIALS, timing=Timing(now=clock, sleep=clock.sleep)) as controller,
        pytest.raises(RedfishError, match="NotReached"),
    ):
        controller.identify()
    assert clock() == 6


def test_what_is_no_redfish_service_is_told(tmp_path: Path) -> None:
    with (
        serving(tmp_path, "127.0.0.1", 0) as other,
        Controller(other.url, *CREDENTIALS) as controller,
        pytest.raises(RedfishError, match="answers 404") as failure,
    ):
        controller.identify()
    assert "no Redfish service" in failure.value.remedy


def test_a_root_without_systems_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    root = {"/redfish/v1": {"Id": "Root", "Name": "Root"}}
    monkeypatch.setattr("kvplan.twin.bmc.server.tree", lambda state: tree(state) | root)
    with bench() as one, one.controller() as controller, pytest.raises(RedfishError) as failure:
        controller.identify()
    assert failure.value.message_id == Trouble.NOT_REDFISH


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_a_certificate_is_verified_where_it_is_asked() -> None:
    clock = Clock()
    timing = Timing(now=clock, sleep=clock.sleep)
    with emulated([MACHINE], tls=True, credentials=CREDENTIALS) as emulation:
        address = emulation.urls[MACHINE.name].removeprefix("https://")
        for verify in (emulation.certificate, False):
            assert verify is not None
            with Controller(address, *CREDENTIALS, verify=verify, timing=timing) as controller:
                assert controller.identify().serial == MACHINE.serial
        with (
            Controller(address, *CREDENTIALS, timing=timing) as controller,
            pytest.raises(RedfishError, match="CERTIFICATE_VERIFY_FAILED") as failure,
        ):
            controller.identify()
    assert "certificate" in failure.value.remedy


def test_without_sushy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sushy", None)
    with pytest.raises(RedfishError, match="sushy is not installed") as failure:
        Controller("192.0.2.9", *CREDENTIALS)
    assert "kvplan[deploy]" in failure.value.remedy


def _altered(monkeypatch: pytest.MonkeyPatch, edit: Callable[[dict[str, Any]], object]) -> None:
    """Let the controller show another system than it should."""

    def altered(state: State) -> dict[str, dict[str, Any]]:
        resources = tree(state)
        edit(resources["/redfish/v1/Systems/1"])
        return resources

    monkeypatch.setattr("kvplan.twin.bmc.server.tree", altered)
