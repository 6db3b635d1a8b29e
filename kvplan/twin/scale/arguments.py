"""Options of a command, as the simulated ones read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.twin.scale.store import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence


class Arguments:
    """What was given: flags, options with a value, and the words that belong to none."""

    def __init__(self, command: str, argv: Sequence[str], valued: str = "", flags: str = "") -> None:
        self.command = command
        self.values: dict[str, str] = {}
        self.flags: set[str] = set()
        self.words: list[str] = []
        rest = list(argv)
        while rest:
            word = rest.pop(0)
            if word in valued.split():
                if not rest:
                    message = f"{command}: Missing argument after {word}."
                    raise Refusal(message)
                self.values[word] = rest.pop(0)
            elif word in flags.split():
                self.flags.add(word)
            elif word.startswith("-"):
                message = f"{command}: Incorrect option: {word}"
                raise Refusal(message)
            else:
                self.words.append(word)

    def need(self, option: str) -> str:
        """Return the value of an option that must be there.

        Parameters
        ----------
        option
            Its name.

        Returns
        -------
        str
            The value.

        Raises
        ------
        Refusal
            When it was not given.
        """
        if option not in self.values:
            message = f"{self.command}: Missing option: {option}"
            raise Refusal(message)
        return self.values[option]

    def get(self, option: str, default: str = "") -> str:
        """Return the value of an option.

        Parameters
        ----------
        option
            Its name.
        default
            What holds without it.

        Returns
        -------
        str
            The value.
        """
        return self.values.get(option, default)
