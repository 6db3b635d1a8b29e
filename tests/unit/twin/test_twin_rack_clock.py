"""A node's clock that is wrong: what is laid on it and taken away, and what the machine must have for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from rack_benches import PLAN

from kvplan.twin.rack import RackError, clock
from kvplan.twin.rack.rack import Rack

RELOADED = {"storage-001": "sshd", "gpu-0001": "ssh"}


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Note what is run on nodes, on a machine that has the library."""
    noted: list[str] = []

    def run(_: Rack, node: str, *words: str, stdin: str = "") -> None:
        noted.append(f"{node}: {' '.join(words)}")

    library = tmp_path / "libfaketime.so.1"
    library.touch()
    monkeypatch.setattr(clock, "LIBRARY", library)
    monkeypatch.setattr(Rack, "run", run)
    monkeypatch.setattr(Rack, "wait", lambda _, nodes: noted.append(f"wait for {' '.join(nodes)}"))
    return noted


@pytest.mark.parametrize("node", RELOADED)
def test_what_is_laid_is_taken_away(seen: list[str], node: str) -> None:
    rack = Rack(PLAN, Path("/rack"), 1)
    clock.skew(rack, node, 7200)
    clock.skew(rack, node, 0)
    paths = list(clock.skewed(7200))
    reloaded = [f"{node}: systemctl reload {RELOADED[node]}", f"wait for {node}"]
    laid = [f"{node}: install -D -m 444 /dev/stdin {path}" for path in paths]
    assert seen == [*laid, *reloaded, *(f"{node}: rm -f {path}" for path in paths), *reloaded]


def test_every_way_in_is_told_the_same(seen: list[str]) -> None:
    files = clock.skewed(90)
    told = files["/etc/kv-clock"].splitlines()
    assert told[:2] == [f"LD_PRELOAD={clock.LIBRARY}", "FAKETIME=+90"]
    assert files["/etc/ssh/sshd_config.d/00-clock.conf"] == f"SetEnv {' '.join(told)}\n"
    assert files["/etc/sudoers.d/kv-clock"] == "Defaults env_file=/etc/kv-clock\n"


def test_what_the_machine_lacks_is_named(seen: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "LIBRARY", Path("/nowhere/libfaketime.so.1"))
    with pytest.raises(RackError, match="apt install libfaketime"):
        clock.skew(Rack(PLAN, Path("/rack"), 1), "gpu-0001", 60)
    assert seen == []
