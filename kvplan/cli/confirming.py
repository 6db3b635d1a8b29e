"""What a person has to agree to before a deployment goes on: changes since the last run, and destruction."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from kvplan.errors import InputError, KvplanError, PlanStaleError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from kvplan.cli.tree_out import Change
    from kvplan.deploy.journal import Hashes
    from kvplan.schema.deploying import Destroyed
    from kvplan.site.deployment import Deployment
    from kvplan.site.tree import File

MOST_LINES: Final = 200
"""Lines of a patch that are shown."""
ACCEPTED: Final = "manifest.json"
"""In the directory of state: the manifest of the tree that the last run went by."""
_PARTS: Final = {"plan": "the Plan", "site": "the Site", "tree": "the rendered tree"}


def say(text: str) -> None:
    """Write a line for people, on stderr.

    Parameters
    ----------
    text
        The line.
    """
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def acknowledged(
    found: Sequence[Change],
    before: Hashes | None,
    now: Hashes,
    tree: Mapping[str, File],
    state: Path,
    *,
    accepted: bool,
) -> None:
    """See that nobody deploys a change unawares.

    Parameters
    ----------
    found
        How the tree on disk differs from what the Plan and the Site make.
    before
        What the last run went by; None for the first.
    now
        What this run goes by.
    tree
        The rendered files.
    state
        Directory of state, which has the manifest of the last run.
    accepted
        Whether the change is agreed to.

    Raises
    ------
    PlanStaleError
        When something changed and that is not agreed to.
    """
    changed = changed_parts(before, now)
    if not changed and (not found or all(change.kind == "new" for change in found)):
        return
    for line in _patch(found) or _by_manifest(tree, state):
        say(line)
    if accepted:
        return
    what = " and ".join(changed) or "the tree on disk"
    message = f"{what} changed since the last run"
    raise PlanStaleError(message, hint="see the differences above; to deploy them, run again with --accept-changes")


def changed_parts(before: Hashes | None, now: Hashes) -> list[str]:
    """Name what changed since the last run.

    Parameters
    ----------
    before
        What the last run went by; None for the first.
    now
        What this run goes by.

    Returns
    -------
    list of str
        The Plan, the Site or the tree.
    """
    return [words for part, words in _PARTS.items() if before and getattr(before, part) != getattr(now, part)]


def destruction_agreed(
    listed: Sequence[Destroyed], deployment: Deployment, yes: str | None, ask: Callable[[str], str] | None
) -> None:
    """Show what is about to be destroyed, and see that a person agrees.

    Parameters
    ----------
    listed
        What each host loses.
    deployment
        What is deployed.
    yes
        What `--yes` was given.
    ask
        Asks at the terminal; None where there is none.

    Raises
    ------
    UsageError
        When nobody agrees.
    """
    from kvplan.cli.console import width
    from kvplan.deploy.confirm import agreed
    from kvplan.render.deploy_view import destruction_view
    from kvplan.render.text import view_text

    if not listed:
        return
    name = deployment.site.storage.cluster
    say(view_text(destruction_view(listed, name), width=width()))
    agreed(yes, name=name, plan_sha256=deployment.plan_sha256, sha256_in=_sha256_in, ask=ask)


def terminal() -> Callable[[str], str] | None:
    """Return how to ask a person, where there is one at a terminal.

    Returns
    -------
    callable or None
        Takes a question and returns the answer.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None

    def ask(question: str) -> str:
        sys.stderr.write(question)
        sys.stderr.flush()
        return sys.stdin.readline()

    return ask


def _sha256_in(path: Path) -> str | None:
    """Return the hash of the Plan in a file."""
    from kvplan.cli.shared import read_plan
    from kvplan.core.seal import plan_sha256

    try:
        return plan_sha256(read_plan(path))
    except KvplanError:
        return None


def _patch(found: Sequence[Change]) -> list[str]:
    """Write differences as a patch, cut where it is long; new files are no difference."""
    lines = [line for change in found if change.kind != "new" for line in change.diff.splitlines()]
    more = [f"and {len(lines) - MOST_LINES:,} lines more"] if len(lines) > MOST_LINES else []
    return [*lines[:MOST_LINES], *more]


def _by_manifest(tree: Mapping[str, File], state: Path) -> list[str]:
    """Name the files that differ from those of the last run, where the tree itself was written anew since."""
    from kvplan.inputs.files import read_json

    try:
        before = read_json(state / ACCEPTED).data["files"]
    except (InputError, LookupError, TypeError):
        return []
    known = {path: entry.get("sha256") for path, entry in before.items()}
    made = {path: file.sha256 for path, file in tree.items() if path != ACCEPTED}
    return [f"differs: {path}" for path in sorted({*known, *made}) if known.get(path) != made.get(path)]


def remember(tree: Mapping[str, File], state: Path) -> None:
    """Keep the manifest of the tree that a run goes by.

    Parameters
    ----------
    tree
        The rendered files.
    state
        Directory of state.
    """
    from kvplan.inputs.files import write_atomically

    write_atomically(state / ACCEPTED, tree[ACCEPTED].content, mode=0o600)
