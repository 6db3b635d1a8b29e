"""The kernel layer: built on a node from what its packages hold, for the kernel that runs there."""

from __future__ import annotations

import subprocess

from kvplan.twin.scale.shell import Shell, command

SOURCES = "/usr/lpp/mmfs/src/config/configure"
"""What the package with the sources of the layer brings."""
MODULE = "mmfs26"


def release() -> str:
    """Return the kernel that the node says it runs.

    Returns
    -------
    str
        Its release.
    """
    done = subprocess.run(["uname", "-r"], capture_output=True, text=True, check=True)  # noqa: S607
    return done.stdout.strip()


def module_file() -> str:
    """Return where the layer is for the kernel that runs.

    Returns
    -------
    str
        Its path.
    """
    return f"/lib/modules/{release()}/extra/{MODULE}.ko"


@command("mmbuildgpl")
def mmbuildgpl(shell: Shell, _: list[str]) -> None:
    """Build the layer."""
    if shell.machine["watched"] and not shell.file(SOURCES).exists():
        shell.refuse("Cannot find the sources of the GPFS portability layer: install gpfs.gpl.")
    module = shell.file(module_file())
    module.parent.mkdir(parents=True, exist_ok=True)
    module.write_text(f"{MODULE} of {release()}\n", encoding="utf-8")
    shell.machine["gpl"] = True
    shell.say("mmbuildgpl: Building GPL module completed successfully.")


@command("modinfo")
def modinfo(shell: Shell, words: list[str]) -> int:
    """Tell of a module of the kernel that runs."""
    module = module_file()
    if words[-1:] != [MODULE] or not shell.file(module).exists():
        shell.err.append(f"modinfo: ERROR: Module {' '.join(words[-1:])} not found.")
        return 1
    shell.say(f"filename:       {module}", f"vermagic:       {release()} SMP preempt mod_unload modversions")
    return 0
