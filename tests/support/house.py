"""What the rules of the house look at: the files of the repository, and whether a word in a charter names something.

Belongs here: finding files, parsing them, looking words up. Does not: the rules (`test_house`).
"""

import ast
import builtins
import gc
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from phaseline.machines.built_in import BUILT_IN
from phaseline.machines.compiler.kinds import table_of
from phaseline.machines.compiler.reports import with_reports

ROOT = Path(__file__).parents[2]
RINGS = ("engine", "machines", "schemas")
FOLDERS = (*RINGS, "src/phaseline", "tests", "benchmarks", "examples", "deploy", "docs")
NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
PATH = re.compile(r"[\w.-]+(/[\w.-]+)+/?|[\w-]+\.(py|md|toml|yaml)")


@cache
def files(suffix: str, *folders: str) -> list[Path]:
    """The files with this suffix in these folders, and at the top if no folder is given. Links are not followed."""
    found = [path for folder in folders or FOLDERS for path in (ROOT / folder).rglob(f"*{suffix}")]
    found += [] if folders else ROOT.glob(f"*{suffix}")
    return sorted(path for path in found if "__pycache__" not in path.parts)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def parsed(path: Path) -> ast.Module:
    """The tree of a module. All are a million objects that stay: the garbage collector need not look at them."""
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.enable()


def walked(tree: ast.AST) -> list[ast.AST]:
    """The nodes that have parts, in the order of `ast.walk`, which takes three times as long."""
    found = [tree]
    for node in found:
        for part in vars(node).values():
            if isinstance(part, list):
                found += [one for one in part if isinstance(one, ast.AST)]
            elif isinstance(part, ast.AST) and part._fields:
                found.append(part)
    return found


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module. Walking the trees takes longer than everything else that the rules do."""
    return tuple(walked(parsed(path)))


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)


class Identifiers(NamedTuple):
    """What the text of a module contains: names, and text constants."""

    names: frozenset[str]
    constants: frozenset[str]


@cache
def identifiers(path: Path) -> Identifiers:
    """Every name that the module defines, imports or takes as a parameter; every text that is exactly one constant.

    In the public modules also each word of a constant: their tables list names so.
    """
    names: set[str] = set()
    constants: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Name):  # half of the nodes are names
            if isinstance(node.ctx, ast.Store):
                names.add(node.id)
        elif isinstance(node, DEFINITIONS):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            constants |= {node.value, *(node.value.split() if path.parent.name == "phaseline" else ())}
    return Identifiers(frozenset(names), frozenset(constants))


@cache
def members() -> dict[str, frozenset[str]]:
    """By class, the names of its fields and methods; classes of one name together."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in files(".py", *RINGS, "tests/support"):
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                found[node.name] |= set(_members(node))
    return {name: frozenset(names) for name, names in found.items()}


def _members(node: ast.ClassDef) -> Iterator[str]:
    for part in node.body:
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            yield part.name
            yield from (
                one.attr for one in walked(part) if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
            )
        elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            yield part.target.id
        elif isinstance(part, ast.Assign):
            yield from (target.id for target in part.targets if isinstance(target, ast.Name))


def module_at(folder: Path, parts: list[str]) -> bool:
    """Whether these parts name a module or package in the folder, or something that a module there defines."""
    for depth in range(len(parts), 0, -1):
        place = folder.joinpath(*parts[:depth])
        module = place / "__init__.py" if (place / "__init__.py").is_file() else place.with_suffix(".py")
        if module.is_file():
            rest = parts[depth:]
            return not rest or (rest[0] in identifiers(module).names and set(rest[1:]) <= _of_class(rest[0]))
    return False


def _of_class(name: str) -> frozenset[str]:
    return members().get(name, frozenset())


def words_of_tables() -> Iterator[str]:
    """The kinds of the built-in tables, their triggers, and the types of their events."""
    for table in map(table_of, BUILT_IN):
        triggers = with_reports(table).triggers
        yield table.kind
        yield from triggers
        yield from (f"{table.kind}.{trigger}" for trigger in triggers)


@cache
def libraries() -> frozenset[str]:
    """The modules of others that the rings import."""
    found: set[str] = set()
    for path in files(".py", *RINGS):
        for node in nodes(path):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(node.module or "")
    return frozenset(name.partition(".")[0] for name in found)


TABLE_WORDS = frozenset(words_of_tables())


def exists(word: str, path: Path) -> bool:
    """Whether a word in back quotes in the charter of this module is right.

    A word with the form of a path must be a path from the root of the repository. A word with the form of a name must
    be one of these:

    - a module, from the module's own package, from one around it, or from the root; or a name in such a module;
    - a class of the rings, or a member of one: `Kind.select`;
    - something that the module itself defines, imports, takes as a parameter, or holds as a text constant;
    - a kind, a trigger, or the type of an event of a built-in table;
    - a library that the rings import, a built-in of Python, a file of tests.

    All other words are not names: commands, options, subjects and patterns.
    """
    if PATH.fullmatch(word) and not word.startswith("phaseline/"):
        return (ROOT / word).exists() or (path.parent / word).exists()
    if not NAME.fullmatch(word):
        return True
    own = identifiers(path)
    parts = [part for part in word.split(".") if part != "phaseline"] or ["engine"]
    first, rest = parts[0], parts[1:]
    around = [folder for folder in path.parents if folder == ROOT or ROOT in folder.parents]
    return (
        word in TABLE_WORDS
        or word in own.constants
        or word in libraries()
        or hasattr(builtins, word)
        or (first in members() and set(rest) <= _of_class(first))
        or (first in own.names and set(rest) <= _of_class(first))
        or (len(rest) == 1 and rest[0] in _of_class(first))
        or any(
            module_at(folder, parts) for folder in (*around, *(ROOT / ring for ring in RINGS), ROOT / "src/phaseline")
        )
        or bool(list((ROOT / "tests").glob(f"*/{word}.py")))
    )


def defines(path: Path, symbol: str) -> bool:
    """Whether a module defines this function, class or constant, or this method of a class."""
    scope: list[ast.stmt] = parsed(path).body
    for part in symbol.split("."):
        found = [node for node in scope if part in _defined(node)]
        if not found:
            return False
        scope = found[0].body if isinstance(found[0], ast.ClassDef) else []
    return True


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    yield from (target.id for target in targets if isinstance(target, ast.Name))
