"""The command line's entry point: runs a verb and turns errors into plain lines and exit codes."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kvplan.errors import ExitCode, KvplanError

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run kvplan and return its exit code.

    Errors that kvplan raises on purpose become `error:` lines on stderr; anything else is a defect and says so. A
    traceback is shown only when `KVPLAN_DEBUG` is set.
    """
    if sys.stdout is None:  # closed by the caller, who wants the exit code only
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - lives as long as the process
    try:
        from kvplan.cli.app import run  # noqa: PLC0415 - so that an interrupted start is handled here too

        code = run(arguments)
        sys.stdout.flush()
    except KvplanError as error:
        return _report(error)
    except KeyboardInterrupt:
        _say("interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader has gone, as `head` does; the interpreter must not try to flush again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    except Exception as error:
        if os.environ.get("KVPLAN_DEBUG"):
            raise
        _say(f"error: unexpected {type(error).__name__}: {error}")
        _say("hint: this is a defect of kvplan; run again with KVPLAN_DEBUG=1 and report what it prints")
        return ExitCode.UNEXPECTED
    return code


def script() -> None:
    """Run as a console script."""
    sys.exit(main())


def _report(error: KvplanError) -> int:
    """Print an error of the tree, every problem on its own line, and return its exit code."""
    for line in error.message.splitlines():
        _say(line if line.startswith(" ") else f"error: {line}")
    if error.hint:
        _say(f"hint: {error.hint}")
    return error.exit_code


def _say(line: str) -> None:
    """Print a line for people."""
    print(line, file=sys.stderr)  # noqa: T201 - the one place that writes to stderr


if __name__ == "__main__":
    script()
