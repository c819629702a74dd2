"""The errors: typed attributes, messages made from them, groups, copies across processes."""

import inspect
import pickle
import string
import typing
from pathlib import Path
from typing import assert_type

import pytest

from phaseline.engine import errors, range_errors
from phaseline.engine.errors import (
    ApiFailed,
    EntityNotYetKnown,
    InvalidInput,
    LogDamaged,
    NoAnswer,
    NotFound,
    PhaselineError,
    ServerRefused,
    SetupError,
    TablesDiffer,
)
from phaseline.engine.log.archived import archive_errors

GROUPS = (NoAnswer, NotFound, InvalidInput, SetupError, ServerRefused, LogDamaged)
MEMBERS = vars(errors) | vars(archive_errors) | vars(range_errors)
CLASSES = [found for found in MEMBERS.values() if inspect.isclass(found) and issubclass(found, PhaselineError)]
SAMPLES = {str: "the problem", int: 3, float: 2.5, Path: Path("a/b"), Path | str: Path("a/b"), int | None: None}
"""For each type of an attribute, a value."""


def sample(error: type[PhaselineError]) -> PhaselineError:
    """An error of a class, with a value for each of its attributes."""
    return error(**{name: SAMPLES[hint] for name, hint in typing.get_type_hints(error).items()})


def attributes(error: type[PhaselineError]) -> set[str]:
    return {name for above in error.__mro__ for name in inspect.get_annotations(above)}


def message(error: type[PhaselineError]) -> str:
    return inspect.cleandoc(error.__doc__ or "").partition("\n\n")[0]


@pytest.mark.parametrize("error", CLASSES)
def test_every_message_is_made_of_the_attributes_of_its_class(error: type[PhaselineError]) -> None:
    named = {name for _, name, _, _ in string.Formatter().parse(message(error)) if name is not None}
    assert message(error)
    assert named <= attributes(error)


@pytest.mark.parametrize("error", [found for found in CLASSES if found not in (PhaselineError, *GROUPS)])
def test_every_error_is_in_one_group(error: type[PhaselineError]) -> None:
    assert len([group for group in GROUPS if issubclass(error, group)]) == 1


@pytest.mark.parametrize("error", CLASSES)
def test_every_error_says_something(error: type[PhaselineError]) -> None:
    """In a traceback, in a log line, in the output of a notebook, and as a copy from another process."""
    found = sample(error)
    said = str(found)
    assert len(said) >= len("not found")
    assert not set(said) & set("{}\n")
    assert repr(found) == f"{error.__name__}({said!r})"
    copy = pickle.loads(pickle.dumps(found))
    assert (type(copy), str(copy), vars(copy)) == (error, said, vars(found))
    assert str(error())
    assert repr(error()).startswith(f"{error.__name__}(")


def test_attributes_have_types() -> None:
    error = TablesDiffer(partition=3, digest="d67c", how="changed: node")
    assert_type(error.partition, int)
    assert_type(error.digest, str)
    assert error.partition == 3
    assert (
        str(error)
        == "partition 3 was decided by other tables than those installed here, which are d67c (changed: node)"
    )


def test_a_subclass_has_the_attributes_of_its_base() -> None:
    error = EntityNotYetKnown(kind="node", id="c1/a/n1", place=7)
    assert str(error).startswith("there was no node 'c1/a/n1' at place 7 of the log: ")


def test_errors_can_be_pickled() -> None:
    copy = pickle.loads(pickle.dumps(ApiFailed(subject="a", description="b", code=500, err_code=1)))
    assert str(copy) == "NATS refused a: b (code 500, error 1)"
    assert copy.err_code == 1
