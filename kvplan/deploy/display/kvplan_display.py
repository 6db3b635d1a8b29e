"""The display of ansible-runner, which says too where a playbook goes on without a host that does not answer.

Its tests run it in Ansible, where coverage does not see it.
"""

from __future__ import annotations

from typing import Any

from ansible_runner.display_callback.callback.awx_display import CallbackModule as Display

DOCUMENTATION = """
    name: kvplan_display
    type: stdout
    short_description: events of ansible-runner, with what is ignored
    description:
        - Marks the result of a task with C(ignore_unreachable) on a host that does not answer.
    extends_documentation_fragment:
        - default_callback
"""


class CallbackModule(Display):  # type: ignore[misc]  # pragma: no cover
    """Makes the events of ansible-runner."""

    CALLBACK_NAME = "kvplan_display"

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """Mark what the task ignores, since neither the event nor its result tell."""
        if result._task.ignore_unreachable:  # noqa: SLF001 - what Ansible gives to callbacks
            result._result["ignored"] = True  # noqa: SLF001
        super().v2_runner_on_unreachable(result)
