"""The verbs of kvplan, gathered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kvplan.cli import (
    bom,
    catalogue,
    check,
    deploy,
    diff,
    ece,
    explain,
    init,
    kv,
    network,
    options,
    reference,
    rehearse,
    render,
    report,
    simulate,
    size,
    trace,
)
from kvplan.errors import ExitCode
from kvplan.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

app = typer.Typer(
    name="kvplan",
    help="Size, quote and deploy shared KV-cache storage for LLM inference.",
    epilog=options.examples("kvplan size --model gpt-oss-120b --context 130k --gpus 128 -o plan.json"),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("size", epilog=size.EXAMPLES)(size.size)
app.command("kv", epilog=kv.EXAMPLES)(kv.kv)
app.command("ece", epilog=ece.EXAMPLES)(ece.ece)
app.command("explain", epilog=explain.EXAMPLES)(explain.explain)
app.command("diff", epilog=diff.EXAMPLES)(diff.diff)
app.command("reference", epilog=reference.EXAMPLES)(reference.reference)
app.command("trace", epilog=trace.EXAMPLES)(trace.trace)
app.command("simulate", epilog=simulate.EXAMPLES)(simulate.simulate)
app.command("network", epilog=network.EXAMPLES)(network.network)
app.command("bom", epilog=bom.EXAMPLES)(bom.bom)
app.command("report", epilog=report.EXAMPLES)(report.report)
app.command("render", epilog=render.EXAMPLES)(render.render)
app.command("check", epilog=check.EXAMPLES)(check.check)
app.add_typer(deploy.app, name="deploy")
app.add_typer(rehearse.app, name="rehearse")
app.add_typer(init.app, name="init")
app.add_typer(catalogue.app, name="catalogue")


def _show_version(value: bool) -> None:  # noqa: FBT001 - typer calls it with the flag's value
    """Print the version and stop."""
    if value:
        typer.echo(f"kvplan {VERSION}")
        raise typer.Exit


@app.callback()
def kvplan(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and stop.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Size, quote and deploy shared KV-cache storage for LLM inference."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; usage errors are printed by typer and return 2."""
    try:
        app(args=list(arguments) if arguments is not None else None, prog_name="kvplan")
    except SystemExit as stop:
        if stop.code == ExitCode.INTERRUPTED:
            # typer has caught Ctrl-C; whoever catches it from us says so.
            raise KeyboardInterrupt from None
        return stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    return ExitCode.OK
