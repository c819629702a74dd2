"""The rules of the house that no tool checks: charters, names, sizes and references.

Belongs here: one test for each rule; a failing test lists all offenders. Does not: layers (the import contracts in
pyproject.toml), style (ruff), links of pages (`test_docs`), the folders of tests (`test_tests_layout`).
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.support.house import DEFINITIONS, FUNCTIONS, RINGS, ROOT, exists, files, module_at, name_of, nodes, parsed

CHARTERED = (*RINGS, "src/phaseline", "tests/support")
GENERATED = {
    "docs/machines.md",
    "docs/known-kinds.md",
    "docs/cli.md",
    "benchmarks/RESULTS.md",
    "tests/golden/printing.md",
}
MAX_COLUMNS, MAX_FUNCTION, MAX_MODULES = 120, 60, 16
FREE_PACKAGES = {"engine/surfaces/cli", "engine/products/commands"}
"""One module for each command: as many as there are commands."""
OUTSIDE = {"tests/support/conformance.py", "tests/pure/test_house.py"}
"""The conformance cases stand beside the checkout; this file names what it looks for."""
WRITTEN_BY_READERS = {"tests/test_backup_job.py"}
"""Files that docs/own-kinds.md lets its readers write, in a package of their own."""

QUOTED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
CODE_PATH = re.compile(
    r"(?<![\w./-])(?:engine|machines|schemas|tests|benchmarks|examples|docs)/[\w./-]*\w\.(?:py|md)\b"
)
MODULE = re.compile(
    r"(?<![\w./-])(?:phaseline\.)?(?:engine|machines|schemas|tests\.support)(?!\.(?:md|py|nk|creds)\b)(?:\.\w+)+"
)
POINTER = re.compile(
    r"\.\./shared|(?<![\w.])/work/|\bhouse\.md\b|\bstyle\.md\b|(?<!-)\bnats\.md\b|\bissue[- ]#?\d+", re.IGNORECASE
)
OLD_MODULES = {
    *(
        "arithmetic",
        "asking",
        "assigning",
        "comparing",
        "customs",
        "draft",
        "explaining",
        "folder",
        "folders",
        "gathering",
    ),
    *("homeless", "incoming", "inquiry", "judging", "looks", "oddities", "placed", "queries", "saying", "surroundings"),
    *("told_once", "verdict", "verdicts", "watching"),
}
"""Names of modules until they got those of docs/glossary.md, as far as they are no words for anything else."""


def report(offenders: Iterable[str]) -> None:
    """Fail with one line for each offender, all of them."""
    if lines := list(offenders):
        pytest.fail("\n".join([f"{len(lines)} in all:", *lines]), pytrace=False)


def quoted(path: Path) -> list[str]:
    """The words in back quotes in a module's charter."""
    return QUOTED.findall(ast.get_docstring(parsed(path)) or "")


def test_every_name_in_back_quotes_in_a_charter_exists() -> None:
    report(
        f"{name_of(path)}: {', '.join(missing)}"
        for path in files(".py", *CHARTERED)
        if (missing := [word for word in quoted(path) if not exists(word, path)])
    )


UNNAMED = ("engine/surfaces/cli", "engine/products/commands", "machines/kinds/kubernetes/known/families")
"""Packages whose modules a table names."""


def test_the_charter_of_a_package_names_all_that_is_in_it() -> None:
    found = list[str]()
    for path in files("__init__.py", *RINGS):
        folder = path.parent
        if str(folder.relative_to(ROOT)) in UNNAMED:
            continue
        inside = {one.stem for one in folder.glob("*.py")} | {one.parent.name for one in folder.glob("*/__init__.py")}
        named = {word.rpartition(".")[2] for word in quoted(path)}
        if missing := sorted(inside - named - {"__init__"}):
            found.append(f"{name_of(path)}: {', '.join(missing)}")
    report(found)


def test_no_two_public_classes_have_one_name() -> None:
    places = defaultdict(list)
    for path in files(".py", *RINGS):
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name_of(path))
    # The client without asyncio has the names of the other one, under `phaseline.sync`.
    twins = {"engine/surfaces/client/sync_client.py", "engine/surfaces/client/portal.py"}
    doubled = {name: [one for one in found if one not in twins] for name, found in places.items()}
    report(f"{name}: {', '.join(found)}" for name, found in sorted(doubled.items()) if len(found) > 1)


TEXTS = (ast.Constant, ast.JoinedStr)


def prose_lines(path: Path) -> set[int]:
    """The lines of a module that hold comments and docstrings."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = {number for number, line in enumerate(lines, 1) if line.lstrip().startswith("#")}
    for node in nodes(path):
        if isinstance(node, TEXTS):  # a line of a text is no comment
            found.difference_update(range(node.lineno + 1, (node.end_lineno or 0) + 1))
    for node in nodes(path):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            found.update(range(node.lineno, (node.end_lineno or 0) + 1))
    return found


def table_lines(path: Path) -> set[int]:
    """The lines that keep their columns: of a page its tables and code, of a module what the formatter must leave."""
    literal, found = False, set()
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if path.suffix == ".md":
            literal ^= text.startswith("```")
        else:
            literal = (literal or text == "# fmt: off") and text != "# fmt: on"
        if literal or (path.suffix == ".md" and text.startswith("|")):
            found.add(number)
    if path.suffix == ".py":
        for node in nodes(path):
            if isinstance(node, ast.stmt) and lines[(node.end_lineno or 1) - 1].endswith("# fmt: skip"):
                found.update(range(node.lineno, (node.end_lineno or 0) + 1))
    return found


def long_lines(path: Path, folder: str) -> list[int]:
    """The lines that are too wide, and could be broken.

    Tables keep their columns, in pages and in modules of tables. A case of a test may stay on one line; docstrings and
    comments of tests are prose like any other. A line without a blank cannot be broken.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    wide = {number for number, line in enumerate(lines, 1) if len(line) > MAX_COLUMNS and " " in line.strip(" -*>")}
    if not wide:
        return []
    if path.suffix == ".md" or folder == "machines":
        wide -= table_lines(path)
    elif folder == "tests":
        wide &= prose_lines(path) - table_lines(path)
    return sorted(wide)


def test_no_line_is_too_wide() -> None:
    report(
        f"{name}: {', '.join(map(str, found))}"
        for path in (*files(".py"), *files(".md"))
        if (name := name_of(path)) not in GENERATED and (found := long_lines(path, name.partition("/")[0]))
    )


def test_no_function_is_too_long() -> None:
    report(
        f"{name_of(path)}:{node.lineno} {node.name} has {length} lines"
        for path in files(".py")
        for node in nodes(path)
        if isinstance(node, FUNCTIONS) and (length := (node.end_lineno or 0) - node.lineno + 1) > MAX_FUNCTION
    )


def test_nothing_loses_a_cancellation() -> None:
    """Until Python 3.12 `asyncio.wait_for` does, where it comes together with the result: write `asyncio.timeout`.

    Whoever cancels a task that waits so again and again, and waits for its end, waits for ever.
    """
    report(
        f"{name_of(path)}:{node.lineno}"
        for path in files(".py", *RINGS)
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and node.attr == "wait_for" and ast.unparse(node.value) == "asyncio"
    )


def test_no_package_has_too_many_modules() -> None:
    packages = [path.parent for path in files("__init__.py", *RINGS)]
    sizes = {name_of(package): len(list(package.glob("*.py"))) - 1 for package in packages}
    report(f"{name} has {size}" for name, size in sizes.items() if size > MAX_MODULES and name not in FREE_PACKAGES)


def texts() -> list[Path]:
    """What people write: modules, pages and settings."""
    others = [
        path for name in ("Makefile", "Dockerfile", ".gitattributes", ".ci/run") if (path := ROOT / name).exists()
    ]
    return [path for suffix in (".py", ".md", ".toml", ".yaml") for path in files(suffix)] + others


