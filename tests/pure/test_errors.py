"""The errors: what each has, sentences made from details, groups, copies across processes, the former names."""

import ast
import inspect
import pickle
import re
import string
import typing
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any, assert_type

import pytest

import phaseline.errors
from phaseline.machines.docs import written_parts
from phaseline.schemas import errors
from phaseline.schemas.errors import (
    ApiFailed,
    Case,
    EntityUnknown,
    Exit,
    Fenced,
    InvalidInput,
    LogDamaged,
    NameUnknown,
    NoAnswer,
    NotFound,
    PhaselineError,
    ServerBug,
    ServerRefused,
    SetupError,
    every,
    exit_of,
)
from tests.support.house import RINGS, ROOT, files, nodes
from tests.support.raising import raises

GROUPS = (NoAnswer, NotFound, InvalidInput, SetupError, ServerRefused, LogDamaged, ServerBug)
EVERY = [one for one in every() if type(one).__module__.startswith("phaseline.")]
CASES = {
    f"{group.__name__}.{name}": found
    for group in {type(one) for one in EVERY}
    for name, found in vars(group).items()
    if isinstance(found, Case)
}
"""By how programs write them."""
FORMER = phaseline.errors._FORMER
SAMPLES = {str: "the problem", int: 3, float: 2.5, Path | str: Path("a/b")}
"""For each type of a detail, a value."""


def names_in(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}


def of_class(error: PhaselineError) -> bool:
    return error.code == type(error).code


def sample(error: PhaselineError) -> PhaselineError:
    """The same error with its details."""
    details: dict[str, Any] = {name: SAMPLES[hint] for name, hint in declared(type(error)).items()}
    if of_class(error):
        return type(error)(**details)
    made: Case[PhaselineError] = next(one for one in CASES.values() if one.code == error.code)
    return made(**dict.fromkeys(names_in(error.sentence), 3))


def declared(group: type[PhaselineError]) -> dict[str, Any]:
    """The details that a class declares, with their types."""
    hints = typing.get_type_hints(group)
    return {name: hint for name, hint in hints.items() if typing.get_origin(hint) is not typing.ClassVar}


def test_every_error_has_a_code_of_its_own_an_exit_code_and_a_status() -> None:
    assert len({one.code for one in EVERY}) == len(EVERY)
    for one in EVERY:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", one.code)
        assert type(one) is PhaselineError or len([group for group in GROUPS if isinstance(one, group)]) == 1, one.code
        assert exit_of(one) is one.exit_code
        assert one.exit_code not in (Exit.DONE, Exit.NO, Exit.INTERRUPTED), one.code
        assert (one.exit_code is Exit.BUG) == (type(one) in (PhaselineError, ServerBug))
        assert 400 <= one.status < 600
    assert {one.exit_code for one in EVERY} == set(Exit) - {Exit.DONE, Exit.NO, Exit.INTERRUPTED}
    assert len({one.meaning for one in Exit}) == len(Exit)


def test_the_page_has_every_error() -> None:
    page = (ROOT / written_parts.ERRORS).read_text(encoding="utf-8")
    assert page == written_parts.with_errors(page), f"run `{written_parts.COMMAND}` and read what changed"
    assert [one.code for one in EVERY if f"| `{one.code}`" not in page] == ["phaseline-error"]
    for group in GROUPS:
        assert page.count(f"| `{group.__name__}` |") == page.count(f"## {group.__name__}\n") == 1


def test_every_error_says_something() -> None:
    """In a traceback, in a log line, in the output of a notebook, and as a copy from another process."""
    for error in EVERY:
        found = sample(error)
        said = str(found)
        assert said, error.code
        assert not set(said) & set("{}\n"), error.code
        assert repr(found) == f"{type(found).__name__}({said!r})", error.code
        copy = pickle.loads(pickle.dumps(found))
        assert (type(copy), str(copy), vars(copy), copy.code) == (type(error), said, vars(found), error.code)
        assert str(error), error.code
        assert repr(error).startswith(f"{type(error).__name__}("), error.code


def test_a_class_declares_what_its_sentence_names() -> None:
    for one in EVERY:
        if of_class(one):
            assert names_in(one.sentence) <= declared(type(one)).keys(), one.code
        assert not declared(type(one)).keys() & set(errors._OWN), one.code


def naming(words: set[str]) -> list[Path]:
    """The modules whose text has one of these words: only they need to be parsed, which takes long."""
    found = re.compile("|".join(words))
    return [path for path in files(".py", *RINGS) if found.search(path.read_text(encoding="utf-8"))]


def calls(path: Path) -> typing.Iterator[tuple[str, ast.Call]]:
    """The calls that make errors without a class, each with the error as it is written."""
    for node in nodes(path):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and ast.unparse(node.func) in CASES:
            yield ast.unparse(node.func), node


