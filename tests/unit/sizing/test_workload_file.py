"""Workloads as people give them: presets and files, with every problem at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvplan import load_catalogue
from kvplan.errors import InputError
from kvplan.schema.workload import Spread, Workload
from kvplan.workloads import load_workload

PRESETS = ("chat", "rag", "agent", "docqa", "batch")


def written(tmp_path: Path, text: str) -> str:
    """Write a workload file and return its path."""
    path = tmp_path / "load.yaml"
    path.write_text(text)
    return str(path)


def refused(tmp_path: Path, text: str) -> list[str]:
    """Return the problems of a workload file, without its directory."""
    with pytest.raises(InputError) as caught:
        load_workload(written(tmp_path, text), load_catalogue())
    return [str(problem).replace(f"{tmp_path}/", "") for problem in caught.value.problems]


def test_every_preset_is_a_workload_and_there_is_no_other() -> None:
    catalogue = load_catalogue()
    assert catalogue.ids("workloads") == PRESETS
    assert all(isinstance(load_workload(name, catalogue), Workload) for name in PRESETS)


def test_a_file_says_everything_itself(tmp_path: Path) -> None:
    text = (
        "requests_per_s: 12.5\nprompt_tokens: {p50: 6909, p90: 27367, p99: 85400}\nhit_share: 0.374\nrouting: random\n"
    )
    workload = load_workload(written(tmp_path, text), load_catalogue())
    assert workload.prompt_tokens == Spread(p50=6909, p90=27367, p99=85400)
    assert (workload.requests_per_s, workload.routing, workload.busy_share) == (12.5, "random", None)


def test_a_file_changes_single_numbers_of_a_preset(tmp_path: Path) -> None:
    text = "preset: docqa\nrequests_per_s_per_gpu: 0.5\ng2_bytes_per_gpu: 60e9\nprompt_tokens: 50_000\n"
    workload = load_workload(written(tmp_path, text), load_catalogue())
    assert (workload.requests_per_s_per_gpu, workload.busy_share) == (0.5, None)
    assert (workload.g2_bytes_per_gpu, workload.local_hit_share) == (60e9, None)
    assert workload.suffix_tokens == Spread(constant=500)
    assert workload.prompt_tokens == Spread(constant=50_000)


def test_all_problems_of_a_file_come_at_once(tmp_path: Path) -> None:
    text = "preset: agnet\nbusy_share: 1.7\npromt_tokens: 8000\nrouting: stiky\nretention_s: 1 h\n"
    assert refused(tmp_path, text) == [
        (
            "load.yaml:1:9: preset: is not a preset; presets: chat, rag, agent, docqa, batch; or the path of a YAML "
            "file; did you mean 'agent'?"
        ),
        "load.yaml:2:13: busy_share: must be at most 1, not 1.7",
        "load.yaml:3:1: promt_tokens: is not known; did you mean 'prompt_tokens' or 'output_tokens'?",
        "load.yaml:4:10: routing: 'stiky' is not a choice; allowed: 'sticky' or 'random'; did you mean 'sticky'?",
        "load.yaml:5:14: retention_s: must be a number, not '1 h'",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- 1\n", "is no mapping of keys to values; keys such as prompt_tokens, or preset: chat, rag"),
        ("preset: 5\n", "load.yaml:1:9: preset: is not a preset"),
        ("preset: chat\nprompt_tokens: {p50: 3}\n", "percentiles are p50 with p90, p99 or both"),
        ("preset: chat\nprompt_tokens: {p50: 3, p90: 2}\n", "percentiles must not fall: p50, p90, p99"),
        ("preset: chat\nprompt_tokens: {mean: 3}\n", "mean and sigma go together"),
        ("preset: chat\nprompt_tokens: {p50: 3, mean: 4}\n", "a spread is said by one of constant or p50, p90, p99 or"),
        ("preset: chat\nprompt_tokens: {p5: 3}\n", "is not known; did you mean 'p50'"),
        ("preset: chat\nprompt_tokens: true\n", "load.yaml:2:16: prompt_tokens: must be a mapping of keys to values"),
        ("preset: chat\nprompt_tokens: -1\n", "must be above 0, not -1"),
        ("preset: chat\nsuffix_tokens: 9000\n", "suffix_tokens is longer than prompt_tokens, whose end it is"),
        ("preset: chat\nhit_share: 0.5\nsuffix_tokens: 5\n", "what is new of a prompt is said by one of hit_share or"),
        (
            "busy_share: 0.5\nprompt_tokens: 5\n",
            "what is new of a prompt is said by one of hit_share or suffix_tokens; n",
        ),
        ("busy_share: 0.5\nprompt_tokens: 5\nhit_share: 0\ng1_bytes_per_gpu: 1e9\n", "decide only with reuse_gap_s"),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    found = refused(tmp_path, text)
    assert any(problem in line for line in found), found
    assert len(found) == 1, found


def test_an_unknown_name_is_met_with_the_presets() -> None:
    with pytest.raises(InputError, match=r"workload 'caht': is not a preset; presets: chat, .*; did you mean 'chat'\?"):
        load_workload("caht", load_catalogue())
    with pytest.raises(InputError, match="no-such-file"):
        load_workload("./no-such-file.yaml", load_catalogue())


def test_a_user_table_adds_a_workload(tmp_path: Path) -> None:
    head = "- id: ours\n  source: our logs\n  confidence: measured\n"
    row = f"{head}  workload: {{requests_per_s: 3, prompt_tokens: 9, hit_share: 0.1}}\n"
    (tmp_path / "workloads.yaml").write_text(row)
    assert load_workload("ours", load_catalogue([tmp_path])).hit_share == 0.1


def test_the_files_of_the_documentation_are_workloads(tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "docs" / "workloads.md"
    files = [part.split("```")[0] for part in page.read_text().split("```yaml\n")[1:]]
    assert len(files) == 2
    own, changed = (load_workload(written(tmp_path, text), load_catalogue()) for text in files)
    assert own.local_bytes_per_gpu == 230e9
    assert (changed.local_hit_share, changed.busy_share) == (0.8, None)


def test_the_documentation_names_every_key() -> None:
    page = (Path(__file__).parents[3] / "docs" / "workloads.md").read_text()
    short = {"g2_bytes_per_gpu": "g2_...", "g3_bytes_per_gpu": "g3_..."}
    assert [key for key in Workload.model_fields if f"`{short.get(key, key)}`" not in page] == []
