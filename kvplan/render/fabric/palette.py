"""Colours of the drawings: one style sheet, light and dark, told apart by colour-blind readers too.

Hues are those of Okabe and Ito; what matters is never said by colour alone. A page that embeds a drawing may set the
variables on `.kvd` to its own colours.
"""

from __future__ import annotations

from kvplan.schema.roles import ROLE_NOUNS

_COLOURS: dict[str, tuple[str, str]] = {
    "paper": ("#ffffff", "#12161c"),
    "ink": ("#1b2430", "#e7ecf2"),
    "soft": ("#566272", "#a4b0bf"),
    "line": ("#c9d0d9", "#3b4655"),
    "pill": ("#ffffff", "#12161c"),
    "rail-a": ("#0067a5", "#6bb8f0"),
    "rail-b": ("#b8470b", "#ff9d5c"),
    "core": ("#566272", "#a4b0bf"),
    "storage": ("#d3eee4", "#10392d"),
    "storage-edge": ("#00785a", "#43c59e"),
    "client": ("#fbe8c3", "#43300a"),
    "client-edge": ("#9a6500", "#eab04a"),
    "control": ("#eceff3", "#2a323d"),
    "control-edge": ("#566272", "#a4b0bf"),
    "leaf": ("#d6e8f7", "#11324c"),
    "leaf-edge": ("#0067a5", "#6bb8f0"),
    "spine": ("#f4dcea", "#44203a"),
    "spine-edge": ("#9c3f76", "#e48fc2"),
    "super-spine": ("#e3def6", "#2b2452"),
    "super-spine-edge": ("#5b45a0", "#ab9bea"),
    "management-switch": ("#f3f2c9", "#3a390d"),
    "management-switch-edge": ("#6f6c10", "#d3cf55"),
    "over": ("#c1121f", "#ff7b84"),
    "meter": ("#0067a5", "#6bb8f0"),
}
LIGHT = {name: light for name, (light, _) in _COLOURS.items()}
"""The light colours by name, for formats without a style sheet."""
_ROOT = "color-scheme:light dark;max-width:100%;height:auto;font-family:system-ui,'Segoe UI',Helvetica,Arial,sans-serif"


def _variables(shade: int) -> str:
    """Write the variables of a shade: 0 light, 1 dark."""
    return ";".join(f"--{name}:{shades[shade]}" for name, shades in _COLOURS.items())


def _set(property_: str, colour: str) -> str:
    """Set a property to a colour; readers that know no variables take the light one."""
    return f"{property_}:{_COLOURS[colour][0]};{property_}:var(--{colour})"


def _rule(selector: str, *declarations: str) -> str:
    """Write a rule that holds in our drawings only."""
    return f".kvd {selector}{{{';'.join(declarations)}}}"


def _style() -> str:
    """Write the style sheet."""
    text = (("t", 12.5, "ink"), ("s", 10.5, "soft"), ("n", 9.5, "ink"), ("h", 15, "ink"), ("b", 10, "ink"))
    return "\n".join(
        (
            f"\n.kvd{{{_variables(0)};{_ROOT}}}",
            f"@media screen and (prefers-color-scheme:dark){{.kvd{{{_variables(1)}}}}}",
            *(_rule(f".{name}", f"font-size:{size:g}px", _set("fill", colour)) for name, size, colour in text),
            _rule(".t,.kvd .h", "font-weight:600"),
            _rule(".m", "text-anchor:middle"),
            _rule(".e", "text-anchor:end"),
            _rule(".paper", _set("fill", "paper")),
            _rule(".frame", "fill:none", _set("stroke", "line"), "stroke-dasharray:2 3"),
            _rule(".pill", _set("fill", "pill")),
            _rule(".wire", "fill:none", "stroke-width:2", _set("stroke", "core")),
            _rule(".ra", _set("stroke", "rail-a")),
            _rule(".rb", _set("stroke", "rail-b"), "stroke-dasharray:7 4"),
            *(_rule(f".{role}", _set("fill", role), _set("stroke", f"{role}-edge")) for role in ROLE_NOUNS),
            _rule(".free", _set("stroke", "line"), "stroke-width:1"),
            _rule(".rack", "fill:none", _set("stroke", "soft")),
            _rule(".track", _set("fill", "line")),
            _rule(".meter", _set("fill", "meter")),
            _rule(".over", _set("fill", "over")),
            "",
        )
    )


STYLE = _style()
"""The style sheet of every drawing."""
