"""The public API: what `dir` and `help` show, and that every type a method takes or gives is exported."""

import ast
import collections
import collections.abc
import dataclasses
import importlib
import inspect
import pathlib
import pydoc
import re
import sys
import types
import typing
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

import phaseline
from phaseline.engine.publish import compose
from phaseline.engine.surfaces import generate, sync_stub
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects
from tests.support.command import ROOT

ROOTS = (
    "Client",
    "EntityView",
    "Emco",
    "EmcoView",
    "Fleet",
    "FleetView",
    "Gitops",
    "Levels",
    "Watch",
    "Cells",
    "CellsWatch",
)
FUNCTIONS = ("connect", "assess", "assess_all", "diff", "health")
RENAMED = (phaseline, phaseline.emco, phaseline.fleet, phaseline.gitops, phaseline.levels, phaseline.types)
"""The modules whose classes are called after them."""
SUBMODULES = (*RENAMED[1:], phaseline.errors, phaseline.sync, phaseline.tables, phaseline.testing, phaseline.triggers)
PLAIN = (
    type(None), str, bytes, int, float, bool, dict, list, tuple, set, frozenset, object, types.EllipsisType,
    datetime, pathlib.Path, Exception, collections.Counter,
)  # fmt: skip
OPAQUE = (phaseline.Kinds,)
"""Passed on by programs; their own methods belong to `phaseline.tables`."""


def named(name: str) -> Any:
    """What has this public name."""
    return next(getattr(module, name) for module in RENAMED if name in module.__all__)


def parts(annotation: Any) -> Iterator[Any]:
    """The classes in an annotation, however deep."""
    if isinstance(annotation, typing.TypeVar):
        yield from parts(annotation.__bound__)
        return
    if isinstance(annotation, str | typing.ForwardRef):
        name = annotation if isinstance(annotation, str) else annotation.__forward_arg__
        yield named(name)
        return
    origin = typing.get_origin(annotation)
    if origin is typing.Literal:
        return
    if origin is not None:
        yield from parts(origin)
        for argument in typing.get_args(annotation):
            yield from (part for one in (argument if isinstance(argument, list) else [argument]) for part in parts(one))
    elif isinstance(annotation, type):
        yield annotation


def annotations_of(function: Any) -> list[Any]:
    return list(typing.get_type_hints(inspect.unwrap(function)).values())


def methods(of: type) -> Iterator[Any]:
    for name, found in inspect.getmembers_static(of):
        if not name.startswith("_"):
            made = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
            if callable(made):
                yield made
                yield from typing.get_overloads(inspect.unwrap(made))


def fields(of: type) -> list[Any]:
    """The types of a value's attributes, of its properties too."""
    is_value = dataclasses.is_dataclass(of) or issubclass(of, msgspec.Struct | tuple) or typing.is_typeddict(of)
    properties = [found.fget for _, found in inspect.getmembers_static(of) if isinstance(found, property)]
    hints = list(typing.get_type_hints(of).values()) if is_value else []
    return hints + [hint for found in properties for hint in annotations_of(found)]


def reachable() -> dict[type, str]:
    """Every class that a user can come across, with the place where it was met first."""
    met: dict[type, str] = {}
    todo = [(hint, f"phaseline.{name}") for name in FUNCTIONS for hint in annotations_of(named(name))]
    for name in ROOTS:
        todo += [
            (hint, f"{name}.{method.__name__}") for method in methods(named(name)) for hint in annotations_of(method)
        ]
    while todo:
        hint, where = todo.pop()
        for part in parts(hint):
            if part not in met:
                met[part] = where
                if part.__module__.startswith("phaseline") and part not in OPAQUE and part.__name__ not in ROOTS:
                    todo += [(found, part.__name__) for found in fields(part)]
    return met


def exported() -> set[Any]:
    public = [getattr(phaseline, name) for name in phaseline.__all__]
    return {
        one for one in [*public, *(getattr(module, name) for module in SUBMODULES for name in module.__all__)]
        if isinstance(one, type)
    }  # fmt: skip


def test_every_type_that_a_method_takes_or_gives_is_exported() -> None:
    known = exported()
    missing = {
        f"{found.__module__}.{found.__qualname__} ({where})"
        for found, where in reachable().items()
        if found not in known and found not in PLAIN and found.__module__ not in ("collections.abc", "types", "typing")
    }
    assert not missing, missing


