"""Workloads by name or file: a preset, a YAML file, or a file that changes a preset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kvplan.catalogue.tables import WORKLOADS
from kvplan.errors import InputError, Problem, Problems, did_you_mean
from kvplan.inputs.files import read_yaml
from kvplan.inputs.validation import validate
from kvplan.schema.workload import Workload, replacing

if TYPE_CHECKING:
    from kvplan.catalogue.loader import Catalogue
    from kvplan.inputs.document import Document

_PRESET: Final = "preset"
_ENDINGS: Final = (".yaml", ".yml")


def load_workload(name: str, catalogue: Catalogue) -> Workload:
    """Return a workload by the name of a preset or the path of a YAML file.

    Parameters
    ----------
    name
        Name of a row of the table `workloads`, or a path: whatever ends in `.yaml` or `.yml` or holds a slash.
    catalogue
        Where presets are looked up.

    Returns
    -------
    Workload
        The workload.

    Raises
    ------
    InputError
        With every problem of the file, or naming the presets that there are.

    Examples
    --------
    >>> from kvplan import load_catalogue
    >>> load_workload("chat", load_catalogue()).hit_share
    0.5
    """
    if name.endswith(_ENDINGS) or "/" in name:
        return read_workload(Path(name).expanduser(), catalogue)
    try:
        return _preset(name, catalogue)
    except InputError as error:
        raise InputError([_unknown(f"workload {name!r}", name, catalogue)]) from error


def read_workload(path: Path, catalogue: Catalogue) -> Workload:
    """Read a workload from a YAML file; its key `preset` names what it starts from.

    Parameters
    ----------
    path
        The file.
    catalogue
        Where the preset is looked up.

    Returns
    -------
    Workload
        The workload: the preset's numbers where the file says nothing else.

    Raises
    ------
    InputError
        With every problem of the file at its line and column.
    """
    document = read_yaml(path)
    if not isinstance(document.data, dict):
        allowed = f"keys such as prompt_tokens, or {_PRESET}: {', '.join(catalogue.ids(WORKLOADS.name))}"
        raise InputError.single(document.where(), "is no mapping of keys to values", allowed=allowed)
    given = {key: value for key, value in document.data.items() if key != _PRESET}
    if _PRESET not in document.data:
        return validate(Workload, document, data=given)
    return _over_preset(document, given, catalogue)


def _over_preset(document: Document, given: dict[str, Any], catalogue: Catalogue) -> Workload:
    """Lay the keys of a file over the preset that it names; with an unknown one its keys are checked all the same."""
    name = document.data[_PRESET]
    base: dict[str, Any] = {}
    problems = Problems()
    with problems.kept():
        base = _named_preset(name, document, catalogue)
    # Any preset shows what is wrong with the keys themselves.
    shown = base or _fields(_preset(catalogue.ids(WORKLOADS.name)[0], catalogue))
    with problems.kept():
        workload = validate(Workload, document, data=replacing(shown, given))
    problems.raise_any()
    return workload


def _named_preset(name: Any, document: Document, catalogue: Catalogue) -> dict[str, Any]:
    """Return the numbers of the preset that a file names."""
    where = document.where((_PRESET,))
    if not isinstance(name, str):
        raise InputError([_unknown(where, str(name), catalogue, key=_PRESET)])
    try:
        return _fields(_preset(name, catalogue))
    except InputError as error:
        raise InputError([_unknown(where, name, catalogue, key=_PRESET)]) from error


def _preset(name: str, catalogue: Catalogue) -> Workload:
    """Return the workload of a preset."""
    return catalogue.workload(name).workload


def _fields(workload: Workload) -> dict[str, Any]:
    """Return what a workload sets, as a file would."""
    return workload.model_dump(mode="json", exclude_none=True)


def _unknown(where: str, name: str, catalogue: Catalogue, *, key: str = "") -> Problem:
    """Word the problem of a preset that is not there."""
    known = catalogue.ids(WORKLOADS.name)
    allowed = f"presets: {', '.join(known)}; or the path of a YAML file"
    return Problem(where, "is not a preset", key=key, allowed=allowed, hint=did_you_mean(name, known))
