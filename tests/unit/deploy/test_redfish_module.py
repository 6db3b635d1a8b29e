"""The Ansible module kv_bmc: what it does, what it would do, and what it says when it can not."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest
import yaml
from redfish_cases import CREDENTIALS, MACHINE, Bench, bench, image_below

from kvplan.deploy.redfish import controller
from kvplan.deploy.redfish.timing import Timing
from kvplan.schema.site.machines import BmcKind
from kvplan.site.media.server import serving
from kvplan.twin.bmc.profiles import CLEAN, PROFILES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

MODULES = Path(__file__).parents[3] / "playbooks" / "plugins" / "modules"
ELSEWHERE = "http://192.0.2.1/kv/a.iso"


@pytest.fixture(scope="module")
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("kv_bmc", MODULES / "kv_bmc.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture
def image(tmp_path: Path) -> Iterator[str]:
    path = image_below(tmp_path)
    with serving(tmp_path, "127.0.0.1", 0) as server:
        yield f"{server.url}{path}"


@pytest.fixture
def call(module: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the module as Ansible does, and read what it prints."""
    testing = pytest.importorskip("ansible.module_utils.testing")

    def run(one: Bench, *, check: bool = False, **arguments: object) -> dict[str, Any]:
        monkeypatch.setattr(module, "Timing", lambda **given: _timing(one, given))
        user, password = CREDENTIALS
        given = {"address": one.url, "username": user, "password": password, "_ansible_check_mode": check, **arguments}
        with testing.patch_module_args(given), pytest.raises(SystemExit):
            module.main()
        printed = capsys.readouterr().out
        assert password not in printed.partition('"invocation"')[0]
        result: dict[str, Any] = json.loads(printed)
        return result

    return run


@pytest.mark.parametrize(
    ("arguments", "power", "images"),
    [
        ({"state": "present", "image": ELSEWHERE}, "Off", [ELSEWHERE]),
        ({"state": "powered", "power": "on"}, "On", []),
        ({"state": "ejected"}, "Off", []),
        ({"state": "powered", "power": "off"}, "Off", []),
        ({}, "Off", []),
    ],
)
def test_a_state_is_reached_once_and_foretold(call: Any, arguments: Any, power: str, images: list[str]) -> None:
    with bench() as one:
        before = {"power": "Off", "images": []}
        after = {"power": power, "images": images}
        foretold = call(one, check=True, **arguments)
        assert {method for method, _ in one.state.requests} <= {"GET"}
        done = call(one, **arguments)
        again = call(one, **arguments)
    assert foretold["changed"] is done["changed"] is (before != after)
    assert again["changed"] is False
    assert foretold["diff"] == done["diff"] == {"before": before, "after": after}
    assert (done["serial"], done["model"]) == (MACHINE.serial, MACHINE.model)
    assert (done["power"], done["images"]) == (power, images)


def test_ejecting_takes_out_what_is_in(call: Any) -> None:
    with bench(PROFILES["stale-image-name"]) as one:
        call(one, state="present", image=ELSEWHERE)
        assert call(one, state="ejected")["changed"] is True
        assert call(one, state="ejected")["changed"] is False
        assert not any(map(one.state.connected, one.state.slots.values()))