def test_the_walk_comes_far() -> None:
    met = reachable()
    assert {
        phaseline.Cause,
        phaseline.emco.SourceResource,
        phaseline.gitops.IgnoreRule,
        phaseline.types.Interval,
    } <= met.keys()
    assert collections.abc.AsyncIterator in met


def test_what_was_public_stays_public() -> None:
    """A new name is written down in the list, so that it stays too. Errors have a test of their own."""
    listed = (ROOT / "tests/golden/public_names.txt").read_text().split()
    present = [
        f"{module.__name__}.{name}"
        for module in (*RENAMED, phaseline.sync, phaseline.tables, phaseline.testing, phaseline.triggers)
        for name in module.__all__
    ]
    assert sorted(present) == listed
    for name in present:
        module, _, last = name.rpartition(".")
        assert getattr(sys.modules[module], last) is not None


def test_stubs_and_modules_have_the_same_names() -> None:
    for path, text in generate.stubs().items():
        module = sys.modules["phaseline" if path.stem == "__init__" else f"phaseline.{path.stem}"]
        assert (ROOT / path).read_text() == text
        named = re.findall(r" as (\w+)$", text, re.MULTILINE) + re.findall("^(__version__):", text, re.MULTILINE)
        assert sorted(named) == module.__all__
        assert module.__all__ == dir(module) == sorted(module.__all__)


def test_the_types_without_asyncio_are_of_all_that_is_there() -> None:
    [text] = sync_stub.pages().values()
    body = ast.parse(text).body
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef) and node.name[0] != "_"}
    assert sorted([*classes, "DwellWatch", "Follow", "Watch", "connect"]) == phaseline.sync.__all__
    for name, node in classes.items():
        reads = {view.name for view in sync_stub.VIEWS if name == "Client" or (name == "EntityView" and view.view)}
        stubbed = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef) and one.name[0] != "_"}
        found = getattr(phaseline.sync, name)
        assert {*stubbed} == {one for one in dir(found) if not one.startswith("_")} | reads
        assert ast.get_docstring(node) == inspect.getdoc(found)
        for one in stubbed.keys() - reads:
            assert ast.get_docstring(stubbed[one]) == inspect.getdoc(getattr(found, one))


def test_the_top_is_short_and_former_names_go_on_with_a_warning() -> None:
    assert len([name for name in phaseline.__all__ if not isinstance(getattr(phaseline, name), types.ModuleType)]) <= 35
    former = (ROOT / "tests/golden/former_names.txt").read_text().split()
    for name in former:
        module = next(one for one in RENAMED[1:] if name in one.__all__)
        with pytest.warns(DeprecationWarning, match=rf"^phaseline\.{name} is {module.__name__}\.{name} now,") as told:
            assert getattr(phaseline, name) is getattr(module, name)
        assert {one.filename for one in told} == {__file__}
        assert name not in dir(phaseline)


def test_a_name_that_is_not_there() -> None:
    for module in (phaseline, phaseline.tables):
        with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'nothing'"):
            module.nothing  # noqa: B018


def test_names_are_called_by_their_public_names() -> None:
    for module in RENAMED:
        for name in module.__all__:
            found = getattr(module, name)
            if isinstance(found, type | types.FunctionType) and found is not phaseline.PhaselineError:
                assert f"{found.__module__}.{found.__qualname__}" == f"{module.__name__}.{name}"
    for name in phaseline.errors.__all__:
        assert getattr(phaseline.errors, name).__module__.startswith("phaseline")
    assert repr(phaseline.Client) == "<class 'phaseline.Client'>"
    assert repr(phaseline.sync.Client) == "<class 'phaseline.sync.Client'>"


def test_what_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'phaseline' has no attribute 'Judged'"):
        phaseline.__getattr__("Judged")
    for name in ("status", "selected", "counts", "cluster_counts", "diff", "layout", "installation"):
        assert not hasattr(phaseline.Client, name), name


@pytest.mark.parametrize("client", [phaseline.Client, phaseline.sync.Client])
def test_help_is_readable(client: type) -> None:
    page = pydoc.plain(pydoc.render_doc(client))
    assert client.__mro__[1:] in ((object,), (phaseline.types.ReadingClient, object))
    for name in ("publish", "watch", "at"):
        assert re.search(rf"\n \|  (async )?{name}\b", page), name
    # Only the constructor, which programs do not call, takes a class that is not public. From Python 3.13 on, help adds
    # the module of a method with overloads, and breaks long lines.
    inner = [line for line in page.splitlines() if "phaseline.engine" in re.sub(r" from phaseline\.\S+$", "", line)]
    assert all(line.startswith((" |  Client(", " |  __init__(", " |      opened: ")) for line in inner), inner
    whole = pydoc.plain(pydoc.render_doc(phaseline))
    assert "class Client" in whole
    assert "connect(" in whole


