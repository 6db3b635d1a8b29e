"""A profile: the recipe of a storage tier. Everything that can be computed from it is, nothing of that is stored."""

from __future__ import annotations

from pydantic import Field, field_validator, model_validator

from kvplan.schema.base import Record, Sourced


class NodeCounts(Record):
    """How many storage nodes the profile starts with and may grow to."""

    start: int = Field(ge=1)
    limit: int = Field(ge=1)

    @model_validator(mode="after")
    def _grows_upward(self) -> NodeCounts:
        if self.limit < self.start:
            message = f"limit {self.limit} is below start {self.start}"
            raise ValueError(message)
        return self


class Span(Record):
    """A published range; an open end is absent."""

    low: float | None = None
    high: float | None = None


class Guidance(Sourced):
    """What the publisher says the profile is for, as printed."""

    gpus: Span
    params: Span
    read_bytes_per_s: Span
    usable_percent: float | None = None


class StorageNode(Record):
    """What is in one storage node, by catalogue id."""

    server: str
    drive: str
    drives: int = Field(ge=1, le=64)
    client_nic: str
    client_nics: int = Field(default=1, ge=1)
    storage_nic: str
    storage_nics: int = Field(default=1, ge=1)


class Profile(Record):
    """A recipe: how many nodes of which kind, under which erasure code and block size, with which switch."""

    format_version: str = "1.0"
    name: str = Field(min_length=1)
    title: str
    nodes: NodeCounts
    erasure_code: str
    block_mib: int = Field(ge=1, le=16)
    spare_pdisks: int | None = Field(default=None, ge=0)
    node: StorageNode
    switch: str
    guidance: Guidance

    def __hash__(self) -> int:
        """Hash the name alone: profiles are the keys of caches, and equal profiles have equal names."""
        return hash(self.name)

    @field_validator("name")
    @classmethod
    def _is_a_plain_name(cls, name: str) -> str:
        if not name.replace("-", "").isalnum() or not name.isascii() or name != name.lower() or name.startswith("-"):
            message = f"{name!r} is no plain name: lower-case letters, digits and hyphens only"
            raise ValueError(message)
        return name
