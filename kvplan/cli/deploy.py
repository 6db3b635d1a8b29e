"""`kvplan deploy`: a Plan and a Site from bare metal to serving, phase by phase."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from kvplan.cli import building, options
from kvplan.cli.groups import default_command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.cli.deploying import Span
    from kvplan.schema.deploying import DeployStatus

EXAMPLES = options.examples(
    "kvplan deploy plan.json site.yaml",
    "kvplan deploy plan.json site.yaml --check --diff",
    "kvplan deploy plan.json site.yaml --resume --yes plan.json",
    "kvplan deploy plan.json site.yaml --only provision --limit storage-003 \\\n    --reinstall storage-003",
    "kvplan deploy plan.json site.yaml --accept-changes --set base_serial=1",
    "kvplan deploy status",
    "kvplan deploy wait --for storage",
)
FORMATS: Final = ("table", "json")
STATUS_FORMATS: Final = ("table", "json", "csv")
STATE: Final = ".kvplan"
MEDIA: Final = "media"
_KEPT: Final = ("--tree", "--state", "--media", "--known-hosts", "--vault-password-file", "--set", "--catalogue")
_POLL_SECONDS: Final = 1.0

app = typer.Typer(
    cls=default_command("run"),
    help="Deploy a Plan at its Site, phase by phase.\n\n`deploy PLAN SITE` is `deploy run PLAN SITE`.",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog=EXAMPLES,
)
Tree = Annotated[Path, typer.Option("--tree", help="Directory of the rendered files.", metavar="DIR")]
State = Annotated[
    Path | None,
    typer.Option(
        "--state",
        help="Directory of journal and logs. Default: .kvplan beside the tree.",
        show_default=False,
        metavar="DIR",
    ),
]
# One alias an option, so that the verb reads as a list.
Site = Annotated[Path, typer.Argument(help="The Site of the Plan.", show_default=False)]
Resume = Annotated[bool, typer.Option("--resume", help="Begin with the first phase that is not done.")]
From = Annotated[str | None, typer.Option("--from", help="Begin with this phase.", show_default=False, metavar="PHASE")]
To = Annotated[str | None, typer.Option("--to", help="End with this phase.", show_default=False, metavar="PHASE")]
Only = Annotated[str | None, typer.Option("--only", help="Run this phase alone.", show_default=False, metavar="PHASE")]
Limit = Annotated[
    list[str] | None,
    typer.Option("--limit", help="Hosts or groups to work on; repeatable.", show_default=False, metavar="HOST"),
]
Reinstall = Annotated[
    list[str] | None,
    typer.Option(
        "--reinstall",
        help="Servers to install anew though they are as planned; repeatable.",
        show_default=False,
        metavar="HOST",
    ),
]
Wipe = Annotated[
    list[str] | None,
    typer.Option(
        "--wipe",
        help="Nodes whose data drives may be written over though a cluster was built on them; repeatable.",
        show_default=False,
        metavar="HOST",
    ),
]
Check = Annotated[bool, typer.Option("--check", help="Say what would be done; change no machine.")]
Diff = Annotated[bool, typer.Option("--diff", help="Put changes of files into the log.")]
Yes = Annotated[
    str | None,
    typer.Option(
        "--yes", help="Agree to what is destroyed: the Plan's file or its sha256.", show_default=False, metavar="PLAN"
    ),
]
AcceptChanges = Annotated[
    bool, typer.Option("--accept-changes", help="Deploy a Plan or Site that changed since the last run.")
]
KnownHosts = Annotated[
    Path | None,
    typer.Option(
        "--known-hosts",
        help="SSH host keys; no other host is trusted. Default: keys are learnt once, then held to.",
        show_default=False,
        metavar="FILE",
    ),
]
Media = Annotated[
    Path | None,
    typer.Option(
        "--media",
        help="Boot media, as built by kvplan render --media. Default: media beside the tree.",
        show_default=False,
        metavar="DIR",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A variable of the playbooks, such as base_serial=1; repeatable.",
        show_default=False,
        metavar="NAME=VALUE",
    ),
]
VaultPassword = Annotated[
    Path | None,
    typer.Option("--vault-password-file", help="Password of vault: secrets.", show_default=False, metavar="FILE"),
]
Format = Annotated[str, typer.Option("--format", "-f", help="table, or json: one event a line.", metavar="FORMAT")]
DEFAULT_TREE: Final = Path("build")


@app.callback()
def deploy() -> None:
    """Deploy a Plan at its Site, phase by phase."""


@app.command("run", epilog=EXAMPLES)
def run(  # noqa: PLR0913 - one parameter an option
    plan: building.PlanFile,
    site: Site,
    *,
    tree: Tree = DEFAULT_TREE,
    state: State = None,
    resume: Resume = False,
    start: From = None,
    end: To = None,
    only: Only = None,
    limit: Limit = None,
    reinstall: Reinstall = None,
    wipe: Wipe = None,
    check: Check = False,
    diff: Diff = False,
    yes: Yes = None,
    accept_changes: AcceptChanges = False,
    known_hosts: KnownHosts = None,
    vault_password_file: VaultPassword = None,
    media: Media = None,
    set_: Set = None,
    catalogue: options.CatalogueDirs = None,
    format_: Format = "table",
) -> None:
    """Bring switches, storage nodes and GPU servers to the state that the Plan and the Site describe.

    Phases run in order, and each may be run again: it changes only what differs. What is destroyed is listed by serial
    number first, and must be agreed to. Ctrl-C stops at once; --resume goes on.
    """
    from kvplan.cli.deploying import Choice, Span, run_phases
    from kvplan.cli.siting import read_sited

    span = Span(resume, start, end, only)
    _refuse_contradictions(format_, span)
    kept = (tree if tree != DEFAULT_TREE else None, state, media, known_hosts, vault_password_file, set_, catalogue)
    choice = Choice(
        command=_command(plan, site, dict(zip(_KEPT, kept, strict=True))),
        files=(plan, site),
        tree=tree.absolute(),
        state=_state(tree, state),
        span=span,
        limit=_names(limit),
        reinstall=_names(reinstall),
        wipe=_names(wipe),
        check=check,
        diff=diff,
        yes=yes,
        accept_changes=accept_changes,
        known_hosts=known_hosts.absolute() if known_hosts else None,
        vault_password=vault_password_file,
        media=(media or tree.absolute().parent / MEDIA).absolute(),
        variables=tuple(set_ or ()),
        json=format_ == "json",
    )
    run_phases(choice, read_sited(plan, site, catalogue))


@app.command("status")
def show_status(
    *,
    tree: Tree = DEFAULT_TREE,
    state: State = None,
    format_: Annotated[str, typer.Option("--format", "-f", help="table, json or csv.", metavar="FORMAT")] = "table",
) -> None:
    """Show which phase is done on which hosts, what failed, and what comes next."""
    from kvplan.cli.parsing import unknown_name
    from kvplan.cli.shared import show
    from kvplan.errors import InputError
    from kvplan.render import deploy_view

    if problems := unknown_name("--format", "format", format_, STATUS_FORMATS):
        raise InputError(problems)
    found = _status(_state(tree, state))
    show(
        format_,
        data=lambda: found.model_dump(mode="json"),
        view=lambda: deploy_view.status_view(found),
        title="Deployment",
        rows=lambda: (deploy_view.STATUS_HEADERS, deploy_view.status_rows(found)),
    )


@app.command("wait")
def wait(
    *,
    for_: Annotated[str, typer.Option("--for", help="Phase to wait for.", show_default=False, metavar="PHASE")],
    timeout: Annotated[float, typer.Option("--timeout", help="Time to wait at most [min].", metavar="MINUTES")] = 240.0,
    tree: Tree = DEFAULT_TREE,
    state: State = None,
) -> None:
    """Wait until a phase is done on all its hosts; return 7 when the run ends without that, or time is up."""
    import time

    from kvplan.deploy.phases import phase
    from kvplan.errors import DeployFailedError

    wanted, directory = phase(for_, "--for").name, _state(tree, state)
    deadline = time.monotonic() + 60 * timeout
    while True:
        found = _status(directory)
        reached = next(entry.state for entry in found.phases if entry.name == wanted)
        if reached == "done":
            return
        if not found.running:
            message = f"phase {wanted} is {reached}, and no run is at it"
            raise DeployFailedError(message, hint="kvplan deploy status")
        if time.monotonic() > deadline:
            message = f"phase {wanted} is {reached} after {timeout:g} min"
            raise DeployFailedError(message, hint="kvplan deploy status")
        time.sleep(_POLL_SECONDS)


def _refuse_contradictions(form: str, span: Span) -> None:
    """Refuse options that do not go together."""
    from kvplan.cli.parsing import unknown_name
    from kvplan.errors import InputError, UsageError

    if problems := unknown_name("--format", "format", form, FORMATS):
        raise InputError(problems)
    if sum((span.resume, span.start is not None, span.only is not None)) > 1:
        message = "--resume, --from and --only each say where to begin; give one"
        raise UsageError(message)
    if span.only and span.end:
        message = "--only runs one phase, and --to ends with one; give one of them"
        raise UsageError(message)


def _names(given: list[str] | None) -> tuple[str, ...]:
    """Split names that are joined by commas."""
    return tuple(name for names in given or () for name in names.split(","))


def _command(plan: Path, site: Path, options: Mapping[str, Path | list[Path] | list[str] | None]) -> str:
    """Write the command that a person goes on with: the options that say where things are, not what was chosen."""
    import shlex

    lists = {option: given if isinstance(given, list) else [given] for option, given in options.items() if given}
    places = [part for option, values in lists.items() for value in values for part in (option, value)]
    return shlex.join(map(str, ("kvplan", "deploy", plan, site, *places)))


def _state(tree: Path, state: Path | None) -> Path:
    """Find the directory of state."""
    return (state or tree.absolute().parent / STATE).absolute()


def _status(state: Path) -> DeployStatus:
    """Read how far the deployment of a directory is."""
    from kvplan.assets import playbooks_dir
    from kvplan.deploy.journal import Journal, status
    from kvplan.deploy.lock import holder
    from kvplan.deploy.phases import PHASES

    entries = Journal(state / "journal.jsonl").entries()
    return status(entries, PHASES, playbooks_dir(), running=str(holder(state) or ""))
