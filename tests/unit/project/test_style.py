"""The shape of the code, held by tests: sizes, nesting, cycles, docstrings, purity; and what is never committed."""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "kvplan"
PURE = ("core", "schema", "render")
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.Match)
TERMINAL_AND_FILE_CALLS = {"open", "print", "input", "exec", "eval", "breakpoint"}
METHODS_THAT_TOUCH_FILES = {"read_text", "write_text", "read_bytes", "write_bytes", "mkdir", "unlink", "getenv"}

STATED = {
    "unit": re.compile(r"(?<=[\s.(])\[(?:1|[^\[\]\d][^\[\]]{0,24})\]"),
    "source": re.compile(r"^\s*References\n\s*-+$", re.MULTILINE),
    "doctest": re.compile(r"^\s*>>> ", re.MULTILINE),
}


def _modules() -> list[Path]:
    """List the package's modules."""
    return sorted(PACKAGE.rglob("*.py"))


def _python_files() -> list[Path]:
    """List everything that we write in Python."""
    return [path for folder in ("kvplan", "tests", "benchmarks", "examples") for path in (ROOT / folder).rglob("*.py")]


@cache
def _tree(path: Path) -> ast.Module:
    """Parse a file once."""
    return ast.parse(path.read_text(encoding="utf-8"))


def _name(path: Path) -> str:
    """Write a file's path from the root."""
    return path.relative_to(ROOT).as_posix()


def _functions(path: Path) -> Iterator[FunctionNode]:
    """Yield every function of a file, nested ones too."""
    yield from (node for node in ast.walk(_tree(path)) if isinstance(node, FunctionNode))


def _length(function: FunctionNode) -> int:
    """Count the lines of a function without its docstring."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    if ast.get_docstring(function) is None:
        return lines
    docstring = function.body[0]
    return lines - ((docstring.end_lineno or docstring.lineno) - docstring.lineno + 1)


def _depth(node: ast.AST) -> int:
    """Measure the deepest chain of blocks below a node; `elif` adds none."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        step = int(isinstance(child, BLOCKS) and not is_elif)
        deepest = max(deepest, step + _depth(child))
    return deepest


def _percentile(values: list[int], share: float) -> int:
    """Give the nearest-rank percentile."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def test_no_file_is_longer_than_400_lines() -> None:
    lengths = {_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in _python_files()}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


def test_no_function_is_longer_than_50_lines_and_few_than_30() -> None:
    lengths = {
        f"{_name(path)}:{function.name}": _length(function) for path in _modules() for function in _functions(path)
    }
    assert {name: length for name, length in lengths.items() if length > 50} == {}
    assert _percentile(list(lengths.values()), 0.95) <= 30


def test_nesting_stays_shallow() -> None:
    depths = {
        f"{_name(path)}:{function.name}": _depth(function) for path in _modules() for function in _functions(path)
    }
    assert {name: depth for name, depth in depths.items() if depth > 3} == {}
    assert _percentile(list(depths.values()), 0.95) <= 2


# --- imports -----------------------------------------------------------------------------------------------------


def _module_name(path: Path) -> str:
    """Write a file as a module."""
    return _name(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imports(path: Path, known: set[str]) -> set[str]:
    """Name the modules of ours that a file imports anywhere, in functions and for type checking too."""
    wanted: set[str] = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            wanted |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            wanted |= inner & known or {node.module}
    return wanted & known - {_module_name(path)}


def _on_a_cycle(graph: dict[str, set[str]]) -> list[str]:
    """Name the modules that can reach themselves."""
    return sorted(module for module in graph if module in _reachable(graph, module))


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    """Collect what a module imports, directly or not."""
    found: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting.extend(graph[module])
    return found


def test_no_import_cycle_not_even_local_or_for_types() -> None:
    known = {_module_name(path) for path in _modules()}
    assert _on_a_cycle({_module_name(path): _imports(path, known) for path in _modules()}) == []


def test_the_cycle_finder_finds_cycles() -> None:
    assert _on_a_cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == ["b", "c"]


# --- docstrings --------------------------------------------------------------------------------------------------


def _undocumented(node: ast.Module | ast.ClassDef, prefix: str) -> Iterator[str]:
    """Name the public definitions without a docstring, methods included."""
    for child in node.body:
        if not isinstance(child, ast.ClassDef | FunctionNode) or child.name.startswith("_"):
            continue
        if ast.get_docstring(child) is None:
            yield f"{prefix}:{child.name}"
        if isinstance(child, ast.ClassDef):
            yield from _undocumented(child, f"{prefix}:{child.name}")


def test_everything_public_has_a_docstring() -> None:
    modules = [_name(path) for path in _modules() if ast.get_docstring(_tree(path)) is None]
    members = [name for path in _modules() for name in _undocumented(_tree(path), _name(path))]
    assert modules + members == []


def _formulas() -> dict[str, FunctionNode]:
    """Give every public module-level function of the core."""
    return {
        f"{_name(path)}:{node.name}": node
        for path in sorted((PACKAGE / "core").rglob("*.py"))
        for node in _tree(path).body
        if isinstance(node, FunctionNode) and not node.name.startswith("_")
    }


def _handles_numbers(function: FunctionNode) -> bool:
    """Tell whether a function takes or returns a bare number; only then is there a unit to name."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    annotations = [argument.annotation for argument in arguments] + [function.returns]
    written = " ".join(ast.unparse(annotation) for annotation in annotations if annotation is not None)
    return re.search(r"\b(int|float)\b", written) is not None


