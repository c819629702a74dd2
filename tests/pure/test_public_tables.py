"""`phaseline.tables`: the table language under its public names, each of them documented.

Belongs here: which names are public, and that `help()` explains them and their fields. Does not: what they do.
"""

import ast
import dataclasses
import inspect
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from phaseline import tables
from phaseline.schemas.value import Value

ROOT = Path(__file__).parents[2]
CLASSES: list[type[Any]] = [found for name in tables.__all__ if isinstance(found := getattr(tables, name), type)]
LANGUAGE = [found for found in CLASSES if "machines.language" in found.__module__]
WITH_FIELDS = [found for found in LANGUAGE if dataclasses.is_dataclass(found) or issubclass(found, tuple)]
USERS = [*(ROOT / "examples").rglob("*.py"), ROOT / "docs" / "own-kinds.md", ROOT / "docs" / "testing.md"]


def test_every_name_exists_and_is_listed() -> None:
    assert len(set(tables.__all__)) == len(tables.__all__)
    assert dir(tables) == tables.__all__
    assert all(getattr(tables, name) is not None for name in tables.__all__)


@pytest.mark.parametrize("name", tables.__all__)
def test_every_name_is_documented(name: str) -> None:
    found = getattr(tables, name)
    if isinstance(found, type) or inspect.isfunction(inspect.unwrap(found)):
        assert (found.__doc__ or "").strip(), f"{name} has no docstring"
        assert not (found.__doc__ or "").startswith(f"{name}("), f"{name} has the docstring that a dataclass makes"
    else:
        assert name in documented_values(), f"{name} has no text below its definition"


def documented_values() -> set[str]:
    """Names of module level that a string follows, in the modules of the language."""
    names = set()
    for module in (ROOT / "machines" / "language").glob("*.py"):
        body = ast.parse(module.read_text()).body
        for statement, following in pairwise(body):
            if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
                targets = statement.targets if isinstance(statement, ast.Assign) else []
                names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def field_names(found: Any) -> set[str]:
    if dataclasses.is_dataclass(found):
        return {field.name for field in dataclasses.fields(found)}
    return set(found._fields)


@pytest.mark.parametrize("found", WITH_FIELDS, ids=lambda found: found.__name__)
def test_every_field_has_a_line_in_the_docstring(found: Any) -> None:
    explained = set(re.findall(r"^(?:    )?(\w+): ", found.__doc__, re.MULTILINE))
    assert explained == field_names(found)


@pytest.mark.parametrize(
    "found", [one for one in WITH_FIELDS if not issubclass(one, tuple)], ids=lambda one: one.__name__
)
def test_a_part_of_a_table_is_a_struct_that_dataclasses_know(found: Any) -> None:
    """To make a dataclass takes 27 times as long, in each process. People who change tables use what they know."""
    assert issubclass(found, Value)
    for ours, theirs in zip(msgspec.structs.fields(found), dataclasses.fields(found), strict=True):
        assert ours.name == theirs.name
        assert (ours.default is msgspec.NODEFAULT) == (theirs.default is dataclasses.MISSING)
        assert (ours.default_factory is msgspec.NODEFAULT) == (theirs.default_factory is dataclasses.MISSING)
    given = {one.name: one.name for one in dataclasses.fields(found)}
    made = found(**given)
    assert dataclasses.asdict(made) == given
    assert dataclasses.asdict(dataclasses.replace(made, **dict(list(given.items())[:1]))) == given
    with pytest.raises(AttributeError):
        setattr(made, next(iter(given)), "other")


def test_the_classes_of_the_language_are_all_checked() -> None:
    names = {found.__name__ for found in WITH_FIELDS}
    assert {"Table", "Facet", "Row", "View", "Cascade", "FanOut", "OnTally", "Interpret", "Timeout", "Label"} <= names
    assert {"Field", "At", "Live", "Above", "Child", "AllBelow", "RuleEvent", "Refusal", "Revision"} <= names


@pytest.mark.parametrize("path", USERS, ids=lambda path: path.name)
def test_examples_and_pages_use_the_public_names(path: Path) -> None:
    text = path.read_text()
    for names in re.findall(r"from phaseline\.tables import \(?([^)`\n]*(?:\n    [^)]*)?)", text):
        used = set(re.findall(r"[A-Za-z_]\w*", names))
        assert used <= set(tables.__all__)
    assert "phaseline.machines.language" not in text
