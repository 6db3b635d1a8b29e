"""An answer that is no success."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from http import HTTPStatus


class RefusalError(Exception):
    """What a switch says instead of doing it: status and sentence."""

    def __init__(self, status: HTTPStatus, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail

    @property
    def body(self) -> dict[str, object]:
        """The answer."""
        return {"status": int(self.status), "title": self.status.phrase, "type": "about:blank", "detail": self.detail}


class ApplyError(Exception):
    """What a callback raises where the machine behind a switch does not take a configuration."""
