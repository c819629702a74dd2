"""Reads of a product of whatever package, in the client without asyncio: whatever its class and its object have."""

import asyncio
import copy
import inspect
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from phaseline.engine.surfaces.client import sync_client
from phaseline.engine.surfaces.client.portal import Portal
from phaseline.engine.surfaces.client.sync_client import mirror_of


class Steps:
    """An asynchronous iterator that is no generator."""

    def __init__(self, end: int) -> None:
        self.left = end

    def __aiter__(self) -> "Steps":
        return self

    async def __anext__(self) -> int:
        if not self.left:
            raise StopAsyncIteration
        await asyncio.sleep(0)
        self.left -= 1
        return self.left


class Base:
    async def inherited(self) -> str:
        """From a class below."""
        return "inherited"


class Lamps(Base):
    """Reads for tests."""

    Steps = Steps

    def __init__(self) -> None:
        self.colour = "red"
        self.late = self._late
        self._hidden = 1

    async def _late(self, more: int = 1) -> int:
        return self._hidden + more

    @property
    def size(self) -> int:
        """How large it is."""
        return 3

    async def counted(self, by: int, *, names: tuple[str, ...] = ()) -> "dict[str, int]":
        """Counts."""
        await asyncio.sleep(0)
        return dict.fromkeys(names, by)

    async def numbers(self, end: int) -> "AsyncIterator[int]":
        """The first numbers."""
        for number in range(end):
            yield number

    def steps(self, end: int) -> AsyncIterator[int]:
        """The same, down."""
        return Steps(end)

    async def later(self) -> AsyncIterator[int]:
        """An iterator that must be waited for."""
        return Steps(2)

    def said(self) -> str:
        """Nothing to wait for."""
        return "on"

    @staticmethod
    async def still() -> str:
        return "still"

    async def broken(self) -> None:
        raise LookupError("no lamp")

    async def unknown(self, what: "Nowhere") -> None:  # type: ignore[name-defined]  # noqa: F821  # as for types only
        """Takes what has a name for type checkers only."""


@pytest.fixture
def lamps() -> Iterator[Any]:
    portal = Portal()
    yield mirror_of(Lamps)(portal, Lamps())
    portal.close()


def test_everything_public_is_there_and_waits(lamps: Any) -> None:
    assert lamps.counted(2, names=("a", "b")) == {"a": 2, "b": 2}
    assert (list(lamps.numbers(300)), list(lamps.steps(3)), list(lamps.later())) == ([*range(300)], [2, 1, 0], [1, 0])
    assert (lamps.inherited(), lamps.said(), lamps.still()) == ("inherited", "on", "still")
    assert (lamps.size, lamps.colour, lamps.late(more=4)) == (3, "red", 5)
    assert lamps.Steps is Steps
    with pytest.raises(LookupError, match="no lamp"):
        lamps.broken()
    assert {one for one in dir(Lamps()) if one[0] != "_"} == {one for one in dir(lamps) if one[0] != "_"}


def test_what_is_not_public_is_not_there(lamps: Any) -> None:
    for name in ("_hidden", "_late", "color"):
        with pytest.raises(AttributeError, match=f"'Lamps' object has no attribute '{name}'"):
            getattr(lamps, name)


@pytest.mark.parametrize("mirror", [mirror_of(Lamps), sync_client.Client, sync_client.EntityView])
def test_an_object_that_is_not_complete_has_no_attribute(mirror: Any) -> None:
    made = copy.copy(mirror.__new__(mirror))
    for name in ("size", "emco", "_source"):
        with pytest.raises(AttributeError):
            getattr(made, name)


def test_help_shows_it_as_it_is_called() -> None:
    mirror = mirror_of(Lamps)
    assert (mirror.__name__, mirror.__doc__, mirror.size.__doc__) == ("Lamps", "Reads for tests.", "How large it is.")
    assert mirror.inherited.__doc__ == "From a class below."
    assert str(inspect.signature(mirror.numbers)) == "(self, end: int) -> collections.abc.Iterator[int]"
    assert str(inspect.signature(mirror.counted)) == "(self, by: int, *, names: tuple[str, ...] = ()) -> dict[str, int]"
    assert "Nowhere" in str(inspect.signature(mirror.unknown))
    assert not inspect.iscoroutinefunction(mirror.counted)
    assert mirror is mirror_of(Lamps)


def test_only_reads_are_mirrored() -> None:
    """Whatever a package calls its reads: what other calls give stays what it is."""
    mirror_of(dict)
    portal = Portal()
    assert type(mirror_of(Lamps)(portal, Lamps()).counted(1, names=("a",))) is dict
    portal.close()
