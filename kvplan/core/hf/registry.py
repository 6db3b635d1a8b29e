"""Which function reads which `model_type`: the one table that says what is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from kvplan.core.hf import compressed, crossing, gemma, gqa, hybrids, mamba, mla, nas, sharing, window_heads, windows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kvplan.core.hf.keys import Fields
    from kvplan.schema.model import LayerGroup

    GroupReader = Callable[[Fields], tuple[LayerGroup, ...]]
    """Turns the language model's keys into layer groups, reporting what is wrong with them."""


@dataclass(frozen=True, slots=True)
class Family:
    """Model types that one function reads."""

    model_types: tuple[str, ...]
    read: GroupReader


_HEAD_DIMS: dict[str, int] = {
    **dict.fromkeys(("gpt_oss",), 64),
    **dict.fromkeys(("afmoe", "ernie4_5", "glm", "glm4", "helium", "internlm3", "llama4_text", "minimax_m2"), 128),
    **dict.fromkeys(("minimax_m3_vl_text", "ministral3", "qwen3", "qwen3_vl_text", "seed_oss", "solar_open"), 128),
    **dict.fromkeys(("step3p5", "step3p7"), 128),
    **dict.fromkeys(("mimo_v2", "mimo_v2_flash"), 192),
    **dict.fromkeys(("gemma", "gemma2", "gemma3_text", "gemma3n_text", "gemma4_text"), 256),
    **dict.fromkeys(("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"), 256),
}
"""Head dimension of the class, for files that do not name it (transformers 5.24.0 configuration classes)."""

_CLASS_DEFAULTS: dict[str, dict[str, int]] = {
    "gemma3_text": {"num_attention_heads": 8, "num_key_value_heads": 4, "max_position_embeddings": 131_072},
    "gemma3n_text": {"num_kv_shared_layers": 15},
}
"""What else published files leave to the class (transformers 5.24.0); google/gemma-3-4b-it names no heads at all."""

_UNIFORM = (
    "apertus",
    "arcee",
    "cohere",
    "ernie4_5",
    "ernie4_5_moe",
    "exaone",
    "flex_olmo",
    "gemma",
    "glm",
    "glm4",
    "glm4_moe",
    "glm4v_text",
    "glm4v_moe_text",
    "granite",
    "granitemoe",
    "granitemoeshared",
    "helium",
    "internlm2",
    "internlm3",
    "llama",
    "minimax_m2",
    "nemotron",
    "olmo",
    "olmo2",
    "olmoe",
    "phi",
    "qwen3_vl_text",
    "qwen3_vl_moe_text",
    "seed_oss",
    "solar_open",
    "stablelm",
)
"""Types that read `num_key_value_heads` and `head_dim` as Llama does."""

FAMILIES: tuple[Family, ...] = (
    Family(_UNIFORM, gqa.read_uniform),
    Family(
        ("gpt2", "gptj", "gpt_neox", "codegen", "bloom", "opt", "persimmon", "baichuan", "qwen"), gqa.read_multi_head
    ),
    Family(("falcon",), gqa.read_falcon),
    Family(("gpt_bigcode",), gqa.read_gpt_bigcode),
    Family(("chatglm",), gqa.read_chatglm),
    Family(("mpt", "dbrx"), gqa.read_attn_config),
    Family(("mistral",), windows.read_mistral),
    Family(("mixtral", "ministral", "ministral3", "phi3", "phi4mm", "phimoe", "starcoder2"), windows.read_windowed),
    Family(("qwen3_omni_moe_text",), windows.read_windowed),
    Family(("qwen2", "qwen3", "qwen2_vl", "qwen2_5_vl", "mimo"), windows.read_switched),
    Family(("qwen2_vl_text", "qwen2_5_vl_text", "qwen2_5_omni_text"), windows.read_switched),
    Family(("qwen2_moe", "qwen3_moe", "smollm3"), windows.read_switched_listed),
    Family(("gemma2", "gpt_oss"), partial(windows.read_interleaved, interval=2)),
    Family(("cohere2", "olmo3", "exaone4", "afmoe"), partial(windows.read_interleaved, interval=4)),
    Family(("gemma3_text",), partial(windows.read_interleaved, interval=6)),
    Family(("cohere2_moe",), windows.read_cohere2_moe),
    Family(("dots1",), partial(windows.read_switched, default=True)),
    Family(("llama4_text",), window_heads.read_llama4),
    Family(("mimo_v2", "mimo_v2_flash"), window_heads.read_mimo_v2),
    Family(("step3p5", "step3p7"), window_heads.read_step3),
    Family(("inkling_text",), window_heads.read_inkling),
    Family(("gemma3n_text",), gemma.read_gemma3n),
    Family(("gemma4_text",), gemma.read_gemma4),
    Family(("deepseek_v2", "deepseek_v3", "kimi_k2", "glm4_moe_lite", "mistral4"), mla.read_mla),
    Family(("deepseek_v32", "mistral_large4_text"), mla.read_mla_indexed),
    Family(("glm_moe_dsa",), partial(mla.read_mla_indexed, listed=True)),
    Family(("longcat_flash",), mla.read_longcat),
    Family(("deepseek_v4", "deepseek_ref"), compressed.read_deepseek_v4),
    Family(("minimax_m3", "minimax_m3_text", "minimax_m3_vl_text"), compressed.read_minimax_m3),
    Family(("mamba", "falcon_mamba"), mamba.read_mamba1),
    Family(("mamba2",), mamba.read_mamba2),
    Family(("jamba",), mamba.read_jamba),
    Family(("nemotron_h",), mamba.read_nemotron_h),
    Family(("granitemoehybrid", "bamba"), mamba.read_granite_hybrid),
    Family(("falcon_h1",), mamba.read_falcon_h1),
    Family(("zamba2",), mamba.read_zamba2),
    Family(("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"), hybrids.read_delta_net),
    Family(("kimi_linear",), hybrids.read_kimi_linear),
    Family(("minimax", "minimax_text_01", "minimax_m1"), hybrids.read_lightning),
    Family(("lfm2", "lfm2_moe"), hybrids.read_short_conv),
    Family(("hunyuan",), sharing.read_hunyuan),
    Family(("hunyuan_v1_moe", "hunyuan_v1_dense"), sharing.read_hunyuan_v1),
    Family(("nemotron-nas",), nas.read_block_configs),
    Family(("deci",), nas.read_heads_per_layer),
    Family(("mllama_text_model",), crossing.read_mllama),
    Family(("t5", "mt5", "umt5"), crossing.read_t5),
    Family(("whisper",), crossing.read_whisper),
    Family(("bart", "mbart"), crossing.read_bart),
)
"""Every known type of language model, with its reader."""

