"""The batches that a processor makes: where one ends, how it is committed, what is counted, its schedules.

Belongs here: `Processor` on invented kinds. Does not: committing a batch (`tests/nats`), faults (`test_core_shell`).
"""

from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from phaseline.engine.core import process
from phaseline.engine.core.message import BATCH_LIMIT
from phaseline.engine.core.process import AHEAD, AHEAD_BYTES, Batch, Processor, pieces
from phaseline.engine.core.tree import Tree
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.surfaces.testing.histories import stored
from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import NoScripts
from phaseline.machines.language.table import ABSENT, DELETED, LIVE, SAME, Cascade, Facet, Field, Row, Table, Timeout
from phaseline.schemas import codec
from phaseline.schemas.records import SECOND
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.random_events import RandomEvents
from tests.support.sample_kinds import label
from tests.support.strategies import SUBJECTS, Sent, event

# fmt: off
MAST = Table(
    kind="mast", id=("mast",), intents=(), known_by="itself",
    facets=(Facet("phase", labels=(label("Up"), label("Lit")), rows=(
        Row((ABSENT, DELETED), "raised", "Up"), Row(("Up",), "lit", "Lit"), Row((LIVE,), "struck", DELETED),
    )),),
    cascades=(Cascade("signal", at=("flag",), on=("lit",)), Cascade("signal", at=("flag",), on=("struck",))),
)
FLAG = Table(
    kind="flag", id=("mast", "flag"), parent="mast", intents=(), derived=("signal", "worn"),
    attributes=(Field("days", float, "how long it lasts", default=2), Field("sewn", int, "how often it was mended"), Field("thread", str, "with what")),
    facets=(Facet("phase", labels=(label("Set"), label("Flying"), label("Torn")), rows=(
        Row((ABSENT, DELETED), "set", "Set", assigns=True),
        Row(("Set",), "signal", "Flying"),
        Row(("Flying",), "signal", DELETED),
        Row(("Flying",), "mended", SAME, assigns=True),
        Row(("Flying",), "worn", "Torn"),
        Row((LIVE,), "furled", DELETED),
    ), timeouts=(Timeout("Flying", "worn", seconds_from="days", restart_on="sewn"),)),),
)
# fmt: on
KINDS = Kinds((MAST, FLAG), products=PRODUCTS)


def numbered(sent: Iterable[Sent], first: int = 1) -> list[StoredEvent]:
    """These events as EVENTS holds them: event N is stored N seconds after the epoch."""
    return [StoredEvent(one.subject, one.body, n, n * SECOND) for n, one in enumerate(sent, first)]


def processor() -> Processor:
    return Processor(Tree(KINDS, NoScripts()), SUBJECTS, 0)


def masts(count: int) -> list[Sent]:
    return [event("mast", "raised", f"m{number}") for number in range(count)]


def with_flags(count: int) -> Processor:
    """A processor that knows one mast with as many flags."""
    ready = processor()
    flags = [event("flag", "set", f"m/f{number}") for number in range(count)]
    for one in numbered([event("mast", "raised", "m"), *flags]):
        ready.process([one], 0)
    return ready


def test_a_batch_ends_when_it_is_full_and_the_next_one_goes_on() -> None:
    working, events = processor(), numbered(masts(BATCH_LIMIT + 1))
    batch = working.process(events, 0)
    assert (batch.events, batch.position, batch.size) == (BATCH_LIMIT, BATCH_LIMIT, BATCH_LIMIT)
    assert len(working.tree) == BATCH_LIMIT
    rest = working.process(events[batch.events :], batch.position)
    assert (rest.events, rest.position, rest.is_row) == (1, BATCH_LIMIT + 1, True)


def test_an_event_that_does_not_fit_waits_for_the_next_batch_with_all_its_schedules() -> None:
    working, signal = with_flags(1), [event("mast", "lit", "m")]  # makes three messages, one of them a schedule
    later = [event("mast", "raised", "later")]
    assert working.process(numbered([*masts(BATCH_LIMIT - 2), *signal, *later]), 0).events == BATCH_LIMIT - 2
    batch = with_flags(1).process(numbered([*masts(BATCH_LIMIT - 3), *signal]), 0)
    assert (batch.events, len(batch.messages)) == (BATCH_LIMIT - 2, BATCH_LIMIT)
    batch = with_flags(1).process(numbered([*signal, *masts(BATCH_LIMIT)]), 0)
    assert (batch.events, len(batch.messages)) == (BATCH_LIMIT - 2, BATCH_LIMIT)


def test_an_event_with_more_messages_than_a_batch_holds_is_a_batch_of_its_own() -> None:
    batch = with_flags(BATCH_LIMIT).process(numbered([event("mast", "lit", "m"), *masts(1)]), 0)
    assert (batch.events, batch.position, len(batch.messages)) == (1, 1, 1 + 2 * BATCH_LIMIT)


@pytest.mark.parametrize(
    ("sent", "is_row"),
    [
        ([], False),
        ([("mast", "raised", "m")], True),
        ([("mast", "raised", "m"), ("mast", "raised", "n")], True),
        ([("mast", "raised", "m"), ("mast", "raised", "m")], False),
        ([("mast", "lit", "m")], False),
    ],
    ids=["none", "one record", "a record each", "one without a record after it", "a rejection"],
)
def test_plain_publishes_are_enough_for_events_with_one_transition_each(
    sent: list[tuple[str, str, str]], is_row: bool
) -> None:
    batch = processor().process(numbered(event(*one) for one in sent), 0)
    assert batch.is_row == is_row


