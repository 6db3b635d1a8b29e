"""The script that switches fetch, run against stand-ins for the commands of a switch."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from sites import NEW, deployment_of, deployment_with, site_data
from switchtrees import texts, texts_of

if TYPE_CHECKING:
    from pathlib import Path

STUBS = {
    "decode-syseeprom": 'printf "TLV Name Code Len Value\\nSerial Number         0x23  11 %s\\n" "$SERIAL"',
    "dmidecode": 'echo "$BOARD"',
    "ip": 'shift 3; exec "$@"',
    "curl": 'while [[ $1 != --output ]]; do shift; done; cp "$SERVED/${3#"$BASE"/}" "$2"',
    "nv": 'echo "nv $*" >>"$CALLS"; [[ $2 == replace ]] && cp "$3" "$APPLIED"; echo "${ANSWER:-applied}"',
    "chage": 'echo "chage $*" >>"$CALLS"; date -d "$2" +%F >/dev/null',
}
"""Commands of a switch: what each stand-in does."""


@pytest.fixture
def switch(tmp_path: Path) -> Path:
    """Return a directory with the script, the files that it fetches, and the stand-ins."""
    for path, text in texts_of(8, NEW).items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    (tmp_path / "bin").mkdir()
    for name, body in STUBS.items():
        stub = tmp_path / "bin" / name
        stub.write_text(f"#!/bin/bash\n{body}\n", encoding="utf-8")
        stub.chmod(0o755)
    return tmp_path


def run(switch: Path, serial: str, **environment: str) -> subprocess.CompletedProcess[str]:
    values = {
        "PATH": f"{switch / 'bin'}:{os.environ['PATH']}",
        "SERIAL": serial,
        "BOARD": "unknown",
        "SERVED": str(switch / "switches"),
        "BASE": "http://172.24.0.10:8080/switches",
        "CALLS": str(switch / "calls"),
        "APPLIED": str(switch / "applied"),
        "ZTP_LOG": "-",
        "ZTP_TRIES": "2",
        "ZTP_PAUSE": "0",
        **environment,
    }
    script = [shutil.which("bash") or "bash", str(switch / "switches" / "ztp.sh")]
    return subprocess.run(script, env=values, capture_output=True, text=True, check=False, timeout=30)


def day() -> str:
    """Return the day by the clock of this machine, as the script reads it."""
    return datetime.now().astimezone().date().isoformat()


def calls(switch: Path) -> list[str]:
    path = switch / "calls"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@pytest.mark.parametrize("cumulus", ["5.11.1", "5.15.0"])
def test_bash_parses_the_script(cumulus: str) -> None:
    text = texts_of(8, cumulus)["switches/ztp.sh"]
    subprocess.run(["bash", "-n"], input=text, text=True, check=True)


@pytest.mark.parametrize("name", ["leaf-001a", "leaf-001b", "spine-001", "oob-01"])
def test_a_switch_gets_its_own_configuration_by_its_serial_number(switch: Path, name: str) -> None:
    done = run(switch, f"MT{name.upper()}")
    assert done.returncode == 0, done.stdout + done.stderr
    applied = (switch / "applied").read_text(encoding="utf-8")
    assert f"hostname: {name}\n" in applied
    file = next(call.split()[-1] for call in calls(switch) if "replace" in call)
    assert calls(switch) == [
        "nv show system",
        f"nv config replace {file}",
        "nv config apply -y",
        "nv config save",
        f"chage -d {day()} -M 99999 cumulus",
    ]
    assert not os.path.exists(file)  # noqa: PTH110 - a path of the script's own


def test_the_serial_number_of_the_board_will_do(switch: Path) -> None:
    assert run(switch, "", BOARD="MTSPINE-001").returncode == 0
    assert "hostname: spine-001" in (switch / "applied").read_text(encoding="utf-8")


def test_placeholders_of_secrets_become_texts_that_nobody_knows(switch: Path) -> None:
    served = (switch / "switches" / "leaf-001a.yaml").read_text(encoding="utf-8")
    seen = []
    for _ in range(2):
        run(switch, "MTLEAF-001A")
        seen.append((switch / "applied").read_text(encoding="utf-8"))
    assert served.count("kv_secret_") == 3
    assert served.count("kv_secret_switch_password") == 1
    assert "kv_secret_" not in seen[0]
    assert all(re.search(r'^ +password: "K-[0-9a-f]{32}"$', text, re.MULTILINE) for text in seen)
    assert seen[0] != seen[1]
    assert [len(line) for line in seen[0].splitlines()] != [len(line) for line in served.splitlines()]
    assert len(seen[0].splitlines()) == len(served.splitlines())


def test_an_unknown_switch_is_left_alone(switch: Path) -> None:
    done = run(switch, "MTSTRANGER")
    assert (done.returncode, calls(switch)) == (1, [])
    assert "no configuration for this serial number" in done.stdout


def test_a_file_that_was_changed_on_the_way_is_refused(switch: Path) -> None:
    path = switch / "switches" / "leaf-001a.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    done = run(switch, "MTLEAF-001A")
    assert (done.returncode, calls(switch)) == (1, [])
    assert "is not the file that this script was written for" in done.stdout


def test_a_file_that_is_not_served_is_an_error(switch: Path) -> None:
    (switch / "switches" / "leaf-001a.yaml").unlink()
    done = run(switch, "MTLEAF-001A")
    assert (done.returncode, calls(switch)) == (1, [])
    assert "cannot fetch http://172.24.0.10:8080/switches/leaf-001a.yaml" in done.stdout


@pytest.mark.parametrize("answer", ["Invalid config", "apply failed: port swp1"])
def test_an_error_that_nvue_reports_with_status_0_is_an_error(switch: Path, answer: str) -> None:
    done = run(switch, "MTLEAF-001A", ANSWER=answer)
    assert done.returncode == 1
    assert not any("save" in call for call in calls(switch))


def test_a_switch_whose_nvue_never_answers_is_an_error(switch: Path) -> None:
    (switch / "bin" / "nv").write_text("#!/bin/bash\nexit 1\n", encoding="utf-8")
    done = run(switch, "MTLEAF-001A")
    assert done.returncode == 1
    assert "NVUE does not answer" in done.stdout


def test_the_log_goes_to_its_file(switch: Path) -> None:
    done = run(switch, "MTLEAF-001A", ZTP_LOG=str(switch / "log"))
    assert (done.returncode, done.stdout) == (0, "")
    assert "leaf-001a is configured" in (switch / "log").read_text(encoding="utf-8")


def test_serial_numbers_of_any_form_stay_words_of_the_shell(switch: Path) -> None:
    data = site_data(deployment_of(8).plan)
    switches = [{**each, "serial": f"MT.{number}_x-Y"} for number, each in enumerate(data["switches"])]
    script = texts(deployment_with(8, switches=switches))["switches/ztp.sh"]
    (switch / "switches" / "ztp.sh").write_text(script, encoding="utf-8")
    assert run(switch, "MTx0_x-Y").returncode == 1
    assert run(switch, "MT.0_x-Y").returncode == 0


def test_the_script_knows_the_sums_of_the_files() -> None:
    tree = texts_of(8, NEW)
    for name in ("leaf-001a", "oob-01"):
        text = tree[f"switches/{name}.yaml"]
        assert f"echo {name} {sha256(text.encode()).hexdigest()} ;;" in tree["switches/ztp.sh"]
    assert "CUMULUS-AUTOPROVISIONING" in tree["switches/ztp.sh"]


def test_an_address_of_ipv6_is_put_in_brackets() -> None:
    script = texts(deployment_with(8, media={"address": "fd00::10", "port": 80}))["switches/ztp.sh"]
    assert "readonly BASE='http://[fd00::10]:80/switches'" in script