def test_an_image_that_is_shown_by_its_name_is_known_again(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with bench() as one:
        call(one, state="present", image=ELSEWHERE)
        monkeypatch.setattr(controller.Controller, "inserted", lambda _: ("a.iso",))
        assert call(one, state="present", image=ELSEWHERE)["changed"] is False
        assert call(one, state="present", image="http://192.0.2.1/kv/b.iso", check=True)["changed"] is True


def test_a_server_starts_from_the_image_each_time(call: Any, image: str) -> None:
    with bench(PROFILES["only-usbcd-boots"]) as one:
        assert call(one, state="booted-from", image=image, check=True)["changed"] is True
        assert one.started == []
        results = [call(one, state="booted-from", image=image, serial=MACHINE.serial) for _ in range(2)]
        assert one.started == [image, image]
    assert [result["changed"] for result in results] == [True, True]
    assert results[0]["diff"]["after"] == {"power": "On", "images": [image], "started_from": image}


def test_a_restart_is_a_change_each_time(call: Any) -> None:
    with bench() as one:
        assert [call(one, state="powered", power="restart")["changed"] for _ in range(2)] == [True, True]
        assert one.started == [None, None]


@pytest.mark.parametrize("check", [True, False])
def test_another_server_is_left_alone(call: Any, check: bool) -> None:  # noqa: FBT001 - a case
    with bench() as one:
        result = call(one, check=check, state="booted-from", image=ELSEWHERE, serial="S999")
        assert {method for method, _ in one.state.requests} == {"GET"}
    assert result["failed"] is True
    assert result["message_id"] == "Kvplan.SerialDiffers"
    assert result["remedy"] in result["msg"]


@pytest.mark.parametrize("state", ["checked", "present", "booted-from"])
def test_a_licence_lacking_is_named(call: Any, state: str) -> None:
    with bench(PROFILES["no-licence"]) as one:
        result = call(one, state=state, image=ELSEWHERE)
        assert one.started == []
    assert result["failed"] is True
    assert "SFT-DCMS-SINGLE" in result["msg"]


@pytest.mark.parametrize("arguments", [{"state": "present"}, {"state": "booted-from"}, {"state": "powered"}])
def test_a_state_asks_for_what_it_needs(call: Any, arguments: Any) -> None:
    with bench() as one:
        assert "missing" in call(one, **arguments)["msg"]
        assert one.state.requests == []


def test_without_kvplan_it_says_what_to_install(call: Any, module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KVPLAN_ERROR", "ImportError: kvplan")
    with bench() as one:
        assert "kvplan[deploy]" in call(one)["msg"]


def test_the_documentation_says_what_the_arguments_are(module: ModuleType) -> None:
    options = yaml.safe_load(module.DOCUMENTATION)["options"]
    written = {
        name: {key: it for key, it in option.items() if key != "description"} for name, option in options.items()
    }
    spoken = {
        name: {key: it for key, it in option.items() if key != "no_log"} for name, option in module.ARGUMENTS.items()
    }
    assert written == spoken
    assert sorted(options["kind"]["choices"]) == sorted(get_args(BmcKind))
    assert set(yaml.safe_load(module.RETURN)) == {"serial", "model", "power", "images", "message_id", "remedy"}
    assert len(yaml.safe_load(module.EXAMPLES)) == 3


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("192.0.2.9", "https://192.0.2.9:8443"),
        ("fd00::9", "https://[fd00::9]:8443"),
        ("http://127.0.0.1:1", "http://127.0.0.1:1"),
    ],
)
@pytest.mark.parametrize(
    ("tls_verify", "ca_path", "verify"), [(True, None, True), (False, None, False), (True, "/ca.pem", Path("/ca.pem"))]
)
def test_an_address_becomes_a_url(
    module: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    url: str,
    tls_verify: Any,
    ca_path: Any,
    verify: Any,
) -> None:
    monkeypatch.setattr(module, "Controller", lambda *given, **options: (given, options["verify"]))
    arguments = {"address": address, "port": 8443, "username": "u", "password": "p", "kind": "generic"}
    arguments |= {"tls_verify": tls_verify, "ca_path": ca_path, "power_timeout": 1, "media_timeout": 1}
    assert module._controller(arguments) == ((url, "u", "p", "generic"), verify)


@pytest.mark.slow
def test_ansible_runs_it_and_keeps_the_password(tmp_path: Path) -> None:
    arguments = {"username": CREDENTIALS[0], "password": CREDENTIALS[1], "serial": MACHINE.serial}
    with bench(CLEAN) as one:
        words = json.dumps({"address": one.url, "state": "powered", "power": "on", **arguments})
        command = [
            str(Path(sys.executable).with_name("ansible")),
            "localhost",
            "-m",
            "kv_bmc",
            "-a",
            words,
            "-vvv",
            "--diff",
        ]
        environment = {"ANSIBLE_LIBRARY": str(MODULES), "ANSIBLE_LOCAL_TEMP": str(tmp_path), "HOME": str(tmp_path)}
        environment |= {"ANSIBLE_LOCALHOST_WARNING": "false", "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false"}
        run = subprocess.run(
            command, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert one.state.powered
    assert run.returncode == 0, run.stdout + run.stderr
    assert '"changed": true' in run.stdout
    assert '-    "power": "Off"' in run.stdout
    assert CREDENTIALS[1] not in run.stdout + run.stderr


def _timing(one: Bench, given: dict[str, Any]) -> Timing:
    """Wait on the bench's clock."""
    return Timing(now=one.clock, sleep=one.clock.sleep, **given)
