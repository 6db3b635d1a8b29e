"""SVG as text: elements with everything escaped."""

from __future__ import annotations

from html import escape


def element(name: str, *children: str, **attributes: object) -> str:
    """Write an element; attributes are named with `_` for `-`, and `class_` for class.

    >>> element("text", "a < b", x=1.25, class_="t")
    '<text x="1.2" class="t">a < b</text>'
    >>> element("rect", width=10.0)
    '<rect width="10"/>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value_text(value))}"' for key, value in attributes.items()
    )
    inner = "".join(children)
    return f"<{name}{written}>{inner}</{name}>" if inner else f"<{name}{written}/>"


def value_text(value: object) -> str:
    """Write an attribute's value; a tenth of a pixel is enough.

    >>> value_text(1.25), value_text(10.0), value_text("a")
    ('1.2', '10', 'a')
    """
    return f"{round(value, 1):g}" if isinstance(value, float) else str(value)
