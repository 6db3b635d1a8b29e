"""YAML made safe and predictable: one document, plain types, no duplicate keys, no bombs.

Scalars are read as YAML 1.2 reads them, so that `no` and `2026-01-31` stay text, `12:34` is no number of base 60,
and `1e9` is one.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import yaml

from kvplan.errors import InputError, Problem
from kvplan.inputs.bounds import MAX_DEPTH, MAX_DIGITS
from kvplan.inputs.loc import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.inputs.loc import Loc

MAX_VALUES = 1_000_000

_SafeLoader: type[yaml.SafeLoader | yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_PLAIN_TAGS = {f"{_TAG}{kind}" for kind in ("map", "seq", "str", "int", "float", "bool", "null", "merge")}
_KEY_TAGS = {f"{_TAG}{kind}" for kind in ("str", "int", "merge")}
_RESOLVERS = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(0|[1-9][0-9_]*)|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*)([eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+", "-+.0123456789"),
    ("float", r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", "-+."),
    ("null", r"~|null|Null|NULL|", ("", "~", "n", "N")),
    ("merge", r"<<", "<"),
)
_PLAINER = {
    "found character that cannot start any token": "this character cannot start a value; quote the text",
    "but found another document": "a second document begins here; one file holds one document",
    "exceeded maximum nesting depth": "nested too deeply",
    "found undefined alias": "an alias without its anchor",
    "did not find expected key": "a key is expected here; check the indent",
    "did not find expected ',' or ']'": "a comma or ']' is missing",
    "did not find expected ',' or '}'": "a comma or '}' is missing",
    "found unexpected end of stream": "ends too early",
    "mapping values are not allowed in this context": "a colon is not allowed here; quote the text or check the indent",
}


def _resolvers() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    """Arrange the rules by first character, as PyYAML looks them up."""
    arranged: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for kind, pattern, firsts in _RESOLVERS:
        rule = (f"{_TAG}{kind}", re.compile(rf"(?:{pattern})$"))
        for first in firsts:
            arranged.setdefault(first, []).append(rule)
    return arranged


class _Loader(_SafeLoader):  # type: ignore[misc,valid-type]  # the base depends on whether libyaml is there
    """A safe loader that resolves plain scalars as YAML 1.2 does."""

    yaml_implicit_resolvers = _resolvers()


def parse_yaml(text: str, name: str) -> Any:
    """Read the one document of a text.

    Parameters
    ----------
    text
        The YAML text.
    name
        How problems call it.

    Returns
    -------
    Any
        Mappings, lists, text, numbers, booleans and None.

    Raises
    ------
    InputError
        Naming the place of each problem.
    """
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        if root is None:
            raise InputError.single(name, "is empty")
        _refuse_unsafe(root, name)
        return loader.construct_document(root)
    except yaml.reader.ReaderError as error:
        raise InputError([_control_character(text, name)]) from error
    except yaml.MarkedYAMLError as error:
        raise InputError([_syntax_problem(error, text, name)]) from error


def compose_leniently(text: str) -> yaml.Node | None:
    """Turn a text into nodes with marks, or into nothing when it is not YAML; tabs count as one column."""
    try:
        return _Loader(text.replace("\t", " ")).get_single_node()  # type: ignore[no-any-return]
    except (yaml.YAMLError, RecursionError, UnicodeError):
        return None


def position(root: yaml.Node, loc: Loc, *, at_key: bool = False) -> tuple[int, int]:
    """Give line and column, from 1, of the value at a path, or of the nearest thing around it."""
    mark = root.start_mark
    node: yaml.Node | None = root
    for part in loc:
        key, node = _child(node, part)
        if node is None:
            break
        mark = key.start_mark if at_key and key is not None else node.start_mark
    return mark.line + 1, mark.column + 1


def duplicate_keys(root: yaml.Node, name: str) -> tuple[Problem, ...]:
    """Find the keys that a mapping holds twice, with both places."""
    nodes = list(_nodes(root))
    return tuple(problem for node in nodes if isinstance(node, yaml.MappingNode) for problem in _twice(node, name))


def _child(node: yaml.Node | None, part: str | int) -> tuple[yaml.Node | None, yaml.Node | None]:
    """Step from a node to the value under a key (with the key's node) or at an index."""
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return None, node.value[part]
    if isinstance(node, yaml.MappingNode):
        return next(((key, value) for key, value in node.value if key.value == str(part)), (None, None))
    return None, None


def _refuse_unsafe(root: yaml.Node, name: str) -> None:
    """Raise for whatever makes a document dangerous or ambiguous."""
    _expanded_values(root, name, {}, ())
    problems = [problem for node in _nodes(root) for problem in _node_problems(node, name)]
    if problems:
        raise InputError(problems)


def _expanded_values(node: yaml.Node, name: str, known: dict[int, int], path: tuple[int, ...]) -> int:
    """Count the values below a node with every alias written out; raise on cycles, depth and too many."""
    if id(node) in known:
        return known[id(node)]
    if id(node) in path:
        raise InputError.single(_place(node, name), "an alias leads back to the value that holds it")
    if len(path) >= MAX_DEPTH:
        raise InputError.single(_place(node, name), "nested too deeply", allowed=f"at most {MAX_DEPTH} levels")
    total = 1 + sum(_expanded_values(child, name, known, (*path, id(node))) for child in _children(node))
    if total > MAX_VALUES:
        allowed = f"at most {MAX_VALUES:,}, aliases written out"
        raise InputError.single(_place(node, name), "holds too many values", allowed=allowed)
    known[id(node)] = total
    return total


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    """Yield the keys and values of a mapping or the items of a list."""
    if isinstance(node, yaml.MappingNode):
        for pair in node.value:
            yield from pair
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value


def _nodes(root: yaml.Node) -> Iterator[yaml.Node]:
    """Yield every node once, in the order of the text."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting.extend(reversed(list(_children(node))))


def _node_problems(node: yaml.Node, name: str) -> Iterator[Problem]:
    """Name what is wrong with one node by itself."""
    if node.tag not in _PLAIN_TAGS:
        # A password that begins with `!` is a tag to YAML, so a tag is not repeated.
        what = "is a tag, as all is that begins with `!`"
        yield Problem(_place(node, name), what, allowed="write plain values", hint="put a text in quotes")
    if node.tag == f"{_TAG}int" and len(node.value) > MAX_DIGITS:
        yield Problem(_place(node, name), f"a number of {len(node.value):,} digits", allowed=f"at most {MAX_DIGITS}")
    if isinstance(node, yaml.MappingNode):
        yield from _bad_keys(node, name)
        yield from _twice(node, name)


def _bad_keys(node: yaml.MappingNode, name: str) -> Iterator[Problem]:
    """Name the keys that are no text."""
    for key, _ in node.value:
        if key.tag not in _KEY_TAGS:
            yield Problem(_place(key, name), "a key must be text", hint="put it in quotes")


def _twice(node: yaml.MappingNode, name: str) -> Iterator[Problem]:
    """Name the keys that stand twice in one mapping."""
    keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
    for text, count in Counter(key.value for key in keys).items():
        if count > 1:
            first, *others = (key for key in keys if key.value == text)
            line, column = position(first, ())
            for other in others:
                yield Problem(_place(other, name), "is given twice", key=text, hint=f"first at {line}:{column}")


def _place(node: yaml.Node, name: str) -> str:
    """Write where a node begins."""
    line, column = position(node, ())
    return f"{name}:{line}:{column}"


def _syntax_problem(error: yaml.MarkedYAMLError, text: str, name: str) -> Problem:
    """Turn a syntax error into a problem in plain words."""
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    found = (error.problem or "").strip()
    what = _PLAINER.get(found, found or "is not YAML")
    if _character(text, line, column) == "\t":
        what = "a tab where YAML wants spaces"
    return Problem(f"{name}:{line + 1}:{column + 1}", what, hint=_context(error))


def _context(error: yaml.MarkedYAMLError) -> str:
    """Say where the value began that the error is in, when that is another line."""
    begin, end = error.context_mark, error.problem_mark
    if begin is None or end is None or begin.line == end.line:
        return ""
    return f"see what began at {begin.line + 1}:{begin.column + 1}"


def _character(text: str, line: int, column: int) -> str:
    """Give the character at a place, or nothing beyond the end."""
    lines = text.split("\n")
    return lines[line][column : column + 1] if line < len(lines) else ""


def _control_character(text: str, name: str) -> Problem:
    """Name a character that YAML does not allow, with its place."""
    match = re.search(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
    offset = match.start() if match else 0
    return Problem(place_of(text, offset, name), f"the control character U+{ord(text[offset]):04X} is not allowed")