def test_every_error_without_a_class_is_raised_and_always_with_the_same_details() -> None:
    made: dict[str, set[frozenset[str]]] = defaultdict(set)
    for path in naming({name.partition(".")[0] for name in CASES}):
        for name, call in calls(path):
            assert not call.args, f"{path}:{call.lineno}: details have names"
            if all(one.arg for one in call.keywords):
                made[name].add(frozenset(str(one.arg) for one in call.keywords))
    for name, found in made.items():
        assert len(found) == 1, f"{name} is made with {found}"
        assert names_in(str(CASES[name].own["sentence"])) <= next(iter(found)), name
    through_a_name = {"ApiFailed.jet_stream_off"}
    assert CASES.keys() - made.keys() <= through_a_name, "nobody raises these"


def test_no_table_is_keyed_by_errors() -> None:
    """A new error has one place: what follows from it is an attribute."""
    classes = {type(one).__name__ for one in EVERY}
    for path in naming(classes):
        for node in nodes(path):
            if isinstance(node, ast.Dict):
                keys = {one.id for one in node.keys if isinstance(one, ast.Name)}
                assert not keys & classes, f"{path}:{node.lineno}"


def test_details_have_types() -> None:
    error = NameUnknown.among("kind", "nod", ("node", "cluster"))
    assert_type(error.known, str)
    assert str(error) == "there is no kind 'nod' (did you mean node?): choose one of node, cluster"
    assert error.details == {"what": "kind", "name": "nod", "known": "node, cluster", "meant": " (did you mean node?)"}


def test_an_error_of_a_group_knows_what_it_is() -> None:
    error = SetupError.tables_differ(partition=3, digest="d67c", how="changed: node")
    assert_type(error, SetupError)
    assert (error.code, error.exit_code, error.status) == ("tables-differ", Exit.NOT_SET_UP, 500)
    assert error.details == {"partition": 3, "digest": "d67c", "how": "changed: node"}
    assert str(error).startswith("partition 3 was decided by other tables")
    assert "--accept-tables" in error.remedy
    error.add_note("did you mean another?")
    assert error.details.keys() == {"partition", "digest", "how"}
    assert SetupError.tables_differ.made(error)
    assert not SetupError.states_stranded.made(error)
    assert not SetupError.tables_differ.made(ValueError("tables-differ"))
    with raises(SetupError.tables_differ, match="partition 3"):
        raise error


def test_an_error_may_differ_from_its_group() -> None:
    moved = EntityUnknown.entity_not_yet_known(kind="node", id="c1/a/n1", place=7)
    assert str(moved).startswith("there was no node 'c1/a/n1' at place 7 of the log: ")
    assert (type(moved), moved.status) == (EntityUnknown, 404)
    assert NotFound.place_trimmed(place=1, first=2).status == 410
    assert exit_of(SetupError.user_refused()) is Exit.NOT_ALLOWED
    assert (exit_of(OSError()), exit_of(KeyError())) == (Exit.NOT_SET_UP, Exit.BUG)


def test_errors_can_be_pickled() -> None:
    copy = pickle.loads(pickle.dumps(ApiFailed(subject="a", description="b", nats_code=500, err_code=1)))
    assert str(copy) == "NATS refused a: b (code 500, error 1)"
    assert copy.err_code == 1


def test_a_former_name_is_the_group_of_the_error() -> None:
    for name in FORMER:
        with pytest.warns(DeprecationWarning, match=f"{name} is no class any more: catch ") as told:
            group = getattr(phaseline.errors, name)
        assert told[0].filename == __file__, name
        [error] = [one for one in EVERY if one.code.replace("-", "") == name.lower()]
        assert (type(error), of_class(error)) == (group, False), name
        assert name not in phaseline.errors.__all__, name


def test_who_catches_a_former_name_catches_what_it_caught() -> None:
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
    with raises(ServerRefused.payload_too_large):
        raise ServerRefused.payload_too_large(subject="a", size=2, limit=1)


def test_what_never_was_a_name_is_none() -> None:
    for name in ("BodyCut", "Nonsense", "EventGon", "__path__"):
        with pytest.raises(AttributeError, match=f"module 'phaseline.errors' has no attribute '{name}'"):
            getattr(phaseline.errors, name)


def test_the_public_names_are_all_classes() -> None:
    classes = {name for name, one in vars(errors).items() if inspect.isclass(one) and issubclass(one, PhaselineError)}
    assert sorted(classes) == phaseline.errors.__all__
    assert len(classes) <= 34, "a new error is a case of a group, unless programs catch it by name"
    assert Fenced.__module__ == "phaseline.errors"
