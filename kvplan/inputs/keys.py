"""Which keys a record knows at a path, for `did you mean`."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from kvplan.schema.base import records_in

if TYPE_CHECKING:
    from pydantic import BaseModel

    from kvplan.inputs.loc import Loc


def known_keys(model_cls: type[BaseModel], loc: Loc) -> tuple[str, ...]:
    """List the keys that the record at a path may have.

    Parameters
    ----------
    model_cls
        The outermost record's class.
    loc
        Path of the inner record as pydantic writes it, with indices and union tags.

    Returns
    -------
    tuple of str
        Field names, in the order of the class; those of all branches where the path does not decide.
    """
    classes: tuple[type[BaseModel], ...] = (model_cls,)
    for part in loc:
        classes = _step(classes, part)
    return tuple(dict.fromkeys(name for cls in classes for name in cls.model_fields))


def _step(classes: tuple[type[BaseModel], ...], part: str | int) -> tuple[type[BaseModel], ...]:
    """Follow one segment: a field leads to its records, a tag chooses among them, an index changes nothing."""
    fields = [cls.model_fields[part] for cls in classes if isinstance(part, str) and part in cls.model_fields]
    if fields:
        return tuple(dict.fromkeys(found for field in fields for found in records_in(field.annotation)))
    tagged = tuple(cls for cls in classes if _is_tagged(cls, part))
    return tagged or classes


def _is_tagged(cls: type[BaseModel], tag: str | int) -> bool:
    """Tell whether a class is the branch of a union that a tag names."""
    return any(tag in get_args(field.annotation) for field in cls.model_fields.values())