WRAPPERS: dict[str, str] = {
    "aya_vision": "",
    "cohere2_vision": "",
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "gemma4": "gemma4_text",
    "glm4v": "glm4v_text",
    "glm4v_moe": "glm4v_moe_text",
    "idefics3": "",
    "inkling_mm_model": "inkling_text",
    "internvl": "",
    "internvl_chat": "",
    "kimi_k25": "kimi_k2",
    "kimi_k3": "kimi_linear",
    "kimi_vl": "deepseek_v3",
    "llama4": "llama4_text",
    "llava": "",
    "llava_next": "",
    "llava_onevision": "",
    "minimax_m3_vl": "minimax_m3_vl_text",
    "mistral3": "",
    "mistral_large4": "mistral_large4_text",
    "mllama": "mllama_text_model",
    "paligemma": "",
    "pixtral": "mistral",
    "qwen2_5_omni": "qwen2_5_omni_text",
    "qwen3_5": "qwen3_5_text",
    "qwen3_5_moe": "qwen3_5_moe_text",
    "qwen3_omni_moe": "qwen3_omni_moe_text",
    "qwen3_vl": "qwen3_vl_text",
    "qwen3_vl_moe": "qwen3_vl_moe_text",
    "smolvlm": "",
}
"""Models that wrap a language model, with the type it has when the file does not say; empty where it must."""

_BY_TYPE: dict[str, Family] = {name: family for family in FAMILIES for name in family.model_types}


def known_model_types() -> tuple[str, ...]:
    """Return every `model_type` that can be read, in alphabetical order.

    Returns
    -------
    tuple of str
        Types of language models and of models that wrap one.

    Notes
    -----
    Anything else is refused: the name of a type says nothing about its cache.

    References
    ----------
    The classes of transformers 5.24.0 and the `config.json` files named by the readers.

    Examples
    --------
    >>> "gpt_oss" in known_model_types()
    True
    """
    return tuple(sorted({*_BY_TYPE, *WRAPPERS}))


def family_of(model_type: str) -> Family | None:
    """Return the family that reads a type of language model, None where there is none.

    Parameters
    ----------
    model_type
        The type, as the file names it.

    Returns
    -------
    Family or None
        Types and their reader.

    Notes
    -----
    A wrapper has no reader of its own: see `WRAPPERS`.

    References
    ----------
    As `known_model_types`.

    Examples
    --------
    >>> family_of("jamba").model_types
    ('jamba',)
    """
    return _BY_TYPE.get(model_type)


def class_defaults(model_type: str) -> Mapping[str, int]:
    """Return the keys that files of a type may leave to the class that loads them.

    Parameters
    ----------
    model_type
        The type, as the file names it.

    Returns
    -------
    dict
        Keys and values, none for most types.

    Notes
    -----
    Only what published files are known to leave out; every use is noted in the model's note.

    References
    ----------
    The configuration classes of transformers 5.24.0.

    Examples
    --------
    >>> class_defaults("gpt_oss"), class_defaults("llama")
    ({'head_dim': 64}, {})
    """
    own = _CLASS_DEFAULTS.get(model_type, {})
    dim = _HEAD_DIMS.get(model_type)
    return own if dim is None else {"head_dim": dim, **own}
