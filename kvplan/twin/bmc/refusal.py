"""Answers that refuse a request, in the form of the standard."""

from __future__ import annotations

from typing import Any

BASE = "Base.1.13"


class Refusal(Exception):  # noqa: N818 - an answer, not a fault of the emulation
    """A request is refused: the status, and the message that says why."""

    def __init__(self, status: int, message_id: str, text: str, *arguments: str) -> None:
        super().__init__(text)
        self.status = status
        self.message_id = message_id
        self.text = text
        self.arguments = arguments

    def body(self) -> dict[str, Any]:
        """Write the body of the answer."""
        info = {
            "@odata.type": "#Message.v1_1_1.Message",
            "MessageId": self.message_id,
            "Message": self.text,
            "MessageArgs": list(self.arguments),
            "RelatedProperties": [f"#/{argument}" for argument in self.arguments[:1]],
            "Severity": "Warning",
            "Resolution": "None.",
        }
        return {"error": {"code": self.message_id, "message": self.text, "@Message.ExtendedInfo": [info]}}

    @classmethod
    def value_unknown(cls, value: object, key: str) -> Refusal:
        """Refuse a value that is not in the list."""
        text = f"The value {value} for the property {key} is not in the list of acceptable values."
        return cls(400, f"{BASE}.PropertyValueNotInList", text, str(value), key)

    @classmethod
    def state_wrong(cls, kind: str, power: str) -> Refusal:
        """Refuse a reset that does not fit the power state."""
        text = f"The reset {kind} can not be done while the power state is {power}."
        return cls(409, f"{BASE}.ActionNotSupported", text, kind)

    @classmethod
    def parameter_unknown(cls, key: str) -> Refusal:
        """Refuse a parameter that the action does not know."""
        text = f"The action was submitted with the parameter {key} that is not supported."
        return cls(400, f"{BASE}.ActionParameterNotSupported", text, key)

    @classmethod
    def parameter_missing(cls, key: str) -> Refusal:
        """Refuse an action that lacks a parameter."""
        text = f"The action requires the parameter {key} to be present in the request body."
        return cls(400, f"{BASE}.ActionParameterMissing", text, key)

    @classmethod
    def not_writable(cls, key: str) -> Refusal:
        """Refuse a change of a property that can only be read."""
        text = f"The property {key} is a read only property and cannot be assigned a value."
        return cls(400, f"{BASE}.PropertyNotWritable", text, key)

    @classmethod
    def not_found(cls, path: str) -> Refusal:
        """Say that there is no such resource."""
        text = f"The resource at the URI {path} was not found."
        return cls(404, f"{BASE}.ResourceMissingAtURI", text, path)

    @classmethod
    def licence_missing(cls) -> Refusal:
        """Refuse what needs a licence."""
        text = "Not licensed to perform this request. The following licenses DCMS were needed."
        return cls(403, "SMC.1.0.OemLicenseNotPassed", text, "DCMS")

    @classmethod
    def busy(cls, text: str = "The service is temporarily unavailable. Retry in 5 seconds.") -> Refusal:
        """Ask to come back later."""
        return cls(503, f"{BASE}.ServiceTemporarilyUnavailable", text, "5")

    @classmethod
    def sessions_full(cls) -> Refusal:
        """Refuse one session too many."""
        text = "The session establishment failed due to the number of simultaneous sessions exceeding the limit."
        return cls(503, f"{BASE}.SessionLimitExceeded", text)

    @classmethod
    def credentials_wrong(cls) -> Refusal:
        """Refuse a user that is not known."""
        return cls(401, f"{BASE}.InsufficientPrivilege", "The account or credentials are not valid.")

    @classmethod
    def precondition(cls, *, missing: bool) -> Refusal:
        """Refuse a change whose `If-Match` is missing, or names an older state."""
        if missing:
            return cls(428, f"{BASE}.PreconditionRequired", "The change needs an If-Match header with the ETag.")
        return cls(412, f"{BASE}.PreconditionFailed", "The ETag supplied did not match the current state.")
