"""A secret's place, or a private key, in a file that is rendered.

Files of the tree are kept in version control and copied to machines. Where secrets are is said under `inventory/`
alone; every other file holds a mark that is replaced when it is deployed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.checks.framework import Check, Found
from kvplan.checks.keys import STARTS, secrets
from kvplan.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


_KEY: Final = "PRIVATE KEY-----"


def run(context: Context) -> Iterator[Found]:
    """Search every file that has the beginning of a reference; most have none, and there may be hundreds of secrets."""
    wanted = {entry.value for entry in secrets(context)} | {_KEY}
    for path, text in context.tree.items():
        if path.startswith("inventory/") or not any(start in text for start in (*STARTS, _KEY)):
            continue
        held = sorted(secret for secret in wanted if secret in text)
        if held:
            yield Found(path, f"holds {listed(held)}")


CHECK = Check(
    id="KV-SEC-007",
    severity="error",
    title="Rendered files tell nothing of secrets",
    expected="references to secrets under `inventory/` only, private keys nowhere",
    remedy="report it as a defect of kvplan, with the file's path",
    manual="grep -rnE '(env|file|vault):|PRIVATE KEY' build/ --exclude-dir inventory",
    source="kvplan: secrets are references",
    run=run,
    needs="tree",
)
