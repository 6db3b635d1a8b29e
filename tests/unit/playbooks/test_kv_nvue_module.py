"""The module kv_nvue: a switch is changed once, judged by what it shows, and never left in a state nobody confirmed."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from nvue_cases import PASSWORD, PLUGINS, SECRETS, START, Rack, call, load, rack
from sites import NEW, OLD

from kvplan.twin.nvue.trees import at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytest.importorskip("ansible.module_utils.testing")
LEAF, SPINE = "leaf-001a", "spine-001"


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Rack]:
    with rack(tmp_path, 4, OLD) as running:
        yield running


@pytest.fixture
def run(one: Rack, capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    return lambda name=LEAF, **given: call(one, name, capsys, **given)


def test_a_switch_is_changed_once(one: Rack, run: Any, tmp_path: Path) -> None:
    first = run(backup=str(tmp_path / "kept"))
    switch = one[LEAF]
    assert first["changed"] is True
    assert "set interface swp1s0 link mtu 9216" in first["changes"]
    assert switch.revision(first["revision"]).state == "applied_and_saved"
    assert switch.running == switch.startup
    again = run()
    assert (again["changed"], again["changes"]) == (False, [])
    assert again["diff"]["before"] == again["diff"]["after"]
    switch.startup = {**switch.startup, "header": {"version": "of the file"}}
    assert run()["changed"] is False
    assert switch.revision("2").state == "inactive"


def test_what_ran_before_is_kept_for_its_owner_alone(one: Rack, run: Any, tmp_path: Path) -> None:
    path = Path(run(backup=str(tmp_path / "kept"), _ansible_diff=False)["backup_file"])
    assert yaml.safe_load(path.read_text())["interface"] == {"eth0": {"type": "eth"}}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    one.edit(LEAF, lambda config: config["system"].update(timezone="Europe/London"))
    run(backup=str(tmp_path / "kept"))
    text = path.read_text()
    assert "swp1s0" in text
    assert not re.search(r"canary|\$6\$|\$nvsec", text)


def test_check_mode_foretells_and_changes_nothing(one: Rack, run: Any) -> None:
    before = one[LEAF].running
    foretold = run(_ansible_check_mode=True)
    assert one[LEAF].running is before
    assert one[LEAF].revision("1").state == "inactive"
    done = run()
    assert foretold["changed"] is True
    assert foretold["changes"] == done["changes"]
    assert foretold["diff"] == done["diff"]
    assert run(_ansible_check_mode=True)["changed"] is False


def test_a_patch_leaves_alone_what_is_not_named(one: Rack, run: Any) -> None:
    run()
    one.edit(LEAF, lambda config: config.pop("qos"))
    assert run(method="patch")["changed"] is False
    gone = run()
    assert "unset qos roce mode" in gone["changes"]


def test_a_misspelt_key_is_refused_with_its_path(one: Rack, run: Any) -> None:
    one.edit(LEAF, lambda config: config["interface"]["swp1s0"]["link"].update(mtuu=9216))
    before = one[LEAF].running
    failed = run()
    assert failed["failed"] is True
    assert "invalid: interface/swp1s0/link/mtuu: Extra inputs are not permitted" in failed["msg"]
    assert failed["remedy"]
    assert one[LEAF].running is before


def test_a_lost_session_rolls_back_by_itself(one: Rack, run: Any) -> None:
    run(SPINE)
    run(expected=[SPINE])
    before = one[LEAF].running
    one.edit(LEAF, lambda config: config["router"]["bgp"].update({"autonomous-system": 4200000000}))
    one[SPINE].patch(one[SPINE].new_revision("cumulus"), ("router",), {})
    one.edit(LEAF, lambda config: config["vrf"]["default"]["router"]["bgp"]["neighbor"].pop("swp59s1"))
    one[LEAF].faults.lose_bgp = True
    failed = run()
    assert "was not healthy, and the switch rolled back" in failed["msg"]
    assert {(told["check"], told["seen"]) for told in failed["unhealthy"]} == {("bgp", "down")}
    assert "swp59s0" in {told["subject"] for told in failed["unhealthy"]}
    assert "swp59s1" not in {told["subject"] for told in failed["unhealthy"]}
    assert SPINE in failed["remedy"]
    assert one[LEAF].running is before
    assert one[LEAF].startup is before
    one[LEAF].faults.lose_bgp = False
    assert run()["changed"] is True


def test_a_controller_that_dies_leaves_nothing_behind(one: Rack, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = one[LEAF].running
    _die_before_confirming(run, monkeypatch)
    assert at(one[LEAF].running, ("system", "hostname")) == LEAF
    one.clock.sleep(60)
    one[LEAF].tick()
    assert one[LEAF].running is before
    assert run()["changed"] is True


def test_a_run_takes_up_what_waits_to_be_confirmed(one: Rack, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _die_before_confirming(run, monkeypatch)
    assert run(_ansible_check_mode=True)["changed"] is True
    assert one[LEAF].revision("1").state == "confirm"
    resumed = run()
    assert (resumed["changed"], resumed["revision"], resumed["changes"]) == (True, "1", [])
    assert one[LEAF].revision("1").state == "applied_and_saved"
    assert run()["changed"] is False


def test_what_others_left_to_confirm_is_not_touched(one: Rack, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _die_before_confirming(run, monkeypatch)
    one.edit(LEAF, lambda config: config["system"].update(timezone="Europe/London"))
    failed = run()
    assert "revision 1 waits to be confirmed and is not what is wanted" in failed["msg"]
    assert one[LEAF].revision("1").state == "confirm"


def _die_before_confirming(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process end as soon as the change is in force."""
    load()
    deploy = sys.modules["ansible.module_utils.nvue_deploy"]

    class KilledError(Exception):
        pass

    def die(*_: object) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(deploy, "_settled", die)
        with pytest.raises(KilledError):
            run()


