"""What a report is made from, and words that several of its sections share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.core.certainty import certainty
from kvplan.core.ece.strips import survival_words
from kvplan.render.bom_view import amount
from kvplan.render.notices import all_found
from kvplan.units import counted, format_percent

if TYPE_CHECKING:
    from decimal import Decimal

    from kvplan.schema.bom import Bom
    from kvplan.schema.design import Design, Finding
    from kvplan.schema.measurement import Measurement
    from kvplan.schema.plan import Plan, PlanWarning

DOUBTS = ("memory-suffices", "short-context")
"""Warnings which say that the tier may not pay off."""


_SPELLED = {"gpu": "GPU", "gpus": "GPUs", "nic": "NIC", "pcie": "PCIe"}


@dataclass(frozen=True, slots=True)
class Source:
    """The Plan, how it is built, what it costs, and what was published of the same model on the same GPU."""

    plan: Plan
    design: Design
    bom: Bom
    measurements: tuple[Measurement, ...] = ()

    @property
    def power_known(self) -> str:
        """How well power and weight are known: as the least known of the boxes."""
        assumed = {device.model for device in self.design.devices if device.confidence == "assumed"}
        return f"derived, {counted(len(assumed), 'assumed input')}" if assumed else "derived"

    @property
    def errors(self) -> tuple[str, ...]:
        """Texts of everything that stands in the way."""
        return tuple(finding.text for finding in self._found if finding.severity == "error")

    @property
    def warned(self) -> int:
        """How many warnings there are."""
        return sum(finding.severity == "warning" for finding in self._found)

    @property
    def _found(self) -> tuple[PlanWarning | Finding, ...]:
        """Everything that was found, by sizing, design and pricing."""
        return all_found(self.plan, self.design, self.bom)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Texts of the warnings which say that the tier may not pay off."""
        return tuple(warning.text for warning in self.plan.warnings if warning.id in DOUBTS)

    def known(self, path: str) -> str:
        """Say how well a number of the Plan is known: its own word, and how many assumptions stand behind it."""
        found = certainty(self.plan, path)
        behind = f", {counted(len(found.assumed), 'assumed input')}" if found.assumed else ""
        return f"{found.confidence}{behind}"


def sentence(text: str) -> str:
    """Write a text as a sentence: a capital first unless it begins with a name, a full stop last.

    >>> sentence("needs two nodes"), sentence("kvbm-g4: it evicts"), sentence("Done."), sentence("8+2P holds")
    ('Needs two nodes.', 'kvbm-g4: it evicts.', 'Done.', '8+2P holds.')
    """
    first = text.split(maxsplit=1)[0] if text else ""
    capital = text[:1].upper() + text[1:] if first.isalpha() else text
    return capital if capital.endswith((".", "!", "?", ":")) else f"{capital}."


def titled(name: str) -> str:
    """Write the name of a stage or limit as a title.

    >>> titled("client nic of the storage node"), titled("gpus"), titled("pcie to drives")
    ('Client NIC of the storage node', 'GPUs', 'PCIe to drives')
    """
    text = spelled(name)
    return text[:1].upper() + text[1:]


def spelled(name: str) -> str:
    """Write the name of a stage or limit within a sentence.

    >>> spelled("client nic of the storage node")
    'client NIC of the storage node'
    """
    return " ".join(_SPELLED.get(word, word) for word in name.split(" "))


def money(value: Decimal, currency: str) -> str:
    """Write money.

    >>> from decimal import Decimal
    >>> money(Decimal("1234567.5"), "EUR")
    '1,234,567.50 EUR'
    """
    return f"{amount(value, currency)} {currency}"


def power(watts: float) -> str:
    """Write power.

    >>> power(8412), power(640), power(5_790_000)
    ('8.41 kW', '640 W', '5.79 MW')
    """
    unit, size = next(((unit, size) for unit, size in (("MW", 1e6), ("kW", 1e3)) if watts >= size), ("W", 1))
    return f"{watts / size:.3g} {unit}"


def priced_words(bom: Bom) -> tuple[str, str]:
    """Write the total and a word on it; what has no price is never counted as nothing."""
    wanted = sum(group.lines for group in bom.groups)
    if bom.missing >= wanted:
        return "not priced", f"no price book names any of the {counted(wanted, 'line')}"
    if bom.complete:
        return money(bom.total, bom.currency), f"all {counted(wanted, 'line')} priced, net"
    return money(bom.total, bom.currency), f"incomplete: {bom.missing} of {counted(wanted, 'line')} have no price"


def survives(plan: Plan) -> str:
    """Say what the tier survives."""
    tolerance = plan.profile.fault_tolerance
    return survival_words(tolerance.node_failures, tolerance.further_device_failures)


def planned_words(plan: Plan) -> str:
    """Say what the planned read rate is the planned share of, or what bounds it."""
    network = plan.network
    if plan.buys.planned_read_bytes_per_s < network.read_bytes_per_s:
        return f"at {format_percent(plan.constants['guidance.planned_read_share'].value, 0)} of read bandwidth"
    return f"bounded by the stage {spelled(network.binding_stage)}"
