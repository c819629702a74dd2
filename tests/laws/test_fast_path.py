"""The fast path makes the same records as a changeset, and is taken where it may be."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest

from phaseline.engine.core import decide as deciding
from phaseline.engine.core.fast_path import fast_path
from phaseline.engine.core.message import Message
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.testing.histories import event, play
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import NoScripts
from phaseline.machines.language.table import ABSENT, Facet, Field, Label, Row, Table
from phaseline.schemas.subjects import Subjects
from tests.support import edge_worlds, sample_kinds
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.random_events import RandomEvents, Sent
from tests.support.strategies import History, histories, hold

FAMILIES = {"edge hosting": edge_worlds.KINDS, "orchard": sample_kinds.KINDS}


@contextmanager
def counted(*, off: bool) -> Iterator[list[bool]]:
    """For each try of the fast path, whether it was taken; with `off` every event goes through a changeset."""
    tried: list[bool] = []
    patch = pytest.MonkeyPatch()

    def watched(*arguments: object) -> object:
        record = None if off else fast_path(*arguments)  # type: ignore[arg-type]  # as it was called
        tried.append(record is not None)
        return record

    patch.setattr(deciding, "fast_path", watched)
    try:
        yield tried
    finally:
        patch.undo()


def a_changeset_makes_the_same_records(history: History) -> None:
    with counted(off=True):
        again = play(history.kinds, [step.sent for step in history.steps])
    assert [step.records for step in again.steps] == [step.records for step in history.steps]


@pytest.mark.parametrize("effort", ["ci", pytest.param("long", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kinds", FAMILIES.values(), ids=list(FAMILIES))
def test_over_random_histories(kinds: Kinds, effort: str) -> None:
    hold(a_changeset_makes_the_same_records, histories(kinds), effort)


def messages(events: list[StoredEvent], *, off: bool) -> tuple[list[Message], list[bool]]:
    with counted(off=off) as tried:
        processor = Processor(Tree(BUILT_IN_KINDS, NoScripts()), Subjects("pl"), 0)
        log: list[Message] = []
        while events:
            batch = processor.process(events, 0)
            log += batch.messages
            events = events[batch.events :]
    return log, tried


def stored(sent: Iterable[Sent]) -> list[StoredEvent]:
    return [
        StoredEvent(one.subject.replace("pl.events", "pl.inbox.0"), one.body, number, number * 10**9)
        for number, one in enumerate(sent, 1)
    ]


def test_over_a_fleets_life() -> None:
    fleet = RandomEvents("pl", seed=5)
    events = stored([*fleet.built(5, 4), *fleet.life(4000, 5, 4)])
    fast, tried = messages(events, off=False)
    assert fast == messages(events, off=True)[0]
    assert 0.2 < sum(tried) / len(tried) < 1


def test_most_events_of_passing_troubles_take_the_fast_path() -> None:
    fleet = RandomEvents("pl")
    events = stored([*fleet.built(10, 20), *fleet.troubles(10, 20)])
    fast, tried = messages(events, off=False)
    assert fast == messages(events, off=True)[0]
    assert sum(tried) / len(tried) > 0.8


LAMP = Table(
    kind="lamp",
    id=("lamp",),
    intents=("plug", "dim", "paint"),
    attributes=(Field("colour", str, "of its light", default="white"),),
    facets=(
        Facet(
            name="phase",
            labels=(Label("Bright", "Ok", "Bright"), Label("Dim", "Ok", "Dim")),
            rows=(
                Row((ABSENT,), "plug", "Bright", assigns=True),
                Row(("Bright",), "dim", "Dim"),
                Row(("Dim",), "paint", "Bright", assigns=True),
            ),
        ),
    ),
)


def test_an_event_that_sets_attributes_does_not_take_the_fast_path() -> None:
    with counted(off=False) as tried:
        history = play(
            Kinds((LAMP,)),
            [event("lamp", "plug", "l"), event("lamp", "dim", "l"), event("lamp", "paint", "l", {"colour": "red"})],
        )
    assert tried == [True, False]
    lamp = history.tree.get("lamp", "l")
    assert lamp is not None
    assert (lamp.facets[0].state.phase, lamp.attributes, lamp.version) == ("Bright", {"colour": "red"}, 3)