def test_a_configuration_that_locks_its_user_out_comes_back(one: Rack, run: Any) -> None:
    before = one[LEAF].running
    one.edit(LEAF, lambda config: config["system"]["aaa"].pop("user"))
    failed = run()
    assert "401" in failed["msg"]
    assert "rolled back" in failed["msg"]
    assert "keeps the switch's address, its user" in failed["remedy"]
    assert one[LEAF].running is before


def test_the_cable_schedule_is_held_against_the_neighbours(one: Rack, run: Any) -> None:
    far = dict(one.emulation.fabric.wiring.far)
    ends = {(LEAF, "swp1s0"): far[LEAF, "swp1s1"], (LEAF, "swp1s1"): far[LEAF, "swp1s0"]}
    one.emulation.fabric.wiring.far = far | ends | {there: here for here, there in ends.items()}
    failed = run()
    found = {(told["check"], told["subject"], told["seen"], told["wanted"]) for told in failed["unhealthy"]}
    assert ("lldp", "swp1s0", "storage-002 client1p0", "storage-001 client1p0") in found
    assert {told["subject"] for told in failed["unhealthy"]} == {"swp1s0", "swp1s1"}


def test_links_and_sessions_of_awaited_hosts_must_be_up(one: Rack, run: Any) -> None:
    one[LEAF].faults.cut.add("swp1s0")
    assert run(expected=["storage-002"])["changed"] is True
    failed = run(verify=True, expected=["storage-001"])
    found = {(told["check"], told["subject"]) for told in failed["unhealthy"]}
    assert {("link", "swp1s0"), ("lldp", "swp1s0"), ("bgp", "10.64.0.1")} <= found
    assert failed["msg"].startswith("configured as wanted, but not healthy")
    one[LEAF].faults.cut.clear()
    assert run(verify=True, expected=["storage-001"])["changed"] is False


def test_a_pause_storm_is_not_confirmed(one: Rack, run: Any) -> None:
    one[LEAF].faults.storm.add("swp1s2")
    failed = run()
    (told,) = failed["unhealthy"]
    assert (told["check"], told["subject"]) == ("pfc", "swp1s2")
    assert "pauses/s" in told["seen"]


def test_frame_sizes_and_the_lossless_service_are_read_back(one: Rack, run: Any, monkeypatch: Any) -> None:
    load()
    client = sys.modules["ansible.module_utils.nvue"].Nvue
    real = client.operational

    def other(self: Any, path: str, **query: str) -> Any:
        found = real(self, path, **query)
        if path == "interface" and "include" not in query and "swp1s0" in found:
            found["swp1s0"]["link"]["mtu"] = 1500
        return {**found, "mode": "lossy"} if path == "qos/roce" else found

    with monkeypatch.context() as patch:
        patch.setattr(client, "operational", other)
        failed = run()
    found = {(told["check"], told["subject"], told["seen"], told["wanted"]) for told in failed["unhealthy"]}
    assert found == {("mtu", "swp1s0", "1500", "9216"), ("roce", "qos", "lossy", "lossless")}


def test_a_switch_that_does_not_wait_is_named(one: Rack, run: Any) -> None:
    one[LEAF].faults.ignore_confirm = True
    assert run()["changed"] is True
    one[LEAF].faults.storm.add("swp1s2")
    one.edit(LEAF, lambda config: config["system"].update(timezone="Europe/London"))
    assert "did not wait for it" in run()["msg"]


def test_what_was_not_saved_is_saved_by_the_next_run(one: Rack, run: Any) -> None:
    one[LEAF].faults.refuse_save = True
    failed = run()
    assert failed["msg"].startswith("applied, but not saved")
    assert "startup configuration could not be written" in failed["msg"]
    assert run(save=False)["changed"] is False
    one[LEAF].faults.refuse_save = False
    assert run(_ansible_check_mode=True)["changed"] is True
    assert run()["changed"] is True
    assert one[LEAF].running == one[LEAF].startup
    assert run()["changed"] is False


