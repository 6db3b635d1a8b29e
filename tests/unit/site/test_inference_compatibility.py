"""Versions that do not go together are named, each pair by an id of its own."""

from __future__ import annotations

from typing import Any

import pytest
from designs import plan_of
from sites import deployment_of, site_data

from kvplan import load_catalogue
from kvplan.catalogue.tables import COMPATIBILITY
from kvplan.schema.setting import Compatibility
from kvplan.schema.site.site import Site
from kvplan.schema.software import VersionRange
from kvplan.site.inference import VERSION_RULES, compatibility_faults

ROWS = load_catalogue().compatibility()
NEWEST = {"dynamo": "1.7.0", "vllm": "0.33.0", "cuda": "13.0"}


def _site(backend: str = "kvbm-g4", cumulus: str = "5.15.0", **versions: str) -> Site:
    data = site_data(plan_of(8), cumulus=cumulus)
    data["versions"] |= versions
    data["inference"]["cache_backend"] = backend
    return Site.model_validate(data)


def _faults(site: Site, rows: tuple[Compatibility, ...] = ROWS) -> list[tuple[str, str]]:
    return [(fault.id, fault.severity) for fault in compatibility_faults(site, rows)]


def test_reference_and_newest_sets_fit() -> None:
    assert _faults(deployment_of(8).site) == []
    assert _faults(_site("vllm-fs", **NEWEST)) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"vllm": "0.16.0"}, {("KV-VER-001", "error"), ("KV-VER-003", "warning")}),
        ({"backend": "vllm-fs"}, {("KV-VER-002", "error"), ("KV-VER-003", "error")}),
        ({"backend": "vllm-fs", **NEWEST, "vllm": "0.22.0"}, {("KV-VER-001", "error"), ("KV-VER-003", "error")}),
        ({"backend": "llmd-fs", **NEWEST}, {("KV-VER-002", "error"), ("KV-VER-003", "error")}),
        ({"backend": "kvbm-disk", **NEWEST}, {("KV-VER-002", "error"), ("KV-VER-003", "error")}),
        ({"cuda": "12.4"}, {("KV-VER-004", "error"), ("KV-VER-007", "warning"), ("KV-VER-006", "info")}),
        ({"backend": "vllm-fs", **NEWEST, "cuda": "12.9"}, {("KV-VER-004", "error")}),
        ({"gpu_driver": "570.86"}, {("KV-VER-005", "error"), ("KV-VER-006", "error")}),
        ({"gpu_driver": "560.1"}, {("KV-VER-005", "error"), ("KV-VER-006", "error"), ("KV-VER-007", "info")}),
        (
            {"ubuntu": "20.04"},
            {("KV-VER-008", "error"), ("KV-VER-010", "warning"), ("KV-VER-014", "warning"), ("KV-VER-018", "info")},
        ),
        ({"doca": "2.10.0"}, {("KV-VER-009", "warning"), *(("KV-VER-0" + n, "info") for n in ("10", "11", "12"))}),
        ({"rhel": "9.7", "rhel_kernel": "5.14.0-611.5.1"}, {("KV-VER-013", "warning"), ("KV-VER-015", "warning")}),
        ({"rhel_kernel": "5.14.0-503.11.1"}, {("KV-VER-017", "error")}),
        (
            {"ubuntu_kernel": "7.0.0-3-generic"},
            {("KV-VER-012", "warning"), ("KV-VER-016", "warning"), ("KV-VER-018", "error")},
        ),
        ({"ubuntu_kernel": "6.14.0-27-generic"}, {("KV-VER-016", "warning")}),
        ({"storage_scale": "5.2.3"}, {("KV-VER-013", "info"), *(("KV-VER-0" + n, "info") for n in ("14", "15", "16"))}),
        ({"cumulus": "5.8.0"}, {("KV-VER-019", "error")}),
        ({"cumulus": "5.19.0"}, {("KV-VER-019", "warning")}),
        ({"dynamo": "0.8.1"}, {("KV-VER-001", "info"), ("KV-VER-002", "warning")}),
    ],
)
def test_mismatch_is_named(changes: dict[str, str], expected: set[tuple[str, str]]) -> None:
    found = set(_faults(_site(**changes)))
    assert expected <= found
    assert {severity for _, severity in found - expected} <= {"info"}


def test_fault_says_where_and_what_would_fit() -> None:
    fault = next(iter(compatibility_faults(_site(vllm="0.16.0"), ROWS)))
    assert fault.where == "versions.vllm"
    assert fault.text.endswith("does not go with vllm 0.16.0")
    assert "0.14 or earlier" in fault.remedy


def test_old_switches_are_named_together() -> None:
    (fault,) = compatibility_faults(_site(cumulus="5.8.0"), ROWS)
    assert "leaf-001a, leaf-001b" in fault.where
    assert "5.9 or later" in fault.remedy


def test_own_row_may_refuse_a_choice() -> None:
    row = _row(first="doca", second="cache-backend", second_exact=("kvbm-g4",), works=False)
    assert _faults(_site(), (row,)) == [("KV-VER-099", "error")]
    wanted = _row(first="doca", second="cache-backend", second_exact=("vllm-fs",))
    (fault,) = compatibility_faults(_site(), (wanted,))
    assert fault.remedy.startswith("Choose cache-backend vllm-fs")


def _row(**fields: Any) -> Compatibility:
    return Compatibility(id="own", source="a test", confidence="vendor", **fields)


def test_rows_agree_with_the_back_ends() -> None:
    catalogue = load_catalogue()
    for row in ROWS:
        for name in row.first_exact:
            assert getattr(catalogue.backend(name), row.second) == row.second_range, row.id


def test_every_row_has_a_source_and_says_what_is_assumed() -> None:
    assert len(ROWS) >= 25
    for row in ROWS:
        assert row.source, row.id
        assert row.note.startswith("assumed: ") == (row.confidence == "assumed"), row.id
        assert row.second_range != VersionRange() or row.second_exact, row.id
    assert len(load_catalogue().ids(COMPATIBILITY.name)) == len(ROWS)


def test_each_pair_has_a_rule() -> None:
    assert len(VERSION_RULES) == len({(row.first, row.second) for row in ROWS}) + 1