def test_no_text_points_outside_the_repository() -> None:
    report(
        f"{name}: {match[0]}"
        for path in texts()
        if (name := name_of(path)) not in OUTSIDE
        for match in POINTER.finditer(path.read_text(encoding="utf-8"))
    )


def stale_paths(path: Path, text: str) -> Iterator[str]:
    """The files and modules of the repository that the text names and that are not there."""
    for match in CODE_PATH.finditer(text):
        if not (ROOT / match[0]).exists() and not (path.parent / match[0]).exists():
            yield match[0]
    for match in MODULE.finditer(text):
        parts = match[0].removeprefix("phaseline.").split(".")
        if not module_at(ROOT, parts):
            yield match[0]


def prose(path: Path) -> str:
    """What a file says to people: of a page everything, of a module its docstrings and comments."""
    text = path.read_text(encoding="utf-8")
    comments = re.findall(r"(?m)#\s.*$", text)
    if path.suffix in (".md", ".yaml"):
        return text
    if path.suffix != ".py":
        return "\n".join(comments)
    found = [ast.get_docstring(node) or "" for node in nodes(path) if isinstance(node, (ast.Module, *DEFINITIONS))]
    return "\n".join([*found, *comments])


def test_every_file_and_module_that_a_text_names_exists() -> None:
    report(
        f"{name}: {', '.join(stale)}"
        for path in texts()
        if (name := name_of(path)) not in GENERATED | OUTSIDE
        if (stale := sorted({*stale_paths(path, prose(path))} - WRITTEN_BY_READERS))
    )


def test_no_page_names_a_module_that_was_renamed() -> None:
    report(
        f"{name_of(path)}: {', '.join(found)}"
        for path in files(".md")
        if (found := sorted(OLD_MODULES.intersection(QUOTED.findall(path.read_text(encoding="utf-8")))))
    )


@pytest.mark.parametrize(
    ("word", "right"),
    [
        ("intake", True),
        ("engine.core.decide", True),
        ("core.decide", True),
        ("phaseline.engine.core.decide", True),
        ("core.decide.decide", True),
        ("Kind.select", True),
        ("node.create", True),
        ("test_house", True),
        ("docs/design.md", True),
        ("phaseline publish --dry-run", True),
        ("pl.events.>", True),
        ("engine.core.nowhere", False),
        ("core.decide.nothing", False),
        ("Kind.nothing", False),
        ("node.nothing", False),
        ("docs/nothing.md", False),
        ("nothing", False),
    ],
)
def test_the_charter_rule_tells_right_from_wrong(word: str, right: bool) -> None:
    assert exists(word, ROOT / "engine/core/process.py") is right


def test_wide_lines_are_found(tmp_path: Path) -> None:
    wide = "word " * 30
    page, module = tmp_path / "page.md", tmp_path / "module.py"
    page.write_text(f"{wide}\n| {wide} |\n```\n{wide}\n```\n{wide}\n")
    module.write_text(f'"""{wide}"""\n# fmt: off\nX = "{wide}"\n# fmt: on\nY = "{wide}"\n# {wide}\n')
    assert long_lines(page, "docs") == [1, 6]
    assert long_lines(module, "engine") == [1, 3, 5, 6]
    assert long_lines(module, "machines") == [1, 5, 6]
    assert long_lines(module, "tests") == [1, 6]


@pytest.mark.parametrize(
    ("text", "stale"),
    [
        ("see engine/core/decide.py and docs/design.md", []),
        ("see engine/fold.py", ["engine/fold.py"]),
        ("`phaseline.engine.core.decide` and `machines.compiler.kinds.Kind`", []),
        ("`phaseline.engine.fold`", ["phaseline.engine.fold"]),
    ],
)
def test_stale_paths_are_found(text: str, stale: list[str]) -> None:
    assert list(stale_paths(ROOT / "README.md", text)) == stale
