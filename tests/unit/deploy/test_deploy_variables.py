"""Variables of the playbooks on the command line: read as YAML, only those that roles have, no text a template."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from kvplan.assets import playbooks_dir
from kvplan.deploy.runner import _unsafe_yaml
from kvplan.deploy.variables import read_settings, settable
from kvplan.errors import InputError

BOOKS = playbooks_dir()


def refused(*given: str) -> str:
    """Return what is said of settings that are refused."""
    with pytest.raises(InputError) as caught:
        read_settings(given, BOOKS)
    return "\n".join(str(problem) for problem in caught.value.problems)


def test_what_may_be_set_comes_from_the_playbooks() -> None:
    names = settable(BOOKS)
    assert {"base_serial", "preflight_without", "switches_ssh", "provision_poll_seconds", "storage_nodes_root"} <= names
    assert not [name for name in names if name.startswith(("kv_", "ansible_"))]


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("base_serial=1", 1),
        ("base_serial=[1, 50%]", [1, "50%"]),
        ("switches_ssh=true", True),
        ("base_limits_tuned={storage: latency-performance}", {"storage": "latency-performance"}),
        ("base_root=", ""),
        ("switches_ca_path=/etc/a=b.pem", "/etc/a=b.pem"),
    ],
)
def test_a_value_is_yaml(given: str, value: Any) -> None:
    assert read_settings([given], BOOKS) == {given.partition("=")[0]: value}


def test_everything_wrong_is_said_at_once() -> None:
    said = refused("base_seriall=1", "kv_tree=/tmp", "base_serial={", "base_root")
    assert "--set base_seriall: no playbook has this variable; did you mean 'base_serial'?" in said
    assert "--set kv_tree: comes from the Plan and the Site" in said
    assert "--set base_serial:" in said
    assert "--set base_root: has no value; --set base_root=VALUE" in said


@pytest.mark.parametrize(
    "name",
    [
        "storage_confirmed_cluster",
        "storage_data_confirmed_hosts",
        "provision_confirmed",
        "provision_reinstall",
    ],
)
def test_nobody_agrees_by_a_variable(name: str) -> None:
    assert f"--set {name}: is not set by hand; agree to what is destroyed" in refused(f"{name}=kvstore")


def test_no_text_of_a_variable_is_a_template() -> None:
    given = {"a": "{{ 1 }}", "b": ["{{ 2 }}", 3, True, None, 0.5], "c": {"{{ k }}": {"d": "no"}}, "e": "1"}
    text = _unsafe_yaml(given)
    assert text.count("!unsafe") == 4
    read: dict[str, Any] = yaml.safe_load(text.replace("!unsafe", "!!str"))
    assert read == given