def test_a_switch_that_is_busy_or_slow_is_waited_for(one: Rack, run: Any) -> None:
    one[LEAF].faults.busy = 3
    one[LEAF].faults.apply_s = 200
    assert run()["changed"] is True
    assert one.clock.now - START >= 215
    one.edit(LEAF, lambda config: config["system"].update(timezone="Europe/London"))
    one[LEAF].faults.apply_s = 400
    assert "is still reloading after 300 s" in run()["msg"]
    one[LEAF].faults.busy = 100
    failed = run()
    assert "does not answer: nvued is not ready" in failed["msg"]
    assert failed["remedy"] == "wait until nvued runs"


def test_an_apply_that_fails_is_told_in_the_switchs_words(one: Rack, run: Any) -> None:
    one[LEAF].faults.fail_apply = f"frr reload failed at {SECRETS['snmp_privacy']}"
    assert "is apply_fail: frr reload failed at ****" in run()["msg"]


def test_strangers_and_factory_passwords_are_told_apart(one: Rack, run: Any) -> None:
    wrong = run(password=SECRETS["snmp_privacy"])
    assert (wrong["failed"], "401" in wrong["msg"]) == (True, True)
    one[LEAF].password_changed = False
    factory = run()
    assert "403" in factory["msg"]
    assert "change the factory's password" in factory["remedy"]


def test_secrets_are_asked_for_by_name_and_set_anew_on_demand(one: Rack, run: Any) -> None:
    failed = run(secrets={"switch_password": PASSWORD})
    assert failed["msg"] == "no value was given for the secret snmp_authentication"
    run()
    assert run()["changed"] is False
    before = one[LEAF].running
    rotated = run(rotate_secrets=True)
    assert (rotated["changed"], rotated["changes"]) == (True, [])
    assert one[LEAF].running != before


def test_wrong_arguments_are_refused_before_anything_is_asked(one: Rack, run: Any, tmp_path: Path) -> None:
    assert "must be more than health_timeout" in run(confirm_timeout=20)["msg"]
    assert "can not be read" in run(config=str(tmp_path / "none.yaml"))["msg"]
    (tmp_path / "other.yaml").write_text("- {}\n")
    assert "no NVUE configuration" in run(config=str(tmp_path / "other.yaml"))["msg"]
    assert "does not answer" in run(address="127.0.0.1", port=1)["msg"]
    assert one[LEAF].requests == []


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "cumulus"), [(4, OLD), (8, NEW)])
def test_every_switch_of_either_dialect(
    nodes: int, cumulus: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    threads = threading.active_count()
    with rack(tmp_path, nodes, cumulus, tls=True) as one:
        names = [*one.emulation.urls]
        for index, name in enumerate(names):
            assert call(one, name, capsys, expected=names[:index])["changed"] is True
        for name in names:
            again = call(one, name, capsys, expected=None, verify=True)
            assert (again.get("changed"), again.get("msg")) == (False, None)
        untrusted = call(one, names[0], capsys, ca_path=None)
        assert "certificate" in untrusted["msg"]
        assert call(one, names[0], capsys, ca_path=None, tls_verify=False)["changed"] is False
    assert threading.active_count() == threads


@pytest.mark.slow
def test_ansible_runs_it(one: Rack, tmp_path: Path) -> None:
    given = one.arguments(LEAF, poll=0.1, health_timeout=2)
    play = [{"hosts": "localhost", "gather_facts": False, "tasks": [{"kv_nvue": given, "register": "told"}]}]
    (tmp_path / "play.yml").write_text(yaml.safe_dump(play))
    environment = {
        **os.environ,
        "ANSIBLE_LIBRARY": str(PLUGINS / "modules"),
        "ANSIBLE_MODULE_UTILS": str(PLUGINS / "module_utils"),
        "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default",
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_HOME": str(tmp_path / "home"),
        "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    command = ["ansible-playbook", "-i", "localhost,", "-c", "local", "--diff", "-vvv", str(tmp_path / "play.yml")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "changed=1" in done.stdout
    assert "+  hostname: leaf-001a" in done.stdout
    assert not [secret for secret in SECRETS.values() if secret in done.stdout]
    assert json.dumps(one[LEAF].running).count("hashed-password") == 1


def test_documentation_and_arguments_agree() -> None:
    module = load()
    options = yaml.safe_load(module.DOCUMENTATION)["options"]
    assert options.keys() == module.ARGUMENTS.keys()
    for name, option in options.items():
        argument = module.ARGUMENTS[name]
        for key in ("type", "default", "required", "choices", "elements"):
            assert option.get(key) == argument.get(key), (name, key)
    assert yaml.safe_load(module.EXAMPLES)
    assert yaml.safe_load(module.RETURN)
