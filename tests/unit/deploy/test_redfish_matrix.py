"""Two installations through controllers of every kind: each comes to its end, or to the error that names why not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from redfish_cases import MACHINE, Bench, bench, image_below

from kvplan.deploy.redfish import boot
from kvplan.deploy.redfish.errors import RedfishError
from kvplan.site.media.server import serving
from kvplan.twin.bmc.profiles import CLEAN, PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvplan.deploy.redfish.controller import Controller

FAIL = {
    "no-licence": "SMC.1.0.OemLicenseNotPassed",
    "no-licence-systems": "SMC.1.0.OemLicenseNotPassed",
    "ami-override-lost": "Kvplan.BootOverrideLost",
}
ASKING = {"GET", "HEAD"}


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("media")
    path = image_below(root)
    with serving(root, "127.0.0.1", 0) as server:
        yield f"{server.url}{path}"


@pytest.mark.parametrize("name", [name for name in PROFILES if name not in FAIL])
def test_two_installations_succeed(image: str, name: str) -> None:
    with bench(PROFILES[name]) as one, one.controller() as controller:
        for _ in range(2):
            assert controller.identify()[:2] == (MACHINE.serial, MACHINE.model)
            _installed(controller, image)
    assert one.started == [image, None] * 2
    assert one.state.most_sessions == 0


def test_all_that_can_be_borne_at_once_is_borne(image: str) -> None:
    odd = replace(
        PROFILES["only-usbcd-boots"],
        mode="resets",
        override_losses=2,
        insert_keys=("Image", "TransferProtocolType"),
        insert_required=("Image", "TransferProtocolType"),
        insert_task=True,
        insert_s=15,
        names_stay=True,
        restarts_when_off=False,
        power_s=20,
        busy_every=5,
        max_sessions=0,
        if_match=True,
        stale_etags=2,
        html_errors=True,
    )
    with bench(odd) as one, one.controller() as controller:
        for _ in range(2):
            _installed(controller, image)
    assert one.started == [image, None] * 2


def test_sessions_of_others_are_not_in_the_way(image: str) -> None:
    with bench(PROFILES["two-sessions"]) as one, one.controller() as controller:
        one.state.sessions.update(first="a", second="b")
        _installed(controller, image)
    assert one.state.sessions == {"first": "a", "second": "b"}


def test_an_override_that_is_kept_at_the_last_try_is_kept() -> None:
    with bench(replace(CLEAN, override_losses=9)) as one, one.controller(tries=10) as controller:
        assert controller.boot_once() is True
        assert one.state.override["enabled"] == "Once"


@pytest.mark.parametrize("name", FAIL)
def test_two_installations_fail_with_a_name_and_a_remedy(image: str, name: str) -> None:
    with bench(PROFILES[name]) as one, one.controller() as controller, pytest.raises(RedfishError) as failure:
        _installed(controller, image)
    assert failure.value.message_id == FAIL[name]
    assert failure.value.remedy
    assert one.started == []
    if name != "ami-override-lost":
        assert "SFT-DCMS-SINGLE" in failure.value.what
        assert "SFT-DCMS-SINGLE" in failure.value.remedy


@pytest.mark.parametrize("name", [name for name in PROFILES if name not in FAIL])
def test_what_is_done_is_not_done_again(image: str, name: str) -> None:
    with bench(PROFILES[name]) as one, one.controller() as controller:
        controller.power("off")
        acts: dict[str, Callable[[], bool]] = {
            "insert": lambda: controller.insert(image),
            "boot_once": controller.boot_once,
            "on": lambda: controller.power("on"),
            "eject": controller.eject,
            "off": lambda: controller.power("off"),
        }
        for doing, act in acts.items():
            assert act() is True
            before = len(one.state.requests)
            assert act() is False
            assert {method for method, _ in one.state.requests[before:]} <= ASKING, doing


def test_a_licence_lacking_is_found_before_anything_is_touched() -> None:
    for name in ("no-licence", "no-licence-systems"):
        with bench(PROFILES[name]) as one, one.controller() as controller:
            with pytest.raises(RedfishError, match="lacks the licence SFT-DCMS-SINGLE"):
                controller.require_licence()
            assert {method for method, _ in one.state.requests} == {"GET"}


def test_a_licence_refused_later_is_named_as_well(image: str) -> None:
    """Some firmware lists no licences: what it refuses then says what is missing."""
    quiet = replace(PROFILES["no-licence"], html_errors=True)
    with bench(quiet) as one, one.controller() as controller:
        controller.require_licence()
        with pytest.raises(RedfishError, match="OemLicenseNotPassed") as failure:
            controller.insert(image)
    assert "SFT-DCMS-SINGLE" in failure.value.remedy


def test_without_usbcd_the_matrix_would_see_the_drive_start(image: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boot, "_OURS", ("Cd",))
    with bench(PROFILES["only-usbcd-boots"]) as one, one.controller() as controller:
        controller.boot_from(image)
    assert one.started == [None]


def test_without_the_mode_the_read_back_sees_legacy(image: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boot, "_MODE", "BootSourceOverrideMode2")
    with bench(PROFILES["mode-resets"]) as one, one.controller() as controller:
        controller.boot_from(image)
    assert one.started == [None]
    monkeypatch.undo()
    monkeypatch.setattr(boot, "_wanted", _without_mode)
    with bench(PROFILES["mode-resets"]) as one, one.controller() as controller, _lost("Mode Legacy"):
        controller.boot_from(image)
    assert one.started == []


@pytest.mark.parametrize(
    ("maker", "kind", "target"),
    [
        ("Supermicro", "generic", "UsbCd"),
        ("Super Micro Computer", "generic", "UsbCd"),
        ("", "supermicro-x12", "UsbCd"),
        ("Contoso", "generic", "Cd"),
    ],
)
def test_the_target_is_that_of_the_maker(maker: str, kind: str, target: str) -> None:
    with bench(replace(CLEAN, manufacturer=maker)) as one, one.controller(kind) as controller:
        assert controller.boot_once() is True
        assert controller.boot_override() == {"enabled": "Once", "target": target, "mode": "UEFI"}
        assert one.state.override["target"] == target


def test_a_mode_that_is_not_shown_is_not_sent() -> None:
    with bench(replace(CLEAN, mode="absent")) as one, one.controller() as controller:
        assert controller.boot_once() is True
        assert [method for method, _ in one.state.requests].count("PATCH") == 1


def test_another_image_makes_room(image: str) -> None:
    with bench(PROFILES["openbmc"]) as one, one.controller() as controller:
        controller.insert("http://192.0.2.1/kv/other.iso")
        one.state.slots["USB2"].image = "http://192.0.2.1/kv/third.iso"
        one.state.slots["USB2"].connected = True
        assert len(controller.inserted()) == 2
        assert controller.insert(image) is True
        assert controller.inserted() == (image,)


def test_a_restart_starts_a_server_that_is_off_or_on() -> None:
    with bench(PROFILES["slow-power"]) as one, one.controller() as controller:
        assert controller.power("restart") is True
        assert controller.power("restart") is True
    assert one.started == [None, None]


def test_a_restart_that_the_controller_does_not_know_is_off_and_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kvplan.twin.bmc.tree.STARTS", ("On",))
    monkeypatch.setattr("kvplan.twin.bmc.machine.RESTARTS", ())
    with bench(CLEAN) as one, one.controller() as controller:
        controller.power("on")
        assert controller.power("restart") is True
        assert _resets(one) == 3


def _installed(controller: Controller, image: str) -> None:
    """Install once: start from the image, take it out, start again."""
    controller.require_licence()
    controller.boot_from(image)
    assert controller.inserted() == (image,)
    assert controller.eject() is True
    assert controller.inserted() == ()
    assert controller.power("restart") is True
    assert controller.identify().power == "On"


def _lost(what: str) -> pytest.RaisesExc[RedfishError]:
    """Expect a lost override."""
    return pytest.raises(RedfishError, match=what)


def _without_mode(link: object, shown: dict[str, object], *, with_mode: bool) -> dict[str, str]:
    """Want what a careless client wants."""
    return {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Cd"}


def _resets(one: Bench) -> int:
    """Count the resets that were asked for."""
    return sum(path.endswith("Reset") for _, path in one.state.requests)
