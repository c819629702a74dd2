"""The fast path makes the same records as a changeset, with plans and without, and is taken where it may be.

Plans are kept in the kinds, so those of one history serve all that follow.
"""

from collections.abc import Iterable

import pytest

from phaseline.engine.core.message import Message
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.surfaces.testing.histories import event, play
from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import NoScripts
from phaseline.machines.language.table import ABSENT, DELETED, LIVE, Facet, Field, Label, Row, Table
from phaseline.schemas.records import State
from phaseline.schemas.subjects import Subjects
from tests.support import edge_worlds, sample_kinds
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.fast_path_watch import counted
from tests.support.random_events import RandomEvents, Sent
from tests.support.strategies import History, histories, hold

FAMILIES = {"edge hosting": edge_worlds.KINDS, "orchard": sample_kinds.KINDS, "all built-in": BUILT_IN_KINDS}


def a_changeset_makes_the_same_records(history: History) -> None:
    for steps in (True, False):
        with counted(plans=False, steps=steps):
            again = play(history.kinds, [step.sent for step in history.steps])
        assert [step.records for step in again.steps] == [step.records for step in history.steps]


@pytest.mark.parametrize("effort", ["dear", pytest.param("long", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kinds", FAMILIES.values(), ids=list(FAMILIES))
def test_over_random_histories(kinds: Kinds, effort: str) -> None:
    hold(a_changeset_makes_the_same_records, histories(kinds), effort)


def test_what_a_plan_does_not_know_is_asked_for_each_event() -> None:
    """After a plan is made: data that names what was interrupted, a parent that is gone, the last one in a phase."""
    sent = [event(kind, f"create{d}", at) for kind, at in (("cluster", "c"), ("node_pool", "c/p")) for d in ("", "d")]
    for node in ("a", "b"):
        at = f"c/p/{node}"
        sent += [event("node", trigger, at) for trigger in ("create", "created", "not_ready", "ready")]
        sent += [event("node", "not_ready", at, {"interrupted": "Stopped"}), event("node", "ready", at)]
        sent += [event("node", trigger, at) for trigger in ("overdue", "not_ready", "renewed", "ready", "cordon")]
    sent += [event("component", trigger, "c/dns") for trigger in ("create", "created", "crash_loop", "recovered")]
    sent += [event("node_pool", "delete", "c/p"), event("node_pool", "deleted", "c/p"), event("node", "error", "c/p/a")]
    a_changeset_makes_the_same_records(play(edge_worlds.KINDS, sent))


def messages(events: list[StoredEvent], **ways: bool) -> tuple[list[Message], list[bool]]:
    with counted(**ways) as tried:
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
    events = stored([*fleet.built(5, 4), *fleet.life(1500, 5, 4)])
    fast, tried = messages(events)
    assert fast == messages(events, plans=False)[0]
    assert fast == messages(events, plans=False, steps=False)[0]
    assert 0.2 < sum(tried) / len(tried) < 1


def test_most_events_of_passing_troubles_take_the_fast_path() -> None:
    fleet = RandomEvents("pl")
    troubles = [*fleet.troubles(10, 20)]
    events = stored([*fleet.built(10, 20), *troubles])
    fast, tried = messages(events)
    assert fast == messages(events, plans=False)[0]
    assert fast == messages(events, plans=False, steps=False)[0]
    assert sum(tried) / len(tried) > 0.8
    assert all(tried[-len(troubles) :])


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
    with counted() as tried:
        history = play(
            Kinds((LAMP,), products=PRODUCTS),
            [event("lamp", "plug", "l"), event("lamp", "dim", "l"), event("lamp", "paint", "l", {"colour": "red"})],
        )
    assert tried == [True, False]
    lamp = history.tree.get("lamp", "l")
    assert lamp is not None
    assert (lamp.facets[0].state.phase, lamp.attributes, lamp.version) == ("Bright", {"colour": "red"}, 3)


SHELF = Table(
    kind="shelf",
    id=("shelf",),
    intents=(),
    known_by="observations",
    facets=(
        Facet(
            name="phase",
            labels=(Label("Up", "Ok", "Up"),),
            rows=(Row((ABSENT,), "built", "Up"), Row((LIVE,), "razed", DELETED)),
            adopted=State(ABSENT),
        ),
    ),
)
BOOK = Table(
    kind="book",
    id=("shelf", "book"),
    parent="shelf",
    intents=("read",),
    facets=(
        Facet(
            name="phase",
            labels=(Label("Shut", "Ok", "Shut"), Label("Open", "Ok", "Open")),
            rows=(Row((ABSENT,), "found", "Shut"), Row(("Shut",), "read", "Open"), Row(("Open",), "closed", "Shut")),
        ),
    ),
)


def test_a_request_below_an_unknown_parent_does_not_follow_the_plan_of_another_one() -> None:
    built = [event(*one) for one in (("shelf", "built", "s"), ("book", "found", "s/b"), ("book", "read", "s/b"))]
    unknown = [event("book", trigger, "t/b") for trigger in ("found", "read")]
    with counted() as tried:
        history = play(Kinds((SHELF, BOOK), products=PRODUCTS), [*built, *unknown])
    assert tried == [True]
    assert [step.accepted for step in history.steps] == [True, True, True, True, False]