@pytest.mark.parametrize("what", sorted(STATED))
def test_formulas_state_unit_source_and_example(what: str) -> None:
    formulas = {name: node for name, node in _formulas().items() if what != "unit" or _handles_numbers(node)}
    lacking = [name for name, node in formulas.items() if not STATED[what].search(ast.get_docstring(node) or "")]
    share = 1 - len(lacking) / len(formulas)
    assert share >= 0.9, f"{share:.0%} of the core's functions state their {what}; these do not:\n" + "\n".join(lacking)


# --- purity ------------------------------------------------------------------------------------------------------


def _called(node: ast.Call) -> str:
    """Name the function or method that is called."""
    if isinstance(node.func, ast.Name):
        return node.func.id
    return f".{node.func.attr}" if isinstance(node.func, ast.Attribute) else ""


@pytest.mark.parametrize("package", PURE)
def test_pure_packages_call_nothing_that_touches_the_world(package: str) -> None:
    forbidden = TERMINAL_AND_FILE_CALLS | {f".{name}" for name in METHODS_THAT_TOUCH_FILES}
    found = [
        f"{_name(path)}:{node.lineno}: {_called(node)}"
        for path in sorted((PACKAGE / package).rglob("*.py"))
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Call) and _called(node) in forbidden
    ]
    assert found == []


# --- the tree ----------------------------------------------------------------------------------------------------


def test_test_files_have_names_of_their_own() -> None:
    names = Counter(path.name for path in (ROOT / "tests").rglob("*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def _committed_texts() -> Iterator[Path]:
    """Yield the text files that are part of the project."""
    kinds = {".py", ".md", ".yaml", ".yml", ".toml", ".txt", ".json", ".j2", ""}
    hidden = (".coverage", ".hypothesis", ".import_linter", ".mypy", ".pytest", ".ruff", ".ansible")
    made = {".git", ".venv", ".lock-venv", "quote", "dist", "build", "__pycache__"}
    for path in ROOT.rglob("*"):
        inside = path.relative_to(ROOT).parts
        if path.is_file() and path.suffix in kinds and not made & set(inside) and not inside[0].startswith(hidden):
            yield path


def test_nothing_names_a_path_of_somebodys_machine() -> None:
    machine_path = re.compile(r"(?<![\w.])/(?:work|root|home|Users)/\w")
    found = [
        _name(path)
        for path in _committed_texts()
        if machine_path.search(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []
