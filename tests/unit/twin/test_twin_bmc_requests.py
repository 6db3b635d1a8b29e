"""What an emulated controller answers, asked without any client library."""

from __future__ import annotations

import http.client
import shutil
import socket
import ssl
import threading
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from redfish_cases import CREDENTIALS, MACHINE, Bench, ask, bench, message_of

if TYPE_CHECKING:
    from collections.abc import Iterator

from kvplan.twin.bmc.emulation import emulated
from kvplan.twin.bmc.machine import Machine
from kvplan.twin.bmc.profiles import CLEAN, PROFILES

SYSTEM = "/redfish/v1/Systems/1"
RESET = f"{SYSTEM}/Actions/ComputerSystem.Reset"
MEDIA = "/redfish/v1/Managers/1/VirtualMedia/VirtualMedia1"
INSERT = f"{MEDIA}/Actions/VirtualMedia.InsertMedia"
EJECT = f"{MEDIA}/Actions/VirtualMedia.EjectMedia"
SESSIONS = "/redfish/v1/SessionService/Sessions"
ISO = {"Image": "http://192.0.2.1/kv/a.iso"}
LOGIN = {"UserName": CREDENTIALS[0], "Password": CREDENTIALS[1]}


@pytest.fixture
def clean() -> Iterator[Bench]:
    with bench() as one:
        yield one


@pytest.mark.parametrize("name", PROFILES)
def test_every_link_leads_to_a_resource(name: str) -> None:
    with bench(PROFILES[name]) as one:
        one.state.licensed = True
        seen, open_paths = set(), ["/redfish/v1"]
        while open_paths:
            path = open_paths.pop()
            reply = ask(one.url, path=path)
            while reply.status == 503:
                reply = ask(one.url, path=path)
            assert reply.status == 200, path
            assert reply.body["@odata.id"] == path
            seen.add(path)
            open_paths += set(_links(reply.body)) - seen
    profile = PROFILES[name]
    assert {f"/redfish/v1/Systems/{profile.system}", f"/redfish/v1/Managers/{profile.manager}"} <= seen


def test_only_the_root_is_open(clean: Bench) -> None:
    assert ask(clean.url, path="/redfish/v1/", authorization=None).status == 200
    assert ask(clean.url, authorization=None).status == 401
    assert ask(clean.url, authorization="Basic QURNSU46d3Jvbmc=").status == 401
    assert ask(clean.url, authorization="Basic ***").status == 401
    assert ask(clean.url, x_auth_token="made-up").status == 401  # noqa: S106


def test_a_session_lasts_until_it_is_closed(clean: Bench) -> None:
    opened = ask(clean.url, "POST", SESSIONS, LOGIN, authorization=None)
    token, path = opened.headers["X-Auth-Token"], opened.headers["Location"]
    assert ask(clean.url, authorization=None, x_auth_token=token).status == 200
    assert ask(clean.url, path=SESSIONS).body["Members@odata.count"] == 1
    assert ask(clean.url, "DELETE", path).status == 204
    assert ask(clean.url, authorization=None, x_auth_token=token).status == 401
    assert ask(clean.url, "DELETE", path).status == 404
    assert ask(clean.url, "POST", SESSIONS, LOGIN | {"Password": "other"}, authorization=None).status == 401


def test_the_third_of_two_sessions_is_refused() -> None:
    with bench(PROFILES["two-sessions"]) as one:
        replies = [ask(one.url, "POST", SESSIONS, LOGIN, authorization=None) for _ in range(3)]
        assert [reply.status for reply in replies] == [201, 201, 503]
        assert message_of(replies[2]) == "SessionLimitExceeded"
        assert one.state.most_sessions == 2


def test_every_fourth_request_meets_a_busy_controller() -> None:
    with bench(PROFILES["busy"]) as one:
        assert [ask(one.url).status for _ in range(8)] == [200, 200, 200, 503] * 2


def test_nothing_is_found_in_html_or_in_json(clean: Bench) -> None:
    assert message_of(ask(clean.url, path="/redfish/v1/Nowhere")) == "ResourceMissingAtURI"
    with bench(PROFILES["html-errors"]) as one:
        reply = ask(one.url, path="/redfish/v1/Nowhere")
        assert reply.status == 404
        assert reply.body.startswith(b"<html>")


