"""The playbook that installs operating systems, run by Ansible against emulated controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from provisioning import PASSWORD, PLAYBOOKS, Ran, Servers, servers

from kvplan.deploy.phases import phase
from kvplan.twin.bmc.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROLE = PLAYBOOKS / "roles" / "provision"
OLD_KEY = "ssh-ed25519 AAAAold"
PLANNED, EARLIER, EMPTY, ELSEWHERE, SILENT = "gpu-0001", "storage-002", "storage-001", "storage-003", "storage-004"


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Servers, Ran]]:
    """Run over servers of which one alone may be installed."""
    names = ("storage-001", "storage-002", "storage-003", "storage-004", "gpu-0001")
    wrong = {"profiles": {"storage-003": PROFILES["no-licence"]}, "serials": {"storage-002": "S999"}}
    with servers(tmp_path_factory.mktemp("refused"), *names, **wrong) as found:  # type: ignore[arg-type]
        (found.directory / "media" / "kv" / "gpu-0001.iso").unlink()
        found.install("storage-004", os="rhel-9.4")
        yield found, found.run(kv_confirmed="storage-001,storage-002,storage-003,gpu-0001")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Servers, Ran]]:
    """Install servers: one that is empty, one anew, one that starts from its own drives, one that stays silent."""
    names = (EMPTY, PLANNED, EARLIER, ELSEWHERE, SILENT)
    with servers(tmp_path_factory.mktemp("installed"), *names) as found:
        for name in (PLANNED, ELSEWHERE):
            found.install(name)
        found.install(EARLIER, plan_sha256="0" * 64)
        lines = [f"{found.facts[name]['ansible_host']} {found.key(name)}\n" for name in (PLANNED, EARLIER, ELSEWHERE)]
        lines.append(f"{found.facts[EMPTY]['ansible_host']} {OLD_KEY}\n")
        found.known_hosts.write_text("".join(lines), encoding="utf-8")
        found.stays = {ELSEWHERE, SILENT}
        host_vars = found.directory / "tree" / "inventory" / "host_vars" / f"{SILENT}.yml"
        with host_vars.open("a", encoding="utf-8") as file:
            file.write("provision_deadline_minutes: 0.01\n")
        agreed = {EMPTY, PLANNED, ELSEWHERE, SILENT}
        yield found, found.run(kv_confirmed=",".join(agreed), kv_reinstall=f"{PLANNED},{ELSEWHERE}")


@pytest.mark.slow
def test_nothing_is_touched_where_one_server_is_refused(refused: tuple[Servers, Ran]) -> None:
    found, ran = refused
    assert ran.code
    assert found.methods() == {"GET"}
    assert found.started == []
    assert set(ran.changed.values()) == {0}
    assert not found.known_hosts.exists()
    assert not found.states["storage-004"].requests  # nobody agreed, so that it is not even asked


@pytest.mark.slow
@pytest.mark.parametrize(
    "said",
    [
        "controls the server with serial S999, not SNS0002",
        "SFT-DCMS-SINGLE",
        "nobody agreed to install storage-004 (SNS0004) anew. It answers with name=storage-004, serial=SNS0004,",
        "os=rhel-9.4. See why it is not as it was left, or give --reinstall storage-004",
        "/kv/gpu-0001.iso is not served: Status code was 404",
        "Build it with kvplan render --media",
        "over what is on the boot drives BOOTS0001A and BOOTS0001B. It does not answer as installed: ssh: connect to",
    ],
)
def test_a_refusal_says_why_and_what_to_do(refused: tuple[Servers, Ran], said: str) -> None:
    assert said in refused[1].text


@pytest.mark.slow
def test_servers_are_installed_and_known(installed: tuple[Servers, Ran]) -> None:
    found, ran = installed
    for name in (EMPTY, PLANNED):
        assert ran.failed[name] == 0, ran.text
        assert [url.rpartition("/")[2] for server, url in found.started if server == name and url] == [f"{name}.iso"]
        assert found.known(name) == [found.key(name)]
        assert not any(map(found.states[name].connected, found.states[name].slots.values()))
    assert "FAILED - RETRYING: [storage-001 -> localhost]: Wait until the system answers" in ran.text


@pytest.mark.slow
def test_a_server_of_an_earlier_plan_is_left_alone(installed: tuple[Servers, Ran]) -> None:
    found, ran = installed
    assert (ran.changed[EARLIER], ran.failed[EARLIER]) == (0, 0)
    assert found.states[EARLIER].requests == []
    assert found.known(EARLIER) == [found.key(EARLIER)]
    assert "storage-002 is installed as planned, by an earlier Plan, and is left alone" in ran.text


@pytest.mark.slow
def test_a_server_that_does_not_arrive_is_told_from_one_that_does(installed: tuple[Servers, Ran]) -> None:
    found, ran = installed
    assert (ran.failed[ELSEWHERE], ran.failed[SILENT]) == (1, 1)
    assert "/kv/storage-003.iso, but the system from before answers. See its console" in ran.text
    assert "/kv/storage-004.iso, but did not answer within 0.01 min: ssh: connect to host" in ran.text
    assert found.known(ELSEWHERE) == found.known(SILENT) == []


@pytest.mark.slow
def test_a_second_run_changes_nothing(installed: tuple[Servers, Ran]) -> None:
    found, _ = installed
    names = (EMPTY, PLANNED, EARLIER)
    before = {name: len(found.states[name].requests) for name in names}
    known = found.known_hosts.read_bytes()
    ran = found.run("--limit", ",".join(names))
    assert ran.code == 0, ran.text
    assert ran.changed == dict.fromkeys(names, 0)
    assert {name: len(found.states[name].requests) for name in names} == before
    assert found.known_hosts.read_bytes() == known


@pytest.mark.slow
def test_a_check_says_what_would_be_done_and_does_nothing(installed: tuple[Servers, Ran]) -> None:
    found, _ = installed
    started, known = list(found.started), found.known_hosts.read_bytes()
    asked = len(found.states[EMPTY].requests)
    ran = found.run("--check", "--diff", "--limit", EMPTY, kv_reinstall=EMPTY)
    assert ran.code == 0, ran.text
    assert "rhel 9.6 is to be installed from http://127.0.0.1:" in ran.text
    assert '+ "started_from": "http://127.0.0.1:' in ran.text
    assert ran.changed == {EMPTY: 2}  # the key, and the start
    assert found.started == started
    assert {method for method, _ in found.states[EMPTY].requests[asked:]} == {"GET"}
    assert found.known_hosts.read_bytes() == known


@pytest.mark.slow
def test_no_password_is_said(installed: tuple[Servers, Ran], refused: tuple[Servers, Ran]) -> None:
    for found, ran in (installed, refused):
        assert PASSWORD not in ran.text
        assert PASSWORD not in (found.directory / "calls").read_text(encoding="utf-8")


def test_every_setting_is_described_for_both_plays() -> None:
    specs = _read(ROLE / "meta" / "argument_specs.yml")["argument_specs"]
    assert specs["main"]["options"] == specs["prepare"]["options"]
    described = specs["main"]["options"]
    assert {name for name in described if name.startswith("provision_")} == set(_read(ROLE / "defaults" / "main.yml"))


def test_the_playbook_works_on_the_servers_of_the_phase() -> None:
    plays = yaml.safe_load((PLAYBOOKS / "provision.yml").read_text(encoding="utf-8"))
    assert {play["hosts"] for play in plays} == {":".join(phase("provision", "").groups)}


def _read(path: Path) -> Any:
    """Read a file of the role."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))
