"""The forms of Storage Scale's files, read back."""

from __future__ import annotations

import pytest

from kvplan.site.scale.grammar import option, parse_nodes, parse_verbs, size_bytes
from kvplan.site.scale.policy_grammar import parse_policy
from kvplan.site.scale.quorum import quorum_size

RULE = "RULE 'kv' DELETE FROM POOL 'p' THRESHOLD (80,70) WEIGHT (CURRENT_TIMESTAMP - ACCESS_TIME) FOR FILESET ('f') "


@pytest.mark.parametrize(
    "line",
    [
        "",
        "s1",
        "s1:quorum:s1-adm",
        "s1:quorum-manager",
        "S1:quorum-manager:a",
        "s1:quorum-manager:a:b",
        "a b:quorum-manager:c",
    ],
)
def test_a_node_line_of_another_form_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        parse_nodes(f"s0:nonquorum-client:s0-adm\n{line}\n")


def test_node_lines_are_read() -> None:
    first, second = parse_nodes("a-kv.x:quorum-manager:a-adm.x\nb-kv.x:nonquorum-client:b-adm.x\n")
    assert (first.daemon, first.quorum, first.manager, first.admin) == ("a-kv.x", True, True, "a-adm.x")
    assert (second.quorum, second.manager) == (False, False)


def test_verbs_ports_are_read() -> None:
    assert [port.fabric for port in parse_verbs("mlx5_0/1/3 mlx5_1/2")] == [3, 0]
    for wrong in ("mlx5_0", "mlx5_0/a", "mlx5-0/1/1", "mlx5_0/1/2/3"):
        with pytest.raises(ValueError, match="device/port/fabric"):
            parse_verbs(wrong)


@pytest.mark.parametrize(
    ("text", "size"), [("4m", 4 << 20), ("512K", 512 << 10), ("3G", 3 << 30), ("7", 7), ("25%", None), ("", None)]
)
def test_sizes_are_read(text: str, size: int | None) -> None:
    assert size_bytes(text) == size


def test_options_are_found() -> None:
    assert option(["mmx", "--a", "1", "--b"], "--a") == "1"
    assert option(["mmx", "--a", "1", "--b"], "--b") is None
    assert option([], "--a") is None


def test_policy_rules_are_read() -> None:
    text = (
        f"/* RULE 'no' */ {RULE} -- more\nWHERE PATH_NAME LIKE '/f/%'\nrule 'b' exclude for fileset ('f','g') where (a)"
    )
    first, second = parse_policy(text)
    assert (first.name, first.pool, first.threshold) == ("kv", "p", (80, 70))
    assert first.weight == ("CURRENT_TIMESTAMP", "-", "ACCESS_TIME")
    assert first.where == ("PATH_NAME", "LIKE", "'/f/%'")
    assert (second.action, second.filesets) == ("EXCLUDE", ("f", "g"))


def test_one_mark_is_both() -> None:
    assert parse_policy("RULE 'a' DELETE FROM POOL 'p' THRESHOLD (80)")[0].threshold == (80, 80)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "DELETE",
        "RULE DELETE",
        "RULE 'a' DROP",
        "RULE 'a' SET 'p'",
        "RULE 'a' DELETE FROM 'p'",
        "RULE 'a' DELETE FROM POOL",
        "RULE 'a' DELETE THRESHOLD (a,b)",
        "RULE 'a' DELETE THRESHOLD (1,2,3)",
        "RULE 'a' DELETE THRESHOLD (80",
        "RULE 'a' DELETE WHERE",
        "RULE 'a' DELETE WHERE (x",
        "RULE 'a' DELETE FOR FILESET ('f') FROM POOL 'p'",
        "RULE 'a' DELETE §",
        "RULE 'a' DELETE FOR POOL ('p')",
    ],
)
def test_what_is_no_policy_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse_policy(text)


@pytest.mark.parametrize(("nodes", "quorum"), [(0, 0), (1, 1), (2, 1), (3, 3), (4, 3), (5, 5), (6, 5), (7, 7), (99, 7)])
def test_the_quorum_grows_by_rule(nodes: int, quorum: int) -> None:
    assert quorum_size(nodes) == quorum
