"""How devices, racks and ports are called: one rule, so that drawings, schedules and inventories agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kvplan.schema.roles import Rail, Role

_STEMS: Final[dict[Role, tuple[str, int]]] = {
    "storage": ("storage", 3),
    "client": ("gpu", 4),
    "control": ("control", 1),
    "spine": ("spine", 3),
    "super-spine": ("core", 3),
    "management-switch": ("oob", 2),
}


def device_name(role: Role, number: int) -> str:
    """Name a device by its role and number, with as many digits as the largest design needs.

    name = stem of the role - number

    Parameters
    ----------
    role
        What the device is; leaves are named by `leaf_name`.
    number
        Its number within the role, from 1 [1].

    Returns
    -------
    str
        The name, a valid host name.

    References
    ----------
    RFC 1123 section 2.1, host names; the digits do not change as a design grows, so neither does a name.

    Examples
    --------
    >>> device_name("storage", 8), device_name("client", 12), device_name("management-switch", 1)
    ('storage-008', 'gpu-0012', 'oob-01')
    """
    stem, digits = _STEMS[role]
    return f"{stem}-{number:0{digits}d}"


def leaf_name(pair: int, rail: Rail) -> str:
    """Name a leaf by its pair and rail.

    name = leaf-pair rail

    Parameters
    ----------
    pair
        Number of the leaf pair, from 1 [1].
    rail
        `a` or `b`.

    Returns
    -------
    str
        The name.

    References
    ----------
    As `device_name`.

    Examples
    --------
    >>> leaf_name(1, "a")
    'leaf-001a'
    """
    return f"leaf-{pair:03d}{rail}"


def rack_name(number: int) -> str:
    """Name a rack.

    name = rack-number

    Parameters
    ----------
    number
        Number of the rack, from 1 [1].

    Returns
    -------
    str
        The name.

    References
    ----------
    As `device_name`.

    Examples
    --------
    >>> rack_name(3)
    'rack-03'
    """
    return f"rack-{number:02d}"


def switch_port(cage: int, legs: int, leg: int) -> str:
    """Name a switch port as Cumulus Linux does.

    name = swp cage, and `s` leg where the cage is broken out

    Parameters
    ----------
    cage
        Number of the cage, from 1 [1].
    legs
        Legs that the cage is broken out into [1].
    leg
        Which of them, from 0 [1].

    Returns
    -------
    str
        The name.

    References
    ----------
    NVIDIA Cumulus Linux 5.15 documentation, Switch Port Attributes.

    Examples
    --------
    >>> switch_port(3, 1, 0), switch_port(3, 4, 2)
    ('swp3', 'swp3s2')
    """
    return cage_name(cage) if legs == 1 else f"{cage_name(cage)}s{leg}"


def cage_name(cage: int) -> str:
    """Name a cage of a switch, whatever it is broken out into.

    name = swp cage

    Parameters
    ----------
    cage
        Number of the cage, from 1 [1].

    Returns
    -------
    str
        The name.

    References
    ----------
    As `switch_port`.

    Examples
    --------
    >>> cage_name(3)
    'swp3'
    """
    return f"swp{cage}"
