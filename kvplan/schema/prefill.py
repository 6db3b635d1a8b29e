"""Rows of the prefill table: how long a model takes on a kind of GPU to compute a prompt that nothing has cached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, model_validator

from kvplan.schema.hardware import PositiveFloat, PositiveInt, Row

if TYPE_CHECKING:
    from typing import Self


class PrefillRow(Row):
    """The coefficients of T(n) = c0 + a n + b n^2 for one model, GPU, tensor parallelism and format of weights.

    `model` and `gpu` are ids of the catalogue, `weights` a format such as `fp8`. `fit_error` is how far the quadratic
    strays at most from the times it was fitted to, between `fitted_from_tokens` and `fitted_to_tokens`.

    A row with `usable: false` has no coefficients: it says in `reason` why those of its source are not taken. There an
    empty `model` or `weights` means any, and without `tp` it holds for every tensor parallelism above `above_tp`.
    """

    model: str
    gpu: str
    tp: PositiveInt | None = None
    above_tp: int = Field(default=0, ge=0)
    weights: str
    backend: str = ""
    c0_s: Annotated[float, Field(ge=0)] | None = None
    a_s_per_token: PositiveFloat | None = None
    b_s_per_token2: PositiveFloat | None = None
    fitted_from_tokens: PositiveInt | None = None
    fitted_to_tokens: PositiveInt | None = None
    fit_error: PositiveFloat | None = None
    usable: bool = True
    reason: str = ""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        """Want coefficients in a row that is usable, and a reason in one that is not."""
        needed = (
            ("tp", "weights", "c0_s", "a_s_per_token", "b_s_per_token2", "fit_error") if self.usable else ("reason",)
        )
        missing = [name for name in needed if getattr(self, name) in (None, "")]
        if missing:
            what = f"a row that is {'usable' if self.usable else 'not usable'} needs {', '.join(missing)}"
            raise ValueError(what)
        return self
