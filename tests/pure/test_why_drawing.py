"""An explanation as lines: several facets, bases, on-tally triggers, timers, missing records.

Belongs here: lines of explanations that edge hosting does not have. Does not: the command (`test_why_command`).
"""

import re
import time
from collections.abc import Iterator

import msgspec
import pytest

from phaseline.engine.log.explain import explainer
from phaseline.engine.log.explain.model import CauseChain, Explanation, FacetExplanation, ViewExplanation
from phaseline.schemas.records import Transition
from tests.support import edge_worlds, explanations, sample_kinds
from tests.support.explanations import explanation, logs
from tests.support.strategies import History, event, play

PLANTED = [event("orchard", "plant", "o"), event("row", "plant", "o/r")]
FRUIT = [event("fruit", "set", f"o/r/s/f{number}") for number in (1, 2)]


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def drawn(history: History, found: Explanation) -> list[str]:
    """The lines of an explanation, with one name for all events."""
    return [re.sub(r"event e\d+", "event e", line) for line in explanations.drawn(history, found)]


def lines(history: History, kind: str, entity_id: str) -> list[str]:
    return drawn(history, explanation(history, kind, entity_id))


def test_several_facets_and_a_reference_to_what_is_above() -> None:
    history = play(sample_kinds.KINDS, [*PLANTED, event("orchard", "drought", "o")])
    assert lines(history, "orchard", "o") == [
        "orchard o",
        "├── season  Resting [Ok]  since 00:00:03, 57.0 s",
        "│   ├── shown while the orchard is Dry",
        "│   │   └── orchard o water  Dry [Ok]  since 00:00:03, 57.0 s",
        "│   │       └── drought by /t, event e (seq 3) at 00:00:03",
        "│   └── its base is Growing [Ok]: plant by /t, event e (seq 1) at 00:00:01",
        "└── water  Dry [Ok]  since 00:00:03, 57.0 s  (as above)",
    ]


def test_views_of_several_words_and_bases_that_they_look_at() -> None:
    history = play(sample_kinds.KINDS, [*PLANTED, *FRUIT[:1], event("orchard", "drought", "o")])
    assert lines(history, "row", "o/r") == [
        "row o/r  Idle [Ok]  since 00:00:04, 56.0 s",
        "├── shown while the orchard is Dry or Fouled",
        "│   └── orchard o water  Dry [Ok]  since 00:00:04, 56.0 s",
        "│       └── drought by /t, event e (seq 4) at 00:00:04",
        "├── and while the orchard's base is Growing",
        "│   └── orchard o season  Growing [Ok]  its base",
        "│       └── plant by /t, event e (seq 1) at 00:00:01",
        "└── its base is Planted [Ok]: plant by /t, event e (seq 2) at 00:00:02",
    ]


def test_attributes_and_tallies_of_nothing() -> None:
    assert lines(play(sample_kinds.KINDS, PLANTED), "row", "o/r") == [
        "row o/r  Done [Ok]  since 00:00:02, 58.0 s",
        "├── shown while every fruit is Picked: there is none",
        "├── and while the row's organic is True",
        "│   └── plant by /t, event e (seq 2) at 00:00:02",
        "└── its base is Planted [Ok]: plant by /t, event e (seq 2) at 00:00:02",
    ]


def test_triggers_that_tallies_fire_and_facets_that_never_moved() -> None:
    history = play(sample_kinds.KINDS, [*PLANTED, *FRUIT, event("fruit", "rotted", "o/r/s/f2")])
    assert lines(history, "row", "o/r") == [
        "row o/r  Closed [Rot]  since 00:00:05, 55.0 s",
        "└── rot_found, fired once a fruit is Rotten; the last was fruit o/r/s/f2",
        "    └── rotted by /t, event e (seq 5) at 00:00:05",
    ]
    assert lines(history, "fruit", "o/r/s/f1")[-1] == "└── grade  Absent  no event has changed it yet"


def test_a_base_of_several_causes_under_a_view() -> None:
    fell = [event("orchard", "winter", "o"), event("orchard", "spring", "o"), event("orchard", "winter", "o")]
    history = play(
        sample_kinds.KINDS,
        [*PLANTED, *FRUIT[:1], event("fruit", "mites", "o/r/s/f1"), event("fruit", "mould", "o/r/s/f1"), *fell],
    )
    assert lines(history, "fruit", "o/r/s/f1")[:10] == [
        "fruit o/r/s/f1",
        "├── phase  Sick [Frost]  since 00:00:08, 52.0 s",
        "│   ├── shown while the row's base is Stump",
        "│   │   └── row o/r  Stump [Ok]  its base",
        "│   │       └── prune, fired by orchard o",
        "│   │           └── winter by /t, event e (seq 8) at 00:00:08",
        "│   └── its base is Sick [Mites, Mould]",
        "│       ├── Mites: mites by /t, event e (seq 4) at 00:00:04",
        "│       └── Mould: mould by /t, event e (seq 5) at 00:00:05",
        "└── grade  Absent  no event has changed it yet",
    ]


def cluster(**changed: object) -> tuple[History, Transition]:
    """A cluster, and its only record with another cause."""
    history = play(edge_worlds.KINDS, [event("cluster", "adopt", "c", {"phase": "Running"})])
    (record,) = logs(history)["cluster", "c"]
    return history, msgspec.structs.replace(record, cause=msgspec.structs.replace(record.cause, **changed))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"by": "timer", "origin": "cluster/c"}, "adopt, fired by a timer, event e (seq 1) at 00:00:01"),
        ({"time_text": "1970-01-01T00:00:01.9Z"}, "adopt by /t, event e (seq 1) at 00:00:01"),
        ({"time_text": "1970-01-01T00:00:03Z"}, "adopt by /t, event e (seq 1) at 00:00:01, publisher's clock 00:00:03"),
        ({"time_text": "1969-12-31T23:00:00-01:30"}, "adopt by /t, event e (seq 1) at 00:00:01, publisher's clock 00:30:00"),
        ({"time_text": "0001-01-01T00:00:00+12:00"}, "adopt by /t, event e (seq 1) at 00:00:01, publisher's clock 0001-01-01T00:00:00+12:00"),
    ],
)  # fmt: skip
def test_other_causes_and_clocks(changed: dict[str, object], said: str) -> None:
    history, record = cluster(**changed)
    found = explainer.explain_entity(history.tree, lambda *_: [record], "cluster", "c")
    assert drawn(history, found)[1:] == [f"└── {said}"]


def test_what_stands_without_its_records() -> None:
    history, record = cluster(by="view", origin="node_pool/c/p")
    (facet,) = explanation(history, "cluster", "c").facets
    nothing = CauseChain("phase", ("Running",), (), "no record of cluster c is left in the log")
    half = ViewExplanation(
        cause=CauseChain("state", ("Updating",), (record,), "the log has no record of event 1 at node_pool c/p")
    )
    shown = FacetExplanation(
        "cluster", "c", "phase", facet.state, facet.base, facet.since_ns, view=half, causes=(nothing,)
    )
    assert drawn(history, Explanation(history.tree.entities["cluster"]["c"], (shown,)))[1:] == [
        "├── shown by a view, but no view of the installed tables accounts for it",
        "│   └── shown by another view, since node_pool c/p changed",
        "│       └── by event e (seq 1) at 00:00:01",
        "│           └── the log has no record of event 1 at node_pool c/p",
        "└── its base is Running [Ok]: no record of cluster c is left in the log",
    ]
