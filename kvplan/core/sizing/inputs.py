"""Everything the sizing engine needs, resolved beforehand, so that the engine itself reads nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.core.network.sides import Calibration
from kvplan.core.prediction.prefill_fallback import PrefillEngine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.core.prediction.prefill_table import PrefillTable
    from kvplan.schema.base import Confidence, Constant
    from kvplan.schema.hardware import Drive, Gpu, Nic, Server, Switch
    from kvplan.schema.model import ModelSpec
    from kvplan.schema.plan import CatalogueLock
    from kvplan.schema.profile import Profile
    from kvplan.schema.request import Request
    from kvplan.schema.software import CacheBackend, SoftwareSet, StorageRelease


PARAMS_FROM_NAME = "read off the published name"
"""How `ModelFacts.params_source` begins when nothing better than the model's name was to be had."""


@dataclass(frozen=True, slots=True)
class ProfileParts:
    """A profile and the catalogue rows it names."""

    profile: Profile
    server: Server
    drive: Drive
    client_nic: Nic
    storage_nic: Nic
    switch: Switch


@dataclass(frozen=True, slots=True)
class Stack:
    """A software set and the cache back end used with it."""

    software: SoftwareSet
    backend: CacheBackend


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model with the parameter counts [1] and weight bytes [B] that the guidance asks for, and their sources.

    `params_class` is the size under which the model is published, which is how the guidance names its classes.
    """

    spec: ModelSpec
    params_total: int
    params_active: int
    params_class: int
    params_source: str
    params_confidence: Confidence
    weights_bytes: int
    weights_source: str


@dataclass(frozen=True, slots=True)
class SizingInputs:
    """A request with every name in it replaced by the row it stands for."""

    request: Request
    model: ModelFacts
    gpu: Gpu
    gpu_nic: Nic
    client_server: Server
    stack: Stack
    other_stack: Stack
    release: StorageRelease
    profiles: tuple[ProfileParts, ...]
    constants: Mapping[str, Constant]
    prefill: PrefillTable
    calibration: Calibration
    lock: CatalogueLock
    kvplan_version: str

    def constant(self, name: str) -> float:
        """Return the value of a catalogue constant, in the unit that its row states."""
        return self.constants[name].value


def calibration_of(constants: Mapping[str, Constant]) -> Calibration:
    """Gather the network calibrations of the catalogue.

    Parameters
    ----------
    constants
        The catalogue's constants by id, each a share [1].

    Returns
    -------
    Calibration
        The shares [1] that the network budget counts on.

    References
    ----------
    Each constant names its own source.

    Examples
    --------
    >>> import kvplan
    >>> calibration_of(kvplan.load_catalogue().constants()).planning_factor
    0.8
    """
    return Calibration(
        planning_factor=constants["network.planning_factor"].value,
        storage_client_factor=constants["network.storage_client_factor"].value,
        line_share=constants["network.line_share"].value,
        pcie_share=constants["network.pcie_share"].value,
    )


def prefill_engine(inputs: SizingInputs, tp: int) -> PrefillEngine:
    """Return what computes a prompt in the fleet that is sized.

    Parameters
    ----------
    inputs
        Model, weights and GPU.
    tp
        GPUs of an engine [GPUs].

    Returns
    -------
    PrefillEngine
        The engine.

    References
    ----------
    The model's own row or file.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.resolve import resolve
    >>> request = kvplan.Request(model="gpt-oss-120b", context_tokens=1_000, gpus=8)
    >>> prefill_engine(resolve(request, kvplan.load_catalogue()), 1).weights
    'mxfp4'
    """
    model = inputs.model
    return PrefillEngine(
        spec=model.spec,
        params_total=model.params_total,
        params_active=model.params_active,
        weights=model.spec.weights_dtype,
        gpu=inputs.gpu,
        tp=tp,
    )
