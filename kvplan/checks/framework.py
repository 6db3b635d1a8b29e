"""What every check is made of: its page, the function that looks, and what that function is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from kvplan.schema.checking import CheckPage, Needs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.inputs.loc import Loc
    from kvplan.schema.base import Severity
    from kvplan.schema.design import Design, Finding
    from kvplan.schema.plan import Plan
    from kvplan.schema.site.site import Site
    from kvplan.site.deployment import Deployment


class Found(NamedTuple):
    """One thing that is wrong: the machine or setting, what is wrong with it, and where the Site says it.

    Severity and remedy are given where they are not those of the check.
    """

    where: str
    what: str
    loc: Loc | None = None
    severity: Severity | None = None
    remedy: str = ""


@dataclass(frozen=True)
class Context:
    """What checks look at; the rendered files are made when the first check asks for them."""

    deployment: Deployment
    render: Callable[[], Mapping[str, str]] = dict
    _judged: dict[str, tuple[Finding, ...]] = field(default_factory=dict, repr=False)

    @property
    def plan(self) -> Plan:
        """The Plan."""
        return self.deployment.plan

    @property
    def site(self) -> Site:
        """The Site."""
        return self.deployment.site

    @property
    def design(self) -> Design:
        """The design that the Site's build options make of the Plan."""
        return self.deployment.design

    @cached_property
    def tree(self) -> Mapping[str, str]:
        """The rendered files: text by path."""
        return self.render()

    @cached_property
    def site_texts(self) -> tuple[tuple[Loc, str], ...]:
        """Every text of the Site with its path."""
        return tuple(_texts(self.site.model_dump(mode="json"), ()))

    def judged(self, part: str, judge: Callable[[], Iterator[Finding]]) -> tuple[Finding, ...]:
        """Return what a part's rules find, which is worked out once however many checks ask."""
        if part not in self._judged:
            self._judged[part] = tuple(judge())
        return self._judged[part]


Run = Callable[[Context], Iterator[Found]]


@dataclass(frozen=True, slots=True)
class Check:
    """One check; `why` is the docstring of its module, which together with the other texts is its page.

    `title` says what is checked, `expected` what is right, `remedy` what to do, `manual` a command that a person runs
    to look. `blocks` tells that nothing can be rendered while it finds something.
    """

    id: str
    severity: Severity
    title: str
    expected: str
    remedy: str
    manual: str
    source: str
    run: Run
    why: str = ""
    needs: Needs = "offline"
    blocks: bool = False

    @property
    def area(self) -> str:
        """The middle of its id, such as `NET`."""
        return self.id.split("-")[1]

    @property
    def page(self) -> CheckPage:
        """What a reader is shown of it."""
        return CheckPage(**{name: getattr(self, name) for name in CheckPage.model_fields})


def _texts(data: Any, loc: Loc) -> Iterator[tuple[Loc, str]]:
    """Walk plain data."""
    if isinstance(data, str):
        yield loc, data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from _texts(value, (*loc, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _texts(value, (*loc, index))
