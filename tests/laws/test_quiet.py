"""The short way of deciding the common case comes to the same records as the long one, and is taken where it may be."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest

from phaseline.engine.core import decide as deciding
from phaseline.engine.core.fast_path import quiet
from phaseline.engine.core.message import Message
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.testing.histories import event, play
from phaseline.machines.built_in import BUILT_IN
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import NoScripts
from phaseline.machines.language.table import ABSENT, Facet, Field, Label, Row, Table
from phaseline.schemas.subjects import Subjects
from tests.support import edge_worlds, sample_kinds
from tests.support.random_events import RandomEvents, Sent
from tests.support.strategies import History, histories, hold

FAMILIES = {"edge hosting": edge_worlds.KINDS, "orchard": sample_kinds.KINDS}


@contextmanager
def counted(*, off: bool) -> Iterator[list[bool]]:
    """How often the short way was tried, and whether it was taken; `off` sends everything the long way."""
    tried: list[bool] = []
    patch = pytest.MonkeyPatch()

    def watched(*arguments: object) -> object:
        found = None if off else quiet(*arguments)  # type: ignore[arg-type]  # as it was called
        tried.append(found is not None)
        return found

    patch.setattr(deciding, "quiet", watched)
    try:
        yield tried
    finally:
        patch.undo()


def the_long_way_comes_to_the_same(history: History) -> None:
    with counted(off=True):
        again = play(history.kinds, [step.sent for step in history.steps])
    assert [step.records for step in again.steps] == [step.records for step in history.steps]


@pytest.mark.parametrize("effort", ["ci", pytest.param("long", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kinds", FAMILIES.values(), ids=list(FAMILIES))
def test_over_random_histories(kinds: Kinds, effort: str) -> None:
    hold(the_long_way_comes_to_the_same, histories(kinds), effort)


def messages(events: list[StoredEvent], *, off: bool) -> tuple[list[Message], list[bool]]:
    with counted(off=off) as tried:
        folder = Processor(Tree(Kinds(BUILT_IN), NoScripts()), Subjects("pl"), 0)
        commits: list[Message] = []
        while events:
            commit = folder.fold(events, 0)
            commits += commit.messages
            events = events[commit.events :]
    return commits, tried


def stored(sent: Iterable[Sent]) -> list[StoredEvent]:
    return [
        StoredEvent(one.subject.replace("pl.events", "pl.inbox.0"), one.body, number, number * 10**9)
        for number, one in enumerate(sent, 1)
    ]


def test_over_a_fleets_life() -> None:
    fleet = RandomEvents("pl", seed=5)
    events = stored([*fleet.built(5, 4), *fleet.life(4000, 5, 4)])
    short, tried = messages(events, off=False)
    assert short == messages(events, off=True)[0]
    assert 0.2 < sum(tried) / len(tried) < 1


def test_most_events_of_troubles_that_pass_go_the_short_way() -> None:
    fleet = RandomEvents("pl")
    events = stored([*fleet.built(10, 20), *fleet.troubles(10, 20)])
    short, tried = messages(events, off=False)
    assert short == messages(events, off=True)[0]
    assert sum(tried) / len(tried) > 0.8


LAMP = Table(
    kind="lamp",
    id=("lamp",),
    intents=("plug", "dim", "paint"),
    attributes=(Field("colour", str, "of its light", default="white"),),
    facets=(
        Facet(
            name="phase",
            labels=(Label("Bright", "Ok", "亮", "Bright"), Label("Dim", "Ok", "暗", "Dim")),
            rows=(
                Row((ABSENT,), "plug", "Bright", assigns=True),
                Row(("Bright",), "dim", "Dim"),
                Row(("Dim",), "paint", "Bright", assigns=True),
            ),
        ),
    ),
)


def test_an_event_that_sets_attributes_goes_the_long_way() -> None:
    with counted(off=False) as tried:
        history = play(
            Kinds((LAMP,)),
            [event("lamp", "plug", "l"), event("lamp", "dim", "l"), event("lamp", "paint", "l", {"colour": "red"})],
        )
    assert tried == [True, False]
    lamp = history.tree.get("lamp", "l")
    assert lamp is not None
    assert (lamp.facets[0].state.phase, lamp.attributes, lamp.version) == ("Bright", {"colour": "red"}, 3)
