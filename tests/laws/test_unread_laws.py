"""Laws of fields that nothing reads: each is named by a record, changes nothing else, and its value is quoted nowhere.

Belongs here: random events with such fields. Does not: single events (`tests/pure/test_unread.py`).
"""

from random import Random

from hypothesis import strategies as st
from msgspec.structs import replace

from phaseline.engine.core import intake
from phaseline.engine.core.decide import decide
from phaseline.engine.core.reading.unread import named_only
from phaseline.engine.core.transitions import REPEAT
from phaseline.engine.surfaces.testing.histories import SUBJECTS, HistoryStep, Sent
from phaseline.engine.surfaces.testing.random_events import random_event
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import NOTHING, SECOND, Mark, Record, Rejection
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.strategies import History, hold, seeds

SECRET = "hunter2-and-more"
NAMES = ("reson", "Phase", "items", "abandon", "answers", "zone", "x" * 300, "löschen", "data", "a.b", "seen")


def with_more(sent: Sent, chance: Random) -> Sent:
    """The event with fields that few triggers have."""
    try:
        body = codec.decode(sent.body)
    except codec.Undecodable:
        return sent
    data = body.get("data")
    if isinstance(data, dict) and chance.random() < 0.6:
        body["data"] = {**dict.fromkeys(chance.sample(NAMES, chance.randint(1, 5)), SECRET), **data}
    return Sent(sent.subject, codec.encode(body))


def named(records: list[Record]) -> list[str]:
    return [name for one in records if not isinstance(one, Rejection) for name in one.noted.unread]


def plain(record: Record) -> Record:
    return record if isinstance(record, Rejection) else replace(record, noted=NOTHING)


def law_of_a_step(history: History, step: HistoryStep) -> None:
    """What nothing reads is named once, or in the rejection; nothing else of the answer depends on it."""
    for record in step.records:
        assert not isinstance(record, Rejection) or SECRET not in record.message
        if not isinstance(record, Rejection):
            assert SECRET not in repr(record.noted)
        wire = wire_codec.write(record, 0, 1, "phaseline/pl", "")
        assert wire_codec.write(wire_codec.read(wire), 0, 1, "phaseline/pl", "") == wire
    read = step.read
    if isinstance(read, Rejection) or not read.unread:
        return
    kind = history.kinds[read.kind]
    assert kind.roles[read.trigger] == "observation"
    assert set(read.unread).isdisjoint(kind.declared[read.trigger])
    assert kind.declared[read.trigger].issuperset(read.data)
    without = decide(history.tree, replace(read, unread=()))
    if without is REPEAT:
        assert not step.records
        return
    found = [name for name in named(step.records) if not name.startswith("items[]")]
    rejections = [one for one in step.records if isinstance(one, Rejection)]
    assert found == list(named_only(read.unread)) or (not found and "nothing reads data." in rejections[0].message)
    rest = list(map(plain, step.records))
    if len(without.records) < len(rest):
        assert len(rest) == len(without.records) + 1
        assert isinstance(rest[-1], Mark) or rest[-1].cause == read.cause
    for before, after in zip(map(plain, without.records), rest, strict=False):
        if isinstance(before, Rejection) and isinstance(after, Rejection):
            assert after.message.startswith(before.message[:3_000])
        else:
            assert before == after


def law_of_a_history(example: tuple[list[bytes], int]) -> None:
    """The law of each step of a random history; what is read and decided again is the same."""
    found, number = example
    chance, history = Random(number), History(BUILT_IN_KINDS)
    for seed in found:
        sent = with_more(random_event(history, seed), chance)
        position = len(history.steps) + 1
        step = history.decide(sent)
        law_of_a_step(history, step)
        assert intake.read(BUILT_IN_KINDS, SUBJECTS, *sent, position, position * SECOND + 123) == step.read
        assert history.take(sent).records == step.records


def test_nothing_is_dropped_in_silence() -> None:
    hold(law_of_a_history, st.tuples(seeds(20, 60), st.integers(0, 2**32)), "dear")