def test_plain_publishes_are_not_enough_for_several_events_with_schedules() -> None:
    working = with_flags(2)
    working.process(numbered([event("mast", "lit", "m")], 4), 3)
    furled = numbered([event("flag", "furled", "m/f0"), event("flag", "furled", "m/f1")], 5)
    batch = working.process(furled, 4)
    assert (batch.events, len(batch.messages), len(batch.schedules), batch.is_row) == (2, 2, 2, False)


def test_a_plain_publish_is_not_enough_if_an_earlier_event_left_no_record() -> None:
    working = processor()
    working.process(numbered(masts(1)), 0)
    batch = working.process(numbered([*masts(1), event("mast", "lit", "m0")], 2), 1)
    assert (batch.events, len(batch.messages), batch.is_row) == (2, 1, False)


def test_events_are_read_ahead_as_long_as_they_are_small() -> None:
    small, large = (StoredEvent("pl.inbox.0.m.mast.lit", b"x" * size, 1, 1) for size in (1, AHEAD_BYTES))
    assert list(map(len, pieces([small] * (2 * AHEAD + 1)))) == [AHEAD, AHEAD, 1]
    assert list(map(len, pieces([small, large, large, small]))) == [2, 1, 1]
    assert list(pieces([])) == []


def test_reading_ahead_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = RandomEvents("pl", seed=3)
    sent = [*fleet.built(3, 4), *fleet.life(600, 3, 4)]
    events = numbered(Sent(stored(one.subject), one.body) for one in sent)

    def batches() -> list[Batch]:
        ready, rest, made = Processor(Tree(BUILT_IN_KINDS, NoScripts()), SUBJECTS, 0, limit=100), events, []
        while rest:
            made.append(ready.process(rest, 0, enough=lambda event: event.sequence % 70 == 0))
            rest = rest[made[-1].events :]
        return made

    ahead = batches()
    monkeypatch.setattr(process, "AHEAD", 1)
    assert ahead == batches()
    assert any(batch.messages and not batch.implies_position for batch in ahead)


def test_each_event_is_counted_once_with_its_answer() -> None:
    working = processor()
    sent = [
        event("mast", "raised", "m"),
        event("flag", "set", "m/f"),
        event("mast", "lit", "m"),  # two transitions
        event("mast", "lit", "m"),  # already so: no record
        event("mast", "lit", "m", sequence="1"),  # already so: a mark
        event("mast", "lit", "n"),  # not legal
        event("mast", "sunk", "m"),  # no such trigger
    ]
    working.process(numbered(sent), 0)
    counts = working.counts
    assert (counts.events, counts.transitions, counts.without_effect) == (7, 4, 2)
    assert (counts.rejections, counts.faults) == (2, 0)


def schedules(batch: Batch) -> dict[str, float | None]:
    """When the flags' timers are due after this batch, in seconds: None for each that it cancels."""
    found: dict[str, float | None] = {}
    for message in batch.messages:
        headers = dict(message.headers)
        flag = message.subject.split(".")[-1]
        if "Nats-Schedule-Next" in headers:
            assert headers["Nats-Scheduler"] == SUBJECTS.timer(0, "flag", "phase", f"m/{flag}")
            found[flag] = None
        elif headers:
            assert headers["Nats-Schedule-Target"] == SUBJECTS.fired("flag", "worn", f"m/{flag}")
            found[flag] = codec.decode(message.body)["data"]["due"] / SECOND
    return found


def test_each_timer_that_a_batch_changes_is_set_or_cancelled_once() -> None:
    working = processor()
    sent = [
        event("mast", "raised", "m"),
        *(event("flag", "set", f"m/{name}") for name in "abc"),
        event("flag", "set", "m/d", {"days": 0}),
        event("mast", "lit", "m"),  # position 6
    ]
    batch = working.process(numbered(sent), 0)
    assert schedules(batch) == {"a": 8, "b": 8, "c": 8}
    changes = [event("flag", "furled", "m/a"), event("flag", "mended", "m/b", {"days": 0.5, "sewn": 1})]
    assert schedules(working.process(numbered(changes, 7), 6)) == {"a": None, "b": 8.5}
    [same] = numbered([event("flag", "mended", "m/b", {"thread": "silk", "sewn": 1})], 9)
    assert schedules(working.process([same], 8)) == {}
    ends = [event("flag", "mended", "m/c", {"sewn": 1}), event("mast", "struck", "m")]
    assert schedules(working.process(numbered(ends, 10), 9)) == {"b": None, "c": None}


@pytest.mark.parametrize("as_json", [False, True])
def test_what_the_log_holds_is_compared_to_the_last_byte(*, as_json: bool) -> None:
    writing = Processor(with_flags(2).tree, SUBJECTS, 0, as_json=as_json)
    records = writing.answer(numbered([event("mast", "lit", "m")], 4)[0]).records
    messages, reading = writing.messages(records), Processor(writing.tree, SUBJECTS, 0)
    assert len(messages) == 3
    assert reading.is_written(records, messages)
    assert reading.is_written([], [])
    for number, message in enumerate(messages):
        before, after = messages[:number], messages[number + 1 :]
        other_body, elsewhere = (
            replace(message, body=message.body[:-1]),
            replace(message, subject=f"{message.subject}x"),
        )
        for wrong in ([], [message, message], [other_body], [elsewhere]):
            assert not reading.is_written(records, [*before, *wrong, *after])
