"""Destruction: listed by serial number, and agreed to by name or by the exact Plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sites import deployment_of, deployment_with, site_data

from kvplan.deploy.confirm import agreed, destroyed
from kvplan.errors import UsageError
from kvplan.render.deploy_view import destruction_view
from kvplan.render.text import view_text

if TYPE_CHECKING:
    from collections.abc import Callable

NAME, SHA256 = "kvstore", "a" * 64


def agree(given: str | None = None, ask: Callable[[str], str] | None = None) -> None:
    """Ask for agreement; the file `plan.json` holds the Plan."""
    agreed(
        given,
        name=NAME,
        plan_sha256=SHA256,
        sha256_in=lambda path: SHA256 if path == Path("plan.json") else "b" * 64,
        ask=ask,
    )


def test_hosts_and_drives_are_listed_by_serial() -> None:
    found = destroyed(deployment_of(4), {"provision": {"storage-001", "gpu-0001"}, "storage": {"storage-002"}})
    assert [(entry.what, entry.host, entry.serial) for entry in found] == [
        ("reinstalled", "storage-001", "SNS0001"),
        ("reinstalled", "gpu-0001", "SNC0001"),
        ("wiped", "storage-002", "SNS0002"),
    ]
    assert found[0].drives == ("BOOTS0001A", "BOOTS0001B")
    assert found[2].drives[0].startswith("all ")


def test_drives_that_the_site_knows_are_named() -> None:
    data = site_data(deployment_of(4).plan)
    servers = data["servers"]
    drives = next(server["data_drives"] for server in servers if server["name"] == "storage-001")
    count = drives["count"]
    drives["serials"] = [f"D{number}" for number in range(count)]
    found = destroyed(deployment_with(4, servers=servers), {"storage": {"storage-001"}})
    assert found[0].drives == tuple(f"D{number}" for number in range(count))


def test_phases_that_destroy_nothing_list_nothing() -> None:
    assert destroyed(deployment_of(4), {"base": {"storage-001"}}) == ()
    assert destroyed(deployment_of(4), {"storage": {"gpu-0001"}}) == ()


def test_the_list_as_people_see_it() -> None:
    found = destroyed(deployment_of(4), {"provision": {"storage-001"}, "storage": {"storage-001"}})
    text = view_text(destruction_view(found, NAME), width=80)
    for part in ("SNS0001", "BOOTS0001A, BOOTS0001B", "installed anew", "to lose everything"):
        assert part in text


@pytest.mark.parametrize("given", [SHA256, "plan.json"])
def test_the_exact_plan_agrees(given: str) -> None:
    agree(given)


@pytest.mark.parametrize("given", ["", "yes", "a" * 63, "other.json"])
def test_anything_else_does_not(given: str) -> None:
    with pytest.raises(UsageError, match="is not the Plan that is deployed") as caught:
        agree(given, ask=lambda _: NAME)
    assert SHA256 in caught.value.hint


def test_the_name_must_be_typed() -> None:
    asked: list[str] = []
    agree(ask=lambda question: asked.append(question) or f"{NAME}\n")  # type: ignore[func-returns-value]
    assert NAME in asked[0]
    for answer in ("", "y", "KVSTORE", "kvstor"):
        with pytest.raises(UsageError, match="nothing was touched"):
            agree(ask=lambda _, answer=answer: answer)  # type: ignore[misc]


def test_without_a_terminal_the_flag_is_named() -> None:
    with pytest.raises(UsageError, match="no terminal to ask at") as caught:
        agree()
    assert caught.value.hint == f"--yes {SHA256}"
