"""From names to rows: models, parameters, contradictions, the user's own tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support import LLAMA_8B

from kvplan import Catalogue, InputError, Request, load_catalogue, size
from kvplan.api import kv_report
from kvplan.core.hf.params import params_from_name
from kvplan.models import load_model, load_model_file, model_facts
from kvplan.resolve import resolve, resolve_kv
from kvplan.schema.reports import KvRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kvplan.core.sizing.inputs import ModelFacts

NAMELESS = "xai-org/grok-1"
CONSTANT = """\
- id: guidance.read_bytes_per_s_per_gpu
  value: 2.0e+9
  unit: B/s
  source: measured in our laboratory
  confidence: measured
"""
GPU = """\
- id: h100
  vendor: NVIDIA
  memory_bytes: 200000000000
  memory_bandwidth_bytes_per_s: 1
  pcie_generation: 5
  pcie_lanes: 16
  gpus_per_server: 2
  nic: b3220
  nics_per_server: 1
  source: our laboratory
  confidence: measured
"""


@pytest.fixture
def catalogue() -> Catalogue:
    """Give the built-in catalogue."""
    return load_catalogue()


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    """Give the configuration of a model with grouped-query attention."""
    path = tmp_path / "my-model" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(LLAMA_8B))
    return path


def problems_of(error: pytest.ExceptionInfo[InputError]) -> dict[str, str]:
    return {problem.where: str(problem) for problem in error.value.problems}


def facts_of(name: str, catalogue: Catalogue, **asked: int) -> ModelFacts:
    return model_facts(load_model(name, catalogue), **asked)


@pytest.mark.parametrize(
    "name", ["openai/gpt-oss-120b", "gpt-oss-120b", "GPT-OSS-120B", "OpenAI/GPT-OSS-120b", "oss-120b"]
)
def test_a_model_by_id_end_of_id_or_fragment(name: str, catalogue: Catalogue) -> None:
    assert load_model(name, catalogue).spec.id == "openai/gpt-oss-120b"


def test_a_model_by_alias(catalogue: Catalogue) -> None:
    row = next(row for row in (catalogue.model(name) for name in catalogue.ids("models")) if row.aliases)
    assert load_model(row.aliases[0], catalogue).spec == row


def test_an_ambiguous_fragment_lists_what_it_fits(catalogue: Catalogue) -> None:
    with pytest.raises(InputError) as refused:
        load_model("gpt-oss", catalogue)
    (problem,) = refused.value.problems
    assert "openai/gpt-oss-120b" in problem.allowed
    assert "openai/gpt-oss-20b" in problem.allowed


def test_an_unknown_model_gets_close_names(catalogue: Catalogue) -> None:
    with pytest.raises(InputError) as refused:
        load_model("gpt-os-120b", catalogue)
    assert "gpt-oss-120b" in refused.value.problems[0].hint


def test_a_model_by_file(config_file: Path, catalogue: Catalogue) -> None:
    loaded = load_model(str(config_file), catalogue)
    assert loaded.config == LLAMA_8B
    assert loaded.spec.model_type == "llama"
    assert loaded.spec.max_position_tokens == 131_072
    assert str(config_file.parent) not in loaded.spec.id


def test_a_model_by_directory_is_called_like_it(config_file: Path, catalogue: Catalogue) -> None:
    assert load_model(str(config_file.parent), catalogue).spec.id == "my-model"


@pytest.mark.parametrize("name", [".", "./", "config.json", "./config.json"])
def test_a_model_in_the_working_directory(
    name: str, config_file: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(config_file.parent)
    spec = load_model(name, catalogue).spec
    assert spec.groups[0].layers == 32
    assert spec.id == ("my-model" if name in (".", "./") else "config")


def test_a_relative_directory_without_a_leading_dot(
    config_file: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(config_file.parent.parent)
    assert load_model("my-model", catalogue).spec.id == "my-model"


def test_the_home_directory(config_file: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(config_file.parent.parent))
    assert load_model("~/my-model", catalogue).spec.id == "my-model"


@pytest.mark.parametrize(
    ("own_name", "expected"), [("acme/Big-70B", "acme/Big-70B"), ("/models/mine", "config"), ("", "config")]
)
def test_the_name_in_the_file_counts_unless_it_is_a_path(
    own_name: str, expected: str, config_file: Path, catalogue: Catalogue
) -> None:
    config_file.write_text(json.dumps({**LLAMA_8B, "_name_or_path": own_name}))
    assert load_model(str(config_file), catalogue).spec.id == expected


def test_a_given_name_wins(config_file: Path) -> None:
    assert load_model_file(config_file, "acme/Tiny").spec.id == "acme/Tiny"


@pytest.mark.parametrize("name", ["/nowhere/config.json", "./nothing", "~nobody-of-that-name/x", "/" + "x" * 5000])
def test_a_path_that_leads_nowhere(name: str, catalogue: Catalogue) -> None:
    with pytest.raises(InputError):
        load_model(name, catalogue)


@pytest.mark.parametrize("name", ["x" * 300, "x" * 5000, "a\0b", " "])
def test_a_name_that_no_file_can_have_is_looked_up_all_the_same(name: str, catalogue: Catalogue) -> None:
    with pytest.raises(InputError) as refused:
        load_model(name, catalogue)
    assert "catalogue" in str(refused.value)


@pytest.mark.parametrize("text", ["[]", "3", '"llama"', '{"model_type": "nonesuch"}', "{", ""])
def test_a_file_that_is_no_model(text: str, config_file: Path, catalogue: Catalogue) -> None:
    config_file.write_text(text)
    with pytest.raises(InputError):
        load_model(str(config_file), catalogue)


def test_parameters_as_asked_come_first(catalogue: Catalogue) -> None:
    facts = facts_of("openai/gpt-oss-120b", catalogue, params_total=10**9, params_active=10**8)
    assert (facts.params_total, facts.params_active, facts.params_confidence) == (10**9, 10**8, "vendor")
    assert facts_of("openai/gpt-oss-120b", catalogue, params_total=10**9).params_active == 10**9


def test_parameters_of_the_row(catalogue: Catalogue) -> None:
    # Published: 116.83B in total and 5.1B active without, 5.7B with the embeddings.
    facts = facts_of("openai/gpt-oss-120b", catalogue)
    assert facts.params_total == pytest.approx(116.8e9, rel=0.001)
    assert facts.params_active == pytest.approx(5.7e9, rel=0.01)
    assert facts.weights_bytes == 65_190_340_224
    assert facts_of("openai/gpt-oss-120b", catalogue, params_active=5 * 10**9).params_active == 5 * 10**9


def test_parameters_counted_from_a_configuration(config_file: Path, catalogue: Catalogue) -> None:
    # Llama 3.1 8B: 8,030,261,248 parameters, 16.06 GB in bfloat16.
    facts = facts_of(str(config_file), catalogue)
    assert facts.params_total == pytest.approx(8_030_261_248, rel=1e-3)
    assert facts.params_confidence == "derived"
    assert facts.weights_bytes == pytest.approx(16.06e9, rel=1e-3)


def test_parameters_read_off_the_name(catalogue: Catalogue) -> None:
    facts = facts_of("meta-llama/Llama-3.1-8B-Instruct", catalogue)
    assert (facts.params_total, facts.params_confidence) == (8 * 10**9, "vendor")
    assert facts.weights_bytes == 16 * 10**9


def test_parameters_that_nobody_knows_are_asked_for(catalogue: Catalogue) -> None:
    assert params_from_name(NAMELESS) is None
    with pytest.raises(InputError) as refused:
        facts_of(NAMELESS, catalogue)
    assert "--params" in refused.value.problems[0].hint
    assert facts_of(NAMELESS, catalogue, params_total=314 * 10**9).params_total == 314 * 10**9


def test_everything_wrong_at_once(catalogue: Catalogue) -> None:
    asked = Request(model="gpt-os-120b", context_tokens=1_000, gpus=2, gpu="h1000", tp=4, profile="standrd-8")
    with pytest.raises(InputError) as refused:
        resolve(asked, catalogue)
    found = problems_of(refused)
    assert found.keys() == {"--model", "--gpu", "--tp", "--profile"}
    for option, close in (("--model", "gpt-oss-120b"), ("--gpu", "h100"), ("--profile", "standard-8")):
        assert close in found[option]
    assert refused.value.exit_code == 3


def test_contradictions_at_once(catalogue: Catalogue) -> None:
    asked = Request(
        model="openai/gpt-oss-120b", context_tokens=200_000, gpus=2, tp=4, params_total=10, params_active=11
    )
    with pytest.raises(InputError) as refused:
        resolve(asked, catalogue)
    assert problems_of(refused).keys() == {"--tp", "--active-params", "--context"}


def test_unknown_parameters_and_an_unknown_gpu_at_once(catalogue: Catalogue) -> None:
    with pytest.raises(InputError) as refused:
        resolve(Request(model=NAMELESS, context_tokens=1_000, gpus=2, gpu="h1000"), catalogue)
    assert problems_of(refused).keys() == {"--model", "--gpu"}


def test_a_missing_profile_directory_joins_the_others(catalogue: Catalogue, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        resolve(Request(model="nonesuch", context_tokens=1_000, gpus=2), catalogue, (tmp_path / "nowhere",))
    assert len(refused.value.problems) == 2


def test_the_calculator_names_everything_at_once_too(catalogue: Catalogue) -> None:
    with pytest.raises(InputError) as refused:
        resolve_kv(KvRequest(model="nonesuch", context_tokens=1_000, gpu="h1000"), catalogue)
    assert problems_of(refused).keys() == {"--model", "--gpu"}
    with pytest.raises(InputError) as refused:
        resolve_kv(KvRequest(model=NAMELESS, context_tokens=10**6, gpu="h1000"), catalogue)
    assert problems_of(refused).keys() == {"--context", "--gpu"}


def test_the_calculator_needs_parameters_only_for_a_gpu(catalogue: Catalogue) -> None:
    assert resolve_kv(KvRequest(model=NAMELESS, context_tokens=1_000), catalogue).facts is None
    with pytest.raises(InputError):
        resolve_kv(KvRequest(model=NAMELESS, context_tokens=1_000, gpu="h100"), catalogue)
    given = KvRequest(model=NAMELESS, context_tokens=1_000, gpu="h100", params_total=314 * 10**9)
    assert kv_report(given, catalogue=catalogue).hbm is not None


def test_a_users_constant_decides(tmp_path: Path) -> None:
    (tmp_path / "constants.yaml").write_text(CONSTANT)
    catalogue = load_catalogue((tmp_path,))
    plan = size(Request(model="openai/gpt-oss-120b", context_tokens=130_000, gpus=128), catalogue=catalogue)
    assert plan.demand.read_bytes_per_s == 128 * 2e9
    assert plan.constants["guidance.read_bytes_per_s_per_gpu"].confidence == "measured"
    assert [name.rpartition("/")[2] for name in plan.catalogue.user_tables] == ["constants.yaml"]


def test_a_users_gpu_decides(tmp_path: Path) -> None:
    (tmp_path / "gpus.yaml").write_text(GPU)
    catalogue = load_catalogue((tmp_path,))
    asked = Request(model="openai/gpt-oss-120b", context_tokens=130_000, gpus=128, gpu="h100")
    plan, plain = size(asked, catalogue=catalogue), size(asked)
    assert plan.hbm.gpu_memory_bytes == 200 * 10**9
    assert plan.network.client_servers == 64
    assert plan.catalogue.sha256 != plain.catalogue.sha256
    assert plan.catalogue.version == plain.catalogue.version
    assert plain.catalogue.user_tables == ()
    assert plan.catalogue.user_tables != ()
