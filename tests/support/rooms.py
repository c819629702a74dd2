"""The rooms of the project as their imports show them: floors, arrows, lines.

Belongs here: measuring. Does not: how much is allowed (`ratchets`), what may import what (the import contracts in
pyproject.toml).
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.support.house import RINGS, ROOT, files, name_of, parsed

ROOMS = ("schemas", "machines/language", "machines/compiler", "machines/docs", "machines/kinds", "engine/core",
         "engine/nats", "engine/scripts", "engine/log", "engine/publish", "engine/worker", "engine/replay",
         "engine/surfaces", "engine/products")  # fmt: skip
"""Folders; packages inside them belong to them. Modules beside them: see `room_of`."""
KERNEL = ("schemas", "machines/language", "machines/compiler", "engine", "engine/core", "engine/nats", "engine/scripts",
          "engine/log", "engine/publish", "engine/worker", "engine/replay")  # fmt: skip


def room_of(path: Path) -> str:
    """The room of a module. The list of all kinds belongs to the kinds, modules of `engine` are a room of their own."""
    name = name_of(path)
    found = max((room for room in ROOMS if name.startswith(f"{room}/")), key=len, default="")
    return found or {"machines": "machines/kinds"}.get(name.partition("/")[0], name.partition("/")[0])


@cache
def modules() -> dict[str, Path]:
    """By its full name, the file of each module."""
    named = {name_of(path).removesuffix(".py").removesuffix("/__init__"): path for path in files(".py", *RINGS)}
    return {f"phaseline.{name.replace('/', '.')}": path for name, path in named.items()}


def _imports(node: ast.AST) -> Iterator[str]:
    """What runs an import; what is imported for types only is not loaded."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Import):
            yield from (one.name for one in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{one.name}" for one in child.names)
        yield from _imports(child)


def imported(path: Path) -> Iterator[Path]:
    """The files of ours that a module imports."""
    for name in _imports(parsed(path)):
        found = name if name in modules() else name.rpartition(".")[0]
        if found in modules():
            yield modules()[found]


@cache
def arrows() -> dict[tuple[str, str], list[str]]:
    """By two rooms, which modules of the first import which of the second."""
    found: dict[tuple[str, str], list[str]] = {}
    for path in modules().values():
        for other in imported(path):
            ends = room_of(path), room_of(other)
            if ends[0] != ends[1]:
                found.setdefault(ends, []).append(f"{name_of(path)} -> {name_of(other)}")
    return found


def floors() -> dict[str, int]:
    """By room, its floor: one above the highest that it imports. Raises `RecursionError` if there is a circle."""

    @cache
    def floor(room: str) -> int:
        return 1 + max((floor(below) for above, below in arrows() if above == room), default=0)

    return {room: floor(room) for room in {room_of(path) for path in modules().values()}}


def kernel_lines() -> int:
    """The lines of all modules of the kernel."""
    inside = [path for path in modules().values() if room_of(path) in KERNEL]
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in inside)


def kernel_to_products() -> list[str]:
    """The imports of the kernel that lead out of it."""
    return [one for ends, found in arrows().items() if ends[0] in KERNEL and ends[1] not in KERNEL for one in found]


def rooms_of_folders() -> set[str]:
    """The folders right below `engine` and `machines`, and `schemas`."""
    return {"schemas", *(name_of(one) for ring in ("engine", "machines") for one in (ROOT / ring).iterdir()
                         if (one / "__init__.py").exists())}  # fmt: skip


def tests_of_the_engine() -> list[str]:
    """The test files with a server or processes that import from `engine` themselves."""
    tests = files(".py", "tests/nats", "tests/process")
    return [
        name_of(path) for path in tests if any(name.startswith("phaseline.engine") for name in _imports(parsed(path)))
    ]
