"""Versions of vLLM: reading them, their order, and the print rule of each."""

from __future__ import annotations

import pytest

from kvplan.core.kv.vllm_version import LOG_RULES, EngineVersion, log_rule, parse_version
from kvplan.errors import InputError


@pytest.mark.parametrize(
    ("text", "release", "final"),
    [
        ("0.14.1", (0, 14, 1), True),
        ("v0.33.0", (0, 33, 0), True),
        ("0.24", (0, 24, 0), True),
        ("0.29.1rc1", (0, 29, 1), False),
        ("0.11.1-dev", (0, 11, 1), False),
        ("0.20.2rc1.dev129+g1234567", (0, 20, 2), False),
        ("0.8.5.post1", (0, 8, 5), True),
        (" 0.14.1+cu128 ", (0, 14, 1), True),
        ("0.1.2", (0, 1, 2), True),
        ("1.0.0", (1, 0, 0), True),
    ],
)
def test_versions_are_read(*, text: str, release: tuple[int, int, int], final: bool) -> None:
    assert parse_version(text) == EngineVersion(release, final=final)


@pytest.mark.parametrize("text", ["", "latest", "0", "0.9.x", "2026-06", "0.14.1 or so", "0..1", "0.1.dev21460+gabc"])
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="a release such as") as caught:
        parse_version(text)
    assert repr(text) in str(caught.value)


def test_untagged_builds_say_why() -> None:
    with pytest.raises(InputError, match="build without a release tag"):
        parse_version("0.1.dev21460")


def test_pre_releases_come_before_their_release() -> None:
    ordered = ["0.9.2", "0.20.0", "0.20.1rc1.dev16", "0.20.1", "0.20.2rc1.dev129", "0.20.2", "0.100.0"]
    assert sorted(ordered, key=parse_version) == ordered


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("0.6.4", "single-group"),
        ("0.9.2", "single-group"),
        ("0.10.0rc1", "smallest-block"),
        ("0.10.0", "smallest-block"),
        ("0.19.1", "smallest-block"),
        ("0.20.0", "smallest-block"),  # vllm-project/vllm#43308
        ("0.20.1rc1.dev16", "smallest-block"),  # noonghunna/club-3090#46
        ("0.20.1", "max-length-requests"),
        ("0.20.2rc1.dev129", "max-length-requests"),  # noonghunna/club-3090#142
        ("0.33.0", "max-length-requests"),
    ],
)
def test_each_version_has_one_print_rule(text: str, rule: str) -> None:
    assert log_rule(parse_version(text)).name == rule


def test_the_unchecked_version_is_named() -> None:
    assert "0.20.1 itself is unchecked" in LOG_RULES[-1].text
