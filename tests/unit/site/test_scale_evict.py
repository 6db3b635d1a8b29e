"""kv-evict, run with stand-ins for Storage Scale's commands."""

from __future__ import annotations

import fcntl
import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from scale_trees import tree_named

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

QUOTA = """\
mmlsquota::HEADER:version:reserved:reserved:filesystemName:quotaType:id:name:blockUsage:blockQuota:blockLimit:
mmlsquota::0:1:::kvfs:FILESET:1:kvcache:{used}:850:{limit}:
"""
POLICY = "/etc/kvplan/scale/policy/evict.policy"


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Give `run(*arguments, used=, limit=)`; what mmapplypolicy was called with lands in `called`."""
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "mmlsquota").write_text('#!/bin/bash\nprintf "%s" "${QUOTA_TEXT}"\n')
    (tools / "mmapplypolicy").write_text(f'#!/bin/bash\nprintf "%s\\n" "$@" >"{tmp_path}/called"\n')
    for tool in tools.iterdir():
        tool.chmod(0o755)
    script = tmp_path / "kv-evict"
    script.write_text(tree_named("compact")["scale/policy/kv-evict"])

    def _run(
        *arguments: str, used: object = 900, limit: object = 1000, text: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "QUOTA_TEXT": QUOTA.format(used=used, limit=limit) if text is None else text,
            "KV_EVICT_LOCK": str(tmp_path / "lock"),
            "KV_EVICT_WORK": str(tmp_path / "work"),
        }
        return subprocess.run(
            ["bash", str(script), *arguments], env=environment, text=True, capture_output=True, check=False
        )

    return _run


def _called(directory: Path) -> list[str]:
    """Return the words that mmapplypolicy was called with; none when it was not."""
    path = directory / "called"
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.parametrize("used", [850, 900, 1200])
def test_from_the_high_mark_on_it_deletes(
    run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, used: int
) -> None:
    ran = run(used=used)
    assert (ran.returncode, ran.stderr) == (0, "")
    work = str(tmp_path / "work")
    assert _called(tmp_path) == [
        "kvfs", "-P", POLICY, "-I", "yes", "-L", "1", "-N", "kvservers", "-s", work, "--single-instance",
    ]  # fmt: skip
    assert (tmp_path / "work").is_dir()


@pytest.mark.parametrize("used", [0, 500, 849])
def test_below_the_high_mark_it_refuses(
    run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, used: int
) -> None:
    ran = run(used=used)
    assert ran.returncode == 3
    assert "nothing deleted" in ran.stderr
    assert _called(tmp_path) == []


@pytest.mark.parametrize("used", [10, 900])
def test_a_dry_run_lists_at_any_fill_and_deletes_nothing(
    run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, used: int
) -> None:
    assert run("--dry-run", used=used).returncode == 0
    called = _called(tmp_path)
    assert called[called.index("-I") + 1] == "test"
    assert called[called.index("-L") + 1] == "2"


def test_one_runs_at_a_time(run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ran = run()
    assert ran.returncode == 4
    assert "already running" in ran.stderr
    assert _called(tmp_path) == []
    assert run().returncode == 0


def test_an_event_of_another_file_system_is_none_of_its_business(
    run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    assert run("lowDiskSpace", "otherfs").returncode == 0
    assert _called(tmp_path) == []
    assert run("lowDiskSpace", "kvfs").returncode == 0
    assert _called(tmp_path) != []


@pytest.mark.parametrize(
    "quota",
    [
        {"text": ""},
        {"limit": 0},
        {"used": "none"},
        {"text": "mmlsquota::HEADER:version:reserved:reserved:filesystemName:\nmmlsquota::0:1:::kvfs:\n"},
    ],
)
def test_without_a_quota_it_fails_and_deletes_nothing(
    run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, quota: dict[str, object]
) -> None:
    ran = run(**quota)
    assert ran.returncode == 1
    assert "no quota" in ran.stderr
    assert _called(tmp_path) == []


def test_columns_may_move(run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    text = "mmlsquota::HEADER:version:reserved:reserved:blockLimit:new:blockUsage:\nmmlsquota::0:1:::1000:x:100:\n"
    assert run(text=text).returncode == 3
