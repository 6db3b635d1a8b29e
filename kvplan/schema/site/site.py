"""The Site as one versioned document."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from kvplan.schema.base import Record
from kvplan.schema.build import BuildOptions
from kvplan.schema.site.forms import Name
from kvplan.schema.site.machines import Console, ServerSite, SwitchSite
from kvplan.schema.site.place import (
    AccessSite,
    ExtraName,
    LicenceAcceptance,
    MediaServer,
    NamesSite,
    NetworkSite,
)
from kvplan.schema.site.software import ImagesSite, InferenceSite, PackagesSite, StorageSite, VersionsSite


class Site(Record):
    """Everything about one place that a Plan cannot know.

    `build` says how the Plan is racked, cabled and addressed there. Secrets are references (`env:`, `file:`,
    `vault:`); a file is looked for from the Site's own directory.
    """

    format_version: Literal["1.0"] = "1.0"
    name: Name
    build: BuildOptions = BuildOptions()
    network: NetworkSite
    names: NamesSite = NamesSite()
    access: AccessSite
    media: MediaServer
    console: Console = Console()
    servers: Annotated[tuple[ServerSite, ...], Field(min_length=1)]
    switches: Annotated[tuple[SwitchSite, ...], Field(min_length=1)]
    images: ImagesSite
    packages: PackagesSite
    versions: VersionsSite
    licences: tuple[LicenceAcceptance, ...] = ()
    storage: StorageSite = StorageSite()
    inference: InferenceSite
    extra_names: tuple[ExtraName, ...] = ()

    @model_validator(mode="after")
    def _marks_are_in_order(self) -> Self:
        marks = self.storage.watermarks
        if marks.low_percent >= marks.high_percent:
            message = f"storage.watermarks: low {marks.low_percent} % is not below high {marks.high_percent} %"
            raise ValueError(message)
        return self
