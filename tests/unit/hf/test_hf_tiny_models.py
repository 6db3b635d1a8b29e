"""The 43 measured attention kinds: configuration in, exactly the measured bytes out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from kvplan.core.hf.reader import read_config
from kvplan.core.kv.terms import context_bytes
from kvplan.schema.model import CrossAttention

if TYPE_CHECKING:
    from kvplan.schema.model import LayerGroup

_MODELS = yaml.safe_load(Path(__file__).with_name("hf-tiny-models.yaml").read_text(encoding="utf-8"))["models"]


def _fed(group: LayerGroup, source_tokens: int) -> LayerGroup:
    """Give cross attention the source of the measurement."""
    return group.model_copy(update={"source_tokens": source_tokens}) if isinstance(group, CrossAttention) else group


@pytest.mark.parametrize("model", _MODELS, ids=lambda model: f"{model['row']}-{model['name']}")
def test_tiny_model_keeps_exactly_the_measured_bytes(model: dict[str, object]) -> None:
    spec = read_config(model["config"], model_id=str(model["name"]), source="config.json")  # type: ignore[arg-type]
    groups = spec.groups
    if "source_tokens" in model:
        groups = tuple(_fed(group, int(str(model["source_tokens"]))) for group in groups)
    measured = [context_bytes(groups, "bf16", tokens, rule="transformers") for tokens in (13, 64)]
    assert measured == model["bytes"]
    assert spec.mtp_layers == model.get("mtp_layers", 0)


def test_every_row_of_the_measurement_is_here() -> None:
    assert [model["row"] for model in _MODELS] == list(range(1, 44))
