"""Where kvplan's own files are, and which environment variables it reads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kvplan import assets
from kvplan.assets import playbooks_dir, profiles_dir, templates_dir
from kvplan.errors import InputError
from kvplan.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _looked_up_anew() -> Iterator[None]:
    assets._own_dir.cache_clear()
    yield
    assets._own_dir.cache_clear()


def test_in_a_checkout_they_stand_beside_the_package() -> None:
    root = Path(assets.__file__).parents[1]
    assert profiles_dir() == root / "profiles"
    assert playbooks_dir().name == "playbooks"
    assert templates_dir().name == "templates"


def test_in_a_wheel_they_are_inside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(assets, "_PACKAGE", tmp_path / "kvplan")
    assert profiles_dir() == tmp_path / "kvplan" / "_data" / "profiles"


def test_the_environment_overrides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "profiles").mkdir()
    monkeypatch.setenv("KVPLAN_DATA_DIR", str(tmp_path))
    assert profiles_dir() == tmp_path / "profiles"
    with pytest.raises(InputError, match=r"KVPLAN_DATA_DIR: .* has no directory 'templates'; unset it"):
        templates_dir()


def test_settings_of_an_empty_environment() -> None:
    assert Settings.from_environment({}) == Settings()
    assert Settings.from_environment({"KVPLAN_CATALOGUE": "", "KVPLAN_DATA_DIR": ""}) == Settings()


def test_settings_split_like_path() -> None:
    joined = os.pathsep.join(("one", "", "two"))
    settings = Settings.from_environment(
        {"KVPLAN_CATALOGUE": joined, "KVPLAN_PROFILES": "mine", "KVPLAN_DATA_DIR": "data"}
    )
    assert settings.catalogue_dirs == (Path("one"), Path("two"))
    assert settings.profile_dirs == (Path("mine"),)
    assert settings.data_dir == Path("data")


def test_settings_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVPLAN_PROFILES", "here")
    assert Settings.from_environment().profile_dirs == (Path("here"),)
