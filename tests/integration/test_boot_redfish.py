"""A server is led to its installer by its controller: medium in, started from it for real over HTTP, medium out."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from redfish_cases import CREDENTIALS, MACHINE
from virtual_installs import DRIVES, NO_SYSTEM, RESTARTS, WAITS, Bench, bmc, lacking, server, until

from kvplan.twin.bmc.profiles import CLEAN, PROFILES
from kvplan.twin.bmc.qemu import Virtual, virtual
from kvplan.twin.bmc.qmp import QemuError

if TYPE_CHECKING:
    from pathlib import Path

LACKS = lacking()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(LACKS), reason=f"needs {', '.join(LACKS)}")]


def installs(bench: Bench, ending: str) -> None:
    """Start the installer, and see that it is the planned one: disc, arguments, Kickstart file, machine, drives."""
    checked = bench.bmc(state="checked")
    assert (checked["changed"], checked["power"], checked["images"]) == (False, "Off", [])
    started = bench.bmc(state="booted-from", image=bench.medium)
    assert (started["power"], started["images"]) == ("On", [bench.medium])
    said = [line.removeprefix("installer: ") for line in bench.said(1, until=ending)]
    assert "firmware UEFI" in said
    arguments = next(line for line in said if line.startswith("arguments ")).split()
    assert arguments[-len(bench.arguments) :] == list(bench.arguments)
    assert f"read {bench.kickstart}  /tmp/ks.cfg" in said
    assert f"serial {checked['serial']}" in said
    assert [line.split()[2] for line in said if line.startswith("drive ")] == [drive.serial for drive in DRIVES]
    assert said[-3:-1] == ["status 0", "ignoredisk --only-use=nvme2n1,nvme1n1"]
    assert {served.status for served in bench.log} == {200, 206}


def starts_its_own_drive(bench: Bench, start: int) -> None:
    """See that a start is from a drive that nothing is on, and not from the medium."""
    said = bench.said(start, until=NO_SYSTEM)
    assert [line for line in said if "BdsDxe: starting" in line and "USB" in line] == []
    assert any(DRIVES[0].serial in line and NO_SYSTEM in line for line in said)


def test_a_server_installs_and_its_medium_is_taken_out(tmp_path: Path) -> None:
    with server(tmp_path, PROFILES["clean"], WAITS) as bench:
        installs(bench, "waits")
        assert bench.bmc(state="ejected")["images"] == []
        bench.said(1, until="the disc is out")
        until("Off", bench.state)
        assert bench.bmc(state="powered", power="on")["changed"] is True
        starts_its_own_drive(bench, 2)
        assert bench.bmc(state="powered", power="off")["power"] == "Off"
        assert not bench.machine.is_on


def test_an_installed_server_does_not_start_its_installer_again(tmp_path: Path) -> None:
    with server(tmp_path, PROFILES["only-usbcd-boots"], RESTARTS) as bench:
        installs(bench, "restarts")
        starts_its_own_drive(bench, 2)
        shown = bench.bmc(state="checked")
        assert (shown["power"], shown["images"]) == ("On", [bench.medium])
        assert [boot.image_url for boot in bench.state.boots] == [bench.medium, None]
        assert bench.state.boots[1].why_not == "no boot override is set"
        bench.bmc(state="ejected")
        bench.bmc(state="powered", power="restart")
        starts_its_own_drive(bench, 3)


def test_a_lost_override_is_told_and_starts_no_installer(tmp_path: Path) -> None:
    with server(tmp_path, PROFILES["ami-override-lost"]) as bench:
        refused = bench.bmc(state="booted-from", image=bench.medium)
        assert refused["failed"] is True
        assert refused["message_id"] == "Kvplan.BootOverrideLost"
        assert "does not keep the boot override: it shows Enabled Disabled" in refused["msg"]
        assert "virtual CD before the drives in the BIOS's boot order" in refused["remedy"]
        assert bench.machine.consoles == []
        bench.bmc(state="powered", power="on")
        starts_its_own_drive(bench, 1)
        assert bench.state.boots[0].why_not == "no boot override is set"


def test_a_machine_that_ends_is_seen_to_be_off(tmp_path: Path) -> None:
    with virtual(MACHINE, tmp_path, [], CLEAN, CREDENTIALS) as (emulation, machine):
        url, state = emulation.urls[MACHINE.name], emulation.states[MACHINE.name]
        bmc(url, state="powered", power="on")
        assert machine.pid > 1
        os.kill(machine.pid, signal.SIGKILL)
        until("Off", state)
        assert (machine.is_on, machine.pid) == (False, 0)
        assert bmc(url, state="powered", power="on")["changed"] is True
        pid = machine.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_medium_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    machine = Virtual(MACHINE, tmp_path)
    with pytest.raises(QemuError, match=r"127\.0\.0\.1"):
        machine.boot(MACHINE, "http://127.0.0.1:9/kv/a.iso")
    assert not machine.is_on