@pytest.mark.parametrize("name", [*ROOTS, *FUNCTIONS])
def test_every_public_method_says_what_it_does(name: str) -> None:
    found = named(name)
    assert found.__doc__
    for method in public_names(found):
        assert getattr(found, method).__doc__, f"{name}.{method}"


def public_names(found: Any) -> list[str]:
    return [name for name in vars(found) if not name.startswith("_")] if isinstance(found, type) else []


def test_modules_that_are_made_are_up_to_date(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path, text in generate.modules().items():
        assert (ROOT / path).read_text() == text, f"{path} is stale: run `python3 dev.py generate`"
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text.replace("def publish(", "def post("))
    check = ["--check", "--to", str(tmp_path)]
    assert generate.write(generate.modules().items(), check) == 1
    assert capsys.readouterr().out == "stale: src/phaseline/sync.pyi\n"
    assert generate.write(generate.modules().items(), ["--to", str(tmp_path)]) == 0
    assert generate.write(generate.modules().items(), check) == 0


def test_every_exported_class_has_types_that_can_be_read() -> None:
    for found in exported():
        typing.get_type_hints(found)


def test_submodules_are_modules() -> None:
    for name in vars(phaseline)["MODULES"].split():
        assert importlib.import_module(f"phaseline.{name}") is getattr(phaseline, name)


TIMES = (
    "time",
    "since",
    "start",
    "end",
    "first",
    "last",
    "timers",
    "stale_since",
    "as_of",
    "begin",
    "given",
    "now",
    "bad_since",
    "at",
    "heard",
    "made",
)
"""The names of times."""


TOLD_BY_OTHERS = (phaseline.types.RejectionCount, phaseline.gitops.Evidence)
"""What holds a time of another class, and what holds one as an object wrote it."""


def test_every_time_is_a_datetime_and_has_its_nanoseconds_beside_it() -> None:
    """Who reads `x.time` gets a datetime; only a name that ends in `_ns` is a number."""
    found = []
    for owner in reachable():
        if not owner.__module__.startswith("phaseline") or typing.is_typeddict(owner) or owner is phaseline.Event:
            continue
        properties = {name: one.fget for name, one in inspect.getmembers_static(owner) if isinstance(one, property)}
        for name in [*typing.get_type_hints(owner), *properties]:
            public = name.removesuffix("_ns")
            if (name.endswith("_ns") or name in TIMES) and owner not in TOLD_BY_OTHERS:
                hints = [part for hint in annotations_of(properties[public]) for part in parts(hint)]
                assert datetime in hints, f"{owner.__name__}.{name}"
                found.append(public)
    assert set(found) == set(TIMES)


def test_a_time_is_in_utc_and_exact_to_the_microsecond() -> None:
    moment = phaseline.Moment(3, 1_772_438_400_123_456_789)
    assert moment.time == datetime(2026, 3, 2, 8, 0, 0, 123456, tzinfo=UTC)
    assert moment.time.tzinfo is UTC
    given = phaseline.Cause(1, "e", "/t", "event", None, "2026-03-02T09:30:00.5+01:30")
    assert given.time == datetime(2026, 3, 2, 8, 0, 0, 500_000, tzinfo=UTC)
    for text in (None, "0001-01-01T00:00:00+12:00", "yesterday"):
        assert phaseline.Cause(1, "e", "/t", "event", None, text).time is None


@pytest.mark.parametrize("time", [datetime(2026, 3, 2, 8, tzinfo=UTC), datetime(2026, 3, 2, 8)])  # noqa: DTZ001
def test_an_event_in_a_map_may_have_a_datetime_as_its_time(time: datetime) -> None:
    """As the `cloudevents` library gives its attributes. Without an offset it is a local time."""
    event = {"specversion": "1.0", "id": "e", "source": "/t", "type": "cluster.create", "subject": "cluster/c1"}
    body = codec.decode(compose.pack(Subjects("pl"), {**event, "time": time}).body)
    assert datetime.fromisoformat(body["time"]) == time.astimezone()
