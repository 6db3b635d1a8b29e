"""Typed access to a `config.json`: every problem is collected, none is guessed away, and the reading goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from kvplan.errors import Problem, did_you_mean, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_LAYERS = 10_000
"""No model has more layers; a larger number is a slip of the pen."""
MAX_SIZE = 2**20
"""No head, state or hidden dimension is larger."""
MAX_KERNEL = 1024
"""No convolution of a recurrent layer is longer."""
MAX_TOKENS = 10**9
"""No window and no position is larger."""

LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
HIDDEN = ("hidden_size", "n_embd", "d_model", "n_embed")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "num_attention_groups")
HEAD_DIM = ("head_dim", "attention_head_dim", "kv_channels")
WINDOW = ("sliding_window", "sliding_window_size")
POSITIONS = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length")
"""The spellings of one quantity, the commonest first."""
NESTED = ("thinker_config", "thinker", "text_config", "language_config", "llm_config")
"""Where files of several models in one keep the language model's part, from the outside in."""
DTYPES = ("dtype", "torch_dtype")
"""Where a file says in which format its weights are."""

Item = TypeVar("Item")

_SPELLINGS = (LAYERS, HIDDEN, HEADS, KV_HEADS, HEAD_DIM, WINDOW, POSITIONS)
_KNOWN = frozenset(name for names in _SPELLINGS for name in names)
_NUMBER = "a whole number from {minimum:,} to {maximum:,}"


