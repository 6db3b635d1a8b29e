"""Rules about files as a whole: releases, shape, dialect, and what YAML makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kvplan.site.rules import Break, rule
from kvplan.site.switches.dialect import dialect_of, known_release, release_of
from kvplan.site.switches.reading import at, names_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.switches.reading import Config, Scene

_OLD_WORDS: Final = frozenset(["on", "off"])
_ONLY_NEW: Final = (("system", "date-time"), ("system", "ntp"), ("system", "lldp"), ("router", "bfd"))
"""Places that only the new dialect has."""
_ONLY_OLD: Final = (("service",), ("system", "timezone"))
"""Places that only the old dialect has."""


@rule("KV-SWT-001", "Every switch runs a release that files can be written for.")
def release_is_not_too_old(scene: Scene) -> Iterator[Break]:
    """Find switches that no file can be written for."""
    for switch in scene.deployment.switches:
        if dialect_of(scene.deployment, switch.site.cumulus) is None:
            oldest = known_release(scene.deployment, "oldest_release")
            text = f"runs Cumulus Linux {switch.site.cumulus}, and files are written for {oldest} and later"
            remedy = f"install Cumulus Linux {oldest} or later, and name that version in the Site"
            yield Break(f"switches.{switch.name}.cumulus", text, remedy)


@rule("KV-SWT-002", "No switch runs a release whose schema nobody has read.", "warning")
def release_is_known(scene: Scene) -> Iterator[Break]:
    """Find releases whose paths nobody has read yet."""
    newest = known_release(scene.deployment, "newest_release")
    for switch in scene.deployment.switches:
        if release_of(switch.site.cumulus) > newest:
            text = f"runs Cumulus Linux {switch.site.cumulus}; the newest release whose schema was read is {newest}"
            remedy = f"compare with the schema of that release before applying, or run {newest}"
            yield Break(f"switches.{switch.name}.cumulus", text, remedy)


@rule("KV-SWT-003", "Every switch has a configuration: a list of a header and what is set.")
def file_is_there(scene: Scene) -> Iterator[Break]:
    """Find switches whose configuration is missing or is none."""
    for switch in scene.deployment.switches:
        path = f"switches/{switch.name}.yaml"
        is_due = dialect_of(scene.deployment, switch.site.cumulus) is not None
        if is_due and switch.name not in scene.configs:
            state = "is no list of a header and what is set" if path in scene.tree else "is missing"
            yield Break(path, state)


@rule("KV-SWT-004", "The header of a configuration names the model and the release that the switch runs.")
def header_names_model_and_release(scene: Scene) -> Iterator[Break]:
    """Find headers that name another model, or another release, from which NVUE would migrate the file."""
    for config in scene.configs.values():
        model = config.switch.device.model.upper()
        if at(config.header, "model") != model:
            yield Break(f"{config.path}: header.model", f"is {at(config.header, 'model')!r}, not {model!r}")
        wanted = f"Cumulus Linux {config.switch.site.cumulus}"
        if at(config.header, "version") != wanted:
            yield Break(f"{config.path}: header.version", f"is {at(config.header, 'version')!r}, not {wanted!r}")


@rule("KV-SWT-005", "Every key and word is of the dialect of the switch's release.")
def dialect_is_right(scene: Scene) -> Iterator[Break]:
    """Find places and words that the switch's dialect does not have."""
    for config in scene.configs.values():
        for place in _foreign(config):
            kind = "new" if config.dialect.is_new else "old"
            yield Break(f"{config.path}: {place}", f"is not of the {kind} dialect of Cumulus Linux NVUE")


def _foreign(config: Config) -> Iterator[str]:
    """Yield the places that are not of the dialect."""
    is_new = config.dialect.is_new
    for way in _ONLY_OLD if is_new else _ONLY_NEW:
        if way[-1] in names_in(config.content, *way[:-1]):
            yield ".".join(way)
    for name in config.interfaces:
        if ("ip" if is_new else "ipv4") in names_in(config.interfaces, name):
            yield f"interface.{name}"
    for place, value in _leaves(config.content, ""):
        if is_new and (value in _OLD_WORDS or place.endswith(".enable")):
            yield place


@rule("KV-SWT-006", "A reader of YAML 1.1 takes every key and value as it is meant.")
def reads_as_meant(scene: Scene) -> Iterator[Break]:
    """Find keys and values that YAML 1.1 reads as booleans, dates, numbers or nothing, where NVUE has only texts."""
    for config in scene.configs.values():
        for place, value in _leaves(config.content, ""):
            if (value is not None and not isinstance(value, str | int)) or isinstance(value, bool):
                yield Break(f"{config.path}: {place}", f"is read as {value!r}: it wants quotes")
        for place in _odd_keys(config.content, ""):
            yield Break(f"{config.path}: {place}", "is a key that is read as no text: it wants quotes")


def _leaves(tree: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Yield what is no mapping, with its place."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _leaves(value, f"{place}.{key}".removeprefix("."))
    else:
        yield place, tree


def _odd_keys(tree: Any, place: str) -> Iterator[str]:
    """Yield the places of keys that are no texts."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            inner = f"{place}.{key}".removeprefix(".")
            if not isinstance(key, str):
                yield inner
            yield from _odd_keys(value, inner)


@rule("KV-SWT-007", "A configuration names the switch as file and design do.")
def host_name_is_its_own(scene: Scene) -> Iterator[Break]:
    """Find configurations that call the switch by another name than the file and the design do."""
    for config in scene.configs.values():
        name = at(config.content, "system", "hostname")
        if name != config.name:
            yield Break(f"{config.path}: system.hostname", f"is {name!r}, not {config.name!r}")
