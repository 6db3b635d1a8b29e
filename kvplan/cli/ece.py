"""`kvplan ece`: geometry of an erasure code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kvplan.cli import options
from kvplan.units import GB, TB

if TYPE_CHECKING:
    from pathlib import Path

    from kvplan.cli.parsing import Options

EXAMPLES = options.examples(
    "kvplan ece --nodes 8 --drives-per-node 16 --drive-tb 7.68 --code 8+2P",
)
_NAMES = {
    "nodes": "--nodes",
    "drives_per_node": "--drives-per-node",
    "drive_bytes": "--drive-tb",
    "erasure_code": "--code",
    "block_mib": "--block-mib",
    "spare_pdisks": "--spares",
    "set_size_percent": "--set-size",
    "release": "--release",
    "nic_bits_per_s": "--nic-gbits",
    "rated_drive_writes_per_day": "--dwpd",
    "write_bytes_per_s": "--write-gb-per-s",
}


def ece(  # noqa: PLR0913 - one parameter an option
    *,
    nodes: Annotated[str, typer.Option("--nodes", metavar="N", help="Storage nodes.", show_default=False)],
    drives_per_node: Annotated[
        str, typer.Option("--drives-per-node", metavar="N", help="Drives in each.", show_default=False)
    ],
    drive_tb: Annotated[
        str, typer.Option("--drive-tb", metavar="TB", help="Size of a drive in TB (10^12 B).", show_default=False)
    ],
    code: Annotated[
        str, typer.Option("--code", metavar="CODE", help="4+2P, 4+3P, 8+2P, 8+3P, 16+2P or 16+3P.", show_default=False)
    ],
    block_mib: Annotated[str, typer.Option("--block-mib", metavar="MIB", help="Block size in MiB, 1 to 16.")] = "4",
    spares: Annotated[
        str | None,
        typer.Option("--spares", metavar="N", help="Spare pdisks per recovery group. Default: IBM's estimator rule."),
    ] = None,
    set_size: Annotated[
        str, typer.Option("--set-size", metavar="PERCENT", help="Percent of the array that the vdisk set takes.")
    ] = "100",
    release: Annotated[
        str, typer.Option("--release", metavar="VERSION", help="Storage Scale release whose limits apply.")
    ] = "6.0.0.1",
    nic_gbits: Annotated[
        str, typer.Option("--nic-gbits", metavar="GBITS", help="Storage NIC of a node in Gb/s, for rebuild.")
    ] = "400",
    dwpd: Annotated[
        str, typer.Option("--dwpd", metavar="NUMBER", help="Rated drive writes per day, for endurance.")
    ] = "1",
    write_gb_per_s: Annotated[
        str, typer.Option("--write-gb-per-s", metavar="GB", help="Sustained user writes in GB/s, for endurance.")
    ] = "0",
    catalogue: options.CatalogueDirs = None,
    format_: options.Format = "table",
) -> None:
    """Work out an erasure code: capacity, tolerance, limits.

    Usable capacity follows IBM's estimator; rebuild times and endurance are bounds.
    """
    from kvplan.cli.parsing import Options

    asked = Options(_NAMES)
    asked.plain(erasure_code=code, release=release)
    asked.counts(nodes=nodes, drives_per_node=drives_per_node, block_mib=block_mib)
    asked.counts(spare_pdisks=spares, set_size_percent=set_size)
    asked.scaled(TB, "TB from 0.001 to 1,000, such as 7.68", drive_bytes=drive_tb)
    asked.scaled(GB, "Gb/s above 0, such as 400", nic_bits_per_s=nic_gbits)
    asked.scaled(GB, "GB/s, 0 or more, such as 12.5", write_bytes_per_s=write_gb_per_s)
    asked.numbers(rated_drive_writes_per_day=dwpd)
    _ece(asked, catalogue, format_)


def _ece(asked: Options, catalogue: list[Path] | None, format_: str) -> None:
    """Build the request, work the geometry out, and show the report."""
    from kvplan.api import ece_report
    from kvplan.cli.shared import FORMATS, open_catalogue, show
    from kvplan.render.ece_view import ece_rows, ece_view
    from kvplan.schema.reports import EceRequest

    chosen = asked.form(format_, FORMATS)
    report = ece_report(asked.build(EceRequest), catalogue=open_catalogue(catalogue))
    show(
        chosen,
        data=lambda: report.model_dump(mode="json"),
        view=lambda: ece_view(report),
        title=f"{report.erasure_code} on {report.nodes} nodes",
        rows=lambda: ece_rows(report),
    )
