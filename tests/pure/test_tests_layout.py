"""Tests stand in a tier, and share helpers through tests/support only."""

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.support.house import nodes

TESTS = Path(__file__).parents[1]
TIERS = ("pure", "nats", "process", "laws", "model", "prove")
FILES = sorted(TESTS.rglob("*.py"))
MAY_IMPORT_BENCHMARKS = {"process/test_benchmarks.py", "process/test_replay_jobs.py"}
"""They run benchmarks, or replay the log that one writes."""


def imported(program: Iterable[ast.AST]) -> Iterator[str]:
    """The modules that a program imports, each by its full name."""
    for node in program:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "an import is relative: write the full name"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def forbidden(name: str, program: Iterable[ast.AST]) -> list[str]:
    """What the file of this name imports and may not."""
    found = []
    for module in imported(program):
        top = module.partition(".")[0]
        if top == "tests" and not module.startswith("tests.support."):
            found.append(module)
        if top == "benchmarks" and name not in MAY_IMPORT_BENCHMARKS:
            found.append(module)
    return found


def test_every_test_stands_in_a_tier() -> None:
    assert {path.parent.relative_to(TESTS).as_posix() for path in FILES if path.name.startswith("test_")} == set(TIERS)


def test_no_two_test_files_have_one_name() -> None:
    names = [path.name for path in FILES if path.name.startswith("test_")]
    assert len(set(names)) == len(names)


def test_no_test_imports_a_test_or_a_benchmark() -> None:
    """Only files whose text can hold such an import are parsed, which takes long."""
    suspicious = re.compile(r"benchmarks|\btests\b(?!\.support)|from\s+\.")
    suspects = [path for path in FILES if suspicious.search(path.read_text(encoding="utf-8"))]
    names = {path.relative_to(TESTS).as_posix(): path for path in suspects}
    assert {name: found for name, path in names.items() if (found := forbidden(name, nodes(path)))} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from tests.pure.test_why import x", ["tests.pure.test_why.x"]),
        ("from tests import nats", ["tests.nats"]),
        ("import benchmarks.core", ["benchmarks.core"]),
        ("def f() -> None:\n    from benchmarks import core", ["benchmarks.core"]),
        ("from tests.support import tcp_proxy\nfrom tests.support.tcp_proxy import Proxy", []),
    ],
)
def test_what_is_forbidden_is_found(source: str, found: list[str]) -> None:
    assert forbidden("nats/test_it.py", ast.walk(ast.parse(source))) == found


def test_mutated_modules_exist() -> None:
    configuration = tomllib.loads((TESTS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    missing = [path for path in configuration["tool"]["mutmut"]["only_mutate"] if not (TESTS.parent / path).is_file()]
    assert missing == []
