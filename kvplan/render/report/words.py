"""How the report words things: sentences, names of stages, money, and how well something is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.bom_view import amount
from kvplan.units import counted

if TYPE_CHECKING:
    from decimal import Decimal

    from kvplan.core.certainty import Certainty

_SPELLED = {"gpu": "GPU", "gpus": "GPUs", "nic": "NIC", "pcie": "PCIe"}


def sentence(text: str) -> str:
    """Write a text as a sentence: a capital first unless it begins with a name, a full stop last.

    >>> sentence("needs two nodes"), sentence("kvbm-g4: it evicts"), sentence("Done."), sentence("8+2P holds")
    ('Needs two nodes.', 'kvbm-g4: it evicts.', 'Done.', '8+2P holds.')
    """
    first = text.split(maxsplit=1)[0] if text else ""
    capital = text[:1].upper() + text[1:] if first.isalpha() else text
    return capital if capital.endswith((".", "!", "?", ":")) else f"{capital}."


def titled(name: str) -> str:
    """Write the name of a stage, limit or role as a title.

    >>> titled("client nic of the storage node"), titled("model_parameters"), titled("pcie to drives")
    ('Client NIC of the storage node', 'Model parameters', 'PCIe to drives')
    """
    text = spelled(name)
    return text[:1].upper() + text[1:]


def spelled(name: str) -> str:
    """Write the name of a stage, limit or role within a sentence.

    >>> spelled("client nic of the storage node")
    'client NIC of the storage node'
    """
    return " ".join(_SPELLED.get(word, word) for word in name.replace("_", " ").split(" "))


def known_words(known: Certainty) -> str:
    """Say how well something is known, and how many assumptions stand behind it.

    >>> from kvplan.core.certainty import Certainty
    >>> known_words(Certainty("measured")), known_words(Certainty("derived", ("a", "b")))
    ('measured', 'derived, 2 assumed inputs')
    """
    behind = f", {counted(len(known.assumed), 'assumed input')}" if known.assumed else ""
    return f"{known.confidence}{behind}"


def money(value: Decimal, currency: str) -> str:
    """Write money.

    >>> from decimal import Decimal
    >>> money(Decimal("1234567.5"), "EUR")
    'EUR 1,234,567.50'
    """
    return f"{currency} {amount(value, currency)}"
