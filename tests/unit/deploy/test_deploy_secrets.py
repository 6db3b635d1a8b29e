"""Secrets: read from where they are, every missing one named, none repeated, all taken out of texts."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest
from ansible.parsing.vault import VaultLib, VaultSecret

from kvplan.deploy.secrets import HIDDEN, read_secrets, redacted, redacted_data
from kvplan.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

PASSWORD = "open-sesame"  # noqa: S105 - of a vault that a test makes
CANARY = "canary-é'\"\\$x"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Give a directory with a vault and a file."""
    vault = VaultLib([("default", VaultSecret(PASSWORD.encode()))])
    (tmp_path / "v.yml").write_bytes(vault.encrypt("switch: {password: canary-1}\nlist: [1]\nempty: ''\npin: 4711\n"))
    (tmp_path / "broken.yml").write_bytes(vault.encrypt("a: [canary-2"))
    (tmp_path / "key").write_text(" canary-3\n")
    (tmp_path / "password").write_text(f"{PASSWORD}\n")
    (tmp_path / "wrong").write_text("x")
    return tmp_path


def test_each_kind_is_read(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KV_A", "canary-4")
    references = {"a": "env:KV_A", "b": "file:key", "c": "vault:v.yml#switch.password", "d": "vault:v.yml#pin"}
    found = read_secrets(references, site, vault_password=site / "password")
    assert found == {"a": "canary-4", "b": "canary-3", "c": "canary-1", "d": "4711"}


def test_a_file_may_be_below_the_home_directory(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(site))
    assert read_secrets({"b": "file:~/key"}, site / "elsewhere") == {"b": "canary-3"}


def test_every_missing_one_is_named_and_none_repeated(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KV_A", raising=False)
    references = {
        "a": "env:KV_A",
        "b": "file:none",
        "c": "vault:v.yml#switch.user",
        "d": "vault:v.yml#list",
        "e": "vault:v.yml#empty",
        "f": "vault:none.yml#x",
        "g": "vault:broken.yml#x",
        "h": "",
    }
    with pytest.raises(InputError) as caught:
        read_secrets(references, site, vault_password=site / "password")
    text = str(caught.value)
    assert len(caught.value.problems) == len(references)
    assert "secret a: the environment variable KV_A is not set" in text
    assert "secret c: v.yml has no text at 'switch.user'" in text
    assert "secret g: broken.yml holds no YAML" in text
    assert "canary" not in text


def test_a_vault_needs_its_password(site: Path) -> None:
    wanted = {"c": "vault:v.yml#pin"}
    with pytest.raises(InputError, match="whose password is missing; --vault-password-file"):
        read_secrets(wanted, site)
    with pytest.raises(InputError, match="is not opened by the password in "):
        read_secrets(wanted, site, vault_password=site / "wrong")
    with pytest.raises(InputError, match="which only deploying opens"):
        read_secrets(wanted, site, vaults=False)


@pytest.mark.parametrize(
    "form", [str, json.dumps, repr, shlex.quote, lambda text: json.dumps(text, ensure_ascii=False)]
)
def test_secrets_are_found_however_they_are_quoted(form: object) -> None:
    assert callable(form)
    assert "canary" not in redacted(f"before {form(CANARY)} after", {"a": CANARY})


def test_secrets_are_found_line_by_line_in_keys_and_values() -> None:
    secrets = {"key": "-----BEGIN\ncanary-line\n", "short": "abc"}
    data = {"canary-line": ["abc", ("x canary-line",), 4, None]}
    assert redacted_data(data, secrets) == {HIDDEN: ["abc", [f"x {HIDDEN}"], 4, None]}


def test_the_longer_of_two_secrets_goes_first() -> None:
    assert redacted("pass-word-long", {"a": "pass-word", "b": "pass-word-long"}) == HIDDEN
