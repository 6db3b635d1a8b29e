"""Rules about the exports: what they say is what the native steps do."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from kvplan.site.rules import Break, rule
from kvplan.site.scale.export import TOOLKIT, VARIABLES
from kvplan.site.scale.grammar import option, size_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.scale.rendered import ReadVariables, Rendered

_Sets = list[tuple[str, int | None, str]]


@rule("KV-SCL-050", "The toolkit's commands agree with the native steps.")
def _toolkit(rendered: Rendered) -> Iterator[Break]:
    try:
        lines = [shlex.split(line)[1:] for line in rendered.toolkit.splitlines() if line.startswith("./spectrumscale ")]
    except ValueError as error:
        yield Break(TOOLKIT, f"cannot be read as commands: {error}")
        return
    nodes = {(argv[2], "-q" in argv) for argv in lines if argv[:2] == ["node", "add"]}
    if nodes != {(line.daemon, line.quorum) for line in rendered.nodes}:
        yield Break(TOOLKIT, "adds other nodes, or another quorum, than nodes.stanza")
    groups = [option(argv, "-N") for argv in lines if argv[:2] == ["recoverygroup", "define"]]
    if groups != [",".join(held.nodes) for held in rendered.classes if held.kind == "mmvdisk"]:
        yield Break(TOOLKIT, "defines other recovery groups than nodeclasses.yaml")
    sets = [_of_set(argv, "-code", "-bs", "-ss") for argv in lines if argv[:2] == ["vdiskset", "define"]]
    if sets != _native_sets(rendered):
        yield Break(TOOLKIT, "defines other vdisk sets than steps.yaml")
    made = [(option(argv, "-fs"), option(argv, "--mmcrfs")) for argv in lines if argv[:2] == ["filesystem", "define"]]
    if made != _native_file_system(rendered):
        yield Break(TOOLKIT, "defines another file system than steps.yaml")


@rule("KV-SCL-051", "The variables of ibm.spectrum_scale agree with the native steps.")
def _variables(rendered: Rendered) -> Iterator[Break]:
    for inventory in rendered.variables.values():
        held = inventory.vars
        storage = [host for host in inventory.hosts.values() if host.scale_out_node]
        named = {(host.scale_daemon_nodename, host.scale_cluster_quorum) for host in storage}
        if named != {(line.daemon, line.quorum) for line in rendered.nodes}:
            yield Break(VARIABLES, "has other nodes, or another quorum, than nodes.stanza")
        groups = [(group.get("rg"), group.get("servers")) for group in held.scale_ece_rg]
        native = [made for made in rendered.classes if made.kind == "mmvdisk"]
        if groups != [(made.recovery_group, ",".join(made.nodes)) for made in native]:
            yield Break(VARIABLES, "has other recovery groups than nodeclasses.yaml")
        if [_exported_set(made) for made in held.scale_ece_vdisk] != _native_sets(rendered):
            yield Break(VARIABLES, "has other vdisk sets than steps.yaml")
        systems = [(made.get("filesystem"), made.get("mmcrfs")) for made in held.scale_ece_filesystem]
        if systems != _native_file_system(rendered):
            yield Break(VARIABLES, "has another file system than steps.yaml")
        yield from _other_parameters(rendered, held)


def _other_parameters(rendered: Rendered, exported: ReadVariables) -> Iterator[Break]:
    """Compare the parameters of node classes."""
    native = {(entry.target, entry.parameter): entry.value for _, entry in rendered.all_parameters}
    for held in exported.scale_config:
        for name, value in (pair for entry in held.params for pair in entry.items()):
            if native.get((held.nodeclass, name)) != value:
                yield Break(VARIABLES, f"{name} is {value}, which mmchconfig.yaml does not say")


def _exported_set(made: dict[str, str]) -> tuple[str, int | None, str]:
    """Return code, block size and size of an exported vdisk set."""
    return made.get("ec", "").upper(), size_bytes(made.get("blocksize", "")), made.get("Size", "")


def _native_sets(rendered: Rendered) -> _Sets:
    """List code, block size and size of the vdisk sets of the steps."""
    defined = rendered.commands("mmvdisk", "vdiskset", "define")
    return [_of_set(argv, "--code", "--block-size", "--set-size") for _, argv in defined]


def _of_set(argv: list[str], code: str, block: str, size: str) -> tuple[str, int | None, str]:
    """Return code, block size and size of a vdisk set."""
    return (option(argv, code) or "").upper(), size_bytes(option(argv, block) or ""), option(argv, size) or ""


def _native_file_system(rendered: Rendered) -> list[tuple[str | None, str | None]]:
    """List name and options of the file systems of the steps."""
    return [
        (option(argv, "--file-system"), " ".join(argv[argv.index("--mmcrfs") + 1 :]) if "--mmcrfs" in argv else None)
        for _, argv in rendered.commands("mmvdisk", "filesystem", "create")
    ]
