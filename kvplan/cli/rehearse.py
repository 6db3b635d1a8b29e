"""`kvplan rehearse`: a deployment on a simulated rack of this machine, by the same playbooks over real connections."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from kvplan.cli import building, options
from kvplan.cli.groups import default_command

if TYPE_CHECKING:
    from kvplan.rehearsal.standing import Rehearsal

EXAMPLES = options.examples(
    "kvplan rehearse plan.json",
    "kvplan rehearse plan.json site.yaml --again --check",
    "kvplan rehearse plan.json --fault power:storage-003@storage",
    "kvplan rehearse plan.json --phase base --keep",
    "kvplan rehearse shell storage-001",
)
FORMATS: Final = ("table", "json")

app = typer.Typer(
    cls=default_command("run"),
    help="Rehearse a deployment on a simulated rack of this machine (Linux, as root).",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog=EXAMPLES,
)
Site = Annotated[Path | None, typer.Argument(help="The Site of the Plan. Default: one is made up.", show_default=False)]
Cumulus = Annotated[
    str | None,
    typer.Option(
        "--cumulus",
        help="Cumulus Linux that switches run, where the Site is made up.",
        show_default=False,
        metavar="VERSION",
    ),
]
Last = Annotated[str | None, typer.Option("--phase", help="Phase to end with.", show_default=False, metavar="PHASE")]
Again = Annotated[bool, typer.Option("--again", help="Run everything twice: the second run must change nothing.")]
Check = Annotated[bool, typer.Option("--check", help="Then run a check, which must see nothing to change.")]
Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        help="What goes wrong, KIND:TARGET[:DETAIL][@PHASE[/TASK]]; it is put right, and the run resumed. Repeatable.",
        show_default=False,
        metavar="FAULT",
    ),
]
Keep = Annotated[bool, typer.Option("--keep", help="Keep the rack until Ctrl-C, to look around.")]
Format = Annotated[str, typer.Option("--format", "-f", help="table, or json: one event a line.", metavar="FORMAT")]
At = Annotated[
    Path | None,
    typer.Option(
        "--at", help="Directory of the rehearsal. Default: the one that stands.", show_default=False, metavar="DIR"
    ),
]
Node = Annotated[str, typer.Argument(help="A node or a switch; the machine that deploys without.", show_default=False)]
Fault = Annotated[str, typer.Argument(help="KIND:TARGET[:DETAIL], as --fault takes it.", show_default=False)]


@app.callback()
def rehearse() -> None:
    """Rehearse a deployment on a simulated rack of this machine (Linux, as root)."""


@app.command("run", epilog=EXAMPLES)
def run(  # noqa: PLR0913 - one parameter an option
    plan: building.PlanFile,
    site: Site = None,
    *,
    cumulus: Cumulus = None,
    phase: Last = None,
    again: Again = False,
    check: Check = False,
    fault: Faults = None,
    keep: Keep = False,
    catalogue: options.CatalogueDirs = None,
    format_: Format = "table",
) -> None:
    """Raise a rack, deploy to it, and say how it went.

    It is `kvplan deploy` that runs, with its playbooks and its connections.

    Every server is a system container with its own systemd, SSH server and package manager, off and empty at first;
    every switch routes real packets. Controllers, drives, adapters and Storage Scale are simulated. Nothing leaves the
    machine.
    """
    from kvplan.cli.rehearsing import Choice, run_rehearsal

    run_rehearsal(
        Choice(plan, site, cumulus, phase, again, check, tuple(fault or ()), keep, format_),
        catalogue,
    )


@app.command("status")
def status(*, at: At = None) -> None:
    """Show the power of each node, and which links are cut."""
    import json

    from kvplan.cli.console import out

    out(f"{json.dumps(_standing(at).rack.request('status'), indent=2)}\n")


@app.command("shell")
def shell(where: Node = "", *, at: At = None) -> None:
    """Open a shell on a node or on a switch."""
    import os

    command = _standing(at).rack.command(where, "bash", "-l")
    os.execvp(command[0], command)  # noqa: S606 - what the user asked for


@app.command("fault")
def strike(fault: Fault, *, at: At = None) -> None:
    """Let something go wrong on the rack that stands."""
    from kvplan.rehearsal.faults import KINDS, read_fault

    meant = read_fault(fault, "FAULT")
    KINDS[meant.kind].strike(_standing(at), meant.target, meant.detail)


@app.command("mend")
def mend(fault: Fault, *, at: At = None) -> None:
    """Put right what `fault` broke."""
    from kvplan.rehearsal.faults import KINDS, read_fault

    meant = read_fault(fault, "FAULT")
    KINDS[meant.kind].mend(_standing(at), meant.target, meant.detail)


@app.command("reset")
def reset(*, at: At = None) -> None:
    """Put the rack back to its beginning.

    Every server is off and empty, every switch as new, and nothing is deployed.
    """
    _standing(at).reset()


@app.command(
    "deploy",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    epilog=options.examples(
        "kvplan rehearse deploy --resume", "kvplan rehearse deploy --only base --limit storage-001"
    ),
)
def deploy(context: typer.Context, *, at: At = None) -> None:
    """Deploy to the rack that stands.

    Options are those of `kvplan deploy`; Plan, Site and places are known.
    """
    from kvplan.cli.rehearsing import run_deploy

    run_deploy(_standing(at), context.args)


def _standing(at: Path | None) -> Rehearsal:
    """Find the rehearsal that stands."""
    from kvplan.cli.rehearsing import found

    return found(at)