@dataclass(frozen=True, slots=True)
class Fields:
    """One object of a configuration and the path that leads to it.

    All parts of a configuration share `problems` and `notes`. A value that is missing or wrong is reported and
    replaced by its least value, so that one reading finds every problem; whoever reads must look at `problems`
    before believing a result.
    """

    data: Mapping[str, object]
    where: str = "config.json"
    path: str = ""
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def key(self, name: str) -> str:
        """Return the whole path of a key.

        >>> Fields({}, path="text_config").key("head_dim")
        'text_config.head_dim'
        """
        return f"{self.path}.{name}" if self.path else name

    def problem(self, name: str, what: str, *, allowed: str = "", hint: str = "") -> None:
        """Report what is wrong with a key, once.

        >>> fields = Fields({})
        >>> fields.problem("n_layer", "is odd")
        >>> print(*fields.problems)
        config.json: n_layer: is odd
        """
        found = Problem(self.where, what, key=self.key(name), allowed=allowed, hint=hint)
        if found not in self.problems:
            self.problems.append(found)

    def note(self, text: str) -> None:
        """Keep a remark for the model's note, once.

        >>> fields = Fields({})
        >>> fields.note("no window"), fields.notes
        (None, ['no window'])
        """
        if text not in self.notes:
            self.notes.append(text)

    def with_defaults(self, defaults: Mapping[str, object]) -> Fields:
        """Fill in keys that the file leaves to the class that loads it, and note which.

        >>> Fields({"head_dim": 128}).with_defaults({"head_dim": 256, "num_attention_heads": 8}).data
        {'head_dim': 128, 'num_attention_heads': 8}
        """
        absent = {name: value for name, value in defaults.items() if not self._spelled(name)}
        if absent:
            self.note("class defaults of transformers 5.24.0: " + ", ".join(f"{k} {v}" for k, v in absent.items()))
        return replace(self, data={**self.data, **absent})

    def has(self, *names: str) -> bool:
        """Tell whether one of these keys is there and not null.

        >>> Fields({"sliding_window": None}).has("sliding_window")
        False
        """
        return any(self.data.get(name) is not None for name in names)

    def named(self, *names: str) -> bool:
        """Tell whether one of these keys is there, if only as null.

        >>> Fields({"sliding_window": None}).named("sliding_window")
        True
        """
        return any(name in self.data for name in names)

    def first(self, names: Sequence[str]) -> tuple[str, object]:
        """Return the first of these keys that is not null, with its value; else the first name and None.

        >>> Fields({"n_layer": 24}).first(LAYERS)
        ('n_layer', 24)
        """
        return next(((name, self.data[name]) for name in names if self.data.get(name) is not None), (names[0], None))

    def optional_count(self, *names: str, minimum: int = 1, maximum: int = MAX_SIZE) -> int | None:
        """Return the whole number under one of these keys; None where all are absent or null, or one is wrong.

        >>> Fields({"n_head": 12}).optional_count(*HEADS), Fields({}).optional_count(*HEADS)
        (12, None)
        """
        name, value = self.first(names)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and minimum <= value <= maximum:
            return value
        allowed = _NUMBER.format(minimum=minimum, maximum=maximum)
        self.problem(name, f"{shown(value)} is not allowed", allowed=allowed)
        return None

    def count(self, *names: str, default: int | None = None, minimum: int = 1, maximum: int = MAX_SIZE) -> int:
        """Return the whole number under one of these keys, else the default; without one a missing key is reported.

        >>> fields = Fields({"num_hidden_layers": True, "num_attention_head": 8})
        >>> fields.count("num_hidden_layers"), fields.count("num_attention_heads"), len(fields.problems)
        (1, 1, 2)
        >>> print(fields.problems[0])
        config.json: num_hidden_layers: true is not allowed; a whole number from 1 to 1,048,576
        """
        if default is None and not self.has(*names):
            self.missing(*names)
        value = self.optional_count(*names, minimum=minimum, maximum=maximum)
        if value is not None:
            return value
        return minimum if default is None else default

    def missing(self, *names: str, hint: str = "") -> None:
        """Report that none of these keys is there, with the key that was perhaps meant.

        >>> fields = Fields({"num_atention_heads": 8})
        >>> fields.missing(*HEADS)
        >>> print(*fields.problems)
        config.json: num_attention_heads: is missing; also spelled n_head, n_heads, num_heads; did you mean
        'num_atention_heads'?
        """
        if self.has(*names):
            return
        others = f"also spelled {', '.join(names[1:])}" if names[1:] else ""
        unknown = [name for name in self.data if name not in _KNOWN]
        self.problem(names[0], "is missing", allowed=others, hint=hint or did_you_mean(names[0], unknown, limit=1))

    def flag(self, name: str, *, default: bool) -> bool:
        """Return true or false, else the default.

        >>> Fields({"multi_query": False}).flag("multi_query", default=True)
        False
        """
        value = self._typed(name, bool, "true or false")
        return default if value is None else value

    def word(self, name: str) -> str:
        """Return a text, empty where there is none.

        >>> Fields({"model_type": "llama"}).word("model_type")
        'llama'
        """
        return self._typed(name, str, "a text") or ""

    def words(self, name: str) -> tuple[str, ...] | None:
        """Return a list of texts, None where the key is absent or null.

        >>> Fields({"layer_types": ["conv", "full_attention"]}).words("layer_types")
        ('conv', 'full_attention')
        """
        return self._listed(name, str, "a list of texts")

    def numbers(self, name: str) -> tuple[int, ...] | None:
        """Return a list of whole numbers, None where the key is absent or null.

        >>> Fields({"compress_ratios": [0, 4, 128]}).numbers("compress_ratios")
        (0, 4, 128)
        """
        return self._listed(name, int, "a list of whole numbers")

    def section(self, name: str) -> Fields | None:
        """Return the object under a key, None where it is absent or null.

        >>> part = Fields({"text_config": {"n_layer": 2}}).section("text_config")
        >>> part.key("n_layer"), part.count("n_layer")
        ('text_config.n_layer', 2)
        """
        value = self.data.get(name)
        if value is None or isinstance(value, Mapping):
            return None if value is None else replace(self, data=value, path=self.key(name))
        self.problem(name, f"{shown(value)} is not allowed", allowed="an object")
        return None

    def sections(self, name: str) -> tuple[Fields, ...]:
        """Return the objects of a list that must be there.

        >>> parts = Fields({"block_configs": [{"no_op": True}]}).sections("block_configs")
        >>> [part.path for part in parts]
        ['block_configs[0]']
        """
        if not self.has(name):
            self.missing(name)
            return ()
        values = self._listed(name, dict, "a list of objects") or ()
        return tuple(replace(self, data=value, path=self.key(f"{name}[{at}]")) for at, value in enumerate(values))

    def _spelled(self, name: str) -> bool:
        """Tell whether a key is there under any of its spellings, if only as null."""
        return self.named(*next((names for names in _SPELLINGS if name in names), (name,)))

    def _typed(self, name: str, kind: type[Item], allowed: str) -> Item | None:
        """Return the value under a key, None where it is absent, null, or of another type, which is reported."""
        value = self.data.get(name)
        if value is None or isinstance(value, kind):
            return value
        self.problem(name, f"{shown(value)} is not allowed", allowed=allowed)
        return None

    def _listed(self, name: str, kind: type[Item], allowed: str) -> tuple[Item, ...] | None:
        """Check a list and each of its entries; true and false are no numbers."""
        value = self.data.get(name)
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            self.problem(name, f"{shown(value)} is not allowed", allowed=allowed)
            return None
        fit: list[Item] = []
        for at, item in enumerate(value):
            if not isinstance(item, kind) or isinstance(item, bool):
                self.problem(f"{name}[{at}]", f"{shown(item)} is not allowed", allowed=allowed)
                return None
            fit.append(item)
        return tuple(fit)