def test_a_change_needs_the_version_that_was_read() -> None:
    change = {"Boot": {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Cd"}}
    with bench(PROFILES["if-match"]) as one:
        version = ask(one.url).headers["ETag"]
        assert ask(one.url, "PATCH", body=change).status == 428
        assert ask(one.url, "PATCH", body=change, if_match=version).status == 412  # once, as if somebody else had come
        assert ask(one.url, "PATCH", body=change, if_match='"old"').status == 412
        assert ask(one.url, "PATCH", body=change, if_match=version).status == 200
        assert ask(one.url, "PATCH", body=change, if_match=version).status == 412
        assert ask(one.url, "PATCH", body=change, if_match="*").status == 200


@pytest.mark.parametrize(
    ("profile", "method", "path", "body", "status", "message"),
    [
        ("clean", "POST", RESET, {"ResetType": "Nmi"}, 400, "PropertyValueNotInList"),
        ("clean", "POST", f"{MEDIA}/Actions/VirtualMedia.Format", {}, 404, "ResourceMissingAtURI"),
        ("clean", "POST", INSERT, {}, 400, "ActionParameterMissing"),
        ("clean", "POST", INSERT, {"Image": "nfs://192.0.2.1/a.iso"}, 400, "PropertyValueNotInList"),
        ("clean", "POST", INSERT, "{", 400, "MalformedJSON"),
        ("clean", "POST", INSERT, [1], 400, "MalformedJSON"),
        ("clean", "PATCH", SYSTEM, {"Boot": {"BootSourceOverrideTarget": "Tape"}}, 400, "PropertyValueNotInList"),
        ("clean", "PATCH", MEDIA, ISO, 400, "PropertyNotWritable"),
        ("clean", "PATCH", "/redfish/v1/Nowhere", ISO, 404, "ResourceMissingAtURI"),
        ("extra-keys-rejected", "POST", INSERT, ISO | {"Inserted": True}, 400, "ActionParameterNotSupported"),
        ("protocol-required", "POST", INSERT, ISO, 400, "ActionParameterMissing"),
        ("no-restart-when-off", "POST", RESET, {"ResetType": "ForceRestart"}, 409, "ActionNotSupported"),
        ("no-licence", "POST", INSERT, ISO, 403, "OemLicenseNotPassed"),
        ("no-licence-systems", "GET", SYSTEM, None, 403, "OemLicenseNotPassed"),
        ("mode-read-only", "PATCH", SYSTEM, {"Boot": {"BootSourceOverrideMode": "UEFI"}}, 400, "PropertyNotWritable"),
    ],
)
def test_what_is_refused(profile: str, method: str, path: str, body: object, status: int, message: str) -> None:
    with bench(PROFILES[profile]) as one:
        reply = ask(one.url, method, path, body)
    assert (reply.status, message_of(reply)) == (status, message)


def test_an_old_controller_mounts_what_was_configured() -> None:
    top = "/redfish/v1/Managers/1/VM1"
    actions = f"{top}/CfgCD/Actions"
    with bench(PROFILES["x10-config-cd"]) as one:
        assert ask(one.url, "POST", f"{actions}/IsoConfig.Mount", {}).status == 400
        assert ask(one.url, "PATCH", f"{top}/CfgCD", {"Host": "192.0.2.1", "Path": "/kv/a.iso"}).status == 200
        assert ask(one.url, "POST", f"{actions}/IsoConfig.Mount", {}).status == 200
        member = ask(one.url, path=top).body["Members"][0]["@odata.id"]
        assert ask(one.url, path=member).body["Image"] == "http://192.0.2.1/kv/a.iso"
        assert ask(one.url, "POST", f"{actions}/IsoConfig.UnMount", {}).status == 200
        assert ask(one.url, path=top).body["Members"] == []
        mounts = [ask(one.url, "POST", f"{actions}/IsoConfig.Mount", {}).status for _ in range(3)]
        assert mounts == [500, 500, 200]
        assert ask(one.url, "POST", f"{actions}/IsoConfig.Burn", {}).status == 404
        assert ask(one.url, "POST", INSERT, ISO).status == 404


def test_a_drive_that_only_ejects_takes_no_image() -> None:
    top = "/redfish/v1/Managers/BMC_0/VirtualMedia"
    with bench(PROFILES["openbmc"]) as one:
        assert "Image" not in ask(one.url, path=f"{top}/USB1").body
        assert ask(one.url, "POST", f"{top}/Slot_0/Actions/VirtualMedia.InsertMedia", ISO).status == 404
        assert ask(one.url, "POST", f"{top}/USB1/Actions/VirtualMedia.InsertMedia", ISO).status == 204
        assert ask(one.url, path=f"{top}/USB1").body["Image"] == ISO["Image"]


def test_an_image_keeps_its_name_after_ejecting_where_the_controller_forgets() -> None:
    with bench(PROFILES["stale-image-name"]) as one:
        ask(one.url, "POST", INSERT, ISO)
        assert ask(one.url, "POST", INSERT, ISO).status == 409
        ask(one.url, "POST", EJECT)
        drive = ask(one.url, path=MEDIA).body
    assert (drive["ImageName"], drive["Inserted"], drive["ConnectedVia"]) == ("a.iso", True, "NotConnected")


def test_an_insertion_by_a_task_takes_its_time() -> None:
    with bench(PROFILES["insert-task"]) as one:
        reply = ask(one.url, "POST", INSERT, ISO)
        assert (reply.status, "Location" in reply.headers) == (202, True)
        assert ask(one.url, path=MEDIA).body["Inserted"] is False
        one.clock.sleep(15)
        assert ask(one.url, path=MEDIA).body["Inserted"] is True


def test_power_follows_late_and_takes_no_second_change_meanwhile() -> None:
    with bench(PROFILES["slow-power"]) as one:
        assert ask(one.url, "POST", RESET, {"ResetType": "On"}).status == 204
        assert ask(one.url).body["PowerState"] == "Off"
        assert ask(one.url, "POST", RESET, {"ResetType": "ForceOff"}).status == 409
        one.clock.sleep(20)
        assert ask(one.url).body["PowerState"] == "On"
        assert ask(one.url, "POST", RESET, {"ResetType": "ForceOff"}).status == 204
        assert ask(one.url).body["PowerState"] == "On"


def test_a_licence_can_be_activated() -> None:
    with bench(PROFILES["no-licence"]) as one:
        manager = "/redfish/v1/Managers/1/LicenseManager"
        assert ask(one.url, path=f"{manager}/QueryLicense").body["Licenses"] == []
        assert ask(one.url, "POST", f"{manager}/ActivateLicense", {"LicenseKey": "x"}).status == 200
        assert ask(one.url, "POST", INSERT, ISO).status == 204


def test_the_head_of_a_resource_has_no_body(clean: Bench) -> None:
    reply = ask(clean.url, "HEAD")
    assert (reply.status, reply.body) == (200, b"")
    assert int(reply.headers["Content-Length"]) > 0


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_tls_with_a_certificate_that_can_be_verified() -> None:
    with emulated([MACHINE], tls=True) as emulation:
        url = emulation.urls[MACHINE.name]
        trusted = ssl.create_default_context(cafile=str(emulation.certificate))
        with urlopen(f"{url}/redfish/v1", context=trusted, timeout=10) as answer:  # noqa: S310 - the emulation's
            assert answer.status == 200
        stranger = http.client.HTTPSConnection(urlsplit(url).netloc, timeout=10)
        with closing(stranger), pytest.raises(ssl.SSLCertVerificationError):
            stranger.request("GET", "/redfish/v1")
        certificate = emulation.certificate
    assert certificate is not None
    assert url.startswith("https://")
    assert not certificate.exists()


def test_without_openssl_it_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with emulated([MACHINE], tls=True) as emulation:
        assert emulation.urls[MACHINE.name].startswith("http://")
        assert emulation.certificate is None


def test_each_machine_has_its_own_controller_and_behaviour() -> None:
    machines = [Machine("stor01", "A"), Machine("stor02", "B")]
    profiles = {"stor01": CLEAN, "stor02": PROFILES["openbmc"]}
    with emulated(machines, profiles, credentials=CREDENTIALS) as emulation:
        first, second = (emulation.urls[machine.name] for machine in machines)
        assert ask(first).body["SerialNumber"] == "A"
        assert ask(second, path="/redfish/v1/Systems/System_0").body["SerialNumber"] == "B"
        assert first != second


def test_a_controller_listens_where_it_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    machines = [Machine("stor01", "A"), Machine("stor02", "B")]
    with emulated(machines, addresses={"stor01": ("127.0.0.1", port), "stor02": ("::1", 0)}) as emulation:
        assert emulation.urls["stor01"] == f"http://127.0.0.1:{port}"
        assert emulation.urls["stor02"].startswith("http://[::1]:")
        assert ask(emulation.urls["stor02"], path="/redfish/v1").status == 200


def test_nothing_is_left_behind_not_even_of_a_client_that_hangs() -> None:
    before = set(threading.enumerate())
    with bench() as one:
        parts = urlsplit(one.url)
        assert parts.hostname is not None
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
        connection.connect()
        _wait_for_thread(before, one)
    with closing(connection):
        assert set(threading.enumerate()) == before
    with pytest.raises(ConnectionRefusedError):
        ask(one.url)


def _wait_for_thread(before: set[threading.Thread], one: Bench) -> None:
    """Ask once: the connection that was made before has its thread by then."""
    assert ask(one.url).status == 200
    assert len(set(threading.enumerate()) - before) >= 2


def _links(value: object) -> list[str]:
    """List every path that a resource points to."""
    if isinstance(value, dict):
        own = [str(value["@odata.id"])] if "@odata.id" in value else []
        return own + [path for inner in value.values() for path in _links(inner)]
    return [path for inner in value for path in _links(inner)] if isinstance(value, list) else []
