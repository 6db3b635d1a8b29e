"""Laying files: what is written, foreseen, shown and cleared away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from role_runs import call

if TYPE_CHECKING:
    from pathlib import Path

FILES = [["etc/chrony.conf", "0644", "server a\n"], ["etc/deep/down/secret", "0600", "password {{ kv_secret_x }}\n"]]


def laid(root: Path, *, check: bool = False, **args: Any) -> dict[str, Any]:
    """Lay the files below a directory."""
    secrets = {"kv_secret_x": "hunter22"}
    return call("kv_files.py", check=check, **{"files": FILES, "secrets": secrets, "root": str(root), **args})


def test_files_are_foreseen_then_laid_then_left_alone(tmp_path: Path) -> None:
    foreseen = laid(tmp_path, check=True)
    assert not list(tmp_path.iterdir())

    first = laid(tmp_path)
    second = laid(tmp_path)

    assert foreseen["paths"] == first["paths"] == ["etc/chrony.conf", "etc/deep/down/secret"]
    assert (second["changed"], second["paths"], second["diff"]) == (False, [], [])
    assert (tmp_path / "etc/chrony.conf").stat().st_mode & 0o7777 == 0o644
    assert (tmp_path / "etc/deep/down/secret").stat().st_mode & 0o7777 == 0o600
    assert (tmp_path / "etc/deep/down/secret").read_text() == "password hunter22\n"
    assert not list(tmp_path.rglob(".kv-*"))


def test_a_secret_is_in_no_diff(tmp_path: Path) -> None:
    result = laid(tmp_path)

    assert "server a" in str(result["diff"])
    assert "hunter22" not in str(result)


@pytest.mark.parametrize("fault", ["text", "mode", "gone", "link"])
def test_what_somebody_changed_is_put_right(tmp_path: Path, fault: str) -> None:
    laid(tmp_path)
    place = tmp_path / "etc/chrony.conf"
    if fault == "text":
        place.write_text("server b\n")
    elif fault == "mode":
        place.chmod(0o666)
    else:
        place.unlink()
    if fault == "link":
        place.symlink_to("elsewhere")

    result = laid(tmp_path)

    assert result["paths"] == ["etc/chrony.conf"]
    assert place.read_text() == "server a\n"
    assert not place.is_symlink()
    assert not laid(tmp_path)["changed"]


def test_the_later_file_of_a_path_counts(tmp_path: Path) -> None:
    laid(tmp_path, files=[["a", "0644", "common"], ["a", "0600", "own"]])

    assert (tmp_path / "a").read_text() == "own"


def test_strangers_go_but_not_their_directories(tmp_path: Path) -> None:
    (tmp_path / "etc/deep").mkdir(parents=True)
    (tmp_path / "etc/installer.nmconnection").write_text("x")

    foreseen = laid(tmp_path, check=True, only=["etc", "no/such"])
    assert (tmp_path / "etc/installer.nmconnection").exists()
    first = laid(tmp_path, only=["etc", "no/such"])

    assert "etc/installer.nmconnection" in first["paths"]
    assert foreseen["paths"] == first["paths"]
    assert not (tmp_path / "etc/installer.nmconnection").exists()
    assert (tmp_path / "etc/deep").is_dir()
    assert not laid(tmp_path, only=["etc"])["changed"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "etc").write_text("no directory")

    result = laid(tmp_path)

    assert result["failed"]
    assert "etc/chrony.conf" in result["msg"]
    assert "writable" in result["remedy"]


def test_what_must_be_applied_is_kept_in_mind_until_it_is(tmp_path: Path) -> None:
    remember = ["etc/chrony", "etc/deep"]
    foreseen = laid(tmp_path, check=True, remember=remember)
    assert not list(tmp_path.iterdir())

    first = laid(tmp_path, remember=remember)
    again = laid(tmp_path, remember=remember)
    partly = laid(tmp_path, remember=remember, files=[], applied=["etc/chrony.conf"])
    after = laid(tmp_path, remember=remember, applied=["etc/deep/down/secret"])

    assert (
        foreseen["unapplied"] == first["unapplied"] == again["unapplied"] == ["etc/chrony.conf", "etc/deep/down/secret"]
    )
    assert (again["changed"], partly["changed"], after["changed"]) == (False, False, False)
    assert partly["unapplied"] == ["etc/deep/down/secret"]
    assert after["unapplied"] == []


def test_a_run_that_ended_while_laying_has_applied_nothing(tmp_path: Path) -> None:
    blocked = tmp_path / "etc/deep"
    blocked.parent.mkdir()
    blocked.write_text("no directory")

    stopped = laid(tmp_path, remember=["etc"])
    blocked.unlink()
    resumed = laid(tmp_path, remember=["etc"])

    assert stopped["failed"]
    assert resumed["paths"] == ["etc/deep/down/secret"]
    assert resumed["unapplied"] == ["etc/chrony.conf", "etc/deep/down/secret"]
