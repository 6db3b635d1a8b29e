"""The rack elevation: each device in its units, what is free, power and weight against their limits."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kvplan.render.fabric.racks_alike import Elevation, elevations
from kvplan.render.fabric.svg import drawing, text
from kvplan.render.fabric.words import OUTWARDS, counted_title
from kvplan.render.svg import element, hatching
from kvplan.schema.roles import ROLE_NOUNS
from kvplan.units import counted, format_power

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from kvplan.schema.design import Design, Device, Rack
    from kvplan.schema.roles import Role

_LEAST, _PER_ROW = 4, 5
_UNIT, _WIDTH, _SCALE, _GAP, _MARGIN = 13.0, 152.0, 22.0, 20.0, 24.0
_HATCH_STEP = 12
_TOP, _HEAD, _FOOT = 56.0, 34.0, 78.0
_LEGEND = 48.0
_NAME_SIZE = 9.5


def racks_svg(design: Design) -> str:
    """Draw the racks from the front, the lowest unit at the bottom.

    Parameters
    ----------
    design
        The design.

    Returns
    -------
    str
        A self-contained SVG document; where there are many racks, those that are alike are drawn once.
    """
    shown, left_out = elevations(design)
    return _sheet(design, "kvd-racks", _headline(design, left_out), _lines(shown))


def racks_svgs(design: Design) -> tuple[str, ...]:
    """Draw the racks as `racks_svg`, each line of them as a drawing of its own, which a page can hold.

    Parameters
    ----------
    design
        The design.

    Returns
    -------
    tuple of str
        Self-contained SVG documents whose ids differ, so that all can stand in one page.
    """
    shown, left_out = elevations(design)
    lines = _lines(shown)
    if len(lines) == 1:
        return (racks_svg(design),)
    return tuple(
        _sheet(design, f"kvd-racks-{number}", _headline(design, left_out) if number == 1 else "", [line])
        for number, line in enumerate(lines, start=1)
    )


def _lines(shown: Sequence[Elevation]) -> list[Sequence[Elevation]]:
    """Break the racks into lines of equal width."""
    columns = _columns(shown)
    return [shown[start : start + columns] for start in range(0, len(shown), columns)]


def _columns(shown: Sequence[Elevation]) -> int:
    """Return how many racks stand side by side."""
    return min(_PER_ROW, max(len(shown), _LEAST))


def _sheet(design: Design, id_: str, headline: str, lines: Sequence[Sequence[Elevation]]) -> str:
    """Draw some lines of racks with the legend below."""
    columns = max(_columns(line) for line in lines)
    width = 2 * _MARGIN + columns * (_SCALE + _WIDTH) + (columns - 1) * _GAP
    heights = [_HEAD + max(item.rack.units for item in line) * _UNIT + _FOOT for line in lines]
    first = _TOP if headline else _MARGIN
    height = first + sum(heights) + _LEGEND
    tops = [first + sum(heights[:index]) for index in range(len(lines))]
    names = ", ".join(item.title for line in lines for item in line)
    return drawing(
        id_,
        f"Rack elevation: {names}",
        _description(design, {item.rack.name for line in lines for item in line}),
        (width, height),
        text(headline, _MARGIN, 34, "h") if headline else "",
        *(
            _rack(item, _MARGIN + _SCALE + index * (_SCALE + _WIDTH + _GAP), top)
            for line, top in zip(lines, tops, strict=True)
            for index, item in enumerate(line)
        ),
        *_legend(design, height - 20),
    )


def _headline(design: Design, left_out: int) -> str:
    """Name what is drawn."""
    rest = f", {left_out:,} more in the table of racks" if left_out else ""
    return f"{counted(len(design.racks), 'rack')}, {counted(len(design.devices), 'device')}{rest}"


def _description(design: Design, shown: Collection[str]) -> str:
    """Say in words what stands in each rack that is drawn."""
    counts: dict[str, dict[Role, int]] = defaultdict(lambda: defaultdict(int))
    for device in design.devices:
        if device.rack in shown:
            counts[device.rack][device.role] += 1
    named = (
        f"{rack}: {', '.join(counted_title(count, role) for role, count in roles.items())}"
        for rack, roles in counts.items()
    )
    return f"{'; '.join(named)}."


def _rack(item: Elevation, x: float, top: float) -> str:
    """Draw one rack with its units, devices and meters; inside, the origin is its upper left corner."""
    height = item.rack.units * _UNIT
    return element(
        "g",
        text(item.title, 0, -20, "t", fit=_WIDTH + _GAP, size=12.5),
        text(_place(item), 0, -6, "s", fit=_WIDTH, size=10.5),
        element("path", class_="free", d=hatching(0, 0, _WIDTH, height, step=_HATCH_STEP)),
        _scale(item.rack.units),
        *_devices(item),
        element("rect", class_="rack", width=_WIDTH, height=height),
        *_meters(item.rack, height),
        transform=f"translate({x:g} {top + _HEAD:g})",
    )


def _place(item: Elevation) -> str:
    """Say where the rack stands, or how many are alike."""
    if item.count > 1:
        return f"{item.count:,} alike, one shown"
    return f"row {item.rack.row}, place {item.rack.column}"


def _scale(units: int) -> str:
    """Write the number of every second unit."""
    numbers = (
        element("tspan", str(number), x=-4, y=(units - number) * _UNIT + 10) for number in range(1, units + 1, 2)
    )
    return element("text", *numbers, class_="n e")


def _devices(item: Elevation) -> Iterator[str]:
    """Draw the devices: a path of rectangles for each role, and all names in one text, to keep the drawing small."""
    by_role: dict[Role, list[Device]] = defaultdict(list)
    for device in item.devices:
        by_role[device.role].append(device)
    for role, devices in by_role.items():
        outlines = (
            f"M0 {_upper(item.rack, device):g}h{_WIDTH:g}v{device.rack_units * _UNIT:g}H0z" for device in devices
        )
        yield element("path", class_=role, d="".join(outlines))
    for device in item.devices:
        middle = _upper(item.rack, device) + device.rack_units * _UNIT / 2 + 3.5
        yield text(item.label(device), 6, middle, "n", fit=_WIDTH - 10, size=_NAME_SIZE)


def _upper(rack: Rack, device: Device) -> float:
    """Return where the upper edge of a device is."""
    return (rack.units - device.position_u - device.rack_units + 1) * _UNIT


def _meters(rack: Rack, height: float) -> Iterator[str]:
    """Show power and weight against what the rack may carry."""
    power = f"at most {format_power(rack.power_max_w)} of {format_power(rack.power_limit_w)}"
    typical = f"{format_power(rack.power_typical_w)} typical, {rack.used_units} of {rack.units} U"
    weight = f"{rack.weight_kg:,.0f} of {rack.weight_limit_kg:,.0f} kg"
    yield from _meter(power, rack.power_max_w / rack.power_limit_w, height + 16)
    yield from _meter(weight, rack.weight_kg / rack.weight_limit_kg, height + 38)
    yield text(typical, 0, height + 60, "s", fit=_WIDTH + _GAP, size=10.5)


def _meter(title: str, share: float, y: float) -> Iterator[str]:
    """Write a figure with a bar below; what is over its limit says so."""
    over = share > 1
    yield text(f"{title}: over" if over else title, 0, y, "over s" if over else "s", fit=_WIDTH + _GAP, size=10.5)
    yield element("rect", class_="track", y=y + 4, width=_WIDTH, height=4, rx=2)
    yield element("rect", class_="over" if over else "meter", y=y + 4, width=_WIDTH * min(share, 1), height=4, rx=2)


def _legend(design: Design, y: float) -> Iterator[str]:
    """Explain the colours."""
    present = {device.role for device in design.devices}
    x = _MARGIN
    for role in OUTWARDS:
        if role in present:
            noun, _ = ROLE_NOUNS[role]
            yield element("rect", class_=role, x=x, y=y - 10, width=16, height=12)
            yield text(noun, x + 22, y, "s")
            x += 36 + 6 * len(noun)
    yield element("path", class_="free", d=hatching(x, y - 10, 16, 12, step=_HATCH_STEP))
    yield element("rect", class_="rack", x=x, y=y - 10, width=16, height=12)
    yield text("free", x + 22, y, "s")
