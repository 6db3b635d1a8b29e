"""A time zone that does not exist.

An installer stops and asks when it is given a zone that it does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import available_timezones

from kvplan.checks.framework import Check, Found
from kvplan.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look the name up, where this machine has the database."""
    name = context.site.network.timezone
    known = available_timezones()
    if known and name not in known:
        yield Found(
            "network.timezone",
            "; ".join(filter(None, (f"there is no {name}", did_you_mean(name, known)))),
            ("network", "timezone"),
        )


CHECK = Check(
    id="KV-SIT-028",
    severity="error",
    title="The time zone exists",
    expected="a name of the tz database, such as Etc/UTC",
    remedy="correct `network.timezone`",
    manual="timedatectl list-timezones | grep NAME",
    source="IANA time zone database; kickstart documentation, timezone",
    run=run,
)
