"""Policy rules of Storage Scale, read back as far as kvplan writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_COMMENT: Final = re.compile(r"/\*.*?\*/|--[^\n]*", re.DOTALL)
_TOKEN: Final = re.compile(r"\s*('(?:[^']|'')*'|[A-Za-z_]\w*|\d+|[<>=!]+|[(),+*/-])")
_ACTIONS: Final = ("DELETE", "EXCLUDE", "SET", "MIGRATE", "LIST")


@dataclass(frozen=True)
class PolicyRule:
    """A rule: its name, what it does, and its clauses; `threshold` is high and low, `where` and `weight` are words."""

    name: str
    action: str
    pool: str = ""
    threshold: tuple[int, int] | None = None
    weight: tuple[str, ...] = ()
    filesets: tuple[str, ...] = ()
    where: tuple[str, ...] = ()


def parse_policy(text: str) -> tuple[PolicyRule, ...]:
    """Read a policy.

    Parameters
    ----------
    text
        The rules.

    Returns
    -------
    tuple of PolicyRule
        In order, which decides: the first rule that fits a file is taken.

    Raises
    ------
    ValueError
        When something is no rule, or a clause stands where none may.

    References
    ----------
    IBM Storage Scale 6.0 documentation, policy rules: syntax.

    Examples
    --------
    >>> rule = parse_policy("RULE 'a' DELETE FROM POOL 'p' THRESHOLD (80,70) FOR FILESET ('f')")[0]
    >>> rule.threshold, rule.filesets
    ((80, 70), ('f',))
    """
    tokens = _tokens(_COMMENT.sub(" ", text))
    starts = [place for place, word in enumerate(tokens) if word == "RULE"]
    if not starts or starts[0]:
        message = "a policy begins with RULE"
        raise ValueError(message)
    ends = [*starts[1:], len(tokens)]
    return tuple(_Reader(tokens[start:end]).rule() for start, end in zip(starts, ends, strict=True))


def _tokens(text: str) -> list[str]:
    """Cut a text into quoted texts, words, numbers and signs; keywords are upper case."""
    tokens, place = [], 0
    text = text.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            message = f"{text[place : place + 20].strip()!r} is no part of a policy"
            raise ValueError(message)
        token = match[1]
        tokens.append(token if token.startswith("'") else token.upper())
        place = match.end()
    return tokens


class _Reader:
    """Reads one rule, word after word."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = tokens
        self._place = 0

    def rule(self) -> PolicyRule:
        """Read the whole rule; clauses stand in the order of the syntax."""
        self._expect("RULE")
        rule = PolicyRule(self._quoted(), self._one_of(_ACTIONS))
        if rule.action == "SET":
            self._expect("POOL")
            rule = replace(rule, pool=self._quoted())
        for word, clause in self._clauses().items():
            if self._peek() == word:
                rule = clause(rule)
        if self._peek():
            message = f"rule {rule.name!r}: {self._peek()} stands where it may not"
            raise ValueError(message)
        return rule

    def _clauses(self) -> dict[str, Callable[[PolicyRule], PolicyRule]]:
        """Return what reads each clause, in the order of the syntax."""
        return {
            "FROM": self._from,
            "THRESHOLD": self._threshold,
            "WEIGHT": lambda rule: replace(rule, weight=self._bracketed("WEIGHT")),
            "FOR": self._for,
            "WHERE": self._where,
        }

    def _from(self, rule: PolicyRule) -> PolicyRule:
        """Read the pool."""
        self._expect("FROM")
        self._expect("POOL")
        return replace(rule, pool=self._quoted())

    def _threshold(self, rule: PolicyRule) -> PolicyRule:
        """Read the marks."""
        inside = self._bracketed("THRESHOLD")
        high, *low = "".join(inside).split(",")
        numbers = (high, *(low or [high]))
        if len(low) > 1 or not all(number.isdecimal() for number in numbers):
            message = f"rule {rule.name!r}: THRESHOLD takes a high and a low percentage"
            raise ValueError(message)
        return replace(rule, threshold=(int(numbers[0]), int(numbers[1])))

    def _for(self, rule: PolicyRule) -> PolicyRule:
        """Read the filesets."""
        self._expect("FOR")
        names = self._bracketed("FILESET")
        return replace(rule, filesets=tuple(name.strip("'") for name in names if name != ","))

    def _where(self, rule: PolicyRule) -> PolicyRule:
        """Read the condition, which ends the rule."""
        self._expect("WHERE")
        where = tuple(self._tokens[self._place :])
        if not where or where.count("(") != where.count(")"):
            message = f"rule {rule.name!r}: WHERE has no whole condition"
            raise ValueError(message)
        self._place = len(self._tokens)
        return replace(rule, where=where)

    def _bracketed(self, keyword: str) -> tuple[str, ...]:
        """Read a word and what stands in brackets after it."""
        self._expect(keyword)
        self._expect("(")
        inside: list[str] = []
        depth = 1
        while depth:
            word = self._next(")")
            depth += (word == "(") - (word == ")")
            inside.append(word)
        return tuple(inside[:-1])

    def _peek(self) -> str:
        """Look at the next word; empty at the end."""
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def _next(self, wanted: str) -> str:
        """Take the next word."""
        token = self._peek()
        if not token:
            message = f"a rule ends where {wanted} should stand"
            raise ValueError(message)
        self._place += 1
        return token

    def _expect(self, wanted: str) -> None:
        """Take a word that must be the next."""
        found = self._next(wanted)
        if found != wanted:
            message = f"{found} stands where {wanted} should"
            raise ValueError(message)

    def _quoted(self) -> str:
        """Take a quoted name."""
        token = self._next("a name")
        if not token.startswith("'"):
            message = f"{token} stands where a quoted name should"
            raise ValueError(message)
        return token.strip("'")

    def _one_of(self, allowed: Sequence[str]) -> str:
        """Take an action."""
        token = self._next("an action")
        if token not in allowed:
            message = f"{token} is no action of a rule"
            raise ValueError(message)
        return token
