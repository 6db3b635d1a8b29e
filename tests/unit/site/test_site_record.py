"""A Site as it is read: what it refuses, each with its place, all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from designs import plan_of
from example_sites import EXAMPLES
from pydantic import ValidationError
from sites import site_data, site_of

from kvplan.errors import InputError
from kvplan.inputs.document import Document
from kvplan.inputs.files import read_yaml
from kvplan.inputs.validation import validate
from kvplan.schema.site.site import Site

if TYPE_CHECKING:
    from pathlib import Path


def test_a_complete_site_is_read() -> None:
    site = site_of(plan_of(8))
    assert len(site.servers) == 13
    assert site.storage.watermarks.high_percent > site.storage.watermarks.low_percent


WRONG: dict[str, tuple[tuple[str | int, ...], Any, str]] = {
    "secret in clear": (("access", "switch_password"), "hunter2", "is no reference to a secret"),
    "secret in clear that looks like a reference": (("servers", 0, "bmc", "password"), "env:hunter 2!", "no reference"),
    "environment variable that is none": (("access", "switch_password"), "env:1-2", "no environment variable"),
    "left to fill in": (("servers", 1, "serial"), "CHANGE-ME", "is still to be filled in"),
    "MAC in upper case": (("switches", 0, "mac"), "3C:EC:EF:01:02:03", "is not a MAC address"),
    "MAC that yaml read as a number": (("switches", 0, "mac"), 37_003_203_904, "string"),
    "MAC of none": (("switches", 0, "mac"), "00:00:00:00:00:00", "none at all"),
    "MAC of a group": (("switches", 0, "mac"), "01:00:5e:00:00:01", "group address"),
    "address with a length": (("servers", 0, "bmc", "address"), "10.0.0.1/24", "is not an IP address"),
    "address out of range": (("media", "address"), "10.0.0.256", "is not an IP address"),
    "sha256 cut short": (("images", "rhel", "sha256"), "abc", "is not a sha256"),
    "sha256 in upper case": (("images", "rhel", "sha256"), "A" * 64, "is not a sha256"),
    "url with a quote": (("images", "rhel", "url"), 'http://x/a"b.iso', "is not an address"),
    "one boot drive": (("servers", 0, "boot_drives", "serials"), ["A1"], "2"),
    "unknown controller": (("servers", 0, "bmc", "kind"), "ilo", "supermicro-x13"),
    "unknown role": (("switches", 0, "role"), "core", "leaf"),
    "version in words": (("versions", "vllm"), "latest!", "is not a version"),
    "mount that is relative": (("storage", "mount"), "kvfs", "is not an absolute path"),
    "mount with a blank": (("storage", "mount"), "/kv fs", "is not an absolute path"),
    "marks in the wrong order": (
        ("storage", "watermarks"),
        {"high_percent": 50, "low_percent": 80},
        "is not below high",
    ),
    "private key as a public one": (("access", "ssh_keys"), ["-----BEGIN OPENSSH PRIVATE KEY-----"], "public ssh key"),
    "template in a text": (("servers", 0, "model"), "{{ lookup('pipe', 'id') }}", "line of text without braces"),
    "name with a dot": (("servers", 0, "name"), "storage.001", "is not a name"),
    "frames too big": (("network", "fabric_mtu_bytes"), 9217, "9216"),
    "no name server": (("network", "dns"), [], "1"),
    "unknown back end": (("inference", "cache_backend"), "redis", "vllm-fs"),
    "day that is none": (("licences", 0, "date"), "2026-13-01", "is not a day"),
    "key that is unknown": (("network", "gateway"), "10.0.0.1", "Extra inputs"),
    "image without a name": (("inference", "engines", "image"), ":latest", "container image"),
}


@pytest.mark.parametrize(("path", "value", "said"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said(path: tuple[str | int, ...], value: object, said: str) -> None:
    data = site_data(plan_of(4))
    inner: Any = data
    for key in path[:-1]:
        inner = inner.setdefault(key, {}) if isinstance(inner, dict) else inner[key]
    inner[path[-1]] = value
    with pytest.raises(ValidationError) as raised:
        Site.model_validate(data)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    "path",
    [("access", "ssh_keys", 0), ("access", "user"), ("servers", 0, "bmc", "user"), ("servers", 0, "bmc", "password")],
)
def test_what_may_be_a_secret_is_not_repeated(path: tuple[str | int, ...]) -> None:
    data = site_data(plan_of(4))
    inner: Any = data
    for key in path[:-1]:
        inner = inner.setdefault(key, {}) if isinstance(inner, dict) else inner[key]
    inner[path[-1]] = "root:Correct-Horse!"
    text = yaml.safe_dump(data)
    with pytest.raises(InputError) as raised:
        validate(Site, Document(yaml.safe_load(text), "site.yaml", text))
    assert "Correct-Horse" not in str(raised.value)


def test_every_problem_of_a_file_comes_with_its_place_and_no_secret(tmp_path: Path) -> None:
    text = (EXAMPLES / "compact" / "site.yaml").read_text(encoding="utf-8")
    changes = {
        "domain: kv.example": "domain: KV_example",
        "rhel_kernel: ": "rhel_kernle: ",
        "pagepool_gib: 128": "pagepool_gib: lots",
        '"vault:secrets/switches.yml#password"': "correct-horse-battery",
    }
    lines = [next(n for n, line in enumerate(text.splitlines(), 1) if old in line) for old in changes]
    for old, new in changes.items():
        text = text.replace(old, new)
    path = tmp_path / "site.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        validate(Site, read_yaml(path))
    found = {problem.key: problem.where.rsplit(":", 2)[1:] for problem in raised.value.problems}
    assert {"network.domain", "versions.rhel_kernle", "storage.pagepool_gib", "access.switch_password"} <= set(found)
    assert set(lines) <= {int(line) for line, _ in found.values()}
    assert "did you mean 'rhel_kernel'" in str(raised.value)
    assert "correct-horse" not in str(raised.value)
