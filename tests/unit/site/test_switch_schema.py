from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import pytest
from pydantic import ValidationError
from sites import deployment_with
from switchtrees import parsed, texts, with_able_receivers

OLD_RELEASES, NEW_RELEASES = range(9, 15), range(15, 19)
BUILDS: list[dict[str, Any]] = [{"adaptive_routing": True}, {"uplink_legs": "1x800G"}]


@cache
def model(minor: int) -> Any:
    return import_module(f"nvueschema.models.v5_{minor}").NvueConfig


def one_of_each_role(nodes: int, minor: int, fabric: dict[str, Any]) -> dict[str, str]:
    deployed = with_able_receivers(deployment_with(nodes, cumulus=f"5.{minor}.0", build={"fabric": fabric}))
    names = {switch.role: switch.name for switch in deployed.switches}
    files = texts(deployed)
    return {name: files[f"switches/{name}.yaml"] for name in names.values()}


@pytest.mark.slow
@pytest.mark.parametrize("minor", [*OLD_RELEASES, *NEW_RELEASES])
@pytest.mark.parametrize(("nodes", "fabric"), [(4, BUILDS[0]), (16, BUILDS[1])])
def test_the_vendors_schema_knows_every_key(minor: int, nodes: int, fabric: dict[str, Any]) -> None:
    files = one_of_each_role(nodes, minor, fabric)
    assert len(files) == 3
    for text in files.values():
        model(minor).model_validate(parsed(text), extra="forbid")


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "minor"), [(8, 11), (8, 15), (64, 9), (64, 18)])
def test_the_vendors_schema_knows_every_key_of_every_switch(nodes: int, minor: int) -> None:
    for path, text in texts(deployment_with(nodes, cumulus=f"5.{minor}.0")).items():
        if path.endswith(".yaml"):
            model(minor).model_validate(parsed(text), extra="forbid")


@pytest.mark.slow
@pytest.mark.parametrize(("written", "read"), [(14, 15), (15, 14), (9, 10)])
def test_a_file_of_another_release_is_refused(written: int, read: int) -> None:
    text = one_of_each_role(4, written, {})["leaf-001b"]
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        model(read).model_validate(parsed(text), extra="forbid")
